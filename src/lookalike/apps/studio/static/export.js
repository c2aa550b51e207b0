"use strict";
// The export page: a folder on this machine, and the command to copy.

(() => {
  const form = document.getElementById("export-form");
  form?.addEventListener("submit", (event) => {
    event.preventDefault();
    studio.attempt(document.getElementById("save-folder"), async () => {
      const folder = document.getElementById("folder").value.trim();
      const overwrite = document.getElementById("overwrite").checked;
      const saved = await studio.call("POST", studio.api(`/runs/${form.dataset.run}/export`), { folder, overwrite });
      studio.say(`Saved: ${saved.files.length} files in ${saved.folder}.`);
    });
  });

  const command = document.getElementById("command");
  document.getElementById("copy-command")?.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(command.textContent);
      studio.say("The command is copied.");
    } catch {
      // Without leave to write to the clipboard the text is marked, to be copied by hand.
      const range = document.createRange();
      range.selectNodeContents(command);
      const selection = getSelection();
      selection.removeAllRanges();
      selection.addRange(range);
      studio.say("The command is marked: copy it with Ctrl+C.");
    }
  });
})();
