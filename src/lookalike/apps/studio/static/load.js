"use strict";
// The first page: three ways to open a table, and closing those that are open.

{
  const byId = (id) => document.getElementById(id);
  const zone = byId("upload");
  const chooser = byId("file");

  const opened = (project) => { location.href = `/projects/${encodeURIComponent(project.id)}/columns`; };

  const reading = () => {
    const chosen = {};
    for (const name of ["delimiter", "encoding"]) if (byId(name).value) chosen[name] = byId(name).value;
    return chosen;
  };

  const size = (bytes) => (bytes < 1048576 ? `${Math.ceil(bytes / 1024)} KB` : `${(bytes / 1048576).toFixed(1)} MB`);

  let busy = false;
  async function upload(file) {
    if (busy) return;
    busy = true;
    zone.setAttribute("aria-busy", "true");
    await studio.attempt(null, async () => {
      studio.say(`Reading ${file.name} (${size(file.size)}) …`);
      const query = new URLSearchParams({ name: file.name, ...reading() });
      opened(await studio.call("POST", `/api/projects/upload?${query}`, file));
    });
    busy = false;
    zone.removeAttribute("aria-busy");
    chooser.value = "";
  }

  chooser.addEventListener("change", () => { if (chooser.files.length) upload(chooser.files[0]); });
  zone.addEventListener("submit", (event) => event.preventDefault());

  // A file that misses the zone must not replace the page.
  for (const kind of ["dragover", "drop"]) window.addEventListener(kind, (event) => event.preventDefault());
  for (const kind of ["dragenter", "dragover"]) zone.addEventListener(kind, () => zone.classList.add("over"));
  for (const kind of ["dragleave", "drop"]) zone.addEventListener(kind, () => zone.classList.remove("over"));
  zone.addEventListener("drop", (event) => {
    const files = event.dataTransfer.files;
    if (files.length === 1) upload(files[0]);
    else studio.say(files.length ? "One file at a time, please." : "That was no file. Drop a CSV, Excel or Parquet file.", true);
  });

  byId("open-path").addEventListener("submit", (event) => {
    event.preventDefault();
    studio.attempt(event.submitter, async () => {
      const path = byId("path").value.trim();
      opened(await studio.call("POST", "/api/projects/path", { path, ...reading() }));
    });
  });

  byId("open-sample").addEventListener("click", (event) => {
    studio.attempt(event.currentTarget, async () => opened(await studio.call("POST", "/api/projects/sample")));
  });

  const open = byId("open-tables");
  if (open) open.addEventListener("click", (event) => {
    const button = event.target.closest("button[name=close]");
    if (!button) return;
    const question = `Close ${button.dataset.name}? Its settings and runs are removed. Your own file stays as it is.`;
    if (!confirm(question)) return;
    studio.attempt(button, async () => {
      await studio.call("DELETE", `/api/projects/${encodeURIComponent(button.closest("li").dataset.open)}`);
      location.reload();
    });
  });
}
