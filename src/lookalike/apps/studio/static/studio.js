"use strict";
// What all pages share: calling the API, saying what went wrong, going on. Text is always set as text, never as markup.

const studio = {
  project: () => document.body.dataset.project,

  // Call the API; answers with the JSON of the reply, or throws an Error with the sentence that it gives.
  async call(method, path, body) {
    const options = { method, headers: {} };
    if (body instanceof Blob) {
      options.body = body;
    } else if (body !== undefined) {
      options.headers["content-type"] = "application/json";
      options.body = JSON.stringify(body);
    }
    let reply;
    try {
      reply = await fetch(path, options);
    } catch {
      throw new Error("The studio does not answer. Is it still running in the terminal?");
    }
    const text = await reply.text();
    let plain = null;
    try { plain = text ? JSON.parse(text) : null; } catch { plain = null; }
    if (!reply.ok) {
      const error = new Error((plain && plain.error) || `The studio answered with ${reply.status}.`);
      error.plain = plain;
      throw error;
    }
    return plain;
  },

  // Say something in the line that screen readers follow.
  say(sentence, bad = false) {
    const line = document.getElementById("said");
    line.textContent = sentence;
    line.hidden = !sentence;
    line.classList.toggle("bad", bad);
    if (sentence && bad) line.scrollIntoView({ block: "nearest" });
  },

  // Do something that may fail, with its button out of use meanwhile.
  async attempt(button, action) {
    const held = button && document.activeElement === button;
    if (button) button.disabled = true;
    studio.say("");
    try {
      return await action();
    } catch (error) {
      studio.say(error.message, true);
      return undefined;
    } finally {
      if (button) button.disabled = false;
      // Going out of use takes the keyboard's place away; give it back unless it went elsewhere.
      if (held && document.activeElement === document.body && button.isConnected) button.focus();
    }
  },

  go(step, query = "") {
    location.href = `/projects/${encodeURIComponent(studio.project())}/${step}${query}`;
  },

  api: (rest) => `/api/projects/${encodeURIComponent(studio.project())}${rest}`,

  // Wait until typing pauses.
  later(action, milliseconds = 150) {
    let timer;
    return (...given) => {
      clearTimeout(timer);
      timer = setTimeout(() => action(...given), milliseconds);
    };
  },
};
