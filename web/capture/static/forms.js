// Forms drawn from what a rule set tells about its settings; nothing here knows a game.

import { h, renew } from "/static/js/dom.js";
import { t } from "/static/js/i18n.js";
import { face } from "/static/js/tiles.js";
import { choices } from "./hand.js";

const FEW = 4; // choices shown side by side; more go into a list

/** A setting's text from the catalogue, else the rule set's own. */
const textOf = (rules, setting, part) => t(`rules.${rules.name}.${setting.name}.${part}`, {}, setting[part]);
export const settingLabel = (rules, setting) => textOf(rules, setting, "label");
export const choiceLabel = (rules, setting, value) => {
  const choice = setting.choices.find((one) => one.value === value);
  return t(`rules.${rules.name}.${setting.name}.${value}`, {}, choice?.label ?? String(value));
};

/**
 * Draw one control for each setting. values: what is in force by name; onset(name, value). fault: {where, message} of the
 * server's answer, shown at the setting it names (`context.void`).
 */
export function drawForm(container, { rules, settings, group, values, onset, fault }) {
  renew(container, settings.map((setting) => field(setting, { rules, group, value: values[setting.name], onset, fault })));
}

function field(setting, { rules, group, value, onset, fault }) {
  const id = `${group}-${setting.name}`;
  const label = settingLabel(rules, setting);
  const help = textOf(rules, setting, "help");
  const wrong = fault?.where === `${group}.${setting.name}`;
  const notes = [
    help && h("p", { class: "help", id: `${id}-help` }, help),
    wrong && h("p", { class: "fault", role: "alert" }, fault.message),
  ];
  const described = help ? `${id}-help` : undefined;
  if (setting.type === "flag") {
    return h(
      "div",
      { class: `field field-flag ${wrong ? "has-fault" : ""}` },
      h(
        "label",
        { class: "switch" },
        h("input", {
          type: "checkbox",
          role: "switch",
          "data-key": id,
          checked: value === true,
          "aria-describedby": described,
          onchange: (event) => onset(setting.name, event.target.checked),
        }),
        h("span", {}, label),
      ),
      notes,
    );
  }
  const options = setting.choices.map((choice) => ({
    value: choice.value,
    label: choiceLabel(rules, setting, choice.value),
    key: `${id}-${choice.value}`,
    art: /^[mps]$/.test(choice.value ?? "") && face(`5${choice.value}`, "face-small"),
  }));
  const control =
    options.length <= FEW
      ? choices(options, value, (chosen) => onset(setting.name, chosen), { "aria-labelledby": id, "aria-describedby": described })
      : h(
          "select",
          { "data-key": id, "aria-labelledby": id, "aria-describedby": described, onchange: (event) => onset(setting.name, options[event.target.selectedIndex].value) },
          options.map((option) => h("option", { selected: option.value === value }, option.label)),
        );
  return h("div", { class: `field ${wrong ? "has-fault" : ""}` }, h("h3", { id }, label), control, notes);
}

/** Every setting's value in force: defaults, then the preset's, then what was set. */
export function inForce(settings, set, presets = {}) {
  const values = Object.fromEntries(settings.map((setting) => [setting.name, setting.default]));
  return { ...values, ...presets[set.preset ?? values.preset], ...set };
}
