// What the hand is worth: status, score and who pays, arrangement, waits, advice, legal melds, notes.

import { h, renew } from "/static/js/dom.js";
import { t } from "/static/js/i18n.js";
import { face, nameOf, row, split } from "/static/js/tiles.js";
import { choiceLabel, inForce, settingLabel } from "./forms.js";
import { isPlayed } from "./state.js";

const SIGNS = { won: "✓", "not-allowed": "✕", ready: "◎", building: "…", invalid: "!" };
const KNOWN_SCORE = ["unit", "total", "items", "base", "each_pays", "payers", "winner_gets"];

/** One line for the bar at the bottom of the screen. */
export function summary(result, rules) {
  const { status, score, waits, advice, shanten } = result;
  if (status === "won" || status === "not-allowed") {
    return { status, sign: SIGNS[status], title: t(`status.${status}`), detail: score ? worth(score, rules) : "" };
  }
  const piece = advice[0]?.discard;
  if (status === "ready") {
    let detail = piece ? t("summary.discard", { piece }) : t("summary.ready");
    if (waits.length > 0) detail = t("summary.waits", { pieces: waits.map((wait) => wait.piece).join(" ") });
    return { status, sign: SIGNS.ready, title: t("status.ready"), detail };
  }
  if (status === "building") {
    let detail = t(piece ? "summary.away.discard" : "summary.away", { count: shanten, piece });
    if (shanten === null) detail = t("summary.never");
    return { status, sign: SIGNS.building, title: t("status.building"), detail };
  }
  return { status, sign: SIGNS.invalid, title: t("status.invalid"), detail: result.notes[0] ?? t("summary.invalid", { rules: rules.title }) };
}

/** The total, and what else this game counts: "75 hu · level 一牌 · worth 1". */
function worth(score, rules) {
  if (score.winner_gets !== undefined) return t("summary.worth", { total: amount(score), gets: score.winner_gets });
  return [amount(score), ...moreOf(score).map(([name, value]) => `${fieldName(rules, name)} ${valueName(name, value)}`)].join(" · ");
}

const moreOf = (score) => Object.entries(score).filter(([name]) => !KNOWN_SCORE.includes(name));
const fieldName = (rules, name) => t(`score.${name}`, {}, rules.score_fields[name] ?? name);
const valueName = (name, value) => t(`score.${name}.${value}`, {}, String(value));
const amount = (score) => t(`unit.${score.unit}`, { count: score.total });

/** Draw everything the result holds. page: see main.js. */
export function drawResult(container, result, page) {
  const line = summary(result, page.rules);
  renew(
    container,
    h(
      "header",
      { class: `verdict verdict-${result.status}` },
      h("span", { class: "verdict-sign", "aria-hidden": "true" }, line.sign),
      h("div", {}, h("h2", {}, line.title), h("p", {}, line.detail)),
    ),
    result.miscounted !== undefined && recountBlock(result, page),
    result.score && scoreBlock(result, page),
    result.waits.length > 0 && waitsBlock(result, page),
    result.advice.length > 0 && adviceBlock(result),
    arrangementBlock(result, page.rules),
    result.notes.length > 0 &&
      h("section", { class: "notes" }, h("h3", {}, t("result.notes")), h("ul", {}, result.notes.map((note) => h("li", {}, note)))),
    result.legal_melds.length > 0 && legalBlock(result, page.rules),
  );
}

/** Every piece stands in a meld, yet the number is wrong: which one to look at, or that they are to be counted again. */
function recountBlock({ miscounted, arrangement }, { state, sheet }) {
  const count = arrangement.reduce((sum, meld) => sum + split(meld.pieces).length, 0);
  const read = state.pieces.filter((piece) => isPlayed(piece) && piece.quad && !piece.checked);
  const [doubtful] = read.sort((a, b) => a.confidence - b.confidence);
  const percent = doubtful && Math.round(doubtful.confidence * 100);
  return h(
    "div",
    { class: "callout recount", role: "alert" },
    h(
      "p",
      {},
      t(miscounted < 0 ? "recount.few" : "recount.many", { count, by: Math.abs(miscounted) }),
      " ",
      doubtful ? t("recount.doubtful", { name: nameOf(doubtful.piece), percent }) : t("recount.again"),
    ),
    doubtful &&
      h("button", { type: "button", class: "button", "data-key": "recount", onclick: () => sheet.openPiece(doubtful.id) }, face(doubtful.piece, "face-small"), t("recount.look")),
  );
}

function scoreBlock({ score, status }, { rules, state, settings }) {
  const itemName = (name) => t(`item.${name}`, {}, rules.items[name] ?? name);
  const line = (item) =>
    h(
      "tr",
      {},
      h("th", { scope: "row" }, h("a", { href: `/rules/${rules.name}#${item.name}` }, itemName(item.name)), item.count > 1 && h("span", { class: "times" }, ` × ${item.count}`)),
      h("td", {}, `+${item.value}`),
    );
  return h(
    "section",
    { class: "score" },
    h("h3", {}, t("score.title")),
    h(
      "table",
      {},
      h("tbody", {}, score.items.length > 0 ? score.items.map(line) : h("tr", {}, h("th", { scope: "row" }, t("score.plain")), h("td", {}, "0"))),
      h("tfoot", {}, h("tr", {}, h("th", { scope: "row" }, t("score.total")), h("td", {}, amount(score)))),
    ),
    score.base !== undefined && h("p", { class: "base" }, t("score.base"), h("strong", {}, String(score.base))),
    score.each_pays !== undefined && payments(score, state, status),
    moreOf(score).map(([name, value]) => h("p", { class: "base" }, fieldName(rules, name), h("strong", {}, valueName(name, value)))),
    houseRules(rules, settings.options),
  );
}

