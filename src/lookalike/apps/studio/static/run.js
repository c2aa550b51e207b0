"use strict";
// The run page: start, watch, and go on to the results; after a reload or in a second tab it finds the run under way.

(() => {
  const form = document.getElementById("run-form");
  const failure = document.getElementById("failure");
  let failed = { nearest: failure.dataset.nearest || null, models: JSON.parse(failure.dataset.models) };

  function showForm(visible) {
    if (form) form.hidden = !visible;
  }

  // The promises with the one that cannot be kept put right; null if it is not clear which one that is.
  function mended() {
    if (!failed.nearest) return null;
    const modelOf = (text) => {
      const head = text.split(":")[0];
      return head.slice(head.lastIndexOf("=") + 1).trim();
    };
    const wanted = modelOf(failed.nearest);
    const places = failed.models.map((text, place) => [text, place]).filter(([text]) => modelOf(text) === wanted);
    if (places.length !== 1) return null;
    const [text, place] = places[0];
    const head = text.split(":")[0];
    const column = failed.nearest.split(":")[0].includes("=") ? "" : head.slice(0, head.lastIndexOf("=") + 1);
    const models = [...failed.models];
    models[place] = column + failed.nearest;
    return models;
  }

  function offerNearest() {
    document.getElementById("offer").hidden = !failed.nearest;
    document.getElementById("nearest").textContent = failed.nearest || "";
    document.getElementById("take-nearest").hidden = mended() === null;
  }

  const watch = new Watch((run) => {
    if (run.state === "done") {
      studio.go("results", `?run=${run.number}`);
      return;
    }
    showForm(true);
    if (run.state === "cancelled") {
      studio.say("Cancelled. Nothing of it stays.");
      document.getElementById("start")?.focus();
      return;
    }
    failed = { nearest: run.nearest, models: run.models };
    document.getElementById("why").textContent = run.error;
    failure.hidden = false;
    offerNearest();
    studio.say("No release was made; below is why.", true);
  });

  function begin(number) {
    failure.hidden = true;
    showForm(false);
    watch.follow(number);
    document.getElementById("cancel").focus();
  }

  // What is named as released before: runs of this table, and a folder.
  function earlier() {
    const named = [...form.querySelectorAll("input[name=after-run]:checked")].map((box) => ({ run: Number(box.value) }));
    const folder = document.getElementById("after-folder").value.trim();
    const original = document.getElementById("after-original").value.trim();
    if (original && !folder) throw new Error("Name the release folder, too, that was made from the other table.");
    return folder ? [...named, { folder, original: original || null }] : named;
  }

  async function start() {
    const title = document.getElementById("title").value;
    const recipient = document.getElementById("recipient").value;
    const publish_scores = document.getElementById("publish-scores").checked;
    const run = await studio.call("POST", studio.api("/runs"), { title, recipient, publish_scores, after: earlier() });
    begin(run.number);
  }

  form?.addEventListener("submit", (event) => {
    event.preventDefault();
    studio.attempt(document.getElementById("start"), start);
  });

  document.getElementById("take-nearest").addEventListener("click", (event) => {
    studio.attempt(event.target, async () => {
      const now = await studio.call("GET", studio.api(""));
      await studio.call("PUT", studio.api("/promise"), { models: mended(), adversary: now.adversary });
      if (form) await start();
      location.reload();
    });
  });

  // Another tab may have started one meanwhile.
  document.addEventListener("visibilitychange", async () => {
    if (document.hidden || watch.number !== null) return;
    try {
      const runs = await studio.call("GET", studio.api("/runs"));
      const found = runs.find((run) => run.kind === "publish" && (run.state === "queued" || run.state === "running"));
      if (found) begin(found.number);
    } catch { /* Nothing to say: nobody asked. */ }
  });

  offerNearest();
})();
