/* Browsers start no worker for a page that was opened from the disk. There its script runs in a frame
   that nobody sees, so that the site's search works without a server. */
if (location.protocol === "file:") {
  window.Worker = class {
    #frame = document.createElement("iframe");
    #waiting = [];

    constructor(url) {
      this.#frame.hidden = true;
      this.#frame.title = "Search";
      document.body.append(this.#frame);
      const inner = this.#frame.contentWindow;
      inner.postMessage = (sent) => {
        const data = structuredClone(sent);
        setTimeout(() => this.onmessage?.({ data }));
      };
      const script = inner.document.createElement("script");
      script.src = url;
      script.onload = () => {
        const sent = this.#waiting;
        this.#waiting = null;
        for (const data of sent) this.postMessage(data);
      };
      script.onerror = () => this.onerror?.(new Event("error"));
      inner.document.body.append(script);
    }

    postMessage(data) {
      if (this.#waiting) this.#waiting.push(data);
      else {
        const inner = this.#frame.contentWindow, copy = structuredClone(data);
        setTimeout(() => inner?.dispatchEvent(new inner.MessageEvent("message", { data: copy })));
      }
    }

    terminate() {
      this.#frame.remove();
    }
  };
}
