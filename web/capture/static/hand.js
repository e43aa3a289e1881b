// The hand as tiles: loose pieces, the winning piece, melds, pieces laid aside, and the rest of the photo.

import { h, renew } from "/static/js/dom.js";
import { t } from "/static/js/i18n.js";
import { face, nameOf, playsAs, shortName, suitOf } from "/static/js/tiles.js";
import { find, handPieces, inMeld, inZone, isDoubtful, isHidden, kindOf } from "./state.js";

/** The button of one piece. */
export function tileButton(piece, page) {
  const { state, rules } = page;
  const unsure = isDoubtful(piece);
  const foreign = piece.piece !== "back" && !rules.pieces.includes(playsAs(piece.piece));
  const percent = Math.round(piece.confidence * 100);
  const spoken = [
    piece.piece === "back" ? t("piece.back") : nameOf(piece.piece),
    unsure && t("hand.doubtful", { percent }),
    foreign && t("hand.foreign", { rules: rules.title }),
    piece.id === state.winning && t("hand.winning"),
  ];
  return h(
    "button",
    {
      type: "button",
      class: ["tile", unsure && "is-doubtful", foreign && "is-foreign"].filter(Boolean).join(" "),
      "data-key": piece.id,
      "data-piece": piece.piece,
      "aria-label": spoken.filter(Boolean).join(", "),
      onclick: () => page.pick(piece.id),
    },
    face(piece.piece),
    h("span", { class: "tile-name", "aria-hidden": "true" }, piece.piece === "back" ? t("short.back") : shortName(piece.piece)),
    unsure && h("span", { class: "badge badge-doubtful", "aria-hidden": "true" }, "?"),
    foreign && h("span", { class: "badge badge-foreign", "aria-hidden": "true" }, "!"),
  );
}

export function choices(options, chosen, onchoose, extra = {}) {
  return h(
    "div",
    { class: "choices", role: "group", ...extra },
    options.map(({ value, label, key, art }) =>
      h(
        "button",
        {
          type: "button",
          class: "choice",
          "data-key": key,
          "aria-pressed": String(value === chosen),
          onclick: () => onchoose(value),
        },
        art,
        label,
      ),
    ),
  );
}

/** Draw every part of the hand. `page` carries state, rules and what to do on taps (see main.js). */
export function drawHand(parts, page) {
  const { state } = page;
  const loose = handPieces(state).filter((piece) => piece.id !== state.winning);
  renew(
    parts.tiles,
    loose.map((piece) => tileButton(piece, page)),
    h(
      "button",
      { type: "button", class: "tile tile-add", "data-key": "add", "aria-label": t("hand.add"), onclick: page.add },
      h("span", { class: "face face-empty", "aria-hidden": "true" }, "+"),
      h("span", { class: "tile-name", "aria-hidden": "true" }, t("hand.add.short")),
    ),
  );
  parts.tiles.classList.toggle("is-picking", page.picking);
  drawWinning(parts.winning, page);
  renew(parts.melds, state.melds.map((meld, index) => meldBox(meld, index, page)));
  parts.melds.hidden = state.melds.length === 0;
  drawBonus(parts.bonus, page);
  drawRest(parts.rest, parts.restTiles, parts.restTitle, page);
}

function drawWinning(container, page) {
  const { state } = page;
  const piece = find(state, state.winning);
  container.hidden = inZone(state, "hand").length === 0;
  if (container.hidden) return;
  if (!piece) {
    const cancel = page.picking;
    renew(
      container,
      h("p", { class: "hint" }, t(cancel ? "winning.picking" : "winning.none")),
      h(
        "button",
        { type: "button", class: "button", "data-key": "name-winning", "aria-pressed": String(cancel), onclick: page.togglePicking },
        t(cancel ? "winning.cancel" : "winning.name"),
      ),
    );
    return;
  }
  renew(
    container,
    tileButton(piece, page),
    h(
      "div",
      { class: "winning-text" },
      h("h3", { id: "winning-title" }, `★ ${t("winning.title")}`),
      choices(
        ["discard", "wall"].map((value) => ({ value, label: t(`winning.${value}`), key: `from-${value}` })),
        state.source,
        (source) => page.change((draft) => (draft.source = source)),
        { "aria-labelledby": "winning-title" },
      ),
      h(
        "button",
        { type: "button", class: "link", "data-key": "no-winning", onclick: () => page.change((draft) => (draft.winning = null)) },
        t("winning.remove"),
      ),
    ),
  );
}

