"use strict";
// The compare page: several promises and methods as one job, watched like a run.

(() => {
  const form = document.getElementById("compare-form");
  const why = document.getElementById("why");

  const watch = new Watch((run) => {
    if (run.state === "done") {
      location.hash = "comparison";
      location.reload();
      return;
    }
    if (form) form.hidden = false;
    if (run.state === "cancelled") {
      studio.say("Cancelled. Nothing of it stays.");
      document.getElementById("start-comparison")?.focus();
      return;
    }
    why.textContent = run.error;
    why.hidden = false;
    studio.say("The comparison failed; below is why.", true);
  });

  form?.addEventListener("submit", (event) => {
    event.preventDefault();
    studio.attempt(document.getElementById("start-comparison"), async () => {
      const lines = document.getElementById("promises").value.split("\n").map((line) => line.trim());
      const models = lines.filter((line) => line);
      const algorithms = [...form.querySelectorAll("input[name=method]:checked")].map((box) => box.value);
      if (!models.length) throw new Error("Write at least one promise, as in l-diversity:4.");
      if (models.length > 12) throw new Error(`${models.length} promises are too many at once. Take at most 12 lines.`);
      if (algorithms.length > 8) throw new Error(`${algorithms.length} methods are too many at once. Take at most 8.`);
      const run = await studio.call("POST", studio.api("/comparisons"), { models, algorithms });
      why.hidden = true;
      form.hidden = true;
      watch.follow(run.number);
      document.getElementById("cancel").focus();
    });
  });
})();
