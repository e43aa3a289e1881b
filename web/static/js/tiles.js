// How a piece looks and what it is called. Pieces are notation texts such as "5p".

import { h } from "./dom.js";
import { t } from "./i18n.js";

export const SUITS = ["m", "p", "s", "z", "f"];

export const suitOf = (piece) => piece.at(-1);
export const rankOf = (piece) => (piece[0] === "0" ? 5 : Number(piece[0]));

/** A red five plays as a five. */
export const playsAs = (piece) => rankOf(piece) + suitOf(piece);

/** Name for people: "5 of dots", "East wind". */
export const nameOf = (piece) => t(`piece.${piece}`, {}, nameByRank(piece));
const nameByRank = (piece) => t(`piece.suit.${suitOf(piece)}`, { rank: rankOf(piece) });

/** Name that fits under a small tile: "5 dots", "East". */
export const shortName = (piece) => t(`short.${piece}`, {}, t(`short.suit.${suitOf(piece)}`, { rank: rankOf(piece) }));

/** Canonical order: m p s z f, each by rank; a red five stands before the plain ones. */
export function inOrder(a, b) {
  const value = (piece) => SUITS.indexOf(suitOf(piece)) * 100 + rankOf(piece) * 10 - (piece[0] === "0" ? 1 : 0);
  return value(a) - value(b);
}

/** "123m5p" -> ["1m", "2m", "3m", "5p"], for canonical text that the server made. */
export function split(text) {
  return [...text.matchAll(/(\d+)([mpszf])/g)].flatMap(([, ranks, suit]) => [...ranks].map((rank) => rank + suit));
}

/** A drawn tile. It is only a picture: whoever uses it gives the name. */
export function face(piece, extra = "") {
  const known = /^[0-9][mpszf]$/.test(piece);
  return h(
    "span",
    { class: `face ${piece === "back" ? "face-back" : ""} ${extra}`, "aria-hidden": "true" },
    known && h("img", { src: `/static/tiles/${piece}.webp`, alt: "", draggable: "false" }),
  );
}

/** A row of drawn tiles that is read out as one text. */
export function row(pieces, extra = "") {
  const named = pieces.map(nameOf).join(", ");
  return h("span", { class: `tiles ${extra}`, role: "img", "aria-label": named }, pieces.map((piece) => face(piece)));
}
