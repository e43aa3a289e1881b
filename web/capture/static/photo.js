// The photo with every piece outlined and named, and the crop of one piece.

import { svg } from "/static/js/dom.js";
import { nameOf } from "/static/js/tiles.js";
import { isDoubtful, isPlayed } from "./state.js";

const MARGIN = 0.35; // around the hand, in heights of a piece
const LABEL_MIN_PX = 11;
const LABEL_SHARE = 0.42; // of a piece's short side

const centre = (quad) => [0, 1].map((axis) => quad.reduce((sum, point) => sum + point[axis], 0) / 4);
const distance = (a, b) => Math.hypot(a[0] - b[0], a[1] - b[1]);
const sides = (quad) => [distance(quad[0], quad[1]), distance(quad[0], quad[3])];

/** The part of the photo to show: the hand and its melds, or everything. [x, y, width, height] */
function viewOf(photo, pieces, whole) {
  const shown = pieces.filter((piece) => piece.quad && isPlayed(piece));
  if (whole || shown.length === 0) return [0, 0, photo.width, photo.height];
  const margin = MARGIN * Math.max(...shown.map((piece) => Math.max(...sides(piece.quad))));
  const range = (axis, end) => {
    const values = shown.flatMap((piece) => piece.quad.map((point) => point[axis]));
    return [Math.max(0, Math.min(...values) - margin), Math.min(end, Math.max(...values) + margin)];
  };
  const [left, right] = range(0, photo.width);
  const [top, bottom] = range(1, photo.height);
  return [left, top, right - left, bottom - top];
}

/**
 * Draw into `frame` (an <svg>). selected: id of the piece to point out; whole: all of the photo; onpick: called with a
 * piece's id. The drawing is for eyes and fingers: the same pieces stand as buttons in the hand below.
 */
export function drawPhoto(frame, { photo, url, pieces, winning, selected, whole, onpick }) {
  const view = viewOf(photo, pieces, whole);
  frame.setAttribute("viewBox", view.join(" "));
  // The frame's shape is the view's, within what the style sheet allows; only then is a unit's size on screen known.
  frame.style.aspectRatio = `${view[2]} / ${view[3]}`;
  const unitsPerPx = Math.max(view[2] / (frame.clientWidth || 360), view[3] / (frame.clientHeight || 360));
  const placed = pieces.filter((piece) => piece.quad);
  const marks = placed.map((piece) => {
    const unsure = isDoubtful(piece);
    const state = [
      `mark-${piece.zone}`,
      unsure && "mark-doubtful",
      piece.id === winning && "mark-winning",
      piece.id === selected && "mark-selected",
    ];
    return svg(
      "g",
      { class: ["mark", ...state].filter(Boolean).join(" ") },
      svg("polygon", { points: piece.quad.map((point) => point.join(",")).join(" ") }),
      piece.piece !== "back" && label(piece, unsure, piece.id === winning, unitsPerPx),
    );
  });
  const image = url
    ? svg("image", { href: url, width: photo.width, height: photo.height, preserveAspectRatio: "none" })
    : svg("rect", { class: "no-photo", width: photo.width, height: photo.height });
  // The selected piece last, so that its outline lies on top.
  marks.sort((a, b) => a.classList.contains("mark-selected") - b.classList.contains("mark-selected"));
  frame.replaceChildren(image, ...marks);
  frame.onclick = (event) => {
    const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(frame.getScreenCTM().inverse());
    const hit = nearest(placed, [at.x, at.y]);
    if (hit) onpick(hit.id);
  };
}

/** A fingertip is wider than a tile: the nearest piece counts, if the tap was not far off. */
function nearest(pieces, point) {
  let best = null;
  let least = Infinity;
  for (const piece of pieces) {
    const away = distance(centre(piece.quad), point) / Math.max(...sides(piece.quad));
    if (away < least) [best, least] = [piece, away];
  }
  return least < 1 ? best : null;
}

/** The name on a plate below a piece, for a drawing with so many units a CSS pixel. */
export function label(piece, unsure, wins, unitsPerPx) {
  const [x] = centre(piece.quad);
  const lowest = Math.max(...piece.quad.map((point) => point[1]));
  const size = Math.max(LABEL_MIN_PX * unitsPerPx, LABEL_SHARE * Math.min(...sides(piece.quad)));
  const text = `${wins ? "★" : ""}${piece.piece}${unsure ? "?" : ""}`;
  const width = size * (0.62 * text.length + 0.35);
  const y = lowest + size * 0.25; // half below the piece, so that its face stays in sight
  return svg(
    "g",
    { class: "plate" },
    svg("title", {}, nameOf(piece.piece)),
    svg("rect", { x: x - width / 2, y: y - size * 0.62, width, height: size * 1.24, rx: size * 0.3 }),
    svg("text", { x, y: y + size * 0.35, "font-size": size, "text-anchor": "middle" }, text),
  );
}

/** One piece cut out of the photo and set upright. height in CSS pixels. */
export function crop(photo, url, quad, height) {
  const [wide, high] = sides(quad);
  const width = height * Math.min(1.6, Math.max(0.5, wide / high));
  // Where the tile's own top-left corner and edges lie in the photo, widened by a rim.
  const rim = 0.06;
  const right = [quad[1][0] - quad[0][0], quad[1][1] - quad[0][1]];
  const down = [quad[3][0] - quad[0][0], quad[3][1] - quad[0][1]];
  const start = [0, 1].map((axis) => quad[0][axis] - rim * (right[axis] + down[axis]));
  const [a, b] = right.map((part) => (part * (1 + 2 * rim)) / width);
  const [c, d] = down.map((part) => (part * (1 + 2 * rim)) / height);
  const det = a * d - b * c;
  if (!url || Math.abs(det) < 1e-9) return null;
  const matrix = [d / det, -b / det, -c / det, a / det];
  const e = -(matrix[0] * start[0] + matrix[2] * start[1]);
  const f = -(matrix[1] * start[0] + matrix[3] * start[1]);
  const picture = svg("image", {
    href: url,
    width: photo.width,
    height: photo.height,
    preserveAspectRatio: "none",
    transform: `matrix(${[...matrix, e, f].join(" ")})`,
  });
  return svg("svg", { class: "crop", width, height, viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" }, picture);
}
