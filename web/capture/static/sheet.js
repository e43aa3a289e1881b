// The sheet that comes up from below: correct one piece, or add pieces with the tile keyboard.

import { byId, h, renew } from "/static/js/dom.js";
import { t } from "/static/js/i18n.js";
import { COLOURS, JOKERS, RANKS, SUITS, face, inOrder, isCard, isPiece, nameOf, shortName, suitOf } from "/static/js/tiles.js";
import { choices } from "./hand.js";
import { crop } from "./photo.js";
import {
  addPiece,
  declarable,
  find,
  handPieces,
  inMeld,
  isDoubtful,
  isPlayed,
  movePiece,
  namePiece,
  newMeld,
  removePiece,
} from "./state.js";

const CROP_HEIGHT = 120;
const ALTERNATIVES = 4;

export class Sheet {
  #page;
  #mode = null; // {piece: id, doubtfulOnly} | {add: "hand" | meld id, added: [ids]}
  #dialog = byId("sheet");
  #body = byId("sheet-body");
  #title = byId("sheet-title");

  constructor(page) {
    this.#page = page;
    byId("sheet-close").addEventListener("click", () => this.close());
    this.#dialog.addEventListener("close", () => this.#closed());
    // A tap on the dimmed page beside the sheet closes it.
    this.#dialog.addEventListener("click", (event) => event.target === this.#dialog && this.close());
  }

  /** Id of the piece shown, or null. */
  get piece() {
    return this.#mode?.piece ?? null;
  }

  openPiece(id, doubtfulOnly = false) {
    this.#open({ piece: id, doubtfulOnly });
  }

  openKeyboard(target = "hand") {
    this.#open({ add: target, added: [] });
  }

  close() {
    this.#dialog.close();
  }

  #open(mode) {
    this.#mode = mode;
    this.draw();
    if (!this.#dialog.open) this.#dialog.showModal();
    this.#body.scrollTop = 0;
    this.#page.selected(this.piece);
  }

