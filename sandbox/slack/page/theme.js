// Light, dark, or as the system says. The choice is kept in this browser.

const KEY = "local-slack-theme";
const ORDER = ["auto", "light", "dark"];

/** Applies what was chosen before. */
export function startTheme() {
  apply(current());
}

/** "auto", "light" or "dark" */
export function current() {
  const kept = localStorage.getItem(KEY);
  return ORDER.includes(kept) ? kept : "auto";
}

/** Goes on to the next of the three; returns it. */
export function nextTheme() {
  const next = ORDER[(ORDER.indexOf(current()) + 1) % ORDER.length];
  localStorage.setItem(KEY, next);
  apply(next);
  return next;
}

function apply(theme) {
  if (theme === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}
