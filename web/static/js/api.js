// Calls to the server. Every failure becomes an `ApiError` that a person can read.

import { t } from "./i18n.js";

export class ApiError extends Error {
  /** kind: "offline" (no answer came), "refused" (the request is at fault), "failed" (the server's trouble). */
  constructor(kind, message, detail = {}) {
    super(message);
    this.kind = kind;
    this.where = detail.where ?? "";
    this.position = detail.position;
  }
}

export async function call(path, options) {
  let answer;
  try {
    answer = await fetch(path, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ApiError("offline", t("error.offline"));
  }
  let document;
  try {
    document = await answer.json();
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ApiError(answer.ok ? "offline" : "failed", answer.ok ? t("error.offline") : t("error.failed"));
  }
  if (answer.ok) return document;
  const kind = answer.status >= 500 ? "failed" : "refused";
  throw new ApiError(kind, document?.error?.message ?? t("error.failed"), document?.error);
}

export const rules = () => call("/api/rules");

export const pieces = (text, deck, signal) =>
  call(`/api/pieces?${new URLSearchParams({ text, deck })}`, { signal });

export const analyse = (hand, signal) =>
  call("/api/analyses", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(hand),
    signal,
  });

/** One frame of a live preview. known: {at, state, rules, set}; options, context: how the game is played. */
export function see(frame, { options, context, ...known }, signal) {
  const form = new FormData();
  form.append("frame", frame, "frame.jpg");
  for (const [name, value] of Object.entries(known)) form.append(name, value);
  form.append("options", JSON.stringify(options));
  form.append("context", JSON.stringify(context));
  return call("/api/frames", { method: "POST", body: form, signal });
}

/** deck: what lies in the photo, or "auto". rules: the game, whose deck is looked for first; options, context: how it is
 * played. set: key of the taught tile set in the photo, or null. */
export function read(photo, name, signal, { deck = "auto", rules = null, options = {}, context = {}, set = null } = {}) {
  const form = new FormData();
  form.append("photo", photo, name);
  form.append("deck", deck);
  if (rules) {
    form.append("rules", rules);
    form.append("options", JSON.stringify(options));
    form.append("context", JSON.stringify(context));
  }
  if (set) form.append("set", set);
  return call("/api/readings", { method: "POST", body: form, signal });
}