  #closed() {
    const id = this.piece;
    this.#mode = null;
    this.#page.selected(null);
    // Back to where the reader of the page was: the piece itself, wherever it went.
    if (id !== null) document.querySelector(`.tile[data-key="${CSS.escape(id)}"]`)?.focus({ preventScroll: true });
  }

  /** Draw again after any change; closes when the piece has gone. */
  draw() {
    if (this.#mode === null) return;
    if (this.#mode.add !== undefined) return this.#drawKeyboard();
    const piece = find(this.#page.state, this.#mode.piece);
    if (piece) this.#drawPiece(piece);
    else this.close();
  }

  // ---- one piece ----

  #drawPiece(piece) {
    const { state, rules, store } = this.#page;
    const isBack = piece.piece === "back";
    const name = isBack ? t("piece.back") : nameOf(piece.piece);
    this.#title.textContent = isBack ? name : `${name} · ${piece.piece}`;
    const picture = piece.quad && state.photo && crop(state.photo, store.preview, piece.quad, CROP_HEIGHT);
    const percent = Math.round(piece.confidence * 100);
    const read = piece.candidates[0];
    let story = t("sheet.typed");
    if (read && read.piece !== piece.piece) story = t("sheet.changed", { name: nameOf(read.piece), percent });
    else if (read) story = t(piece.checked ? "sheet.checked" : "sheet.read", { percent });
    renew(
      this.#body,
      h(
        "div",
        { class: "sheet-piece" },
        h(
          "div",
          { class: "compare" },
          picture && h("figure", {}, picture, h("figcaption", {}, t("sheet.photo"))),
          h("figure", {}, face(piece.piece, "face-large"), h("figcaption", {}, t("sheet.reading"))),
        ),
        h("div", { class: "story" }, h("p", {}, story), this.#steps(piece)),
      ),
      this.#alternatives(piece),
      h("div", { class: "sheet-actions" }, this.#places(piece), piece.zone === "hand" && !isBack && this.#winning(piece)),
      rules.deck === "four-color" ? this.#separately(piece) : h("h3", {}, t("sheet.all")),
      rules.deck !== "four-color" && keyboard(rules, piece.piece, (name) => this.#name(piece, name)),
      h(
        "button",
        { type: "button", class: "button button-danger wide", "data-key": "remove", onclick: () => this.#remove(piece) },
        t("sheet.remove"),
      ),
    );
  }

  /** Buttons to the piece before and after, in the photo's order. */
  #steps(piece) {
    const { state } = this.#page;
    const all = state.pieces.filter((other) => isPlayed(other) === isPlayed(piece));
    const at = all.indexOf(piece);
    const step = (by, key, sign) =>
      h(
        "button",
        {
          type: "button",
          class: "icon-button",
          "data-key": key,
          "aria-label": t(`sheet.${key}`),
          disabled: !all[at + by],
          onclick: () => this.openPiece(all[at + by].id, this.#mode.doubtfulOnly),
        },
        sign,
      );
    return h("div", { class: "steps" }, step(-1, "previous", "‹"), h("span", {}, `${at + 1} / ${all.length}`), step(1, "next", "›"));
  }

  #alternatives(piece) {
    const likely = piece.candidates.filter((candidate) => isPiece(candidate.piece)).slice(0, ALTERNATIVES);
    if (likely.length === 0) return null;
    return h(
      "div",
      { class: "alternatives", role: "group", "aria-label": t("sheet.likely") },
      likely.map((candidate) => {
        const percent = Math.round(candidate.confidence * 100);
        const isIt = candidate.piece === piece.piece;
        const spoken = t("sheet.alternative", { name: nameOf(candidate.piece), percent });
        return h(
          "button",
          {
            type: "button",
            class: "alternative",
            "data-key": `is-${candidate.piece}`,
            "data-piece": candidate.piece,
            "aria-pressed": String(isIt),
            "aria-label": spoken,
            onclick: () => this.#name(piece, candidate.piece),
          },
          face(candidate.piece),
          h("span", { class: "alternative-name" }, shortName(candidate.piece)),
          h("span", { class: "alternative-chance" }, percent < 1 ? "<1 %" : `${percent} %`),
        );
      }),
    );
  }

  #places(piece) {
    const { state, rules } = this.#page;
    const declared = piece.zone === "hand" ? declarable(state, piece, rules.meld_kinds) : [];
    const places = [
      { value: "hand", label: t("place.hand"), key: "place-hand" },
      ...(rules.deckPieces.some((name) => suitOf(name) === "f") ? [{ value: "bonus", label: t("place.bonus"), key: "place-bonus" }] : []),
      { value: "other", label: t("place.other"), key: "place-other" },
    ];
    const melds = state.melds.map((meld, index) => ({
      value: meld.id,
      label: t("place.meld", { number: index + 1 }),
      art: inMeld(state, meld.id).slice(0, 1).map((other) => face(other.piece, "face-small")),
      key: `place-${meld.id}`,
    }));
    const now = piece.zone === "meld" ? piece.meld : piece.zone;
    const move = (edit) => {
      this.#page.change(edit);
      this.close();
    };
    const kinds = declared.map(({ kind }) => ({
      value: kind,
      label: t("place.declare", { kind: t(`kind.${kind}`) }),
      key: `declare-${kind}`,
    }));
    return h(
      "div",
      { class: "places" },
      h("h3", { id: "places-title" }, t("place.title")),
      choices(
        [...places, ...melds, ...kinds, { value: "new", label: t("place.new"), key: "place-new" }],
        now,
        (place) =>
          move((draft) => {
            if (place === "new") newMeld(draft, [piece.id]);
            else if (declared.some(({ kind }) => kind === place)) newMeld(draft, declared.find(({ kind }) => kind === place).ids);
            else if (["hand", "bonus", "other"].includes(place)) movePiece(draft, piece.id, place);
            else movePiece(draft, piece.id, "meld", place);
          }),
        { "aria-labelledby": "places-title" },
      ),
    );
  }

  #winning(piece) {
    const { state } = this.#page;
    const now = piece.id === state.winning ? state.source : null;
    return h(
      "div",
      { class: "places" },
      h("h3", { id: "wins-title" }, t("sheet.wins")),
      choices(
        ["discard", "wall"].map((value) => ({ value, label: t(`winning.${value}`), key: `wins-${value}` })),
        now,
        (source) => {
          this.#page.change((draft) => Object.assign(draft, now === source ? { winning: null } : { winning: piece.id, source }));
          this.close();
        },
        { "aria-labelledby": "wins-title" },
      ),
    );
  }

  /** A card's rank and colour, each corrected by a tap of its own; the sheet stays until both are right. */
  #separately(piece) {
    const { rules } = this.#page;
    const joker = suitOf(piece.piece) === JOKERS || !isCard(piece.piece);
    const colour = joker ? COLOURS[0] : suitOf(piece.piece);
    const rank = joker ? RANKS[0] : piece.piece[0];
    const line = (title, names, layout) =>
      h(
        "div",
        { class: "keyboard", role: "group", "aria-label": title },
        h("h3", {}, title),
        h(
          "div",
          { class: `keys keys-${layout}` },
          names.map((name) => keyOf(name, piece.piece, () => this.#rename(piece, name), `${layout}-${name}`)),
        ),
      );
    const jokers = rules.pieces.filter((name) => suitOf(name) === JOKERS);
    return [
      line(t("sheet.rank"), RANKS.map((one) => one + colour), "ranks"),
      line(t("sheet.colour"), COLOURS.map((one) => rank + one), "colours"),
      jokers.length > 0 && line(t("sheet.joker"), jokers, "jokers"),
      h("button", { type: "button", class: "button button-main wide", "data-key": "done", onclick: () => this.#next() }, t("keyboard.done")),
    ];
  }

  #rename(piece, name) {
    this.#page.change((draft) => {
      namePiece(draft, piece.id, name);
      // A face-down tile that got a name is a piece of the hand now.
      if (piece.zone === "back") movePiece(draft, piece.id, "hand");
    });
    this.#page.say(t("sheet.named", { name: nameOf(name) }));
  }

  #name(piece, name) {
    this.#rename(piece, name);
    this.#next();
  }

  /** On to the next doubtful piece, or back to the page. */
  #next() {
    const { doubtfulOnly } = this.#mode;
    const next = doubtfulOnly && this.#page.state.pieces.find((other) => isDoubtful(other));
    if (next) this.openPiece(next.id, true);
    else this.close();
  }

  #remove(piece) {
    this.#page.change((draft) => removePiece(draft, piece.id));
    this.#page.say(t("sheet.removed", { name: piece.piece === "back" ? t("piece.back") : nameOf(piece.piece) }));
    if (this.#dialog.open) this.close();
  }

  // ---- adding pieces ----

  #drawKeyboard() {
    const { state, rules } = this.#page;
    const { add, added } = this.#mode;
    const target = add === "hand" ? handPieces(state) : inMeld(state, add);
    this.#title.textContent = add === "hand" ? t("keyboard.title") : t("keyboard.meld");
    const strip = h(
      "div",
      { class: "keyboard-strip" },
      target.length === 0
        ? h("p", { class: "hint" }, t("keyboard.empty"))
        : target.map((piece) => face(piece.piece, piece.id === added.at(-1) ? "is-new" : "")),
    );
    renew(
      this.#body,
      strip,
      h(
        "div",
        { class: "keyboard-bar" },
        h("span", { role: "status" }, t("hand.count", { count: target.length })),
        h(
          "button",
          { type: "button", class: "button", "data-key": "backspace", disabled: target.length === 0, onclick: () => this.#backspace(target) },
          t("keyboard.backspace"),
        ),
        h("button", { type: "button", class: "button button-main", "data-key": "done", onclick: () => this.close() }, t("keyboard.done")),
      ),
      keyboard(rules, null, (name) => {
        let piece;
        this.#mode.added = added; // `change` draws again and reads it
        this.#page.change((draft) => {
          piece = addPiece(draft, name, add === "hand" ? "hand" : "meld", add === "hand" ? null : add);
          added.push(piece.id);
        });
      }),
    );
  }

  #backspace(target) {
    const { added } = this.#mode;
    const ids = new Set(target.map((piece) => piece.id));
    while (added.length > 0 && !ids.has(added.at(-1))) added.pop();
    const last = added.pop() ?? target.at(-1).id;
    this.#page.change((draft) => removePiece(draft, last));
  }
}

