// The page's link to its table: follows it by version, and sends what was done, in order, once, whatever the connection does.

import { ApiError, call } from "/static/js/api.js";

const FOLLOW_MS = 1500;
const SLOW_MS = 5000; // after a failure
const HIDDEN_MS = 15000;
const TOLD_AFTER = 3; // failures of the server with one and the same thing, until people are told
const PATIENCE_MS = 12000; // a connection that slept away must not hold up the next one

export const post = (body) => ({ method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });

const inTime = () => ({ signal: AbortSignal.timeout?.(PATIENCE_MS) });

/** Random, never used twice: who has it may send the same thing again. Works without https, too. */
export function newKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** The picture of a data URL; pages may not fetch those. */
function pictureOf(url) {
  const bytes = Uint8Array.from(atob(url.split(",")[1]), (letter) => letter.charCodeAt(0));
  return new Blob([bytes], { type: "image/jpeg" });
}

function photoForm(key, { round, seat, url }) {
  const form = new FormData();
  for (const [name, value] of Object.entries({ key, round, seat })) form.append(name, value);
  form.append("photo", pictureOf(url), "round.jpg");
  return { method: "POST", body: form };
}

export class Link {
  table = null; // the newest document, with all `rounds` by number
  rounds = new Map();
  offline = false;
  #id;
  #on;
  #timer = 0;
  #sending = false;
  #following = false;
  #unkept = null;
  #failure = null; // {key, times, message}: what the server failed to take last, and how often in a row

  /** on: {change(), refused(action, message), unkept(message) for a photo, lost(error)}. */
  constructor(id, on) {
    this.#id = id;
    this.#on = on;
    addEventListener("online", () => this.now());
    addEventListener("storage", ({ key }) => key === this.#store && this.now()); // another tab did something
    document.addEventListener("visibilitychange", () => document.hidden || this.now());
    this.now();
  }

  get path() {
    return `/api/tables/${this.#id}`;
  }

  get waiting() {
    if (this.#unkept) return this.#unkept;
    try {
      return JSON.parse(localStorage.getItem(this.#store)) ?? [];
    } catch {
      return [];
    }
  }

  /** Why the first thing that waits is not taken, though the server answers: its words. null while there is hope. */
  get stuck() {
    const failure = this.#failure;
    return failure?.times >= TOLD_AFTER && this.waiting[0]?.key === failure.key ? failure.message : null;
  }

  get #store() {
    return `companion.queue.${this.#id}`;
  }

  #keep(waiting) {
    this.#unkept = null;
    if (this.#stored(waiting)) return;
    this.#unkept = waiting; // storage is switched off or full: it lasts as long as the page does
    this.#stored(waiting.filter(({ photo }) => !photo).map(({ photos: _, ...one }) => one)); // rounds, if not their photos, last longer
  }

  /** Whether the device keeps this. */
  #stored(waiting) {
    try {
      if (waiting.length > 0) localStorage.setItem(this.#store, JSON.stringify(waiting));
      else localStorage.removeItem(this.#store);
      return true;
    } catch {
      return false;
    }
  }

  /**
   * Do something at the table: kept on this device until the table has it. photos: [{round, seat, url}], sent after it and
   * only if the table takes it.
   */
  async act(action, photos = []) {
    this.#keep([...this.waiting, { key: newKey(), at: Date.now(), action, ...(photos.length > 0 && { photos }) }]);
    this.#on.change();
    await this.now();
  }

  /** Give up something that waits: the table shall never have it. */
  async drop(key) {
    this.#done(key);
    this.#on.change();
    await this.now();
  }

  /** Send what waits, and look what is new. */
  async now() {
    clearTimeout(this.#timer);
    await this.#send();
    await this.#follow();
    clearTimeout(this.#timer);
    const pause = document.hidden ? HIDDEN_MS : this.offline || (this.#failure && this.waiting.length > 0) ? SLOW_MS : FOLLOW_MS;
    this.#timer = setTimeout(() => this.now(), pause);
  }

  async #send() {
    if (this.#sending) return;
    this.#sending = true;
    try {
      for (let [next] = this.waiting; next; [next] = this.waiting) {
        let told = null;
        try {
          told = await this.#deliver(next);
        } catch (error) {
          if (!(error instanceof ApiError)) throw error;
          if (error.kind === "offline") return this.#failed();
          if (error.kind === "failed") return this.#count(next.key, error.message);
          this.#done(next.key);
          if (next.photo) this.#on.unkept(error.message);
          else this.#on.refused(next.action, error.message);
          continue;
        }
        this.#done(next.key, (next.photos ?? []).map((photo) => ({ key: newKey(), at: next.at, photo })));
        if (next.photo) this.#reached();
        else this.#take(told);
      }
    } finally {
      this.#sending = false;
    }
  }

  /** waits: {key, at, action, photos} or {key, at, photo}. */
  #deliver({ key, action, photo }) {
    if (photo) return call(`${this.path}/photos`, { ...photoForm(key, photo), ...inTime() });
    return call(`${this.path}/actions`, { ...post({ key, action, since: this.table?.version ?? 0 }), ...inTime() });
  }

  /** The server answered, but failed to take what waits with this key. */
  #count(key, message) {
    const times = this.#failure?.key === key ? this.#failure.times + 1 : 1;
    this.#failure = { key, times, message };
    this.#on.change();
  }

  /** What waited with this key does no more; what follows from it waits in its place. */
  #done(key, following = []) {
    if (this.#failure?.key === key) this.#failure = null;
    this.#keep(this.waiting.flatMap((one) => (one.key === key ? following : [one])));
  }

  async #follow() {
    if (this.#following) return;
    this.#following = true;
    try {
      this.#take(await call(`${this.path}?since=${this.table?.version ?? 0}`, inTime()));
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (error.kind === "refused") this.#on.lost(error);
      else this.#failed();
    } finally {
      this.#following = false;
    }
  }

  #failed() {
    this.offline = true;
    this.#on.change();
  }

  #reached() {
    this.offline = false;
    this.#on.change();
  }

  #take(told) {
    const before = this.table?.version ?? 0;
    const wasOffline = this.offline;
    this.offline = false;
    // An answer that was slow on its way may be older than what is known.
    if (told.version > before && told.rounds !== undefined) {
      const { rounds, rounds_from: first, ...table } = told;
      if (first !== null) {
        for (const number of [...this.rounds.keys()]) if (number >= first) this.rounds.delete(number);
      }
      for (const round of rounds) this.rounds.set(round.number, round);
      this.table = table;
      this.#on.change();
    } else if (wasOffline) this.#on.change();
  }
}
