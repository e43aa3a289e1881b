// The live table's conductor: follows the table, draws how it stands, and lets its players tell rounds and take them back.

import { byId, h, renew } from "/static/js/dom.js";
import { call, rules as loadRules } from "/static/js/api.js";
import { loadTexts, t } from "/static/js/i18n.js";
import { choiceLabel, drawForm, inForce, settingLabel } from "/capture/forms.js";
import { choices } from "/capture/hand.js";
import { chart, settlement, statisticsBlock } from "/table-files/evening.js";
import { Link } from "/table-files/link.js";
import { Record } from "/table-files/record.js";
import { eventBlock, gainsLine, signed, told } from "/table-files/rounds.js";

const SHOWN_ROUNDS = 8;
const TABLE = document.body.dataset.table;
const clock = new Intl.DateTimeFormat(document.documentElement.lang, { timeStyle: "short" });

class Live {
  link;
  #ruleSets;
  #record;
  #redraw = null; // draws the open sheet anew
  #version = 0; // of the table as the open sheet shows it
  #evening = null; // {version, document}
  #all = false; // whether the history shows every round
  #begun = false;

  constructor(ruleSets) {
    this.#ruleSets = Object.fromEntries(ruleSets.map((rules) => [rules.name, rules]));
    this.#record = new Record(this, TABLE);
    byId("undo").addEventListener("click", () => this.#undo(this.table.undo?.number));
    byId("redo").addEventListener("click", () => this.#undo(this.table.redo));
    byId("invite").addEventListener("click", () => this.#invite());
    byId("fault-close").addEventListener("click", () => (byId("fault").hidden = true));
    const sheet = byId("sheet");
    byId("sheet-close").addEventListener("click", () => sheet.close());
    sheet.addEventListener("click", (event) => event.target === sheet && sheet.close());
    sheet.addEventListener("close", () => {
      this.#redraw = null;
      this.#record.stop();
    });
    this.link = new Link(TABLE, {
      change: () => this.#changed(),
      refused: (action, message) => this.fault(t("table.refused", { what: t(`action.${action.type}`), why: message })),
      unkept: (message) => this.fault(t("table.photo.lost", { why: message })),
      lost: (error) => this.#lost(error),
    });
  }

  get table() {
    return this.link.table;
  }

  get rules() {
    return this.#ruleSets[this.table.rules];
  }

  /** The round that is being played, if any. */
  get round() {
    return this.link.rounds.get(this.table.open) ?? null;
  }

  get body() {
    return byId("sheet-body");
  }

  name = (seat) => this.table.names[seat] || t("table.seat.free", { number: seat + 1 });

  get #plays() {
    return this.table.me.seat !== null || this.table.me.host;
  }

  fault(text) {
    byId("fault-text").textContent = text;
    byId("fault").hidden = false;
    byId("fault").scrollIntoView({ block: "nearest" });
  }

  #lost(error) {
    document.body.classList.remove("is-starting");
    renew(document.querySelector("main"), h("section", { class: "card lines" }, h("h1", {}, t("table.lost")), h("p", {}, error.message), h("a", { class: "button button-main wide", href: "/table" }, t("table.join"))));
    document.querySelector("footer").hidden = true;
  }

  // ---- the sheet ----

  sheet(title, redraw) {
    byId("sheet-title").textContent = title;
    this.#redraw = redraw;
    if (!byId("sheet").open) byId("sheet").showModal();
  }

  closeSheet() {
    byId("sheet").close();
  }

  // ---- drawing ----

  #changed() {
    this.#drawWaiting();
    if (!this.table) {
      this.#status();
      return;
    }
    document.body.classList.remove("is-starting");
    const { table } = this;
    byId("name").textContent = table.name || t("table.title");
    document.title = `${table.name || t("table.title")} · ${t("title")}`;
    this.#drawSeats();
    this.#drawRound();
    this.#drawHistory();
    this.#drawEvening();
    this.#status();
    if (this.#version !== table.version) {
      this.#version = table.version;
      this.#redraw?.();
    }
    const free = this.#plays && this.link.waiting.length === 0;
    byId("undo").disabled = !(free && table.undo);
    byId("redo").disabled = !(free && table.redo);
    if (!this.#begun) {
      this.#begun = true;
      this.#record.resume();
    }
  }

