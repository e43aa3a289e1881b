// Which tile set is in use, and whether corrections teach it: kept in this browser.

const SET = "companion.set";
const LEARN = "companion.learn";

function get(key) {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

function put(key, value) {
  try {
    if (value === null) localStorage.removeItem(key);
    else localStorage.setItem(key, value);
  } catch {
    // Storage is switched off: the choice lasts as long as the page.
  }
}

/** Key of the tile set in use, or null. */
export const chosenSet = () => get(SET);
export const chooseSet = (key) => put(SET, key);

/** Whether corrections teach the set in use; off until somebody wants it. */
export const learns = () => get(LEARN) === "on";
export const setLearns = (on) => put(LEARN, on ? "on" : null);
