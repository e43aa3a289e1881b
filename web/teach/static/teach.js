// The teaching page: choose or make a tile set, photograph its tiles in order, check the reading, save, see what it gained.

import { byId, h, renew } from "/static/js/dom.js";
import { ApiError, call } from "/static/js/api.js";
import { loadTexts, t } from "/static/js/i18n.js";
import { SUITS, face, nameOf } from "/static/js/tiles.js";
import { drawPhoto } from "/capture/photo.js";
import { chooseSet, chosenSet, learns, setLearns } from "/teach/choice.js";

const RANKS = { m: "1234567890", p: "1234567890", s: "1234567890", z: "1234567", f: "12345678" };

const send = (method, body) => ({ method, headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });

class Teaching {
  #sets = [];
  #file = null;
  #lesson = null; // {width, height, preview, tiles: [{id, quad, label, piece, confidence, row, leftOut}]}
  #editing = null;

  async start() {
    await this.#loadSets();
    byId("new-set").addEventListener("submit", (event) => {
      event.preventDefault();
      this.#try(async () => {
        const made = await call("/api/sets", send("POST", { name: byId("name").value }));
        byId("name").value = "";
        await this.#choose(made.key);
      });
    });
    byId("learn").checked = learns();
    byId("learn").addEventListener("change", () => setLearns(byId("learn").checked));
    for (const input of document.querySelectorAll("input[type=file]")) {
      input.addEventListener("change", () => {
        const [file] = input.files;
        if (file) this.#try(() => this.#read(file));
        input.value = "";
      });
    }
    byId("save").addEventListener("click", () => this.#try(() => this.#save()));
    for (const id of ["undo", "undo-last"]) byId(id).addEventListener("click", () => this.#act("undo", { method: "POST" }));
    byId("clear").addEventListener("click", () => confirm(t("teach.clear.sure")) && this.#act("pictures", { method: "DELETE" }));
    byId("forget").addEventListener("click", () => this.#forget());
    byId("on").addEventListener("change", () => this.#act("switch", send("PUT", { on: byId("on").checked })));
    byId("sheet-close").addEventListener("click", () => byId("sheet").close());
    byId("sheet").addEventListener("click", (event) => event.target === byId("sheet") && byId("sheet").close());
    addEventListener("resize", () => this.#drawLesson());
  }

  get #set() {
    return this.#sets.find(({ key }) => key === chosenSet()) ?? null;
  }

  /** Does something that may fail, and says so on the page when it does. */
  async #try(action) {
    byId("fault").hidden = true;
    try {
      await action();
    } catch (error) {
      if (!(error instanceof ApiError)) console.error(error);
      byId("fault").textContent = error instanceof ApiError ? error.message : t("error.failed");
      byId("fault").hidden = false;
      byId("fault").scrollIntoView({ block: "nearest" });
    } finally {
      byId("busy").hidden = true;
      byId("save").disabled = false;
    }
  }

  // ---- sets ----

  async #loadSets() {
    ({ sets: this.#sets } = await call("/api/sets"));
    if (!this.#set) chooseSet(null);
    await this.#drawSet();
  }

  async #choose(key) {
    chooseSet(key);
    this.#lesson = null;
    byId("gain").hidden = true;
    await this.#loadSets();
  }

  #act(path, options) {
    return this.#try(async () => {
      await call(`/api/sets/${this.#set.key}/${path}`, options);
      byId("gain").hidden = true;
      await this.#loadSets();
    });
  }

  #forget() {
    if (!confirm(t("teach.forget.sure", { name: this.#set.name }))) return;
    this.#try(async () => {
      await call(`/api/sets/${this.#set.key}`, { method: "DELETE" });
      await this.#choose(null);
    });
  }

  async #drawSet() {
    const set = this.#set;
    const option = (key, text) =>
      h("button", { type: "button", class: "choice", "data-key": `set-${key}`, "aria-pressed": String((set?.key ?? null) === key), onclick: () => this.#try(() => this.#choose(key)) }, text);
    renew(byId("sets"), option(null, t("teach.none")), ...this.#sets.map(({ key, name }) => option(key, name)));
    byId("lesson").hidden = byId("kept").hidden = set === null;
    this.#drawLesson();
    if (!set) return;
    byId("lesson-title").textContent = t("teach.lesson", { name: set.name });
    byId("kept-title").textContent = t("teach.kept", { count: set.tiles, faces: set.faces });
    byId("on").checked = set.on;
    for (const id of ["undo-last", "clear"]) byId(id).disabled = set.tiles === 0;
    const { pictures } = await call(`/api/sets/${set.key}/pictures`);
    renew(byId("pictures"), ...pictures.map((picture) => this.#picture(set, picture)));
  }

  #picture(set, { key, piece, source }) {
    return h(
      "div",
      { class: "picture" },
      h("img", { src: `/api/sets/${set.key}/pictures/${key}.png`, alt: nameOf(piece), width: 64, height: 64, loading: "lazy" }),
      h("span", {}, piece, source === "correction" ? " ✎" : ""),
      h("button", { type: "button", class: "icon-button", "data-key": key, "aria-label": t("teach.delete", { name: nameOf(piece) }), onclick: () => this.#act(`pictures/${key}`, { method: "DELETE" }) }, "✕"),
    );
  }

  // ---- a lesson ----

  async #read(file) {
    this.#lesson = null;
    this.#drawLesson();
    byId("gain").hidden = true;
    byId("busy").hidden = false;
    const form = new FormData();
    form.append("photo", file, file.name);
    const lesson = await call("/api/lessons", { method: "POST", body: form });
    lesson.tiles = lesson.tiles.map((tile, id) => ({ ...tile, id, zone: "hand", checked: tile.piece === tile.label, leftOut: false }));
    this.#file = file;
    this.#lesson = lesson;
    this.#drawLesson();
    byId("check").scrollIntoView({ block: "start" });
  }

  #drawLesson() {
    const lesson = this.#lesson;
    byId("check").hidden = lesson === null;
    if (!lesson) return;
    const kept = lesson.tiles.filter(({ leftOut }) => !leftOut);
    byId("found").textContent = t("teach.found", { count: lesson.tiles.length });
    byId("save").hidden = kept.length === 0;
    const pieces = lesson.tiles.map((tile) => ({ ...tile, piece: tile.label, zone: tile.leftOut ? "other" : "hand", confidence: tile.piece === tile.label ? 1 : 0 }));
    drawPhoto(byId("photo"), { photo: lesson, url: lesson.preview, pieces, winning: null, selected: this.#editing, whole: true, onpick: (id) => this.#edit(id) });
    const rows = grouped(lesson.tiles);
    renew(
      byId("rows"),
      [...rows.values()].map((row) => h("div", { class: "lesson-row" }, row.map((tile) => this.#tile(tile)))),
    );
  }

  #tile({ id, label, piece, leftOut }) {
    const state = [leftOut && "is-left-out", piece !== label && "is-changed"].filter(Boolean).join(" ");
    const spoken = leftOut ? t("teach.left-out", { name: nameOf(label) }) : nameOf(label);
    return h("button", { type: "button", class: `lesson-tile ${state}`, "data-key": `tile-${id}`, "aria-label": spoken, onclick: () => this.#edit(id) }, label);
  }

  #edit(id) {
    const tile = this.#lesson.tiles[id];
    this.#editing = id;
    const done = (change) => {
      Object.assign(tile, change, { checked: true });
      this.#editing = null;
      byId("sheet").close();
      this.#drawLesson();
    };
    byId("sheet-title").textContent = t("teach.which", { number: id + 1 });
    renew(
      byId("sheet-body"),
      SUITS.map((suit) =>
        h(
          "div",
          { class: `keys keys-${suit}`, role: "group", "aria-label": t(`suit.${suit}`) },
          [...RANKS[suit]].map((rank) => {
            const name = rank + suit;
            const chosen = String(name === tile.label && !tile.leftOut);
            return h("button", { type: "button", class: "key", "data-piece": name, "aria-label": nameOf(name), "aria-pressed": chosen, onclick: () => done({ label: name, leftOut: false }) }, face(name), h("span", { "aria-hidden": "true" }, name));
          }),
        ),
      ),
      h("button", { type: "button", class: "button wide", onclick: () => done({ leftOut: true }) }, t("teach.leave")),
    );
    this.#drawLesson();
    byId("sheet").showModal();
  }

  async #save() {
    byId("save").disabled = true;
    const tiles = this.#lesson.tiles.filter(({ leftOut }) => !leftOut).map(({ label, quad }) => ({ piece: label, quad }));
    const form = new FormData();
    form.append("photo", this.#file, this.#file.name);
    form.append("tiles", JSON.stringify(tiles));
    byId("busy").hidden = false;
    const { measure } = await call(`/api/sets/${this.#set.key}/lessons`, { method: "POST", body: form });
    this.#lesson = null;
    await this.#loadSets();
    byId("gain-text").textContent = t(measure.held_out ? "teach.gain" : "teach.gain.same", measure);
    byId("gain").hidden = false;
    byId("gain").scrollIntoView({ block: "nearest" });
  }
}

function grouped(tiles) {
  const rows = new Map();
  for (const tile of tiles) rows.set(tile.row, [...(rows.get(tile.row) ?? []), tile]);
  return rows;
}

async function start() {
  try {
    await loadTexts(document.documentElement.lang);
    await new Teaching().start();
    document.body.classList.remove("is-starting");
  } catch (error) {
    console.error(error);
    document.body.classList.remove("is-starting");
    byId("fault").textContent = t("start.failed");
    byId("fault").hidden = false;
  }
}

start();
