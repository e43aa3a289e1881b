// Corrections made on the main page teach the tile set in use: once the hand has been left alone for a moment, each corrected
// piece is sent, cut out of the photo; what was corrected again, or undone, is taken back.

import { ApiError, call } from "/static/js/api.js";
import { byId } from "/static/js/dom.js";
import { t } from "/static/js/i18n.js";
import { isCard } from "/static/js/tiles.js";
import { chooseSet, chosenSet, learns, setLearns } from "/teach/choice.js";

const AFTER_MS = 2500;
const MARGIN = 0.6; // around the piece, in its own size: the reader wants to see what lies beside it
const KEPT = "companion.corrections";

export class Learner {
  #store;
  #timer = 0;
  #busy = false;
  #sent; // {photo: id of the photo, pieces: {piece id: {piece, set, picture}}}

  constructor(store) {
    this.#store = store;
    this.#sent = load();
    store.subscribe(() => this.#later());
    byId("learn").checked = learns();
    byId("learn").addEventListener("change", () => this.#switch(byId("learn").checked));
    this.#tell();
    // Back from the teaching page, another set may be in use.
    addEventListener("pageshow", () => this.#tell());
  }

  // ---- the switch below the photo ----

  async #switch(on) {
    try {
      // Who never named a set has one all the same.
      if (on && !(await setInUse())) chooseSet((await make(t("learn.set"))).key);
      setLearns(on);
    } catch (error) {
      byId("learn").checked = learns();
      return note(error instanceof ApiError ? error.message : t("error.failed"));
    }
    await this.#tell();
    this.#later();
  }

  async #tell() {
    byId("learn").checked = learns();
    if (!chosenSet()) return note("");
    try {
      const set = await setInUse();
      note(set ? t(learns() ? "learn.note" : "learn.using", { name: set.name }) : "");
    } catch {
      note(""); // no answer: the reading will tell
    }
  }

  // ---- sending ----

  #later() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#settle(), AFTER_MS);
  }

  async #settle() {
    if (this.#busy) return this.#later();
    const { state, preview } = this.#store;
    const { photo } = state;
    if (!photo || !preview) return;
    if (this.#sent.photo !== photo.id) this.#sent = { photo: photo.id, pieces: {} };
    const set = learns() ? chosenSet() : null;
    const wanted = new Map(
      state.pieces
        .filter(({ quad, candidates, piece, checked }) => quad && checked && piece !== "back" && !isCard(piece) && candidates[0] && ![piece, "back"].includes(candidates[0].piece))
        .map((piece) => [piece.id, piece]),
    );
    this.#busy = true;
    try {
      for (const [id, { piece, set: key, picture }] of Object.entries(this.#sent.pieces)) {
        if (wanted.get(id)?.piece === piece) continue;
        await fetch(`/api/sets/${key}/pictures/${picture}`, { method: "DELETE" });
        delete this.#sent.pieces[id];
      }
      for (const [id, piece] of wanted) {
        if (!set || this.#sent.pieces[id]) continue;
        const picture = await send(set, photo, preview, piece);
        if (picture) this.#sent.pieces[id] = { piece: piece.piece, set, picture };
      }
    } catch {
      // No answer: the next change tries again.
    } finally {
      this.#busy = false;
      keep(this.#sent);
    }
  }
}

/** The tile set in use, {key, name, ...}; null for none, or one that was forgotten. */
async function setInUse() {
  if (!chosenSet()) return null;
  const { sets } = await call("/api/sets");
  return sets.find(({ key }) => key === chosenSet()) ?? null;
}

const make = (name) =>
  call("/api/sets", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ name }) });

function note(text) {
  byId("learn-note").textContent = text;
  byId("learn-note").hidden = text === "";
}

/** Sends one corrected piece; the key under which it is kept, or null. */
async function send(set, photo, url, { quad, piece }) {
  const image = new Image();
  image.src = url;
  await image.decode();
  const scale = image.naturalWidth / photo.width;
  const corners = quad.map((point) => point.map((value) => value * scale));
  const [xs, ys] = [0, 1].map((axis) => corners.map((point) => point[axis]));
  const [low, high] = [Math.min, Math.max].map((pick) => [pick(...xs), pick(...ys)]);
  const margin = MARGIN * Math.max(high[0] - low[0], high[1] - low[1]);
  const left = Math.max(0, Math.floor(low[0] - margin));
  const top = Math.max(0, Math.floor(low[1] - margin));
  const canvas = document.createElement("canvas");
  canvas.width = Math.max(40, Math.min(image.naturalWidth, Math.ceil(high[0] + margin)) - left);
  canvas.height = Math.max(40, Math.min(image.naturalHeight, Math.ceil(high[1] + margin)) - top);
  canvas.getContext("2d").drawImage(image, -left, -top);
  const picture = await new Promise((done) => canvas.toBlob(done, "image/png"));
  if (!picture) return null;
  const form = new FormData();
  form.append("picture", picture, "piece.png");
  const where = corners.map(([x, y]) => [x - left, y - top]);
  form.append("correction", JSON.stringify({ piece, quad: where, photo: photo.id }));
  const answer = await fetch(`/api/sets/${set}/corrections`, { method: "POST", body: form });
  return answer.ok ? (await answer.json()).picture : null;
}

function load() {
  try {
    return JSON.parse(sessionStorage.getItem(KEPT)) ?? { photo: null, pieces: {} };
  } catch {
    return { photo: null, pieces: {} };
  }
}

function keep(sent) {
  try {
    sessionStorage.setItem(KEPT, JSON.stringify(sent));
  } catch {
    // Storage is off or full: what was sent can still be deleted on the teaching page.
  }
}
