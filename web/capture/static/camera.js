// Live preview: small frames go to the server one after the other, which says what it sees and what is wrong with the
// view; when it is sure, the shot is taken by itself. The shot then goes the way of every photo.

import { byId, svg } from "/static/js/dom.js";
import { ApiError, see } from "/static/js/api.js";
import { t } from "/static/js/i18n.js";
import { nameOf } from "/static/js/tiles.js";
import { chosenSet } from "/teach/choice.js";
import { label } from "./photo.js";

const FRAME_SIDE = 960; // as sharp as the reader needs it, and some 100 kB
const FRAME_QUALITY = 0.8;
const SHOT_QUALITY = 0.92;
const LEAST_MS = 110; // between frames: more than nine a second would only heat the phone
const RETRY_MS = 700;
const TELL_TROUBLE_AFTER = 3; // frames in a row that got no answer
const STILL_MS = 2500; // a phone that takes longer for a photo gives the picture of the video instead

// Frames have the size of a photo where the camera can; the still is taken from them when there is no better way.
const WANTED = { facingMode: { ideal: "environment" }, width: { ideal: 2560 }, height: { ideal: 1920 } };

const FAULTS = {
  NotAllowedError: "camera.denied",
  SecurityError: "camera.denied",
  NotReadableError: "camera.taken",
  AbortError: "camera.taken",
};

export const hasCamera = () => Boolean(navigator.mediaDevices?.getUserMedia);

export class Camera {
  #dialog = byId("camera");
  #video = byId("camera-video");
  #options;
  #run = null; // AbortController of this preview
  #stream = null;
  #lock = null;
  #shooting = false;

  /** rules(): those in force; settings(): their {options, context}; onshot(photo). */
  constructor(options) {
    this.#options = options;
    for (const button of document.querySelectorAll("[data-do=live]")) {
      button.hidden = !hasCamera();
      button.addEventListener("click", () => this.open());
    }
    byId("camera-shutter").addEventListener("click", () => this.#run && this.#shoot(this.#run));
    byId("camera-close").addEventListener("click", () => this.close());
    byId("camera-retry").addEventListener("click", () => this.open());
    byId("camera-torch").addEventListener("click", () => this.#toggleTorch());
    this.#dialog.addEventListener("close", () => this.#release());
    // A page out of sight keeps no camera.
    document.addEventListener("visibilitychange", () => document.hidden && this.close());
    addEventListener("pagehide", () => this.close());
  }

  async open() {
    this.#release();
    const run = (this.#run = new AbortController());
    byId("camera-failed").hidden = true;
    byId("camera-shutter").disabled = true;
    byId("camera-torch").hidden = true;
    this.#tell(t("camera.starting"));
    if (!this.#dialog.open) this.#dialog.showModal();
    try {
      const stream = await navigator.mediaDevices.getUserMedia({ video: WANTED, audio: false });
      if (run.signal.aborted) return stream.getTracks().forEach((track) => track.stop());
      this.#stream = stream;
      const [track] = stream.getVideoTracks();
      track.addEventListener("ended", () => !run.signal.aborted && this.#fail(t("camera.lost")));
      this.#video.srcObject = stream;
      await this.#video.play();
      byId("camera-torch").hidden = !track.getCapabilities?.().torch;
      byId("camera-torch").setAttribute("aria-pressed", "false");
      byId("camera-shutter").disabled = false;
      this.#stayAwake(run);
      await this.#look(run);
    } catch (error) {
      if (run.signal.aborted) return;
      if (!(error instanceof DOMException)) console.error(error);
      this.#fail(error instanceof DOMException ? t(FAULTS[error.name] ?? "camera.none") : t("error.failed"));
    }
  }

  close() {
    if (this.#dialog.open) this.#dialog.close(); // whose event releases the camera
  }

  #release() {
    this.#run?.abort();
    this.#run = null;
    this.#shooting = false;
    this.#stream?.getTracks().forEach((track) => track.stop());
    this.#stream = null;
    this.#video.srcObject = null;
    this.#lock?.release().catch(() => {});
    this.#lock = null;
    this.#draw(null);
  }

  #fail(message) {
    this.#release();
    byId("camera-shutter").disabled = true;
    this.#tell("");
    byId("camera-message").textContent = message;
    byId("camera-failed").hidden = false;
  }

  async #stayAwake(run) {
    try {
      const lock = await navigator.wakeLock?.request("screen");
      if (run.signal.aborted) await lock?.release();
      else this.#lock = lock ?? null;
    } catch {
      // A battery that runs low refuses it; the preview works all the same.
    }
  }

  async #toggleTorch() {
    const on = byId("camera-torch").getAttribute("aria-pressed") !== "true";
    try {
      await this.#stream?.getVideoTracks()[0].applyConstraints({ advanced: [{ torch: on }] });
      byId("camera-torch").setAttribute("aria-pressed", String(on));
    } catch {
      byId("camera-torch").hidden = true; // it said that it could
    }
  }

  // ---- looking ----

  async #look(run) {
    let state = "";
    let unanswered = 0;
    while (!run.signal.aborted && !this.#shooting) {
      const started = performance.now();
      let pause = LEAST_MS;
      try {
        const frame = await this.#picture(FRAME_SIDE, FRAME_QUALITY);
        const { rules, settings } = this.#options;
        const known = { at: started / 1000, state, rules: rules().name, ...settings(), set: chosenSet() ?? "" };
        const answer = await see(frame, known, run.signal);
        if (run.signal.aborted || this.#shooting) return;
        [state, unanswered] = [answer.state, 0];
        this.#draw(answer);
        this.#tell(words(answer.advice, rules().deck));
        if (answer.sure) return await this.#shoot(run);
      } catch (error) {
        if (run.signal.aborted) return;
        if (!(error instanceof ApiError)) throw error;
        if (error.where === "state") state = "";
        unanswered += 1;
        if (unanswered >= TELL_TROUBLE_AFTER) this.#tell(error.message);
        pause = RETRY_MS;
      }
      await sleep(pause - (performance.now() - started));
    }
  }

  /** The picture in sight as a JPEG, its longer side at most `side` pixels. */
  async #picture(side, quality) {
    const { videoWidth, videoHeight } = this.#video;
    const scale = Math.min(1, side / Math.max(videoWidth, videoHeight, 1));
    const canvas = document.createElement("canvas");
    canvas.width = Math.max(1, Math.round(videoWidth * scale));
    canvas.height = Math.max(1, Math.round(videoHeight * scale));
    canvas.getContext("2d").drawImage(this.#video, 0, 0, canvas.width, canvas.height);
    return new Promise((done, fail) =>
      canvas.toBlob((blob) => (blob ? done(blob) : fail(new Error("the frame could not be encoded"))), "image/jpeg", quality),
    );
  }

  // ---- the shot ----

  async #shoot(run) {
    if (this.#shooting || run.signal.aborted || !this.#stream) return;
    this.#shooting = true;
    byId("camera-shutter").disabled = true;
    this.#tell(t("camera.shooting"));
    try {
      const photo = await this.#still();
      if (run.signal.aborted) return;
      this.close();
      this.#options.onshot(photo);
    } catch (error) {
      console.error(error);
      if (!run.signal.aborted) this.#fail(t("error.failed"));
    }
  }

  /** The best picture the camera can give. */
  async #still() {
    const [track] = this.#stream.getVideoTracks();
    const picture = this.#picture(Infinity, SHOT_QUALITY);
    if (typeof ImageCapture !== "undefined") {
      try {
        const photo = await Promise.race([new ImageCapture(track).takePhoto(), sleep(STILL_MS)]);
        if (photo?.size) return photo;
      } catch {
        // Some cameras only film.
      }
    }
    return picture;
  }

  // ---- showing ----

  #tell(text) {
    const advice = byId("camera-advice");
    if (advice.textContent !== text) advice.textContent = text;
  }

