/* A page that was opened from a folder may not start a worker, and the search runs in one. Here a hidden frame plays
   the worker: it loads the same script, and messages go to and fro. Pages from a server keep real workers. */
(function () {
  "use strict";
  if (location.protocol !== "file:") return;

  function FrameWorker(url) {
    const outside = new EventTarget();
    const waiting = [];
    const frame = document.createElement("iframe");
    let inside = null;
    frame.hidden = true;
    outside.onmessage = outside.onerror = null;

    function tell(target, data) {
      const event = new MessageEvent("message", { data: data });
      target.dispatchEvent(event);
      if (typeof target.onmessage === "function") target.onmessage(event);
    }
    outside.postMessage = function (data) {
      if (inside === null) waiting.push(data);
      else setTimeout(tell, 0, inside, data);
    };
    outside.terminate = function () { frame.remove(); };

    frame.addEventListener("load", function () {
      const room = frame.contentWindow;
      if (inside !== null || room === null) return;
      room.postMessage = function (data) { setTimeout(tell, 0, outside, data); };
      room.importScripts = function () {
        return Array.from(arguments).reduce(function (before, address) {
          return before.then(function () { return load(room, address); });
        }, Promise.resolve());
      };
      load(room, url).then(function () {
        inside = room;
        waiting.splice(0).forEach(outside.postMessage);
      });
    });
    document.body.appendChild(frame);
    return outside;
  }

  function load(room, address) {
    return new Promise(function (done, failed) {
      const script = room.document.createElement("script");
      script.src = new URL(address, location.href).href;
      script.onload = done;
      script.onerror = function () { failed(new Error("cannot load " + address)); };
      room.document.body.appendChild(script);
    });
  }

  window.Worker = FrameWorker;
})();
