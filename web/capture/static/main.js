// The page's conductor: holds the hand, asks the server after each change, draws what came of it.

import { byId, h, renew } from "/static/js/dom.js";
import * as api from "/static/js/api.js";
import { loadTexts, t } from "/static/js/i18n.js";
import { Camera } from "./camera.js";
import { Errand } from "./errand.js";
import { choiceLabel, drawForm, inForce } from "./forms.js";
import { choices, drawHand, meldFault } from "./hand.js";
import { drawPhoto } from "./photo.js";
import { drawResult, summary } from "./result.js";
import { Sheet } from "./sheet.js";
import { Store, addPiece, find, handDocument, handText, isDoubtful, isPlayed, setHand, settingsOf } from "./state.js";
import { Upload } from "./upload.js";
import { Learner } from "/teach/learn.js";

const ANALYSE_AFTER_MS = 20;
const RETRY_AFTER_MS = 4000;
const TYPE_AFTER_MS = 150;

class Page {
  picking = false; // the next tapped tile is the winning piece
  #ruleSets;
  #selected = null;
  #whole = false;
  #result = null; // the newest answer, for a hand as it was
  #fault = null; // {kind, where, message} in place of an answer
  #asked = null; // AbortController of the question on its way
  #timer = 0;
  #typing = null;

  constructor(document) {
    this.#ruleSets = Object.fromEntries(
      document.rules.map((rules) => [
        rules.name,
        {
          ...rules,
          title: t(`rules.${rules.name}`, {}, rules.title),
          deckPieces: document.decks[rules.deck].map(({ piece }) => piece),
          readable: document.readable_decks.includes(rules.deck),
        },
      ]),
    );
    this.store = new Store(this.#ruleSets);
    new Learner(this.store);
    this.sheet = new Sheet(this);
    this.upload = new Upload({
      onreading: (reading) => this.#takeReading(reading),
      rules: () => this.rules,
      settings: () => this.settings,
      // A hand for a table is of the table's deck; else whatever lies in the photo chooses the game, and the deck of
      // the game in force is only looked for first.
      deck: () => (this.errand?.isOpen ? this.rules.deck : "auto"),
    });
    this.camera = new Camera({
      rules: () => this.rules,
      settings: () => this.settings,
      onshot: (photo) => this.upload.start({ photo, name: "live.jpg" }),
    });
    this.errand = new Errand(this.store, () => this.rules);
    this.store.subscribe(() => this.#changed());
    this.#listen();
    this.#openLinked();
    this.#changed();
    this.#showText();
  }

  /** The hand that the address names, as the rule pages' examples do. */
  #openLinked() {
    const linked = location.hash.match(/^#hand=(.+)/)?.[1];
    if (!linked) return;
    history.replaceState(null, "", location.pathname);
    this.store.takeDocument(JSON.parse(decodeURIComponent(linked)));
  }

  get state() {
    return this.store.state;
  }

  get rules() {
    return this.#ruleSets[this.state.rules];
  }

  /** How the game is played, {options, context}. */
  get settings() {
    const { options, context } = settingsOf(this.state, this.rules);
    return { options, context };
  }

  change(edit) {
    this.store.change(edit);
  }

  /** Told to people who do not see the screen change. */
  say(text) {
    byId("said").textContent = text;
  }

  // ---- what taps do ----

  pick = (id) => {
    if (!this.picking) return this.sheet.openPiece(id);
    this.picking = false;
    if (find(this.state, id)?.zone !== "hand") return this.#draw();
    this.change((draft) => (draft.winning = id));
  };

  togglePicking = () => {
    this.picking = !this.picking;
    this.#draw();
  };

  /** Open the tile keyboard for the hand, or for the meld with this id. */
  add = (meld) => this.sheet.openKeyboard(typeof meld === "string" ? meld : "hand");

  selected = (id) => {
    this.#selected = id;
    this.#drawPhoto();
  };

  /** "What if this wait comes?": it becomes the winning piece. */
  takeWait = (name) => {
    this.change((draft) => {
      draft.winning = addPiece(draft, name).id;
    });
    byId("result").scrollIntoView({ block: "start", behavior: "smooth" });
  };

  #play(rules) {
    if (rules === this.state.rules) return;
    this.#another();
    this.store.chooseRules(rules);
    this.#showText();
  }

