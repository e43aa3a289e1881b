// What the evening came to: a chart of everyone's points, the settlement, statistics.

import { h, svg } from "/static/js/dom.js";
import { t } from "/static/js/i18n.js";
import { signed } from "/table-files/rounds.js";

const WIDTH = 340;
const HEIGHT = 190;
const LEFT = 44;
const RIGHT = 62;
const TOP = 10;
const BOTTOM = 22;
const DASHES = ["", "7 4", "2 4", "9 3 2 3"]; // lines differ by more than their colour

/** Everyone's points after each round that counts. */
export function chart(table, rounds, name) {
  const counted = rounds.filter((round) => !round.deleted);
  const series = table.names.map((_, seat) => [table.start, ...counted.map((round) => round.points[seat])]);
  const all = series.flat();
  const low = Math.min(...all);
  const high = Math.max(...all, low + 1);
  const x = (at) => LEFT + ((WIDTH - LEFT - RIGHT) * at) / Math.max(counted.length, 1);
  const y = (points) => TOP + ((HEIGHT - TOP - BOTTOM) * (high - points)) / (high - low);
  // Names at the lines' ends, pushed apart where the lines meet.
  const ends = series.map((line, seat) => ({ seat, at: y(line.at(-1)) })).sort((a, b) => a.at - b.at);
  for (const [index, end] of ends.entries()) if (index > 0) end.at = Math.max(end.at, ends[index - 1].at + 14);
  const over = ends.at(-1).at - (HEIGHT - BOTTOM + 4);
  for (const end of ends) end.at -= Math.max(over, 0);
  const spoken = table.names.map((_, seat) => `${name(seat)} ${table.points[seat]}`).join(", ");
  return svg(
    "svg",
    { class: "chart", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": t("chart.spoken", { points: spoken }) },
    [...new Set([low, table.start, high])].map((points) => [
      svg("line", { class: points === table.start ? "chart-start" : "chart-grid", x1: LEFT, x2: WIDTH - RIGHT, y1: y(points), y2: y(points) }),
      svg("text", { class: "chart-scale", x: LEFT - 5, y: y(points) + 4, "text-anchor": "end" }, String(points)),
    ]),
    svg("text", { class: "chart-scale", x: LEFT, y: HEIGHT - 5 }, "0"),
    svg("text", { class: "chart-scale", x: WIDTH - RIGHT, y: HEIGHT - 5, "text-anchor": "end" }, t("chart.rounds", { count: counted.length })),
    series.map((line, seat) => svg("polyline", { class: `chart-line chart-${seat}`, "stroke-dasharray": DASHES[seat], points: line.map((points, at) => `${x(at).toFixed(1)},${y(points).toFixed(1)}`).join(" ") })),
    ends.map(({ seat, at }) => svg("text", { class: `chart-name chart-${seat}`, x: WIDTH - RIGHT + 5, y: at + 4 }, name(seat).slice(0, 9))),
  );
}

export function settlement(evening, name) {
  return h(
    "section",
    {},
    h("h3", {}, t("settle.title")),
    evening.settlement.length === 0
      ? h("p", { class: "help" }, t("settle.none"))
      : h(
          "ul",
          { class: "arrows" },
          evening.settlement.map(({ payer, payee, amount }) =>
            h("li", {}, h("span", { class: "arrow" }, h("span", {}, name(payer)), h("b", {}, `${amount} →`), h("span", {}, name(payee)))),
          ),
        ),
    h("p", { class: "help" }, t("settle.reason", { sums: evening.standings.map(({ seat, gain }) => `${name(seat)} ${signed(gain)}`).join(", "), count: evening.settlement.length })),
  );
}

export function statisticsBlock({ statistics }, name, rules) {
  const { seats, biggest, items } = statistics;
  const columns = ["wins", "self_draws", "paid_for", ...(rules.events.includes("kong") ? ["kongs", "ready"] : []), "best", "worst"];
  return h(
    "details",
    { class: "fold", "data-key": "statistics" },
    h("summary", {}, t("stats.title")),
    h("p", { class: "help" }, t("stats.rounds", { count: statistics.rounds, unpaid: statistics.unpaid })),
    h(
      "div",
      { class: "wide-table" },
      h(
        "table",
        {},
        h("thead", {}, h("tr", {}, h("td", {}), seats.map((_, seat) => h("th", { scope: "col" }, name(seat))))),
        h("tbody", {}, columns.map((column) => h("tr", {}, h("th", { scope: "row" }, t(`stats.${column}`)), seats.map((each) => h("td", {}, column === "best" || column === "worst" ? signed(each[column]) : String(each[column])))))),
      ),
    ),
    biggest.length > 0 && h("h4", {}, t("stats.biggest")),
    h("ol", { class: "plain" }, biggest.map(({ round, seat, total, earned }) => h("li", {}, t("stats.hand", { who: name(seat), score: t(`unit.${rules.unit}`, { count: total }), earned, round })))),
    Object.keys(items).length > 0 && h("h4", {}, t("stats.items")),
    h("ul", { class: "chips" }, Object.entries(items).map(([item, count]) => h("li", {}, h("span", {}, t(`item.${item}`, {}, rules.items[item] ?? item)), h("b", {}, `× ${count}`)))),
  );
}
