// Small helpers to build elements. Text is always set as text, never as markup.

const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** h("button", {class: "tile", onclick}, "text", child...) */
export const h = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);

/** The same for SVG elements. */
export const svg = (tag, attributes, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);

export const byId = (id) => document.getElementById(id);

/**
 * Put new content into a container and keep the reader's place: the element with the same `data-key` as the one that had
 * the focus gets it back, and a `<details data-key>` that was open or closed stays so.
 */
export function renew(container, ...children) {
  const active = document.activeElement;
  const key = container.contains(active) ? active.dataset.key : undefined;
  const folds = new Map([...container.querySelectorAll("details[data-key]")].map((fold) => [fold.dataset.key, fold.open]));
  container.replaceChildren(...children.flat(Infinity).filter(Boolean));
  for (const fold of container.querySelectorAll("details[data-key]")) {
    if (folds.has(fold.dataset.key)) fold.open = folds.get(fold.dataset.key);
  }
  if (key === undefined) return;
  const same = [...container.querySelectorAll("[data-key]")].find((element) => element.dataset.key === key);
  (same ?? container.querySelector("button:not([disabled]), input, select") ?? container).focus({ preventScroll: true });
}
