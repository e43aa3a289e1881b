// Marks in the list of house rules which ones this phone plays by.

import { loadTexts, t } from "/static/js/i18n.js";
import { h } from "/static/js/dom.js";
import { optionsOf } from "/capture/state.js";

await loadTexts(document.documentElement.lang);
for (const list of document.querySelectorAll(".house-rules")) {
  const choices = [...list.querySelectorAll("[data-option]")].map((element) => ({
    element,
    option: element.dataset.option,
    value: JSON.parse(element.dataset.value),
    usual: element.dataset.usual !== undefined,
  }));
  const told = Object.entries(optionsOf(list.dataset.rules));
  // A house rule of another version, which this one does not know, counts for nothing.
  const chosen = Object.fromEntries(told.filter(([name, value]) => choices.some((one) => one.option === name && one.value === value)));
  const usual = Object.fromEntries(choices.filter((one) => one.usual).map(({ option, value }) => [option, value]));
  const values = { ...usual, ...JSON.parse(list.dataset.presets)[chosen.preset ?? usual.preset], ...chosen };
  for (const { element, option, value, usual } of choices) {
    const here = value === values[option];
    element.classList.toggle("is-here", here);
    if (here || usual) element.append(" ", h("span", { class: "told-by" }, here ? t("learn.here") : t("learn.usual")));
  }
}