  /** Another hand comes: what was begun with this one ends, a text on its way to the server too. */
  #another() {
    this.picking = false;
    this.#typing?.abort();
  }

  #takeReading(reading) {
    this.#another();
    this.#whole = false;
    this.store.takeReading(reading);
    this.#showText();
    byId("photo-card").scrollIntoView({ block: "start" });
    const played = this.state.pieces.filter(isPlayed).length;
    this.say(t("photo.said", { count: played }));
  }

  #listen() {
    const names = Object.values(this.#ruleSets);
    byId("game").replaceChildren(...names.map(({ name, title }) => h("option", { value: name }, t(`rules.${name}.short`, {}, title))));
    byId("game").addEventListener("change", ({ target }) => this.#play(target.value));
    byId("undo").addEventListener("click", () => {
      this.#another();
      this.store.undo();
      this.#showText();
      this.say(t("undo.said"));
    });
    byId("clear").addEventListener("click", () => {
      this.#another();
      this.store.clear();
      this.#showText();
      scrollTo({ top: 0 });
    });
    byId("type").addEventListener("click", () => this.add());
    byId("warnings-close").addEventListener("click", () => this.change((draft) => (draft.photo.warnings = [])));
    byId("strays-drop").addEventListener("click", () => this.change((draft) => Object.assign(draft, this.settings)));
    byId("explain").addEventListener("click", () => {
      const shown = byId("context").classList.toggle("is-explained");
      byId("explain").setAttribute("aria-pressed", String(shown));
    });
    byId("whole").addEventListener("click", () => {
      this.#whole = !this.#whole;
      this.#drawPhoto();
    });
    byId("larger").addEventListener("click", () => {
      const larger = byId("photo-frame").classList.toggle("is-larger");
      byId("larger").setAttribute("aria-pressed", String(larger));
      this.#drawPhoto();
    });
    byId("check").addEventListener("click", () => {
      const first = this.state.pieces.find((piece) => isDoubtful(piece));
      if (first) this.sheet.openPiece(first.id, true);
    });
    byId("status").addEventListener("click", () => {
      if (this.#fault?.kind && this.#fault.kind !== "refused") this.#ask();
      else byId("result").scrollIntoView({ block: "start", behavior: "smooth" });
    });
    byId("text").addEventListener("input", () => this.#type());
    byId("text").addEventListener("blur", () => byId("text-fault").hidden && this.#showText());
    addEventListener("online", () => this.#fault && this.#ask());
    addEventListener("resize", () => this.#drawPhoto());
  }

  // ---- typing notation ----

  #type() {
    this.#typing?.abort();
    const abort = (this.#typing = new AbortController());
    const text = byId("text").value;
    setTimeout(async () => {
      if (abort.signal.aborted) return;
      try {
        const { pieces } = await api.pieces(text, this.rules.deck, abort.signal);
        if (abort.signal.aborted) return;
        this.#textFault(null);
        const names = pieces.map(({ piece }) => piece);
        if (names.slice().sort().join() !== this.#handNames().sort().join()) this.change((draft) => setHand(draft, names));
      } catch (error) {
        if (!abort.signal.aborted) this.#textFault(error, text);
      }
    }, TYPE_AFTER_MS);
  }

  #handNames() {
    return this.state.pieces.filter((piece) => piece.zone === "hand").map((piece) => piece.piece);
  }

  #textFault(error, text = "") {
    const fault = byId("text-fault");
    fault.hidden = error === null;
    byId("text").setAttribute("aria-invalid", String(error !== null));
    if (error === null) return fault.replaceChildren();
    const at = (error.position ?? 0) - 1;
    // The part from the error's place on is underlined, with what stands before it for orientation.
    const shown = at >= 0 ? h("code", {}, text.slice(0, at), h("mark", {}, text.slice(at) || "␣")) : null;
    fault.replaceChildren(...[shown, h("span", {}, error.message)].filter(Boolean));
  }

  #showText() {
    byId("text").value = handText(this.state);
    this.#textFault(null);
  }

  // ---- asking ----

  #changed() {
    clearTimeout(this.#timer);
    this.#asked?.abort();
    this.#asked = null;
    if (document.activeElement !== byId("text")) this.#showText();
    this.#timer = setTimeout(() => this.#ask(), ANALYSE_AFTER_MS);
    this.#draw();
    this.sheet.draw();
  }

  async #ask() {
    clearTimeout(this.#timer);
    this.#asked?.abort();
    const { state, rules } = this;
    if (!state.pieces.some(isPlayed)) return this.#answer(null, null);
    const meld = state.melds.findIndex((one) => meldFault(state, one, rules));
    if (meld >= 0) {
      const message = t("meld.unfinished", { number: meld + 1 });
      return this.#answer(this.#result, { kind: "refused", where: `melds[${meld}]`, message });
    }
    const asked = (this.#asked = new AbortController());
    try {
      const result = await api.analyse(handDocument(state, rules), asked.signal);
      if (!asked.signal.aborted) this.#answer(result, null);
    } catch (error) {
      if (asked.signal.aborted) return;
      if (!(error instanceof api.ApiError)) throw error;
      this.#answer(this.#result, error);
      if (error.kind !== "refused") this.#timer = setTimeout(() => this.#ask(), RETRY_AFTER_MS);
    }
  }

  #answer(result, fault) {
    const settingsAtFault = [fault, this.#fault].some((one) => /^(context|options)/.test(one?.where ?? ""));
    this.#result = result;
    this.#fault = fault;
    this.#asked = null;
    if (settingsAtFault) this.#drawForms();
    this.#drawAnswer();
  }

  // ---- drawing ----

  #draw() {
    const { state } = this;
    const empty = state.pieces.length === 0 && !state.photo;
    document.body.classList.toggle("is-empty", empty);
    byId("undo").disabled = !this.store.canUndo;
    this.#drawGame();
    this.#drawPhoto();
    drawHand(
      {
        tiles: byId("tiles"),
        winning: byId("winning"),
        melds: byId("melds"),
        bonus: byId("bonus"),
        rest: byId("rest"),
        restTiles: byId("rest-tiles"),
        restTitle: byId("rest-title"),
      },
      this,
    );
    byId("count").textContent = t("hand.count", { count: state.pieces.filter((piece) => piece.zone === "hand" || piece.zone === "meld").length });
    this.#drawForms();
    this.#drawAnswer();
  }

  #drawGame() {
    const { rules } = this;
    byId("game").value = rules.name;
    document.body.classList.toggle("is-unreadable", !rules.readable);
    document.body.classList.toggle("is-cards", rules.deck === "four-color");
    for (const id of ["rules-link", "hero-rules"]) byId(id).href = `/rules/${rules.name}`;
    byId("hero-text").textContent = t(rules.readable ? `hero.text.${rules.deck}` : "hero.text.typed");
    byId("text-help").textContent = t(`text.help.${rules.deck}`);
    byId("text").placeholder = t(`text.example.${rules.deck}`);
    renew(
      byId("games"),
      choices(
        Object.values(this.#ruleSets).map(({ name, title }) => ({ value: name, label: title, key: `game-${name}` })),
        rules.name,
        (name) => this.#play(name),
        { "aria-labelledby": "games-title" },
      ),
    );
  }

  #drawPhoto() {
    const { state } = this;
    byId("photo-card").hidden = !state.photo;
    if (!state.photo) return;
    const found = state.pieces.some((piece) => piece.quad !== null);
    byId("photo-card").classList.toggle("is-nothing", !found);
    byId("photo-nothing").hidden = found;
    byId("photo-nothing").textContent = t(`photo.nothing.${this.rules.deck}`);
    drawPhoto(byId("photo"), {
      photo: state.photo,
      url: this.store.preview,
      pieces: state.pieces,
      winning: state.winning,
      selected: this.#selected,
      whole: this.#whole,
      onpick: this.pick,
    });
    byId("whole").setAttribute("aria-pressed", String(this.#whole));
    const unsure = state.pieces.filter((piece) => isDoubtful(piece)).length;
    byId("check").hidden = unsure === 0;
    byId("check").textContent = t("photo.check", { count: unsure });
    byId("warnings-list").replaceChildren(...state.photo.warnings.map((warning) => h("li", {}, warning)));
    byId("warnings").hidden = state.photo.warnings.length === 0;
  }

  #drawForms() {
    const { rules } = this;
    const { options, context, strays } = settingsOf(this.state, rules);
    const set = (group, name, value, plain) =>
      this.change((draft) => {
        if (value === plain) delete draft[group][name];
        else draft[group][name] = value;
      });
    drawForm(byId("context"), {
      rules,
      settings: rules.context,
      group: "context",
      values: inForce(rules.context, context),
      onset: (name, value) => {
        const before = inForce(rules.context, context)[name];
        const plain = rules.context.find((setting) => setting.name === name).default;
        set("context", name, value === before ? plain : value, plain);
      },
      fault: this.#fault,
    });
    const values = inForce(rules.options, options, rules.presets);
    drawForm(byId("options"), {
      rules,
      settings: rules.options,
      group: "options",
      values,
      onset: (name, value) => {
        if (name !== "preset") {
          const { [name]: _, ...others } = options;
          return set("options", name, value, inForce(rules.options, others, rules.presets)[name]);
        }
        this.change((draft) => (draft.options = { preset: value }));
      },
      fault: this.#fault,
    });
    this.#drawStrays(strays);
    byId("readings").hidden = rules.readings.length === 0;
    byId("readings-list").replaceChildren(...rules.readings.map((reading) => h("li", {}, reading)));
    const preset = rules.options.find(({ name }) => name === "preset");
    const own = Object.keys(options).filter((name) => name !== "preset").length;
    byId("options-now").textContent = t(own > 0 ? "options.changed" : "options.preset", {
      preset: preset ? choiceLabel(rules, preset, values.preset) : t("options.plain"),
      count: own,
    });
  }

  /** What the device keeps from another version is told, and goes with one tap. */
  #drawStrays(strays) {
    byId("strays").hidden = strays.length === 0;
    const what = strays.map(({ name, value }) => `${name} ${JSON.stringify(value)}`).join(", ");
    byId("strays-text").textContent = t("options.strays", { count: strays.length, what });
  }

  #drawAnswer() {
    const result = this.#result;
    const fault = this.#fault;
    const status = byId("status");
    byId("result-card").hidden = result === null && fault === null;
    byId("result").hidden = result === null;
    byId("result").classList.toggle("is-old", fault !== null);
    const told = byId("result-fault");
    told.hidden = fault === null;
    told.textContent = fault ? fault.message : "";
    if (result) drawResult(byId("result"), result, this);
    const line = fault
      ? { status: "fault", sign: "!", title: t(fault.kind === "refused" ? "status.refused" : "status.offline"), detail: fault.message }
      : result
        ? summary(result, this.rules)
        : { status: "none", sign: "", title: t("status.none"), detail: "" };
    status.className = `status status-${line.status}`;
    status.replaceChildren(
      h("span", { class: "status-sign", "aria-hidden": "true" }, line.sign),
      h("span", { class: "status-text" }, h("b", {}, line.title), h("span", {}, line.detail)),
    );
    const spoken = `${line.title}. ${line.detail}`;
    if (byId("live").textContent !== spoken) byId("live").textContent = spoken;
  }
}

async function start() {
  try {
    await loadTexts(document.documentElement.lang);
    new Page(await api.rules());
    document.body.classList.remove("is-starting");
  } catch (error) {
    console.error(error);
    byId("start-failed").hidden = false;
  }
}

byId("start-retry").addEventListener("click", () => location.reload());
start();