function keyOf(piece, chosen, onname, key = `key-${piece}`) {
  return h(
    "button",
    {
      type: "button",
      class: "key",
      "data-key": key,
      "data-piece": piece,
      "aria-label": nameOf(piece),
      "aria-pressed": String(piece === chosen),
      onclick: () => onname(piece),
    },
    face(piece),
    h("span", { "aria-hidden": "true" }, shortName(piece)),
  );
}

/** Every piece of the deck as a key: what the rule set plays with first, the rest folded away. */
function keyboard(rules, chosen, onname) {
  const blocks = (pieces) =>
    [...SUITS, ...COLOURS, JOKERS].map((suit) => {
      const keys = pieces.filter((piece) => suitOf(piece) === suit).sort(inOrder);
      const layout = suit === JOKERS ? "jokers" : COLOURS.includes(suit) ? "ranks" : suit;
      return (
        keys.length > 0 &&
        h("div", { class: `keys keys-${layout}`, role: "group", "aria-label": t(`suit.${suit}`) }, keys.map((piece) => keyOf(piece, chosen, onname)))
      );
    });
  const others = rules.deckPieces.filter((piece) => !rules.pieces.includes(piece));
  return h(
    "div",
    { class: "keyboard" },
    blocks(rules.pieces),
    others.length > 0 &&
      h("details", { "data-key": "others", open: others.includes(chosen) }, h("summary", {}, t("keyboard.others", { rules: rules.title })), blocks(others)),
  );
}
