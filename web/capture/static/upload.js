// Take, choose or fetch a photo and have it read. One reading at a time; a new photo replaces one still on its way.

import { byId } from "/static/js/dom.js";
import { ApiError, read } from "/static/js/api.js";
import { t } from "/static/js/i18n.js";
import { chosenSet } from "/teach/choice.js";

const MAX_BYTES = Number(document.body.dataset.maxBytes) - 4096; // less what the form around the photo takes
const HUGE_SIDE = 5000;

export class Upload {
  #options;
  #last = null; // what to try again: {photo, name} or {sample: true}
  #abort = null;
  #shown = null; // object URL of the photo being read

  /** onreading(document): a photo was read. rules(): those in force; settings(): their {options, context}; deck(): what lies
   * in a photo, or "auto". */
  constructor(options) {
    this.#options = options;
    for (const input of document.querySelectorAll("input[type=file]")) {
      input.addEventListener("change", () => {
        const [file] = input.files;
        // Cleared at once, so that choosing the same file again is a change again.
        if (file) this.start({ photo: file, name: file.name });
        input.value = "";
      });
    }
    for (const button of document.querySelectorAll("[data-do=sample]")) {
      button.addEventListener("click", () => this.start({ sample: true }));
    }
    byId("upload-retry").addEventListener("click", () => this.#last && this.start(this.#last));
    byId("upload-cancel").addEventListener("click", () => this.#stop());
    byId("upload-close").addEventListener("click", () => this.#stop());
    addEventListener("online", () => this.#failedOffline && this.start(this.#last));
  }

  #failedOffline = false;

  async start(source) {
    this.#stop();
    this.#last = source;
    const abort = new AbortController();
    this.#abort = abort;
    this.#show("busy");
    try {
      const { rules, settings, deck, onreading } = this.#options;
      const { photo, name } = source.sample ? await fetchSample(rules().name, abort.signal) : source;
      if (abort.signal.aborted) return;
      this.#showPhoto(photo);
      const about = { deck: source.sample ? rules().deck : deck(), rules: rules().name, ...settings(), set: chosenSet() };
      const reading = await read(await withinLimit(photo), name, abort.signal, about);
      if (abort.signal.aborted) return;
      this.#stop();
      onreading(reading);
    } catch (error) {
      if (abort.signal.aborted) return;
      this.#abort = null;
      const known = error instanceof ApiError;
      if (!known) console.error(error);
      this.#failedOffline = known && error.kind === "offline";
      byId("upload-retry").hidden = known && error.kind === "refused"; // the same photo would be refused again
      byId("upload-message").textContent = known ? sentence(error.message) : t("error.failed");
      this.#show("failed");
    }
  }

  #stop() {
    this.#abort?.abort();
    this.#abort = null;
    this.#failedOffline = false;
    this.#show(null);
    if (this.#shown) URL.revokeObjectURL(this.#shown);
    this.#shown = null;
  }

  #showPhoto(photo) {
    const image = byId("upload-image");
    this.#shown = URL.createObjectURL(photo);
    image.onload = () => (image.hidden = false);
    image.onerror = () => (image.hidden = true); // HEIC: only the server can show it
    image.src = this.#shown;
  }

  /** what: "busy", "failed" or null. */
  #show(what) {
    byId("upload").hidden = what === null;
    byId("upload-busy").hidden = what !== "busy";
    byId("upload-failed").hidden = what !== "failed";
    if (what === "busy") byId("upload-image").hidden = true;
    if (what !== null) byId("upload").scrollIntoView({ block: "nearest" });
    document.body.classList.toggle("is-reading", what === "busy");
  }
}

const sentence = (text) => text[0].toUpperCase() + text.slice(1) + (/[.!?]$/.test(text) ? "" : ".");

async function fetchSample(rules, signal) {
  const name = `${rules}-hand.jpg`;
  let answer;
  try {
    answer = await fetch(`/static/samples/${name}`, { signal });
  } catch {
    throw new ApiError("offline", t("error.offline"));
  }
  if (!answer.ok) throw new ApiError("failed", t("error.sample"));
  return { photo: await answer.blob(), name };
}

/** The photo as it is; only one too large for the server is made smaller here, when the browser can. */
async function withinLimit(photo) {
  if (photo.size <= MAX_BYTES) return photo;
  try {
    const image = await createImageBitmap(photo);
    const scale = Math.min(1, HUGE_SIDE / Math.max(image.width, image.height));
    const canvas = document.createElement("canvas");
    canvas.width = image.width * scale;
    canvas.height = image.height * scale;
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    const smaller = await new Promise((done) => canvas.toBlob(done, "image/jpeg", 0.92));
    if (smaller && smaller.size <= MAX_BYTES) return smaller;
  } catch {
    // No photo that this browser knows.
  }
  throw new ApiError("refused", t("error.huge", { megabytes: Math.floor(MAX_BYTES / 1024 / 1024) }));
}
