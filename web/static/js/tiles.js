// How a piece looks and what it is called. Pieces are notation texts such as "5p" or "Kr".

import { h } from "./dom.js";
import { t } from "./i18n.js";

export const SUITS = ["m", "p", "s", "z", "f"];
export const COLOURS = ["y", "r", "w", "g"];
export const RANKS = [..."KAERHCP"];
export const JOKERS = "j";

const ORDER = [...SUITS, ...COLOURS, JOKERS];
const PIECE = /^(?:\d[mpszf]|[KAERHCP][yrwg]|[1-5]j)$/;
const GROUP = /([\dKAERHCP]+)([mpszfyrwgj])/g;

export const suitOf = (piece) => piece.at(-1);

/** Sorts within a suit: 5 for "5p" and "0p", 0 for a general, 6 for a soldier. */
export const rankOf = (piece) => (piece[0] === "0" ? 5 : RANKS.includes(piece[0]) ? RANKS.indexOf(piece[0]) : Number(piece[0]));

/** Whether a text names a piece: neither a back nor what is no piece at all. */
export const isPiece = (text) => PIECE.test(text);

/** Whether a piece is a four-color card, a joker too. */
export const isCard = (piece) => isPiece(piece) && !SUITS.includes(suitOf(piece));

/** A red five plays as a five. */
export const playsAs = (piece) => (piece[0] === "0" ? `5${suitOf(piece)}` : piece);

const words = (piece) => ({
  rank: RANKS.includes(piece[0]) ? t(`card.${piece[0]}`) : rankOf(piece),
  colour: COLOURS.includes(suitOf(piece)) ? t(`suit.${suitOf(piece)}`) : "",
  letter: piece[0],
});
const named = (kind, piece) =>
  t(`${kind}.${piece}`, {}, t(COLOURS.includes(suitOf(piece)) ? `${kind}.card` : `${kind}.suit.${suitOf(piece)}`, words(piece)));

/** Name for people: "5 of dots", "East wind", "red general". */
export const nameOf = (piece) => named("piece", piece);

/** Name that fits under a small piece: "5 dots", "East", "K red". */
export const shortName = (piece) => named("short", piece);

/** Canonical order: m p s z f y r w g j, each by rank; a red five stands before the plain ones. */
export function inOrder(a, b) {
  const value = (piece) => ORDER.indexOf(suitOf(piece)) * 100 + rankOf(piece) * 10 - (piece[0] === "0" ? 1 : 0);
  return value(a) - value(b);
}

/** "123m5p" -> ["1m", "2m", "3m", "5p"], for canonical text that the server made. */
export function split(text) {
  return [...text.matchAll(GROUP)].flatMap(([, ranks, suit]) => [...ranks].map((rank) => rank + suit));
}

/** ["1m", "2m", "5p"] -> "12m 5p" */
export const join = (pieces) =>
  [...pieces]
    .sort(inOrder)
    .join(" ")
    .replace(/([\dKAERHCP])([a-z]) (?=[\dKAERHCP]\2)/g, "$1");

/** A drawn piece. It is only a picture: whoever uses it gives the name. */
export function face(piece, extra = "") {
  const card = isCard(piece);
  const look = piece === "back" ? "face-back" : card ? "face-card" : "";
  return h(
    "span",
    { class: `face ${look} ${extra}`, "aria-hidden": "true" },
    isPiece(piece) && h("img", { src: card ? `/static/cards/${piece}.svg` : `/static/tiles/${piece}.webp`, alt: "", draggable: "false" }),
  );
}

/** A row of drawn pieces that is read out as one text. */
export function row(pieces, extra = "") {
  const names = pieces.map(nameOf).join(", ");
  return h("span", { class: `tiles ${extra}`, role: "img", "aria-label": names }, pieces.map((piece) => face(piece)));
}
