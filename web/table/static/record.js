// Telling what happened in a round: who won and how, kongs, the wall's end. What it comes to is shown before it counts.
//
// A telling = {kind: "win" | "kong" | "wall-end" | "draw", round, edit: null | an edit on its way (see live.js),
//   at: null | the place in the edit of the event that is told anew,
//   winners: [seat], how: "discard" | "wall" | "robbed", payer, together, hands: {seat: document}, photos: {seat: data URL},
//   seat, kong, reason, ends: {seat: "not" | "void" | "hand"}, keep}
// It is plain data, kept for this tab, so that it survives the way to the hand's page and back.

import { h, renew } from "/static/js/dom.js";
import { ApiError, call } from "/static/js/api.js";
import { t } from "/static/js/i18n.js";
import { row, split } from "/static/js/tiles.js";
import { choices } from "/capture/hand.js";
import { ERRAND } from "/capture/errand.js";
import { eventBlock } from "/table-files/rounds.js";
import { post } from "/table-files/link.js";

const KONGS = ["concealed", "discard", "promoted", "promoted-later"];

/** How a seat stood at the wall's end, by what it showed. */
function endOf({ concealed, melds, context }) {
  if (!concealed && !melds?.length) return "not";
  return context?.void && concealed === `1${context.void}` ? "void" : "hand";
}

/** The part of a telling that an event is. */
function tellingOf({ type, hands, payer, seat, kind, reason }) {
  if (type === "kong") return { seat, kong: kind, payer };
  if (type === "draw") return { reason };
  if (type === "wall-end") return { hands, ends: Object.fromEntries(Object.entries(hands).map(([one, hand]) => [one, endOf(hand)])) };
  const robbed = Object.values(hands).some((hand) => hand.context?.robbed_kong);
  return { winners: Object.keys(hands).map(Number), hands, payer, how: payer === null ? "wall" : robbed ? "robbed" : "discard" };
}

export class Record {
  #page;
  #telling = null;
  #store;
  #shown = null; // what the last preview said, and for which event at which version of the table
  #asked = 0;

  constructor(page, table) {
    this.#page = page;
    this.#store = `companion.telling.${table}`;
  }

