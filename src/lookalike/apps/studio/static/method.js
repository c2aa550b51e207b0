"use strict";
// The method page: what is chosen, as `--algorithm` takes it, and saved by the API.

(() => {
  const form = document.getElementById("method-form");
  const shown = document.getElementById("as-written");

  const chosen = () => form.querySelector("input[name=method]:checked");

  // The name, with the settings that were filled in.
  function written() {
    const name = chosen().value;
    const settings = [];
    for (const box of form.querySelectorAll("details.settings")) {
      if (box.dataset.method !== name) continue;
      for (const input of box.querySelectorAll("input[data-parameter]")) {
        const value = input.value.trim();
        if (value) settings.push(`${input.dataset.parameter}=${value}`);
      }
    }
    return settings.length ? `${name}:${settings.join(",")}` : name;
  }

  function show() {
    const text = written();
    const byItself = text === chosen().value && "recommended" in chosen().dataset;
    shown.textContent = byItself ? "nothing to write, it is chosen by itself" : `--algorithm ${text}`;
    for (const box of form.querySelectorAll("details.settings")) {
      box.hidden = box.dataset.method !== chosen().value;
    }
  }

  form.addEventListener("change", show);
  form.addEventListener("input", show);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    studio.attempt(document.getElementById("save-method"), async () => {
      const text = written();
      const byItself = text === chosen().value && "recommended" in chosen().dataset;
      await studio.call("PUT", studio.api("/method"), { algorithm: byItself ? null : text });
      studio.go("run");
    });
  });
  show();
})();
