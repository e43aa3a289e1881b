// Come to a table: join one by its code, open a new one, return to an earlier evening, bring one from a file.

import { byId, h, renew } from "/static/js/dom.js";
import { ApiError, call, rules as loadRules } from "/static/js/api.js";
import { loadTexts, t } from "/static/js/i18n.js";
import { drawForm, inForce } from "/capture/forms.js";
import { choices } from "/capture/hand.js";
import { lastGame, optionsOf, settingsOf } from "/capture/state.js";
import { newKey, post } from "/table-files/link.js";

const NAME = "companion.name";

const remembered = () => {
  try {
    return localStorage.getItem(NAME) ?? "";
  } catch {
    return "";
  }
};

const go = (document, name) => {
  try {
    localStorage.setItem(NAME, name);
  } catch {
    // Storage is switched off: the name is asked for again next time.
  }
  location.href = `/table/${document.id}`;
};

/** Shows at a field what is wanted there. */
function ask(field, text) {
  field.setCustomValidity(text);
  field.addEventListener("input", () => field.setCustomValidity(""), { once: true });
  field.reportValidity();
}

/** Does something that may fail, and says so on the page when it does. */
async function attempt(action) {
  byId("fault").hidden = true;
  try {
    await action();
  } catch (error) {
    if (!(error instanceof ApiError)) console.error(error);
    byId("fault").textContent = error instanceof ApiError ? error.message : t("error.failed");
    byId("fault").hidden = false;
    byId("fault").scrollIntoView({ block: "nearest" });
  }
}

class Joining {
  #code = "";
  #seat = null;
  #found = null;
  #key = newKey();