  /** Go on where somebody left for the hand's page. */
  resume() {
    try {
      this.#telling = JSON.parse(sessionStorage.getItem(this.#store));
      const errand = JSON.parse(sessionStorage.getItem(ERRAND));
      sessionStorage.removeItem(ERRAND);
      if (this.#telling && errand?.done && errand.back === location.pathname) {
        const { seat } = errand;
        this.#telling.hands[seat] = errand.done;
        if (errand.photo) this.#telling.photos[seat] = errand.photo;
        if (this.#telling.kind === "wall-end") this.#telling.ends[seat] = "hand";
      }
    } catch {
      this.#telling = null;
    }
    if (this.#telling) this.#open();
  }

  /** kind: what to tell; edit: the edit it goes into, or null to record it now; more: what is known of it. */
  start(kind, edit = null, more = {}) {
    const { table } = this.#page;
    const me = table.me.seat;
    this.#telling = {
      kind, edit, at: null, round: edit ? edit.round : table.next, winners: [], how: "discard", payer: null, together: false, hands: {}, photos: {},
      seat: me, kong: "concealed", reason: Object.keys(this.#page.rules.draws)[0] ?? null, ends: {}, keep: false, ...more,
    }; // prettier-ignore
    if (kind === "win" && !more.winners && me !== null && this.#stillIn().includes(me)) this.#telling.winners = [me];
    this.#open();
  }

  /** Tell one event of an edit anew, in its place. */
  change(edit, at) {
    const event = structuredClone(edit.events[at]);
    this.start(event.type, edit, { at, ...tellingOf(event) });
  }

  get telling() {
    return this.#telling;
  }

  stop() {
    this.#telling = null;
    this.#shown = null;
    sessionStorage.removeItem(this.#store);
  }

  #open() {
    this.draw();
    this.#page.sheet(t(`record.${this.#telling.kind}`), () => this.draw());
  }

  #change(change) {
    Object.assign(this.#telling, change);
    this.#keep();
    this.draw();
  }

  #keep() {
    try {
      sessionStorage.setItem(this.#store, JSON.stringify(this.#telling));
    } catch {
      this.#telling.photos = {}; // no room for pictures
    }
  }

  /** The seats that can still win in the round that is told. */
  #stillIn() {
    const { table, round } = this.#page;
    const seats = table.names.map((_, seat) => seat);
    if (!this.#telling?.edit) return round?.still_in ?? seats;
    return seats.filter((seat) => !this.#before.some((event) => event.type === "win" && seat in event.hands));
  }

  /** What comes before this event in the edit that it goes into. */
  get #before() {
    const { edit, at } = this.#telling;
    return edit.events.slice(0, at ?? edit.events.length);
  }

  // ---- what it comes to ----

  /** The event, or null while something is missing. */
  #event() {
    const { kind, winners, how, payer, hands, seat, kong, reason, ends } = this.#telling;
    if (kind === "win") {
      if (winners.length === 0 || (how !== "wall" && payer === null) || winners.some((one) => !hands[one]?.winning)) return null;
      const from = how === "wall" ? "wall" : "discard";
      const told = winners.map((one) => [one, this.#asWon(hands[one], from, how)]);
      return { type: "win", hands: Object.fromEntries(told), payer: how === "wall" ? null : payer };
    }
    if (kind === "kong") return seat === null || (kong === "discard" && payer === null) ? null : { type: "kong", seat, kind: kong, payer: kong === "discard" ? payer : null };
    if (kind === "draw") return { type: "draw", reason };
    const shown = this.#stillIn().map((one) => [one, this.#atEnd(one, ends[one] ?? "not")]);
    return shown.some(([, hand]) => hand === null) ? null : { type: "wall-end", hands: Object.fromEntries(shown) };
  }

  #asWon(hand, from, how) {
    const { robbed_kong: _, ...context } = hand.context ?? {};
    const robbed = how === "robbed" && this.#page.rules.context.some(({ name }) => name === "robbed_kong");
    const winning = { ...hand.winning, from };
    return { ...hand, context: robbed ? { ...context, robbed_kong: true } : context, winning };
  }

  #atEnd(seat, end) {
    const { rules } = this.#page;
    if (end === "hand") return this.#telling.hands[seat] ?? null;
    const suit = this.#voidOf(seat) ?? "m";
    // Only void tiles shown says that some were left.
    return end === "void" ? { rules: rules.name, concealed: `1${suit}`, context: { void: suit } } : { rules: rules.name, concealed: "" };
  }

  #voidOf(seat) {
    const told = this.#telling.edit ?? this.#page.round;
    return told?.seats?.[seat]?.void ?? null;
  }

  #action(event) {
    const { round, together, edit } = this.#telling;
    if (!edit) return { type: "record", round, event, together };
    return { type: "edit", round, events: [...this.#before, event], dealer: edit.dealer, facts: edit.facts, seats: edit.seats };
  }

  async #confirm(event) {
    const { edit, at, photos, keep, round } = this.#telling;
    if (edit) {
      const after = at === null ? [] : edit.events.slice(at + 1);
      const events = [...this.#before, event, ...after];
      this.stop();
      return this.#page.openEdit({ ...edit, events });
    }
    const action = this.#action(event);
    const kept = keep ? Object.entries(photos).map(([seat, url]) => ({ round, seat, url })) : [];
    this.stop();
    this.#page.closeSheet();
    await this.#page.link.act(action, kept);
  }

  // ---- drawing ----

  draw() {
    if (!this.#telling) return;
    this.#settle();
    const event = this.#event();
    const body = { win: () => this.#win(), kong: () => this.#kong(), draw: () => this.#ending(), "wall-end": () => this.#wallEnd() }[this.#telling.kind]();
    const preview = h("div", { class: "preview", id: "preview" });
    renew(this.#page.body, ...body, preview, h("button", { type: "button", class: "button button-main wide", id: "confirm", "data-key": "confirm", disabled: true, onclick: () => this.#confirm(event) }, t(this.#telling.edit ? "record.into" : "record.confirm")));
    if (event) this.#preview(event, preview);
  }

  /** Others at the table may have told meanwhile that somebody has won. */
  #settle() {
    const still = this.#stillIn();
    const { winners, payer } = this.#telling;
    this.#telling.winners = winners.filter((seat) => still.includes(seat));
    if (payer !== null && !still.includes(payer)) this.#telling.payer = null;
  }

  async #preview(event, container) {
    const { link, name, rules, table } = this.#page;
    const asked = ++this.#asked;
    const { together } = this.#telling;
    const about = JSON.stringify({ event, together, version: table.version });
    const show = (shown) => {
      const last = shown.round.events.at(-1);
      renew(container, h("h3", {}, t("record.preview")), eventBlock(last, { name, rules }));
      for (const fold of container.querySelectorAll("details")) fold.open = true;
      container.parentElement.querySelector("#confirm").disabled = false;
    };
    if (this.#shown?.about === about) return show(this.#shown.told);
    try {
      const told = await call(`${link.path}/previews`, post({ action: this.#action(event) }));
      if (asked !== this.#asked) return;
      this.#shown = { about, told };
      show(told);
    } catch (error) {
      if (asked !== this.#asked || !(error instanceof ApiError)) return;
      renew(container, h("p", { class: "fault", role: "alert" }, error.message));
      // Without a connection it can be told all the same: it is judged when it is sent.
      if (error.kind !== "refused") container.parentElement.querySelector("#confirm").disabled = false;
    }
  }

  #seats(seats, chosen, onchoose, label, key) {
    const { name } = this.#page;
    return h("div", { class: "field" }, h("h3", {}, label), choices(seats.map((seat) => ({ value: seat, label: name(seat), key: `${key}-${seat}` })), chosen, onchoose, { "aria-label": label }));
  }

  #win() {
    const { rules, round, name } = this.#page;
    const { winners, how, payer, together, photos, edit } = this.#telling;
    const still = this.#stillIn();
    const many = how !== "wall";
    const toggle = (seat) => {
      const chosen = winners.includes(seat) ? winners.filter((one) => one !== seat) : many ? [...winners, seat] : [seat];
      this.#change({ winners: chosen, payer: chosen.includes(payer) ? null : payer });
    };
    const ways = ["discard", "wall", ...(rules.context.some((one) => one.name === "robbed_kong") ? ["robbed"] : [])];
    const before = edit ? null : round?.events.at(-1);
    const same = before?.type === "win" && before.payer !== null && before.payer === payer && many;
    return [
      h(
        "div",
        { class: "field" },
        h("h3", { id: "who-won" }, t("record.who")),
        h(
          "div",
          { class: "choices", role: "group", "aria-labelledby": "who-won" },
          still.map((seat) => h("button", { type: "button", class: "choice", "data-key": `winner-${seat}`, "aria-pressed": String(winners.includes(seat)), onclick: () => toggle(seat) }, name(seat))),
        ),
        many && h("p", { class: "help" }, t("record.who.help")),
      ),
      h(
        "div",
        { class: "field" },
        h("h3", {}, t("record.how")),
        choices(ways.map((way) => ({ value: way, label: t(`record.how.${way}`), key: `how-${way}` })), how, (way) => this.#change({ how: way, winners: way === "wall" ? winners.slice(0, 1) : winners, together: false }), { "aria-label": t("record.how") }),
      ),
      many && this.#seats(still.filter((seat) => !winners.includes(seat)), payer, (seat) => this.#change({ payer: seat }), t(`record.payer.${how}`), "payer"),
      same && h("label", { class: "switch" }, h("input", { type: "checkbox", "data-key": "together", checked: together, onchange: ({ target }) => this.#change({ together: target.checked }) }), h("span", {}, t("record.together"))),
      winners.length > 0 && h("div", { class: "field" }, h("h3", {}, t("record.hands")), winners.map((seat) => this.#hand(seat))),
      Object.keys(photos).length > 0 && !edit && h("label", { class: "switch" }, h("input", { type: "checkbox", "data-key": "keep", checked: this.#telling.keep, onchange: ({ target }) => this.#change({ keep: target.checked }) }), h("span", {}, t("record.keep"))),
    ];
  }

  #hand(seat) {
    const { name } = this.#page;
    const hand = this.#telling.hands[seat];
    const unnamed = hand && this.#telling.kind === "win" && !hand.winning;
    const pieces = hand ? [...(hand.melds ?? []).map((meld) => row(split(meld.pieces))), row(split(hand.concealed)), hand.winning && row([hand.winning.piece], "is-winning")] : [];
    return h(
      "div",
      { class: "winner-hand" },
      h("b", {}, name(seat)),
      hand && h("div", { class: "hand-tiles" }, pieces),
      unnamed && h("p", { class: "fault", role: "alert" }, t("record.hand.unnamed")),
      h("button", { type: "button", class: `button ${hand && !unnamed ? "" : "button-main"}`, "data-key": `hand-of-${seat}`, onclick: () => this.#fetchHand(seat) }, t(hand ? "record.hand.change" : "record.hand.take")),
    );
  }

  /** Off to the page that photographs and corrects hands; it comes back with one. */
  #fetchHand(seat) {
    const { table, rules, name } = this.#page;
    const { kind, how, round, hands } = this.#telling;
    const suit = this.#voidOf(seat);
    const won = kind === "win";
    const context = { ...(suit && { void: suit }), ...(won && how === "robbed" && { robbed_kong: true }) };
    this.#keep();
    const title = t(won ? "errand.won" : "errand.shown", { who: name(seat), number: round });
    const errand = { back: location.pathname, seat, title, rules: rules.name, options: table.options, context, source: how === "wall" ? "wall" : "discard", hand: hands[seat] ?? null };
    sessionStorage.setItem(ERRAND, JSON.stringify(errand));
    location.href = "/?errand";
  }

  #kong() {
    const { seat, kong, payer } = this.#telling;
    const still = this.#stillIn();
    return [
      this.#seats(still, seat, (chosen) => this.#change({ seat: chosen, payer: chosen === payer ? null : payer }), t("record.kong.who"), "kong-of"),
      h("div", { class: "field" }, h("h3", {}, t("record.kong.kind")), choices(KONGS.map((kind) => ({ value: kind, label: t(`record.kong.${kind}`), key: `kong-${kind}` })), kong, (kind) => this.#change({ kong: kind }), { "aria-label": t("record.kong.kind") })),
      kong === "discard" && this.#seats(still.filter((one) => one !== seat), payer, (chosen) => this.#change({ payer: chosen }), t("record.payer.discard"), "kong-from"),
    ];
  }

  #ending() {
    const { draws } = this.#page.rules;
    return [h("div", { class: "field" }, h("h3", {}, t("record.draw.why")), choices(Object.entries(draws).map(([reason, label]) => ({ value: reason, label: t(`event.draw.${reason}`, {}, label), key: `draw-${reason}` })), this.#telling.reason, (reason) => this.#change({ reason }), { "aria-label": t("record.draw.why") }))];
  }

  #wallEnd() {
    const { name } = this.#page;
    const { ends } = this.#telling;
    return [
      h("p", { class: "help" }, t("record.ends.help")),
      this.#stillIn().map((seat) =>
        h(
          "div",
          { class: "field" },
          h("h3", {}, name(seat)),
          choices(["not", "void", "hand"].map((end) => ({ value: end, label: t(`record.end.${end}`), key: `end-${seat}-${end}` })), ends[seat] ?? "not", (end) => this.#change({ ends: { ...ends, [seat]: end } }), { "aria-label": name(seat) }),
          ends[seat] === "hand" && this.#hand(seat),
        ),
      ),
    ];
  }
}
