// A hand for somebody else: another page sent the visitor here for one, and gets it back.
//
// The errand lies in this tab's storage: {back, seat, title, rules, options, context, source, hand: document | null}; when it
// is done it has `done`, the hand document, and `photo`, a small picture if there is one.

import { byId } from "/static/js/dom.js";
import { handDocument, isPlayed } from "./state.js";

export const ERRAND = "companion.errand";

export class Errand {
  #errand = null;
  #store;
  #rules;
  #photo = null; // id of the photo that the facts were told to

  /** rules(): description of the rule set in force. */
  constructor(store, rules) {
    this.#store = store;
    this.#rules = rules;
    if (!location.search.startsWith("?errand")) return;
    try {
      this.#errand = JSON.parse(sessionStorage.getItem(ERRAND));
    } catch {
      // Storage is switched off: there is no errand.
    }
    if (!this.#errand) return;
    this.#begin();
    byId("errand").hidden = false;
    document.body.classList.add("is-errand"); // the game is the sender's
    byId("errand-title").textContent = this.#errand.title;
    byId("errand-back").href = this.#errand.back;
    byId("errand-done").addEventListener("click", () => this.#done());
    store.subscribe(() => this.#draw());
    this.#draw();
  }

  /** Whether a hand is wanted, of the rules in force. */
  get isOpen() {
    return this.#errand !== null;
  }

  /** The hand that was sent along, or an empty table under the sender's rules; a reload keeps what was done since. */
  #begin() {
    const { begun, rules, hand } = this.#errand;
    this.#photo = this.#store.state.photo?.id ?? null;
    if (begun) return;
    if (this.#store.state.rules !== rules) this.#store.chooseRules(rules);
    this.#store.clear();
    if (hand) this.#store.takeDocument(hand);
    this.#tell();
    this.#keep({ begun: true });
  }

  /** What the sender knows already. */
  #tell() {
    const { options, source, context } = this.#errand;
    this.#photo = this.#store.state.photo?.id ?? null;
    this.#store.change((draft) => Object.assign(draft, { options, source, context: { ...draft.context, ...context } }));
  }

  #keep(more) {
    Object.assign(this.#errand, more);
    sessionStorage.setItem(ERRAND, JSON.stringify(this.#errand));
  }

  #draw() {
    // A new photo is a new hand, of which nothing is known.
    if ((this.#store.state.photo?.id ?? this.#photo) !== this.#photo) queueMicrotask(() => this.#tell());
    const { rules, pieces } = this.#store.state; // undo may lead back to another game
    byId("errand-done").disabled = rules !== this.#errand.rules || !pieces.some(isPlayed);
  }

  #done() {
    const done = handDocument(this.#store.state, this.#rules());
    try {
      this.#keep({ done, photo: this.#store.preview });
    } catch {
      this.#keep({ done, photo: null }); // no room for the picture
    }
    location.href = this.#errand.back;
  }
}