  #status() {
    const { table, link } = this;
    const waiting = link.waiting.length;
    let text = table ? t("table.status", { count: table.next, dealer: this.name(table.dealer) }) : t("table.loading");
    if (table?.finished) text = t("table.finished");
    if (table?.undo) text += ` · ${t("table.last", { who: table.undo.by, what: t(`action.${table.undo.event ?? table.undo.type}`), at: clock.format(new Date(table.undo.at)) })}`;
    if (link.offline) text = waiting > 0 ? t("table.offline.waiting", { count: waiting }) : t("table.offline");
    else if (link.stuck) text = t("table.stuck", { count: waiting });
    else if (waiting > 0) text = t("table.sending");
    byId("status").classList.toggle("is-offline", link.offline || link.stuck !== null);
    if (byId("status").textContent !== text) byId("status").textContent = text;
  }

  /** What this phone keeps because the table cannot have it now: nothing is lost without a word. */
  #drawWaiting() {
    const { waiting, stuck, offline } = this.link;
    byId("waiting-card").hidden = waiting.length === 0 || !(stuck || offline);
    renew(
      byId("waiting"),
      h("p", { class: stuck ? "fault" : "help" }, stuck ? t("waiting.stuck", { why: stuck }) : t("waiting.help")),
      h(
        "ol",
        { class: "journal" },
        waiting.map((one) =>
          h(
            "li",
            {},
            h("span", {}, one.at && clock.format(one.at)),
            h("span", {}, this.#waits(one)),
            h("button", { type: "button", class: "link", "data-key": `drop-${one.key}`, onclick: () => this.#drop(one) }, t("waiting.drop")),
          ),
        ),
      ),
    );
  }

  /** Something that waits, in a few words. */
  #waits({ action, photo }) {
    if (photo) return t("waiting.photo", { number: photo.round });
    const what = this.table && action.event ? told(action.event, this.name) : t(`action.${action.type}`);
    return action.round ? `${t("table.round.title", { number: action.round })}: ${what}` : what;
  }

  #drop(one) {
    if (confirm(t("waiting.drop.sure", { what: this.#waits(one) }))) this.link.drop(one.key);
  }

  #drawSeats() {
    const { table } = this;
    const last = this.round ?? [...this.link.rounds.values()].findLast((round) => !round.deleted);
    const best = Math.max(...table.points);
    renew(
      byId("seats"),
      table.names.map((who, seat) => {
        const won = this.round && !this.round.still_in.includes(seat);
        const marks = [seat === table.dealer && t("table.deals"), seat === table.me.seat && t("table.you"), won && t("table.won")].filter(Boolean);
        const gain = last?.gains[seat] ?? 0;
        return h(
          "li",
          { class: `seat ${seat === table.me.seat ? "is-me" : ""} ${who ? "" : "is-free"}` },
          h("span", { class: "seat-name" }, this.name(seat)),
          h("span", { class: "seat-points" }, String(table.points[seat]), table.points[seat] === best && best > Math.min(...table.points) && h("span", { class: "crown", role: "img", "aria-label": t("table.leads") }, "★")),
          h("span", { class: "seat-marks" }, marks.join(" · "), last && gain !== 0 && h("b", { class: gain > 0 ? "is-up" : "is-down" }, ` ${signed(gain)}`)),
        );
      }),
    );
    byId("invite").textContent = t("table.invite", { code: table.code });
    const preset = this.rules.options.find(({ name }) => name === "preset");
    const game = t(`rules.${table.rules}`, {}, this.rules.title);
    byId("house").textContent = [game, preset && choiceLabel(this.rules, preset, table.settings.preset), table.stake > 1 && t("table.stake.now", { stake: table.stake })].filter(Boolean).join(" · ");
  }

  #drawRound() {
    const { table, round, rules, name } = this;
    byId("round-title").textContent = table.finished ? t("table.finished") : t("table.round", { number: table.next, dealer: name(table.dealer) });
    const facts = round ? this.#factsLine(round) : null;
    renew(byId("round"), facts && h("p", { class: "help" }, facts), round?.events.map((event) => eventBlock(event, { name, rules })), round && this.#plays && h("button", { type: "button", class: "link no-print", "data-key": "change-open", onclick: () => this.#openRound(round.number) }, t("table.round.change")));
    const button = (label, key, onclick, main = false) => h("button", { type: "button", class: `button ${main ? "button-main" : ""}`, "data-key": key, onclick }, label);
    const settles = rules.deal.length + rules.seat_facts.length > 0;
    renew(
      byId("actions"),
      this.#plays && !table.finished
        ? [
            ...rules.events.map((kind) => button(t(`record.${kind}`), `record-${kind}`, () => this.#record.start(kind), kind === "win")),
            settles && button(t("deal.title"), "deal", () => this.#openDeal()),
          ]
        : h("p", { class: "help" }, t(table.finished ? "table.finished.help" : "table.watching")),
    );
  }

  #factsLine({ facts, seats }) {
    const { rules, name } = this;
    const deal = rules.deal.filter((setting) => facts[setting.name] != null).map((setting) => `${settingLabel(rules, setting)}: ${choiceLabel(rules, setting, facts[setting.name])}`);
    const named = rules.seat_facts.flatMap((fact) => {
      const setting = rules.context.find((one) => one.name === fact);
      return Object.entries(seats).filter(([, told]) => told[fact] != null).map(([seat, told]) => `${name(Number(seat))}: ${choiceLabel(rules, setting, told[fact])}`);
    });
    return [...deal, named.length > 0 && `${t("deal.void")} ${named.join(", ")}`].filter(Boolean).join(" · ");
  }

  #drawHistory() {
    const rounds = [...this.link.rounds.values()].filter((round) => round.number !== this.table.open).reverse();
    byId("history-card").hidden = rounds.length === 0;
    const shown = this.#all ? rounds : rounds.slice(0, SHOWN_ROUNDS);
    renew(
      byId("history"),
      shown.map((round) =>
        h(
          "li",
          {},
          h(
            "button",
            { type: "button", class: `round-line ${round.deleted ? "is-deleted" : ""}`, "data-key": `round-${round.number}`, onclick: () => this.#openRound(round.number) },
            h("span", { class: "round-number" }, String(round.number)),
            h("span", { class: "round-told" }, round.deleted ? t("table.deleted") : round.events.map((event) => told(event, this.name)).join("; ") || t("table.nothing")),
            !round.deleted && gainsLine(round.gains, this.name),
          ),
        ),
      ),
      rounds.length > shown.length && h("li", {}, h("button", { type: "button", class: "button wide", "data-key": "all-rounds", onclick: () => this.#showAll() }, t("table.all", { count: rounds.length }))),
    );
  }

  #showAll() {
    this.#all = true;
    this.#drawHistory();
  }

  // ---- the evening ----

  async #drawEvening() {
    const { table, link, name, rules } = this;
    byId("evening-card").hidden = link.rounds.size === 0;
    if (link.rounds.size === 0 || this.#evening?.version === table.version) return;
    let document;
    try {
      document = await call(`${link.path}/evening`);
    } catch {
      return; // the next change asks again
    }
    if (this.table.version !== table.version) return; // an answer that others have overtaken
    this.#evening = { version: table.version, document };
    const file = (kind) => h("a", { class: "button", href: `${link.path}/export.${kind}`, download: "" }, kind.toUpperCase());
    renew(
      byId("evening"),
      chart(table, [...link.rounds.values()], name),
      settlement(document, name),
      statisticsBlock(document, name, rules),
      h("h3", { class: "no-print" }, t("table.keep")),
      h(
        "div",
        { class: "buttons no-print" },
        file("csv"),
        file("json"),
        h("button", { type: "button", class: "button", "data-key": "print", onclick: () => this.#print() }, t("table.print")),
        h("button", { type: "button", class: "button", "data-key": "journal", onclick: () => this.#openJournal() }, t("journal.title")),
      ),
      table.me.host &&
        h(
          "div",
          { class: "buttons no-print" },
          table.finished || h("button", { type: "button", class: "button", "data-key": "finish", onclick: () => confirm(t("table.finish.sure")) && link.act({ type: "finish" }) }, t("table.finish")),
          h("button", { type: "button", class: "button", "data-key": "describe", onclick: () => this.#openDescribe() }, t("describe.title")),
          h("button", { type: "button", class: "button button-danger", "data-key": "forget", onclick: () => this.#forget() }, t("table.forget")),
        ),
      table.note && h("p", { class: "note" }, table.note),
    );
  }

  #print() {
    this.#all = true;
    this.#drawHistory();
    for (const fold of document.querySelectorAll("#evening details")) fold.open = true;
    print();
  }

  async #forget() {
    if (!confirm(t("table.forget.sure"))) return;
    try {
      await call(this.link.path, { method: "DELETE" });
      location.href = "/table";
    } catch (error) {
      this.fault(error.message);
    }
  }

  // ---- taking back ----

  #undo(entry) {
    if (entry) this.link.act({ type: "undo", entry });
  }

  // ---- sheets ----

  #invite() {
    const draw = () => {
      const { table } = this;
      renew(
        this.body,
        h("p", {}, t("invite.help")),
        h("p", { class: "big-code" }, table.code),
        h("img", { class: "qr", src: `${this.link.path}/qr.svg`, alt: t("invite.qr"), width: 260, height: 260 }),
        h("p", { class: "address" }, table.join),
        table.watching.length > 0 && h("p", { class: "help" }, t("invite.watching", { names: table.watching.join(", ") })),
      );
    };
    draw();
    this.sheet(t("invite.title"), draw);
  }

  #openDeal() {
    const { table, round } = this;
    let draft = { dealer: table.dealer, facts: round?.facts ?? {}, seats: round?.seats ?? {} };
    const done = () => {
      this.closeSheet();
      this.link.act({ type: "deal", round: table.next, ...draft, dealer: draft.dealer === table.dealer ? null : draft.dealer });
    };
    const draw = () =>
      renew(
        this.body,
        this.#dealFields(draft, (next) => {
          draft = next;
          draw();
        }),
        h("button", { type: "button", class: "button button-main wide", "data-key": "deal-done", onclick: done }, t("deal.done")),
      );
    draw();
    this.sheet(t("deal.title"), draw);
  }

  /** What is settled when a round is dealt. draft: {dealer, facts, seats, ...}; onchange is told the next one. */
  #dealFields(draft, onchange) {
    const { rules, table } = this;
    const form = h("div", { class: "form" });
    drawForm(form, { rules, settings: rules.deal, group: "deal", values: inForce(rules.deal, draft.facts), onset: (name, value) => onchange({ ...draft, facts: { ...draft.facts, [name]: value } }), fault: null });
    return [
      h("div", { class: "field" }, h("h3", {}, t("deal.dealer")), choices(table.names.map((_, seat) => ({ value: seat, label: this.name(seat), key: `dealer-${seat}` })), draft.dealer, (dealer) => onchange({ ...draft, dealer }), { "aria-label": t("deal.dealer") })),
      form,
      rules.seat_facts.map((fact) => this.#seatFact(fact, draft, onchange)),
    ];
  }

  #seatFact(fact, draft, onchange) {
    const setting = this.rules.context.find(({ name }) => name === fact);
    return this.table.names.map((_, seat) => {
      const label = `${this.name(seat)}: ${settingLabel(this.rules, setting)}`;
      const options = setting.choices.map(({ value }) => ({ value, label: choiceLabel(this.rules, setting, value), key: `${fact}-${seat}-${value}` }));
      const name = (value) => onchange({ ...draft, seats: { ...draft.seats, [seat]: { ...draft.seats[seat], [fact]: value } } });
      return h("div", { class: "field" }, h("h3", {}, label), choices(options, draft.seats[seat]?.[fact] ?? null, name, { "aria-label": label }));
    });
  }

  async #openRound(number) {
    const { rules, name } = this;
    let photos = [];
    const draw = () => {
      const { table } = this;
      const round = this.link.rounds.get(number);
      if (!round) return this.closeSheet();
      const at = clock.format(new Date(round.at));
      renew(
        this.body,
        h("p", { class: "help" }, [t("table.dealt", { dealer: name(round.dealer), at }), this.#factsLine(round)].filter(Boolean).join(" · ")),
        round.deleted && h("p", { class: "fault" }, t("table.deleted.help")),
        round.events.map((event) => eventBlock(event, { name, rules })),
        !round.deleted && gainsLine(round.gains, name),
        photos.filter((photo) => photo.round === number).map((photo) => this.#photo(photo, (rest) => ((photos = rest), draw()))),
        this.#plays && !round.deleted && !table.finished &&
          h(
            "div",
            { class: "buttons" },
            h("button", { type: "button", class: "button", "data-key": "edit", onclick: () => this.openEdit({ ...bare(round), seen: table.version }) }, t("edit.title")),
            h("button", { type: "button", class: "button button-danger", "data-key": "delete", onclick: () => this.#delete(round) }, t("edit.delete")),
          ),
      ); // prettier-ignore
    };
    draw();
    this.sheet(t("table.round.title", { number }), draw);
    try {
      ({ photos } = await call(`${this.link.path}/photos`));
      if (this.#redraw === draw) draw();
    } catch {
      // Without a connection the round is shown without its photos.
    }
  }

  #photo({ id, seat }, gone) {
    const path = `${this.link.path}/photos/${id}`;
    const remove = async () => {
      if (!confirm(t("table.photo.sure"))) return;
      gone((await call(path, { method: "DELETE" })).photos);
    };
    return h("figure", { class: "round-photo" }, h("img", { src: `${path}.jpg`, alt: seat === null ? t("table.photo") : t("table.photo.of", { who: this.name(seat) }) }), this.#plays && h("button", { type: "button", class: "button button-danger", onclick: remove }, t("table.photo.delete")));
  }

  #delete({ number }) {
    this.closeSheet();
    this.link.act({ type: "delete", round: number, seen: this.table.version });
  }

  /** edit: {round, events, dealer, facts, seats, seen}: the round as it shall be told anew. */
  openEdit(edit) {
    const { name, rules } = this;
    const change = (next) => {
      edit = next;
      draw();
    };
    const draw = () => {
      const move = (at, by) => {
        const events = [...edit.events];
        const [event] = events.splice(at, 1);
        if (by !== null) events.splice(at + by, 0, event);
        change({ ...edit, events });
      };
      const button = (sign, key, label, onclick, disabled = false) => h("button", { type: "button", class: "icon-button", "data-key": key, disabled, "aria-label": label, onclick }, sign);
      const line = (event, at) =>
        h(
          "li",
          { class: "edit-line" },
          h("span", {}, told(event, name)),
          button("✎", `change-${at}`, t("edit.change"), () => this.#record.change(edit, at)),
          button("↑", `up-${at}`, t("edit.up"), () => move(at, -1), at === 0),
          button("✕", `remove-${at}`, t("edit.remove"), () => move(at, null)),
        );
      renew(
        this.body,
        h("p", { class: "help" }, t("edit.help")),
        h("ol", { class: "edit-lines" }, edit.events.map(line)),
        h("div", { class: "buttons" }, rules.events.map((kind) => h("button", { type: "button", class: "button", "data-key": `add-${kind}`, onclick: () => this.#record.start(kind, edit) }, t(`edit.add.${kind}`)))),
        this.#dealFields(edit, (next) => change({ ...next, events: edit.events.map((event) => agreeing(event, edit.seats, next.seats)) })),
        h("button", { type: "button", class: "button button-main wide", "data-key": "edit-done", onclick: () => this.#saveEdit(edit) }, t("edit.save")),
      );
    };
    this.#record.stop();
    draw();
    this.sheet(t("edit.round", { number: edit.round }), draw);
  }

  #saveEdit(edit) {
    this.closeSheet();
    this.link.act({ type: "edit", ...edit });
  }

  async #openJournal() {
    let entries = [];
    const draw = () =>
      renew(
        this.body,
        h("p", { class: "help" }, t("journal.help")),
        h(
          "ol",
          { class: "journal" },
          [...entries].reverse().map((entry) =>
            h(
              "li",
              { class: entry.counts ? "" : "is-deleted" },
              h("span", {}, clock.format(new Date(entry.at)), " ", h("b", {}, entry.by)),
              h("span", {}, [t(`action.${entry.event ?? entry.type}`), entry.round && t("journal.round", { number: entry.round }), entry.entry && t("journal.entry", { number: entry.entry }), !entry.counts && t("journal.undone")].filter(Boolean).join(" · ")),
              this.#plays && entry.undoable && entry.counts && h("button", { type: "button", class: "link", "data-key": `undo-${entry.number}`, onclick: () => undo(entry.number) }, t("undo")),
            ),
          ),
        ),
      );
    const load = async () => {
      ({ entries } = await call(`${this.link.path}/journal`));
      if (this.#redraw === draw) draw();
    };
    const undo = async (number) => {
      await this.link.act({ type: "undo", entry: number });
      await load();
    };
    draw();
    this.sheet(t("journal.title"), draw);
    try {
      await load();
    } catch (error) {
      this.fault(error.message);
    }
  }

  /** What only the host does: name and notes, names of seats, who is host. */
  #openDescribe() {
    const { table, link } = this;
    const input = (id, value, most) => h("input", { class: "input", id, type: "text", maxlength: most, value });
    const name = input("describe-name", table.name, 80);
    const note = h("textarea", { class: "input", id: "describe-note", maxlength: 2000, rows: 4 });
    note.value = table.note;
    const seats = table.names.map((who, seat) => input(`describe-seat-${seat}`, who, 40));
    const save = async () => {
      this.closeSheet();
      if (name.value !== table.name || note.value !== table.note) await link.act({ type: "describe", name: name.value, note: note.value });
      for (const [seat, { value }] of seats.entries()) {
        if (!value.trim() || value === table.names[seat]) continue;
        const member = table.people.find((one) => one.seat === seat)?.member ?? `seat${seat}`;
        await link.act({ type: "join", member, name: value, seat });
      }
    };
    const others = table.people.filter((one) => !/^seat\d$/.test(one.member) && one.name !== table.me.name);
    const give = ({ member, name: who }) => {
      if (!confirm(t("describe.host.sure", { who }))) return;
      this.closeSheet();
      link.act({ type: "host", member });
    };
    renew(
      this.body,
      h(
        "div",
        { class: "lines" },
        h("label", { for: "describe-name" }, t("table.evening")),
        name,
        h("label", { for: "describe-note" }, t("describe.note")),
        note,
        seats.map((field, seat) => [h("label", { for: field.id }, t("table.seat.free", { number: seat + 1 })), field]),
        h("button", { type: "button", class: "button button-main wide", onclick: save }, t("describe.save")),
        others.length > 0 && h("p", { class: "label" }, t("describe.host")),
        h("div", { class: "choices" }, others.map((one) => h("button", { type: "button", class: "choice", onclick: () => give(one) }, one.name))),
      ),
    );
    this.sheet(t("describe.title"), null);
  }
}

/** A round as an edit tells it: without what it led to. */
function bare({ number, events, dealer, facts, seats }) {
  return { round: number, events: events.map(({ outcome: _, ...event }) => event), dealer, facts, seats };
}

/** An event whose hands tell nothing that their seats now name otherwise. before, after: what each seat names. */
function agreeing(event, before, after) {
  if (!event.hands) return event;
  const agreed = ([seat, hand]) => {
    const kept = Object.entries(hand.context ?? {}).filter(([name]) => before[seat]?.[name] === after[seat]?.[name]);
    return [seat, { ...hand, context: Object.fromEntries(kept) }];
  };
  return { ...event, hands: Object.fromEntries(Object.entries(event.hands).map(agreed)) };
}

/** The screen stays on while the table is in sight, where the browser allows that (over https). */
async function stayAwake() {
  if (document.hidden || !("wakeLock" in navigator)) return;
  try {
    await navigator.wakeLock.request("screen");
  } catch {
    // The battery is low, or the visitor said no.
  }
}

document.addEventListener("visibilitychange", stayAwake);
stayAwake();

async function start() {
  try {
    await loadTexts(document.documentElement.lang);
    const { rules } = await loadRules();
    new Live(rules);
  } catch (error) {
    console.error(error);
    document.body.classList.remove("is-starting");
    byId("fault-text").textContent = t("start.failed");
    byId("fault").hidden = false;
  }
}

start();
