"use strict";
// Columns: every change is saved at once; what depends on it is taken from the page as the server now makes it.

{
  const HINTS = {
    intervals: "lengths from short to long: 10, 50",
    prefixes: "characters that are kept: 3, 2",
    frequent: "least number of persons of a value that keeps its name: 20",
    dates: "from fine to coarse, of day, month, quarter, year, decade; or week alone",
  };
  const table = document.querySelector("table.columns");
  const part = (row, name) => row.querySelector(`[name=${name}]`);
  const settings = (row) => JSON.parse(row.dataset.settings);

  // Put what the server shows now into everything that is marked as depending on other settings.
  async function refresh() {
    const reply = await fetch(location.href);
    if (!reply.ok) return;
    const page = new DOMParser().parseFromString(await reply.text(), "text/html");
    for (const fresh of page.querySelectorAll("[data-fresh]")) {
      const old = document.querySelector(`[data-fresh="${CSS.escape(fresh.dataset.fresh)}"]`);
      // A form differs by its choices, too.
      const same = old && old.querySelector("form") ? old.isEqualNode(fresh) : old?.textContent === fresh.textContent;
      if (old && !same) old.replaceChildren(...fresh.childNodes);
    }
  }

  function refuse(row, sentence) {
    const line = row.querySelector(".refused");
    line.textContent = sentence;
    line.hidden = !sentence;
    row.classList.toggle("unsaved", Boolean(sentence));
  }

  // Show what belongs to the choices in this row.
  function arrange(row) {
    const role = part(row, "role").value;
    const kind = part(row, "kind").value;
    const form = part(row, "form").value;
    row.dataset.role = role;
    row.querySelector(".settings").hidden = role !== "quasi-identifier" && role !== "sensitive";
    row.querySelector(".prepare").hidden = role !== "sensitive" && role !== "carried";
    row.querySelector(".order").hidden = kind !== "ordered";
    row.querySelector(".grouping").hidden = kind === "ordered";
    row.querySelector(".levels").hidden = !form || form === "tree";
    row.querySelector(".tree").hidden = form !== "tree";
    row.querySelector(".longest").hidden = kind === "ordered" || kind === "numeric" || Boolean(form);
    row.querySelector(".hint").textContent = HINTS[form] || "";
  }

  // One after the other, so that the last choice is the one that stays.
  let queue = Promise.resolve();
  function save(row, changes) {
    const button = document.activeElement;
    queue = queue.then(async () => {
      const column = { name: row.dataset.column, ...settings(row), ...changes };
      try {
        const found = await studio.call("PUT", studio.api("/columns"), { columns: [column] });
        const now = found.columns.find((one) => one.name === column.name);
        row.dataset.settings = JSON.stringify({
          role: now.role, kind: now.kind, weight: now.weight, taxonomy: now.taxonomy,
          longest_set: now.longest_set, keep_identifiers: now.keep_identifiers,
          carry_anyway: now.carry_anyway,
        });
        part(row, "coarsen").value = now.coarsen;
        refuse(row, "");
        studio.say("");
        await refresh();
        if (button && !button.isConnected) part(row, "role").focus();
      } catch (error) {
        refuse(row, `Not saved. ${error.message}`);
      }
    });
    return queue;
  }

  const typed = (row) => {
    const form = part(row, "form").value;
    return { column: row.dataset.column, form, text: part(row, form === "tree" ? "tree" : "levels").value };
  };

  // Text in the fields as a taxonomy; null: none. Shows its levels.
  async function understood(row) {
    const shown = row.querySelector(".shown");
    shown.replaceChildren();
    if (!part(row, "form").value) return null;
    const found = await studio.call("POST", studio.api("/taxonomy"), typed(row));
    part(row, found.taxonomy.tree === undefined ? "levels" : "tree").value = found.text;
    const list = document.createElement("ol");
    for (const level of found.levels) {
      const item = document.createElement("li");
      const examples = level.examples.map((one) => `${one.label} (${one.records.toLocaleString("en")} rows)`).join(", ");
      const more = level.groups > level.examples.length ? ", …" : "";
      item.textContent = `${level.groups.toLocaleString("en")} ${level.groups === 1 ? "group" : "groups"}: ${examples}${more}`;
      list.append(item);
    }
    shown.append(list);
    return found.taxonomy;
  }

  // Do something with the fields of a row; what is wrong with them is said in the row.
  async function withFields(row, button, action) {
    button.disabled = true;
    try {
      refuse(row, "");
      await action();
    } catch (error) {
      const shown = row.querySelector(".shown");
      shown.replaceChildren();
      refuse(row, error.message);
    } finally {
      button.disabled = false;
      button.focus();
    }
  }

  const group = (row, button) => withFields(row, button, async () => {
    const taxonomy = await understood(row);
    // Groups make a column one of categories; without them its values decide.
    const kind = taxonomy ? "categorical" : null;
    part(row, "kind").value = kind || "";
    arrange(row);
    await save(row, { taxonomy, kind });
  });

  const DOES = {
    take: (row, button) => { part(row, "role").value = button.value; arrange(row); save(row, { role: button.value }); },
    look: (row, button) => withFields(row, button, () => understood(row)),
    group,
    hint: (row, button) => {
      part(row, "form").value = button.dataset.form;
      part(row, "levels").value = button.dataset.text;
      arrange(row);
      group(row, button);
    },
    reorder: (row) => {
      const order = part(row, "order").value.split("\n").map((line) => line.trim()).filter(Boolean);
      save(row, { kind: "ordered", taxonomy: null, order });
    },
  };

  table.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (button && DOES[button.name]) DOES[button.name](button.closest("tr"), button);
  });

  table.addEventListener("change", (event) => {
    const row = event.target.closest("tr");
    const name = event.target.name;
    if (name === "role" || name === "kind" || name === "form") arrange(row);
    if (name === "keeps") save(row, { keep_identifiers: event.target.checked });
    if (name === "anyway") save(row, { carry_anyway: event.target.checked });
    if (name === "longest") save(row, { longest_set: event.target.value === "" ? 100 : Number(event.target.value) });
    if (name === "role" && event.target.value) save(row, { role: event.target.value });
    if (name === "coarsen") save(row, { coarsen: event.target.value });
    if (name === "kind") {
      const kind = event.target.value || null;
      // Numbers and orders are made coarser freely; fixed groups are for categories.
      const keeps = kind === "categorical" || kind === null;
      if (!keeps) { part(row, "form").value = ""; arrange(row); row.querySelector(".shown").replaceChildren(); }
      save(row, keeps ? { kind } : { kind, taxonomy: null });
    }
    if (name === "form") {
      if (!event.target.value) group(row, event.target);
      // A tree begins with all values under one root.
      else if (event.target.value === "tree" && !part(row, "tree").value) {
        withFields(row, event.target, () => understood(row));
      } else if (event.target.value !== "tree") part(row, "levels").value = "";
    }
  });

  // Enter in the field of steps is as good as the button.
  table.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && event.target.name === "levels") {
      event.preventDefault();
      const row = event.target.closest("tr");
      group(row, event.target);
    }
  });

  // Whose rows these are: what is chosen is saved at once; the server says what it means, and what it refuses.
  const persons = document.getElementById("persons");
  const valueOf = (id) => persons.querySelector(`#${id}`)?.value ?? "";

  function savePersons(settings) {
    const held = document.activeElement?.id;
    queue = queue.then(async () => {
      try {
        await studio.call("PUT", studio.api("/persons"), settings);
        studio.say("");
        await refresh();
        // What is typed decides what else can be chosen, so the form comes anew: the keyboard stays where it was.
        (held && document.getElementById(held) || persons.querySelector("button"))?.focus();
      } catch (error) {
        const line = document.getElementById("persons-refused");
        if (!line) { studio.say(error.message, true); return; }
        line.textContent = `Not saved. ${error.message}`;
        line.hidden = false;
      }
    });
  }

  persons.addEventListener("click", (event) => {
    if (event.target.id === "rows-are-persons") savePersons({ rows_are_persons: true });
    if (event.target.id === "take-back") savePersons({});
    if (event.target.id === "declare-person") {
      const name = event.target.dataset.column;
      const row = [...table.tBodies[0].rows].find((one) => one.dataset.column === name);
      part(row, "role").value = "person";
      arrange(row);
      save(row, { role: "person" });
    }
  });

  persons.addEventListener("change", () => {
    const rows = persons.querySelector("input[name=rows]:checked").value;
    const contribution = rows === "one" ? null : Number(valueOf("contribution")) || null;
    const limited = rows === "one" || contribution !== null;
    const known = persons.querySelector("#number-known");
    savePersons({
      rows,
      contribution,
      keep: limited ? valueOf("keep") || "random" : "random",
      number_known: known ? known.checked : true,
    });
  });

  persons.addEventListener("submit", (event) => event.preventDefault());

  document.getElementById("next").addEventListener("click", async (event) => {
    event.preventDefault();
    await queue;
    const row = document.querySelector("tr.unsaved");
    if (!row) { studio.go("promise"); return; }
    studio.say(`A change to ${row.querySelector(".name").textContent} is not saved: see there.`, true);
    row.scrollIntoView({ block: "center" });
    part(row, "role").focus();
  });

  // A browser keeps choices over a reload; the server's are the ones that count.
  for (const row of table.tBodies[0].rows) {
    part(row, "role").value = settings(row).role || "";
    part(row, "kind").value = settings(row).kind || "";
    arrange(row);
  }
}
