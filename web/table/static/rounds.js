// Rounds as people read them: what happened, what a hand was worth, and who pays whom, as arrows with the reason.

import { h } from "/static/js/dom.js";
import { t } from "/static/js/i18n.js";
import { row, split } from "/static/js/tiles.js";

export const signed = (amount) => (amount > 0 ? `+${amount}` : amount < 0 ? `−${-amount}` : "0");

/** What happened, in a few words. name: (seat) => what people call it. */
export function told(event, name) {
  const seats = Object.keys(event.hands ?? {}).map(Number);
  const who = seats.map(name).join(", ");
  if (event.type === "win") {
    const robbed = seats.some((seat) => event.hands[seat].context?.robbed_kong);
    if (event.payer === null) return t("event.self-draw", { who });
    return t(robbed ? "event.robbed" : "event.win", { who, payer: name(event.payer) });
  }
  if (event.type === "kong") {
    const kind = t(`event.kong.${event.kind}`);
    return event.payer === null ? t("event.kong", { who: name(event.seat), kind }) : t("event.kong.from", { who: name(event.seat), kind, payer: name(event.payer) });
  }
  return event.type === "wall-end" ? t("event.wall-end") : t(`event.draw.${event.reason}`, {}, event.reason);
}

/** Everything about one event. */
export function eventBlock(event, { name, rules }) {
  const { transfers, results, standings } = event.outcome;
  return h(
    "div",
    { class: "event" },
    h("h3", {}, told(event, name)),
    Object.entries(event.hands ?? {}).map(([seat, hand]) => handLine(Number(seat), hand, results[seat], { name, rules })),
    standings.length > 0 && h("ul", { class: "standings" }, standings.map((each) => standing(each, name))),
    arrows(transfers, name, rules),
  );
}

function handLine(seat, hand, result, { name, rules }) {
  const pieces = split(hand.concealed);
  if (pieces.length === 0 && !hand.melds?.length) return null;
  const won = hand.winning ? [hand.winning.piece] : [];
  return h(
    "details",
    { class: "hand-line", "data-key": `hand-${seat}-${hand.concealed}` },
    h("summary", {}, h("b", {}, name(seat)), result?.score && h("span", { class: "worth" }, t(`unit.${result.score.unit}`, { count: result.score.total }))),
    h(
      "div",
      { class: "hand-tiles" },
      (hand.melds ?? []).map((meld) => row(split(meld.pieces))),
      pieces.length > 0 && row(pieces),
      won.length > 0 && row(won, "is-winning"),
    ),
    result?.score && items(result.score, rules),
    result?.notes.map((note) => h("p", { class: "help" }, note)),
  );
}

function items(score, rules) {
  const line = (label, value) => h("tr", {}, h("th", { scope: "row" }, label), h("td", {}, value));
  const more = Object.entries(rules.score_fields).filter(([name]) => score[name] !== undefined);
  return h(
    "div",
    { class: "score" },
    h(
      "table",
      {},
      h(
        "tbody",
        {},
        score.items.length === 0 && line(t("score.plain"), "0"),
        score.items.map(({ name, count, value }) => line(`${t(`item.${name}`, {}, rules.items[name] ?? name)}${count > 1 ? ` × ${count}` : ""}`, `+${value}`)),
        more.map(([name, label]) => line(t(`score.${name}`, {}, label), t(`score.${name}.${score[name]}`, {}, String(score[name])))),
      ),
    ),
  );
}

function standing({ seat, ready, void_left: left, best_base: base }, name) {
  const state = left ? t("standing.void", { pieces: left }) : ready ? t("standing.ready", { base }) : t("standing.not");
  return h("li", {}, h("b", {}, name(seat)), " ", state);
}

/** "win: full-flush, root" -> "Win: Full flush, Root" */
function reasonOf(reason, rules) {
  const [what, found] = reason.split(": ");
  const known = t(`reason.${what}`, {}, what);
  if (!found) return known;
  const names = found.split(", ").map((item) => t(`item.${item}`, {}, rules.items[item] ?? t(`reason.${item}`, {}, item)).split(":")[0]);
  return `${known}: ${names.join(", ")}`;
}

export function arrows(transfers, name, rules) {
  const paid = transfers.filter(({ amount }) => amount !== 0);
  if (paid.length === 0) return h("p", { class: "help" }, t("table.nobody"));
  return h(
    "ul",
    { class: "arrows" },
    paid.map(({ payer, payee, amount, reason }) =>
      h(
        "li",
        { "aria-label": t("table.pays", { payer: name(payer), payee: name(payee), amount }) },
        h("span", { class: "arrow", "aria-hidden": "true" }, h("span", {}, name(payer)), h("b", {}, `${amount} →`), h("span", {}, name(payee))),
        reason && h("span", { class: "reason" }, reasonOf(reason, rules)),
      ),
    ),
  );
}

export const gainsLine = (gains, name) =>
  h("ul", { class: "gains" }, gains.map((gain, seat) => h("li", { class: gain > 0 ? "is-up" : gain < 0 ? "is-down" : "" }, h("span", {}, name(seat)), h("b", {}, signed(gain)))));