/** Why this meld cannot be judged yet, or null. */
export function meldFault(state, meld, rules) {
  const pieces = inMeld(state, meld.id);
  if (pieces.some(isHidden)) return t("meld.hidden");
  const kind = kindOf(pieces.map((piece) => piece.piece));
  if (kind && rules.meld_kinds.includes(kind)) return null;
  const known = rules.meld_kinds.map((name) => t(`kind.${name}`)).join(", ");
  return t("meld.fault", { rules: rules.title, known });
}

function meldBox(meld, index, page) {
  const { state, rules } = page;
  const pieces = inMeld(state, meld.id);
  const kind = kindOf(pieces.map((piece) => piece.piece));
  const fault = meldFault(state, meld, rules);
  const title = t("meld.title", { number: index + 1, kind: kind ? t(`kind.${kind}`) : t(pieces.some(isHidden) ? "meld.concealed.kong" : "meld.unknown") });
  return h(
    "div",
    { class: `meld ${fault ? "has-fault" : ""}`, role: "group", "aria-label": title },
    h("h3", {}, title),
    h("div", { class: "tile-row" }, pieces.map((piece) => tileButton(piece, page))),
    fault && h("p", { class: "fault" }, fault),
    h(
      "div",
      { class: "meld-actions" },
      rules.concealed_kinds.includes(kind) &&
        h(
          "button",
          {
            type: "button",
            class: "choice",
            "data-key": `concealed-${meld.id}`,
            "aria-pressed": String(meld.concealed),
            onclick: () =>
              page.change((draft) => {
                const same = draft.melds.find(({ id }) => id === meld.id);
                same.concealed = !same.concealed;
              }),
          },
          t(`meld.concealed.${rules.deck}`),
        ),
      h("button", { type: "button", class: "link", "data-key": `add-${meld.id}`, onclick: () => page.add(meld.id) }, t("meld.add")),
      h(
        "button",
        {
          type: "button",
          class: "link",
          "data-key": `back-${meld.id}`,
          onclick: () =>
            page.change((draft) => {
              for (const piece of inMeld(draft, meld.id)) Object.assign(piece, { zone: "hand", meld: null });
            }),
        },
        t("meld.back"),
      ),
    ),
  );
}

function drawBonus(container, page) {
  const { state } = page;
  const aside = inZone(state, "bonus");
  const flowers = inZone(state, "hand").filter((piece) => suitOf(piece.piece) === "f");
  container.hidden = aside.length + flowers.length === 0;
  renew(
    container,
    flowers.length > 0 &&
      h(
        "div",
        { class: "callout" },
        h("p", {}, t("bonus.offer", { count: flowers.length, rules: page.rules.title })),
        h(
          "button",
          {
            type: "button",
            class: "button",
            "data-key": "lay-aside",
            onclick: () =>
              page.change((draft) => {
                for (const { id } of flowers) Object.assign(find(draft, id), { zone: "bonus", meld: null });
              }),
          },
          t("bonus.lay"),
        ),
      ),
    aside.length > 0 && h("h3", {}, t("bonus.title")),
    aside.length > 0 && h("div", { class: "tile-row" }, aside.map((piece) => tileButton(piece, page))),
  );
}

function drawRest(details, tiles, title, page) {
  const rest = [...inZone(page.state, "other"), ...inZone(page.state, "back")];
  details.hidden = rest.length === 0;
  title.textContent = t("rest.title", { count: rest.length });
  renew(tiles, rest.map((piece) => tileButton(piece, page)));
}
