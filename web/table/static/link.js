// The page's link to its table: follows it by version, and sends what was done, in order, once, whatever the connection does.

import { ApiError, call } from "/static/js/api.js";

const FOLLOW_MS = 1500;
const SLOW_MS = 5000; // after a failure
const HIDDEN_MS = 15000;
const PATIENCE_MS = 12000; // a connection that slept away must not hold up the next one

export const post = (body) => ({ method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });

const inTime = () => ({ signal: AbortSignal.timeout?.(PATIENCE_MS) });

/** Random, never used twice: who has it may send the same thing again. Works without https, too. */
export function newKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
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

  /** on: {change(), refused(action, message), lost(error)}. */
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

  get #store() {
    return `companion.queue.${this.#id}`;
  }

  #keep(waiting) {
    try {
      if (waiting.length > 0) localStorage.setItem(this.#store, JSON.stringify(waiting));
      else localStorage.removeItem(this.#store);
      this.#unkept = null;
    } catch {
      this.#unkept = waiting; // storage is switched off or full: it lasts as long as the page does
    }
  }

  /** Do something at the table: kept on this device until the table has it. */
  async act(action) {
    this.#keep([...this.waiting, { key: newKey(), action }]);
    this.#on.change();
    await this.now();
  }

  /** Send what waits, and look what is new. */
  async now() {
    clearTimeout(this.#timer);
    await this.#send();
    await this.#follow();
    clearTimeout(this.#timer);
    const pause = document.hidden ? HIDDEN_MS : this.offline ? SLOW_MS : FOLLOW_MS;
    this.#timer = setTimeout(() => this.now(), pause);
  }

  async #send() {
    if (this.#sending) return;
    this.#sending = true;
    try {
      for (let [next] = this.waiting; next; [next] = this.waiting) {
        let told = null;
        try {
          told = await call(`${this.path}/actions`, { ...post({ ...next, since: this.table?.version ?? 0 }), ...inTime() });
        } catch (error) {
          if (!(error instanceof ApiError)) throw error;
          if (error.kind !== "refused") return this.#failed();
          this.#done(next.key);
          this.#on.refused(next.action, error.message);
          continue;
        }
        this.#done(next.key);
        this.#take(told);
      }
    } finally {
      this.#sending = false;
    }
  }

  #done(key) {
    this.#keep(this.waiting.filter((one) => one.key !== key));
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
