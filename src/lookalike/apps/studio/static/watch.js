"use strict";
// Follow a run or a comparison: asks twice a second how far it is, and shows it. A screen reader hears when a step
// begins, not every tick.

// Where a step stands in the whole, and what it does in plain words. Steps of a method that are not named here are the
// making of the release; those inside an attack leave the line as it is.
const STAGES = {
  reading: [0, 0.05, "Reading the table"],
  searching: [0.05, 0.4, "Searching for the release that loses least"],
  cutting: [0.05, 0.4, "Cutting the table into groups"],
  dividing: [0.05, 0.4, "Dividing people into groups"],
  grouping: [0.05, 0.4, "Putting people into groups"],
  matching: [0.05, 0.4, "Matching people with rows"],
  rings: [0.05, 0.4, "Laying people on rings"],
  buckets: [0.05, 0.15, "Filling buckets"],
  sizes: [0.05, 0.15, "Choosing the sizes of buckets"],
  assign: [0.15, 0.4, "Giving people their buckets"],
  anatomize: [0.15, 0.4, "Dividing large groups"],
  perturb: [0.05, 0.4, "Redrawing sensitive values"],
  audit: [0.4, 0.5, "Checking the release against the promise"],
  attack: [0.5, 0.65, "Attacking the release"],
  queries: [0.65, 0.72, "Asking the release questions"],
  comparing: [0.72, 0.8, "Holding the release against the original"],
  "trade-off": [0.8, 0.93, "Trying a weaker and a stronger promise"],
  write: [0.93, 1, "Writing the release"],
  report: [0.93, 0.97, "Writing the report"],
  compare: [0, 1, "Making and checking one release after another"],
};

class Watch {
  // `ended` is called with the run once it is done, failed or cancelled.
  constructor(ended) {
    this.ended = ended;
    this.box = document.getElementById("watch");
    this.number = null;
    this.said = "";
    this.whole = 0;
    const press = (id, verb) => {
      const button = document.getElementById(id);
      button.addEventListener("click", () => studio.attempt(button, async () => {
        await studio.call("POST", studio.api(`/runs/${this.number}/${verb}`));
        await this.look();
      }));
    };
    press("cancel", "cancel");
    press("take-best", "stop");
    if (this.box.dataset.run) this.follow(Number(this.box.dataset.run));
  }

  follow(number) {
    if (this.number === number) return;
    this.number = number;
    this.said = "";
    this.whole = 0;
    this.box.hidden = false;
    document.getElementById("share").value = 0;
    document.getElementById("falling").hidden = true;
    this.tick();
  }

  async tick() {
    const number = this.number;
    try {
      await this.look();
    } catch (error) {
      studio.say(error.message, true);
    }
    if (this.number === number && number !== null) setTimeout(() => this.tick(), 500);
  }

  async look() {
    const number = this.number;
    if (number === null) return;
    const run = await studio.call("GET", studio.api(`/runs/${number}`));
    if (this.number !== number) return;
    if (run.state !== "queued" && run.state !== "running") {
      this.number = null;
      this.box.hidden = true;
      this.ended(run);
      return;
    }
    this.show(run);
  }

  show(run) {
    const [from, to, words] = STAGES[run.step] || [this.whole, this.whole, ""];
    // Never backwards: some steps come again.
    this.whole = Math.max(this.whole, from + (to - from) * Math.min(1, run.share));
    document.getElementById("share").value = this.whole;
    let sentence = words ? `${words}.` : this.said || "Getting ready.";
    if (run.state === "queued") {
      sentence = run.ahead === 1 ? "Waiting: one run is ahead of this one." :
        run.ahead > 1 ? `Waiting: ${run.ahead} runs are ahead of this one.` : "Waiting for its turn.";
    } else if (run.stopping && run.step === "searching") {
      sentence = "Taking the best so far.";
    }
    if (sentence !== this.said) {
      this.said = sentence;
      document.getElementById("step").textContent = sentence;
    }
    document.getElementById("detail").textContent = run.note.startsWith("loss ") ? "" : run.note;
    const best = document.getElementById("take-best");
    best.hidden = run.step !== "searching" || run.stopping;
    this.draw(run.losses);
  }

  draw(losses) {
    if (losses.length < 2) return;
    const first = losses[0], last = losses[losses.length - 1];
    const values = losses.map((point) => point[1]);
    const high = Math.max(...values), low = Math.min(...values);
    const seconds = Math.max(last[0] - first[0], 0.01), span = Math.max(high - low, 1e-9);
    const points = losses.map(([when, loss]) =>
      `${(600 * (when - first[0]) / seconds).toFixed(1)},${(8 + 104 * (high - loss) / span).toFixed(1)}`);
    document.getElementById("falling-line").setAttribute("points", points.join(" "));
    document.getElementById("loss-now").textContent = last[1].toFixed(4);
    document.getElementById("loss-first").textContent = `(it began at ${first[1].toFixed(4)})`;
    document.getElementById("falling").hidden = false;
  }
}
