/* A page opened from a file may not start workers. There, this one stands in for them: it runs the worker's script in a
   hidden frame and passes messages both ways, so that the search works without a server. */
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      const scope = frame.contentWindow;
      const load = (source) =>
        new Promise((resolve, reject) => {
          const script = scope.document.createElement("script");
          script.src = source;
          script.onload = resolve;
          script.onerror = () => reject(new Error(`cannot load ${source}`));
          scope.document.head.append(script);
        });
      scope.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      scope.importScripts = (...sources) =>
        sources.reduce((before, source) => before.then(() => load(source)), Promise.resolve());
      this.frame = frame;
      this.loaded = load(new URL(url, location.href).href);
    }

    postMessage(data) {
      this.loaded.then(() => {
        const scope = this.frame.contentWindow;
        scope.dispatchEvent(new scope.MessageEvent("message", { data }));
      });
    }

    terminate() {
      this.frame.remove();
    }
  };
}