  constructor() {
    byId("join-name").value = remembered();
    byId("look").addEventListener("submit", (event) => {
      event.preventDefault();
      attempt(() => this.#look(byId("code").value));
    });
    byId("join").addEventListener("submit", (event) => {
      event.preventDefault();
      attempt(() => this.#join());
    });
    addEventListener("hashchange", () => this.linked());
  }

  /** The code that a QR code put into the address. */
  async linked() {
    const code = decodeURIComponent(location.hash.slice(1));
    if (!code) return;
    byId("code").value = code;
    await attempt(() => this.#look(code));
  }

  async #look(code) {
    this.#found = await call("/api/tables/look", post({ code }));
    if (this.#found.joined) return go(this.#found, remembered());
    this.#code = code;
    const free = this.#found.seated.findIndex((seated) => !seated);
    this.#seat = free < 0 ? null : free;
    this.#draw();
    byId("join").hidden = false;
    byId("join-name").focus();
  }

  #draw() {
    const { name, rules, names, seated } = this.#found;
    byId("found").textContent = t("table.found", { name: name || t("table.title"), rules: t(`rules.${rules}`) });
    const seats = names.map((who, seat) => ({
      value: seat,
      label: who ? t(seated[seat] ? "table.seat.again" : "table.seat.named", { number: seat + 1, name: who }) : t("table.seat.free", { number: seat + 1 }),
      key: `seat-${seat}`,
    }));
    const pick = (seat) => {
      this.#seat = seat;
      if (seat !== null && names[seat]) byId("join-name").value = names[seat];
      this.#draw();
    };
    const list = choices([...seats, { value: null, label: t("table.watch"), key: "watch" }], this.#seat, pick, { "aria-labelledby": "join-seat-title" });
    byId("join-seats").replaceWith(list);
    list.id = "join-seats";
  }

  async #join() {
    const name = byId("join-name").value.trim();
    const request = { key: this.#key, code: this.#code, me: { name, seat: this.#seat } };
    try {
      go(await call("/api/tables/join", post(request)), name);
    } catch (error) {
      if (error.kind === "refused") this.#key = newKey(); // another try is another request
      throw error;
    }
  }
}

class Opening {
  #ruleSets;
  #rules;
  #options = {};
  #players = 4;
  #key = newKey();

  constructor(ruleSets) {
    this.#ruleSets = ruleSets;
    byId("rules").replaceChildren(...ruleSets.map(({ name, title }) => h("option", { value: name }, t(`rules.${name}`, {}, title))));
    byId("rules").addEventListener("change", ({ target }) => this.#choose(target.value));
    byId("me").addEventListener("change", () => this.#showMe());
    byId("my-name").value = remembered();
    byId("create").addEventListener("submit", (event) => {
      event.preventDefault();
      attempt(() => this.#open());
    });
    const { name } = ruleSets.find((rules) => rules.name === lastGame()) ?? ruleSets[0];
    byId("rules").value = name;
    this.#choose(name);
    byId("name-0").value = remembered();
  }

  #choose(name) {
    this.#rules = this.#ruleSets.find((rules) => rules.name === name);
    this.#players = this.#rules.players[0];
    this.#options = settingsOf({ options: optionsOf(name), context: {} }, this.#rules).options;
    this.#draw();
  }

  #draw() {
    const { players } = this.#rules;
    const list = choices(
      [...players].sort().map((count) => ({ value: count, label: String(count), key: `players-${count}` })),
      this.#players,
      (count) => {
        this.#players = count;
        this.#draw();
      },
      { "aria-labelledby": "players-title" },
    );
    byId("players").replaceWith(list);
    list.id = "players";
    const typed = [...byId("names").querySelectorAll("input")].map((input) => input.value);
    const line = (_, seat) => h("input", { class: "input", id: `name-${seat}`, type: "text", maxlength: 40, autocomplete: "off", "aria-label": t("table.seat.free", { number: seat + 1 }), placeholder: t("table.seat.free", { number: seat + 1 }), value: typed[seat] ?? "" });
    byId("names").replaceChildren(...Array.from({ length: this.#players }, line));
    const seat = byId("me").value || "0";
    byId("me").replaceChildren(
      ...Array.from({ length: this.#players }, (_, at) => h("option", { value: at, selected: String(at) === seat }, t("table.me.seat", { number: at + 1 }))),
      h("option", { value: "", selected: byId("me").options.length > 0 && seat === "" }, t("table.me.none")),
    );
    this.#showMe();
    drawForm(byId("options"), {
      rules: this.#rules,
      settings: this.#rules.options,
      group: "options",
      values: inForce(this.#rules.options, this.#options, this.#rules.presets),
      onset: (name, value) => {
        this.#options = name === "preset" ? { preset: value } : { ...this.#options, [name]: value };
        this.#draw();
      },
      fault: null,
    });
  }

  #showMe() {
    byId("my-name-line").hidden = byId("me").value !== "";
  }

  async #open() {
    const names = [...byId("names").querySelectorAll("input")].map((input) => input.value.trim());
    const seat = byId("me").value === "" ? null : Number(byId("me").value);
    const name = seat === null ? byId("my-name").value.trim() : names[seat];
    if (!name) return ask(byId(seat === null ? "my-name" : `name-${seat}`), t("table.who"));
    const create = {
      rules: this.#rules.name,
      players: names,
      name: byId("evening").value,
      options: this.#options,
      stake: byId("stake").valueAsNumber,
      start: byId("start").valueAsNumber,
    };
    try {
      go(await call("/api/tables", post({ key: this.#key, create, me: { name, seat } })), name);
    } catch (error) {
      if (error.kind === "refused") this.#key = newKey();
      throw error;
    }
  }
}

async function showPast() {
  const { evenings } = await call("/api/tables");
  byId("past-card").hidden = evenings.length === 0;
  const day = new Intl.DateTimeFormat(document.documentElement.lang, { dateStyle: "medium", timeStyle: "short" });
  renew(
    byId("past"),
    evenings.map(({ id, name, rules, finished, changed }) =>
      h("li", {}, h("a", { class: "evening", href: `/table/${id}` }, h("b", {}, name || t(`rules.${rules}`)), h("span", {}, [day.format(new Date(changed)), finished && t("table.finished")].filter(Boolean).join(" · ")))),
    ),
  );
}

async function bring(file) {
  const name = byId("join-name").value.trim() || remembered() || t("table.visitor");
  const address = `/api/tables/import?${new URLSearchParams({ key: newKey(), name })}`;
  go(await call(address, { method: "POST", headers: { "Content-Type": "application/json" }, body: file }), name);
}

async function start() {
  try {
    await loadTexts(document.documentElement.lang);
    const { rules } = await loadRules();
    const joining = new Joining();
    new Opening(rules);
    byId("bring").addEventListener("change", ({ target }) => {
      const [file] = target.files;
      if (file) attempt(() => bring(file));
      target.value = "";
    });
    document.body.classList.remove("is-starting");
    await attempt(showPast);
    await joining.linked();
  } catch (error) {
    console.error(error);
    document.body.classList.remove("is-starting");
    byId("fault").textContent = t("start.failed");
    byId("fault").hidden = false;
  }
}

start();
