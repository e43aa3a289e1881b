// The hand on the page: plain data, changed only through `Store.change`, remembered across reloads, with undo.
//
// state = {
//   rules, photo: null | {id, name, width, height, warnings},
//   pieces: [{id, piece, zone, meld, quad, confidence, doubtful, candidates, checked}],   zone: hand | meld | bonus | other | back
//   melds: [{id, concealed}], winning: piece id | null, source: "discard" | "wall", context: {}, options: {}
// }
// Pieces keep the order of the photo. `meld` is the id of the meld a piece of zone "meld" lies in.

import { isCard, inOrder, join, rankOf, split, suitOf } from "/static/js/tiles.js";

const UNDO_STEPS = 40;
const HAND = "companion.hand";
const PREVIEW = "companion.preview";
const HOUSE = "companion.house"; // options by rule set
const FACTS = "companion.facts"; // facts that last from hand to hand, by rule set
const GAMES = "companion.games"; // the rule set last played, by deck

let lastId = 0;
const newId = () => `${Date.now().toString(36)}-${++lastId}`;

const emptyState = (rules, options, context) => ({
  rules,
  photo: null,
  pieces: [],
  melds: [],
  winning: null,
  source: "discard",
  context,
  options,
});

export class Store {
  #state;
  #undo = [];
  #preview = null; // {id, url} of the newest photo
  #older = null; // the one before it, for undo; not kept across reloads
  #listeners = [];
  #ruleSets;
  #facts = load(localStorage, FACTS) ?? {};

  /** ruleSets: description of every rule set by name, the default first. */
  constructor(ruleSets) {
    this.#ruleSets = ruleSets;
    const rules = Object.keys(ruleSets);
    this.#state = this.#empty(rules[0]);
    // A reload gives each tab its own hand back; a new tab, or a phone that closed the tab, gets the last one.
    const kept = load(sessionStorage, HAND) ?? load(localStorage, HAND);
    if (kept?.state && rules.includes(kept.state.rules)) {
      this.#state = kept.state;
      this.#undo = kept.undo ?? [];
      const previews = [load(sessionStorage, PREVIEW), load(localStorage, PREVIEW)];
      this.#preview = previews.find((preview) => preview && preview.id === kept.state.photo?.id) ?? null;
    }
  }

  get state() {
    return this.#state;
  }

  get canUndo() {
    return this.#undo.length > 0;
  }

