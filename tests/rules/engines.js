"use strict";
// What the extension makes of a URL by one rule, in the words of JavaScript, which it is written in.
// Reads a list of [rule, URL] as JSON; writes one of [extension, broken]: the URL that comes of it, "" for
// blocked, null where it stays; and whether a text in slashes is no expression.

const expression = (value) => {
  const parts = /^\/(.+)\/(|i|g|ig|gi)$/.exec(value);
  return parts && new RegExp(parts[1], parts[2]);
};
const orNull = (work) => {
  try {
    return work();
  } catch {
    return null;
  }
};
const subject = (url, key) => {
  const { host, pathname } = new URL(url);
  return { Url: url, host, path: pathname }[key];
};
const filled = (destination, caught) =>
  caught.reduce((text, value, at) => (at ? text.replaceAll(`$${at}`, value || "") : text), destination);

const plainly = {
  Equals: (value, text) => (text === value ? [] : null),
  Contains: (value, text) => (text.includes(value) ? [] : null),
};

// The extension: a wildcard is an expression; the first pair alone; what is caught is caught from the whole URL.
const written = (value) => `/^${value.replace(/[?.-]/g, "\\$&").replaceAll("*", "(.*)")}$/`;
const inExtension = {
  ...plainly,
  Matches: (value, text) => orNull(() => expression(value.startsWith("/") ? value : `/${value}/`).exec(text)),
  Wildcard_Matches: (value, text) => orNull(() => expression(written(value)).exec(text)),
};
const made = {
  Redirect: ({ source: { operator, value }, destination }, url) => {
    const texts = { Matches: value, Wildcard_Matches: written(value) };
    const found = texts[operator] === undefined ? null : orNull(() => expression(texts[operator]));
    return filled(destination, (found && found.exec(url)) || []);
  },
  Cancel: () => "",
  Replace: ({ from, to }, url) => url.replace(from, to),
};
const extension = ({ ruleType, pairs }, url) => {
  const pair = pairs.find(
    ({ source: { key, operator, value, isActive } }) =>
      (isActive ?? true) && inExtension[operator](value, subject(url, key)),
  );
  const now = pair ? made[ruleType](pair, url) : url;
  return now === url || (now === "" && ruleType !== "Cancel") ? null : now;
};

const cases = JSON.parse(require("node:fs").readFileSync(0, "utf8"));
const isBroken = ({ pairs }) =>
  orNull(() => pairs.map(({ source, from }) => [source.value, from || ""].map(expression))) === null;
const answers = cases.map(([rule, url]) => [
  orNull(() => extension(rule, url)),
  isBroken(rule),
]);
process.stdout.write(JSON.stringify(answers));
