"use strict";
// Promises: what a setting allows is asked of the server while a slider moves; what is promised is saved at once.

{
  const SVG = "http://www.w3.org/2000/svg";
  const byId = (id) => document.getElementById(id);
  const chosen = byId("chosen");
  const about = byId("about");

  const element = (name, text, className) => {
    const made = document.createElement(name);
    if (text !== undefined) made.textContent = text;
    if (className) made.className = className;
    return made;
  };

  function drawn(name, attributes) {
    const made = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    return made;
  }

  // From the share that everybody may know to the ceiling, on a scale from 0 to 100 %.
  function belief(found) {
    const item = element("li");
    const picture = drawn("svg", { class: "belief", viewBox: "0 0 100 8", preserveAspectRatio: "none", "aria-hidden": "true" });
    const share = 100 * found.share;
    const ceiling = Math.max(100 * found.ceiling, share);
    picture.append(
      drawn("rect", { class: "track", width: 100, height: 8 }),
      drawn("rect", { class: "rise", width: Math.max(ceiling, 0.6), height: 8 }),
      drawn("rect", { class: "full", width: Math.max(share, 0.3), height: 8 }),
    );
    item.append(element("span", found.sentence), picture);
    return item;
  }

  const number = (value) => String(Number(Number(value).toPrecision(12)));
  const prefix = (card) => (about && about.value && card.dataset.about ? `${about.value}=` : "");

  function written(card) {
    if (card.id === "written") return byId("text").value.trim();
    const value = number(card.querySelector("[name=number]").value);
    return prefix(card) + card.dataset.text.replace("{value}", value);
  }

  // The number in a text such as l-diversity:9, if this card's slider can show it.
  function valueIn(card, text) {
    if (!card.dataset.text) return null;
    const start = card.dataset.text.replace("{value}", "");
    const rest = text.startsWith(start) ? text.slice(start.length) : "";
    return /^[0-9.]+$/.test(rest) ? rest : null;
  }

  function use(card, text) {
    const value = valueIn(card, text);
    if (value !== null) {
      card.querySelector("[name=number]").value = value;
      card.querySelector("[name=slider]").value = value;
      show(card);
      card.querySelector("[name=number]").focus();
      return;
    }
    const known = /^([^:]*=)?[a-z-]+(:|$)/.test(text);
    byId("text").value = (known && !text.includes("=") ? prefix(card) : "") + text;
    show(byId("written"));
    byId("text").focus();
  }

  async function show(card) {
    const place = card.querySelector(".allows");
    const add = card.querySelector("[name=add]");
    const text = written(card);
    card.dataset.asked = text;
    // The button stays as it is while the answer is on its way: a click in between is not lost, and the server checks.
    if (!text) { place.replaceChildren(); add.disabled = true; return; }
    let found;
    try {
      found = await studio.call("GET", studio.api(`/allows?${new URLSearchParams({ model: text })}`));
    } catch (error) {
      found = { feasible: false, reason: error.message, nearest: null };
    }
    // An answer that another movement has overtaken.
    if (card.dataset.asked !== text) return;
    const parts = [];
    if (found.feasible) {
      for (const sentence of found.sentences) parts.push(element("p", sentence));
      if (found.beliefs.length) {
        const list = element("ul", undefined, "beliefs");
        list.append(...found.beliefs.map(belief));
        parts.push(list);
      }
      for (const caution of found.cautions) parts.push(element("p", caution, "note"));
    } else {
      parts.push(element("p", found.reason, "bad"));
      if (found.nearest) {
        const button = element("button", `Use ${found.nearest}`, "plain small");
        button.type = "button";
        button.name = "nearest";
        button.addEventListener("click", () => use(card, found.nearest));
        parts.push(button);
      }
    }
    place.replaceChildren(...parts);
    add.disabled = !found.feasible;
    mark(card);
  }

  // Whether a card says what is promised already.
  function mark(card) {
    const add = card.querySelector("[name=add]");
    const promised = models().includes(written(card));
    add.textContent = promised ? "Promised" : "Promise this";
    add.classList.toggle("plain", promised);
  }

  const models = () => [...chosen.children].map((item) => item.dataset.model);
  const adversary = () => document.querySelector("[name=adversary]:checked").value;

  async function save(texts) {
    const project = await studio.call("PUT", studio.api("/promise"), { models: texts, adversary: adversary() });
    chosen.replaceChildren(...project.models.map((text) => {
      const item = element("li");
      item.dataset.model = text;
      const remove = element("button", "Remove", "danger small");
      remove.type = "button";
      remove.name = "remove";
      remove.setAttribute("aria-label", `Remove ${text}`);
      item.append(element("code", text), " ", element("span", "", "quiet sentence"), remove);
      return item;
    }));
    byId("none").hidden = project.models.length > 0;
    byId("next").disabled = project.models.length === 0;
    document.querySelectorAll(".promise").forEach(mark);
    explain();
  }

  // The sentences of what is chosen.
  function explain() {
    for (const item of chosen.children) {
      studio.call("GET", studio.api(`/allows?${new URLSearchParams({ model: item.dataset.model })}`))
        .then((found) => { item.querySelector(".sentence").textContent = found.feasible ? found.sentences.join(" ") : found.reason; })
        .catch(() => {});
    }
  }

  for (const card of document.querySelectorAll(".promise")) {
    const soon = studio.later(() => show(card), 60);
    // Only what the user moves is read out, not what the page begins with.
    const moved = () => { card.querySelector(".allows").setAttribute("aria-live", "polite"); soon(); };
    const slider = card.querySelector("[name=slider]");
    const field = card.querySelector("[name=number]");
    if (slider) {
      slider.addEventListener("input", () => { field.value = number(slider.value); moved(); });
      field.addEventListener("input", () => { if (field.value) { slider.value = field.value; moved(); } });
      // What is promised already is where its slider begins; a browser may keep another place over a reload.
      const promised = models().map((text) => valueIn(card, text)).find((value) => value !== null);
      slider.value = promised || slider.defaultValue;
      field.value = promised || number(slider.value);
    } else {
      card.addEventListener("input", moved);
      card.addEventListener("submit", (event) => { event.preventDefault(); show(card); });
      card.addEventListener("click", (event) => {
        const example = event.target.closest("[name=example]");
        if (example) { byId("text").value = example.value; moved(); byId("text").focus(); }
      });
    }
    card.querySelector("[name=add]").addEventListener("click", (event) => studio.attempt(event.currentTarget, async () => {
      const text = written(card);
      // A model that is promised already gets the new number.
      const others = models().filter((one) => one !== text && (!slider || valueIn(card, one.slice(prefix(card).length)) === null
        || !one.startsWith(prefix(card))));
      await save([...others, text]);
      studio.say(`Promised: ${text}`);
    }));
    show(card);
  }

  const start = document.querySelector("[name=start]");
  if (start) start.addEventListener("click", () => studio.attempt(start, async () => {
    const texts = [...document.querySelectorAll("#start .recommended")].map((code) => code.textContent);
    await save(texts);
    studio.say(`Promised: ${texts.join(", ")}`);
  }));

  if (about) about.addEventListener("change", () => document.querySelectorAll(".promise").forEach((card) => show(card)));

  if (chosen) {
    explain();
    chosen.addEventListener("click", (event) => {
      const button = event.target.closest("[name=remove]");
      if (!button) return;
      const gone = button.closest("li").dataset.model;
      studio.attempt(button, async () => {
        await save(models().filter((text) => text !== gone));
        byId("chosen-title").scrollIntoView({ block: "nearest" });
        (chosen.querySelector("button") || document.querySelector("[name=slider]")).focus();
      });
    });
    byId("adversary").addEventListener("change", () => studio.attempt(null, () => save(models())));
    byId("next").addEventListener("click", () => studio.go("method"));
  }
}