  /** Data URL of the photo on the page; null for a typed hand, or when there was no room to keep it. */
  get preview() {
    const id = this.#state.photo?.id;
    return [this.#preview, this.#older].find((preview) => preview && preview.id === id)?.url ?? null;
  }

  subscribe(listener) {
    this.#listeners.push(listener);
  }

  /** Change a copy of the state; one step of undo. */
  change(edit) {
    const draft = structuredClone(this.#state);
    edit(draft);
    tidy(draft);
    this.#undo = [...this.#undo, this.#state].slice(-UNDO_STEPS);
    this.#become(draft);
  }

  undo() {
    const before = this.#undo.pop();
    if (before) this.#become(before);
  }

  /** Show a new reading in place of whatever is there. A photo of another deck changes the game. */
  takeReading(reading) {
    this.#older = this.#preview;
    this.#preview = { id: newId(), url: reading.preview };
    this.change((draft) => {
      const { name } = this.#rulesOf(reading.deck);
      const empty = name === draft.rules ? this.#empty(name, draft.options) : this.#empty(name);
      Object.assign(draft, fromReading(reading, this.#preview.id, empty, this.#ruleSets[name]));
    });
    this.#keepPreview();
  }

  /** Show a hand document in place of whatever is there; the house rules stay. Its facts are its own. */
  takeDocument(document) {
    if (!(document.rules in this.#ruleSets)) return;
    const facts = this.#facts;
    this.change((draft) => Object.assign(draft, fromDocument(document)));
    this.#rememberFacts(facts);
  }

  /** Play another game. Pieces of another deck are gone until this is undone, and so are facts, which are a game's own. */
  chooseRules(name) {
    const sameDeck = this.#ruleSets[name].deck === this.#ruleSets[this.#state.rules].deck;
    const empty = this.#empty(name);
    const { context, options } = empty;
    this.change((draft) => Object.assign(draft, sameDeck ? { rules: name, context, options } : empty));
  }

  /** The game of a deck: the one in force, else the one last played with it. */
  #rulesOf(deck) {
    const fits = (name) => deck === null || this.#ruleSets[name]?.deck === deck;
    const name = [this.#state.rules, load(localStorage, GAMES)?.[deck], ...Object.keys(this.#ruleSets)].find(fits);
    return this.#ruleSets[name ?? this.#state.rules];
  }

  clear() {
    this.change((draft) => Object.assign(draft, this.#empty(draft.rules, draft.options)));
    remove(localStorage, PREVIEW); // this tab keeps it for undo, the device does not
  }

  /** No hand yet, of a game as it is played here. */
  #empty(rules, options = optionsOf(rules)) {
    return emptyState(rules, options, this.#facts[rules] ?? {});
  }

  /** What is told of the game rather than of the hand. */
  #lasting({ rules, context }) {
    const lasts = this.#ruleSets[rules].context.filter((setting) => setting.lasting && setting.name in context);
    return Object.fromEntries(lasts.map(({ name }) => [name, context[name]]));
  }

  #become(state) {
    const facts = this.#lasting(state);
    // Only what is told now: a hand that was sent along keeps facts of its own.
    if (!same(facts, this.#lasting(this.#state))) this.#rememberFacts({ ...this.#facts, [state.rules]: facts });
    this.#state = state;
    keep(sessionStorage, HAND, { state, undo: this.#undo }) || keep(sessionStorage, HAND, { state });
    keep(localStorage, HAND, { state });
    keep(localStorage, HOUSE, { ...load(localStorage, HOUSE), [state.rules]: state.options });
    keep(localStorage, GAMES, { ...load(localStorage, GAMES), [this.#ruleSets[state.rules].deck]: state.rules });
    for (const listener of this.#listeners) listener(state);
  }

  #rememberFacts(facts) {
    this.#facts = facts;
    keep(localStorage, FACTS, facts);
  }

  #keepPreview() {
    // The session's copy first: it is the one a reload needs. A full store loses only the picture, never the pieces.
    keep(sessionStorage, PREVIEW, this.#preview);
    keep(localStorage, PREVIEW, this.#preview);
  }
}

/** The game that this device played last; null when it played none. */
export const lastGame = () => load(localStorage, HAND)?.state?.rules ?? null;

/** The house rules that this device plays a game by. */
export const optionsOf = (rules) => load(localStorage, HOUSE)?.[rules] ?? {};

const same = (one, other) => JSON.stringify(one) === JSON.stringify(other);

function load(storage, key) {
  try {
    return JSON.parse(storage.getItem(key));
  } catch {
    return null;
  }
}

function keep(storage, key, value) {
  try {
    storage.setItem(key, JSON.stringify(value));
    return true;
  } catch {
    remove(storage, key); // an old value is worse than none
    return false;
  }
}

function remove(storage, key) {
  try {
    storage.removeItem(key);
  } catch {
    // Storage is switched off: the page works, it only forgets.
  }
}

/** Empty melds go; a winning piece is always one of the hand's. */
function tidy(state) {
  state.melds = state.melds.filter((meld) => state.pieces.some((piece) => piece.meld === meld.id));
  if (!state.pieces.some((piece) => piece.id === state.winning && piece.zone === "hand")) state.winning = null;
}

function fromDocument({ rules, concealed, melds = [], winning, context = {} }) {
  const state = emptyState(rules, optionsOf(rules), context);
  for (const name of split(concealed)) addPiece(state, name);
  for (const { pieces, concealed: own } of melds) newMeld(state, split(pieces).map((name) => addPiece(state, name).id), own);
  if (winning) Object.assign(state, { winning: addPiece(state, winning.piece).id, source: winning.from });
  return state;
}

/** empty: the state that the reading's hand is put into. */
function fromReading(reading, photoId, empty, rules) {
  const state = { ...empty };
  state.photo = {
    id: photoId,
    name: reading.photo,
    width: reading.width,
    height: reading.height,
    warnings: reading.warnings,
  };
  state.pieces = reading.pieces.map((sighting) => ({
    id: newId(),
    piece: sighting.piece,
    zone: sighting.role === "meld" ? "hand" : sighting.role,
    meld: null,
    quad: sighting.quad,
    confidence: sighting.confidence,
    doubtful: sighting.doubtful,
    candidates: sighting.candidates,
    checked: false,
  }));
  reading.melds.forEach((meld, group) => {
    // A group that this game cannot lay down is no meld but a part of the hand that stands apart.
    if (!rules.meld_kinds.includes(meld.kind)) return;
    const members = state.pieces.filter((_, index) => reading.pieces[index].group === group);
    const hidden = split(meld.pieces);
    for (const { piece } of members) {
      if (hidden.includes(piece)) hidden.splice(hidden.indexOf(piece), 1);
    }
    // What the faces in sight do not show lies under the backs of a concealed kong.
    const backs = members.filter(({ zone }) => zone === "back");
    for (const name of hidden) {
      const piece = backs.pop();
      if (piece) Object.assign(piece, { piece: name, candidates: [], checked: true });
      else members.push(addPiece(state, name));
    }
    newMeld(state, members.filter(({ piece }) => piece !== "back").map(({ id }) => id), meld.concealed);
  });
  const kongs = rules.meld_kinds.includes("kong") ? reading.unnamed : [];
  for (const four of kongs) {
    const members = four.map((index) => state.pieces[index]);
    for (const piece of members) Object.assign(piece, { candidates: [], checked: true });
    newMeld(state, members.map(({ id }) => id), true);
  }
  // A piece set apart from a full hand is proposed as the one that won it.
  const apart = state.pieces[reading.winning ?? -1];
  if (apart?.zone === "hand") state.winning = apart.id;
  return state;
}

// ---- questions about a state ----

export const inZone = (state, zone) => state.pieces.filter((piece) => piece.zone === zone);
export const inMeld = (state, id) => state.pieces.filter((piece) => piece.meld === id);
export const find = (state, id) => state.pieces.find((piece) => piece.id === id);
export const isPlayed = (piece) => piece.zone === "hand" || piece.zone === "meld" || piece.zone === "bonus";

/** A face-down piece of a meld: nothing shows what it is. */
export const isHidden = (piece) => piece.zone === "meld" && piece.piece === "back";

/** A piece that wants a second look: the reading says so, and nobody has looked at it yet. */
export const isDoubtful = (piece) => isPlayed(piece) && !piece.checked && piece.doubtful;

/** The hand's loose pieces as they are shown: as in the photo, or sorted when there is none. */
export function handPieces(state) {
  const pieces = inZone(state, "hand");
  return state.photo ? pieces : pieces.sort((a, b) => inOrder(a.piece, b.piece));
}

export const handText = (state) => join(inZone(state, "hand").map((piece) => piece.piece));

const CARD_CHOWS = ["KAE", "RHC"];
const ALIKE = [null, "single", "pair", "pung", "kong"];

/** What kind of meld these pieces make; null when none. */
export function kindOf(names) {
  if (names.includes("back")) return null;
  const sorted = [...names].sort(inOrder);
  const cards = sorted.length > 0 && sorted.every(isCard);
  const suits = new Set(sorted.map(suitOf));
  if (cards && sorted.every((name) => name[0] === "P") && suits.size === sorted.length && suits.size >= 3) return "soldiers";
  if (suits.size !== 1) return null;
  const ranks = sorted.map(rankOf);
  if (ranks.every((rank) => rank === ranks[0])) {
    const alone = sorted.length > 1 || !cards || standsAlone(sorted[0]);
    return (alone && ALIKE[sorted.length]) || null;
  }
  if (cards) return CARD_CHOWS.includes(sorted.map((name) => name[0]).join("")) ? "chow" : null;
  const run = sorted.length === 3 && ranks[1] === ranks[0] + 1 && ranks[2] === ranks[0] + 2;
  return run && "mps".includes(suitOf(sorted[0])) ? "chow" : null;
}

/** Whether a card alone is a meld: a general or a joker. */
const standsAlone = (card) => card[0] === "K" || suitOf(card) === "j";

/** Melds of these kinds that a loose piece and others of the hand make: [{kind, ids}]. Runs of tiles are left to "New meld". */
export function declarable(state, piece, kinds) {
  const others = inZone(state, "hand").filter((other) => other !== piece && other.id !== state.winning);
  const first = (name) => (name === piece.piece ? piece : others.find((other) => other.piece === name));
  const equal = [piece, ...others.filter((other) => other.piece === piece.piece)];
  const suit = suitOf(piece.piece);
  const chow = isCard(piece.piece) && CARD_CHOWS.find((ranks) => ranks.includes(piece.piece[0]));
  const sets = {
    chow: chow ? [...chow].map((rank) => first(rank + suit)) : [],
    soldiers: piece.piece[0] === "P" ? [..."yrwg"].map((colour) => first(`P${colour}`)).filter(Boolean) : [],
  };
  ALIKE.forEach((kind, count) => kind && (sets[kind] = equal.slice(0, count)));
  return kinds
    .map((kind) => ({ kind, pieces: sets[kind] ?? [] }))
    .filter(({ kind, pieces }) => pieces.every(Boolean) && kindOf(pieces.map(({ piece: name }) => name)) === kind)
    .map(({ kind, pieces }) => ({ kind, ids: pieces.map(({ id }) => id) }));
}

/**
 * What was told of how the game is played, as far as this version knows it: {options, context}. strays: [{name, value}], what
 * the device keeps from another version, under names or with values that there are no more; it counts for nothing.
 */
export function settingsOf(state, rules) {
  const strays = [];
  const known = (settings, told) =>
    Object.fromEntries(
      Object.entries(told).filter(([name, value]) => {
        const setting = settings.find((one) => one.name === name);
        const fits = setting?.choices.some((choice) => choice.value === value) ?? false;
        if (!fits) strays.push({ name, value });
        return fits;
      }),
    );
  return { options: known(rules.options, state.options), context: known(rules.context, state.context), strays };
}

/** The hand document for the API. rules: description of the rule set in force. */
export function handDocument(state, rules) {
  const { options, context } = settingsOf(state, rules);
  const text = (pieces) => pieces.map((piece) => piece.piece).join("");
  const winning = find(state, state.winning);
  const document = {
    rules: state.rules,
    concealed: text(inZone(state, "hand").filter((piece) => piece !== winning)),
    melds: state.melds.map((meld) => {
      const pieces = inMeld(state, meld.id);
      const kind = kindOf(pieces.map((piece) => piece.piece));
      return { kind, pieces: text(pieces), concealed: meld.concealed && rules.concealed_kinds.includes(kind) };
    }),
    bonus: text(inZone(state, "bonus")),
    context,
    options,
  };
  if (winning) document.winning = { piece: winning.piece, from: state.source };
  return document;
}

// ---- changes of a draft ----

export function addPiece(draft, name, zone = "hand", meld = null) {
  const piece = { id: newId(), piece: name, zone, meld, quad: null, confidence: 1, doubtful: false, candidates: [], checked: true };
  draft.pieces.push(piece);
  return piece;
}

export function removePiece(draft, id) {
  draft.pieces = draft.pieces.filter((piece) => piece.id !== id);
}

export function namePiece(draft, id, name) {
  const piece = find(draft, id);
  // The face-down pieces of a meld are all alike: to name one is to name them.
  const all = isHidden(piece) ? inMeld(draft, piece.meld).filter(isHidden) : [piece];
  for (const one of all) Object.assign(one, { piece: name, checked: true });
}

export function movePiece(draft, id, zone, meld = null) {
  Object.assign(find(draft, id), { zone, meld });
}

export function newMeld(draft, ids, concealed = false) {
  const meld = { id: newId(), concealed };
  draft.melds.push(meld);
  for (const id of ids) movePiece(draft, id, "meld", meld.id);
}

/** Make the hand's loose pieces these names. Pieces that stay keep their place in the photo. */
export function setHand(draft, names) {
  const wanted = [...names];
  draft.pieces = draft.pieces.filter((piece) => {
    if (piece.zone !== "hand") return true;
    const place = wanted.indexOf(piece.piece);
    if (place >= 0) wanted.splice(place, 1);
    return place >= 0;
  });
  for (const name of wanted) addPiece(draft, name);
}
