// What stands at the beginning of a channel: what it is for, and commands to try with one click.

import { avatar, h, icon } from "./dom.js";

// Tried in this order; those whose command the app does not have are left out.
const SUGGESTIONS = [
  { text: "/rules list", words: "every traffic rule, ten a page" },
  { text: "/rules new", words: "make one in a form" },
  { text: "/members list", words: "who is in, and in which segments" },
  { text: "/gatehouse help", words: "all that I can do for you" },
];

/** A heading, a sentence and suggestions; `onSuggest(text)` puts one into the composer. */
export function welcomeNode(store, channel, onSuggest) {
  const direct = channel.kind === "im";
  const mark = direct ? avatar(store.bot, 56) : h("span", { class: "welcome-mark" }, icon("hash", 30));
  return h("div", { class: "welcome" }, [
    mark,
    h("h2", { text: direct ? store.bot.real_name : `Welcome to #${channel.name}` }),
    h("p", { text: sentence(store, channel, direct) }),
    h(
      "div",
      { class: "suggestions", role: "group", "aria-label": "Things to try" },
      suggestions(store).map((one) => suggestionNode(one, onSuggest)),
    ),
  ]);
}

function sentence(store, channel, direct) {
  const bot = store.bot.real_name;
  if (direct) return `This is between you and ${bot}. Nobody else reads it.`;
  if (channel.is_ext_shared)
    return `People from outside are in this channel, so ${bot} is careful here: it may refuse what it does elsewhere.`;
  if (!channel.bot_is_member)
    return `${bot} has not been added to this channel. You can still ask it; it may refuse to change things from here.`;
  return channel.topic || "Try one of these:";
}

function suggestions(store) {
  const has = (text) => store.commands.some(({ command }) => command === text.split(" ")[0]);
  const known = SUGGESTIONS.filter(({ text }) => has(text));
  return known.length
    ? known
    : store.commands.slice(0, 4).map(({ command, description }) => ({ text: command, words: description }));
}

function suggestionNode({ text, words }, onSuggest) {
  return h(
    "button",
    { type: "button", class: "suggestion", on: { click: () => onSuggest(text) } },
    h("code", { text }),
    h("span", { text: words }),
  );
}