  /** Outlines over the video, and the ring around the shutter; null: none. */
  #draw(answer) {
    const marks = byId("camera-marks");
    byId("camera-ring").setAttribute("stroke-dashoffset", String(100 - 100 * (answer?.progress ?? 0)));
    if (!answer) return marks.replaceChildren();
    const { width, height, pieces } = answer;
    marks.setAttribute("viewBox", `0 0 ${width} ${height}`);
    const unitsPerPx = Math.max(width / (marks.clientWidth || 360), height / (marks.clientHeight || 360));
    marks.replaceChildren(
      ...pieces.map((piece) => {
        const mine = piece.role === "hand" || piece.role === "meld";
        const unsure = mine && piece.doubtful;
        return svg(
          "g",
          { class: `mark mark-${piece.role} ${unsure ? "mark-doubtful" : ""}` },
          svg("polygon", { points: piece.quad.map((point) => point.join(",")).join(" ") }),
          mine && piece.piece !== "back" && label(piece, unsure, false, unitsPerPx),
        );
      }),
    );
  }
}

const sleep = (ms) => new Promise((done) => setTimeout(done, Math.max(0, ms)));

/** What the server advises on pieces of this deck, in the page's language. */
function words({ kind, count, sizes, flowers, pieces }, deck) {
  const choice = new Intl.ListFormat(document.documentElement.lang, { type: "disjunction" });
  const values = {
    count,
    beside: flowers > 0 ? t("camera.flowers", { count: flowers }) : "",
    sizes: choice.format(sizes.map(String)),
    pieces: choice.format(pieces.map(nameOf)),
  };
  return t(`camera.advice.${deck}.${kind}`, values, t(`camera.advice.${kind}`, values));
}
