// Texts of the page: one catalogue a language, `web/translations/<language>.json`.

let texts = {};
let plurals = new Intl.PluralRules("en");

export async function loadTexts(language) {
  const answer = await fetch(`/translations/${language}.json`);
  if (!answer.ok) throw new Error(`translations ${language}: ${answer.status}`);
  texts = await answer.json();
  plurals = new Intl.PluralRules(language);
}

/**
 * The text of a key with `{name}` places filled in. An entry may be an object by plural form; `params.count` then chooses.
 * Unknown keys give `fallback`, for texts that the rule sets bring along themselves.
 */
export function t(key, params = {}, fallback = key) {
  let text = texts[key] ?? fallback;
  if (typeof text === "object") text = text[plurals.select(params.count)] ?? text.other;
  return text.replace(/\{(\w+)\}/g, (place, name) => params[name] ?? place);
}