function payments(score, state, status) {
  const source = state.winning ? state.source : "discard";
  const payer = source === "discard" ? "pays.discarder" : "pays.each";
  return h(
    "div",
    { class: `pays ${status === "won" ? "" : "is-void"}` },
    h("p", {}, t(payer, { count: score.payers, amount: score.each_pays })),
    h("p", { class: "gets" }, t("pays.winner"), h("strong", {}, String(score.winner_gets))),
  );
}

function houseRules(rules, options) {
  const values = inForce(rules.options, options, rules.presets);
  return h(
    "div",
    { class: "house" },
    h("h4", {}, t("score.house")),
    h(
      "ul",
      { class: "chips" },
      rules.options.map((option) =>
        h("li", {}, h("span", {}, settingLabel(rules, option)), h("b", {}, choiceLabel(rules, option, values[option.name]))),
      ),
    ),
  );
}

const kindName = (kind) => t(`kind.${kind}`, {}, kind);

function meldFigure(meld, rules) {
  const told = rules.concealed_kinds.includes(meld.kind) && ["pung", "kong"].includes(meld.kind);
  const concealed = told && meld.concealed === true;
  return h(
    "li",
    { class: `set set-${meld.kind}` },
    row(split(meld.pieces)),
    h("span", { class: "set-name" }, kindName(meld.kind), concealed && ` · ${t(`meld.concealed.${rules.deck}`)}`),
  );
}

function arrangementBlock({ arrangement: melds, shanten }, rules) {
  if (melds.length === 0) return null;
  const loose = melds.filter((meld) => meld.kind === "loose").map((meld) => meld.pieces);
  const arrangement = melds.filter((meld) => meld.kind !== "loose");
  if (loose.length > 0) arrangement.push({ kind: "loose", pieces: loose.join("") });
  return h(
    "section",
    {},
    h("h3", {}, t(shanten === -1 ? "result.arrangement" : "result.partial")),
    h("ul", { class: "sets" }, arrangement.map((meld) => meldFigure(meld, rules))),
  );
}

function legalBlock({ legal_melds: melds }, rules) {
  return h(
    "details",
    { class: "fold", "data-key": "legal", open: true },
    h("summary", {}, t("result.legal", { count: melds.length })),
    h("ul", { class: "sets" }, melds.map((meld) => meldFigure(meld, rules))),
  );
}

function waitsBlock({ waits }, { state, rules, takeWait }) {
  const canTake = state.winning === null;
  return h(
    "section",
    {},
    h("h3", {}, t("waits.title")),
    h(
      "ul",
      { class: "waits" },
      waits.map((wait) => {
        const total = t(`unit.${rules.unit}`, { count: wait.total });
        const value = wait.status === "won" ? total : t("waits.barred", { total });
        const left = t("waits.left", { count: wait.left });
        const content = [
          face(wait.piece),
          h("span", { class: "wait-text" }, h("b", {}, nameOf(wait.piece)), h("span", {}, left)),
          h("span", { class: `wait-value ${wait.status === "won" ? "" : "is-barred"}` }, value),
        ];
        const attributes = { type: "button", class: "wait", "data-key": `wait-${wait.piece}`, "aria-label": t("waits.take", { name: nameOf(wait.piece), left, value }) };
        return h("li", {}, canTake ? h("button", { ...attributes, onclick: () => takeWait(wait.piece) }, content) : h("div", { class: "wait" }, content));
      }),
    ),
    canTake && h("p", { class: "help" }, t("waits.hint")),
  );
}

const SHOWN_ADVICE = 3;

function adviceBlock({ advice }) {
  const line = ({ discard, shanten, pieces }) =>
    h(
      "li",
      { class: "advice" },
      face(discard),
      h(
        "div",
        {},
        h("b", {}, t("advice.discard", { name: nameOf(discard) })),
        h("p", {}, shanten === 0 ? t("advice.ready", { count: total(pieces) }) : t("advice.away", { count: shanten, left: total(pieces) })),
        h("p", { class: "advice-pieces", role: "img", "aria-label": pieces.map(({ piece, left }) => `${nameOf(piece)} × ${left}`).join(", ") },
          pieces.map(({ piece, left }) => h("span", {}, face(piece, "face-small"), `×${left}`))),
      ),
    );
  const more = advice.slice(SHOWN_ADVICE);
  return h(
    "section",
    {},
    h("h3", {}, t("advice.title")),
    h("ol", { class: "advices" }, advice.slice(0, SHOWN_ADVICE).map(line)),
    more.length > 0 && h("details", { class: "fold", "data-key": "advice" }, h("summary", {}, t("advice.more", { count: more.length })), h("ol", { class: "advices" }, more.map(line))),
  );
}

const total = (pieces) => pieces.reduce((sum, { left }) => sum + left, 0);
