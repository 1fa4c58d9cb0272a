// What stands at the beginning of a channel: what it is for, and commands that run with one click.

import { avatar, h, icon } from "./dom.js";
import { busyWhile } from "./elements.js";

/** A heading, a sentence and suggestions; `onSuggest(text)` runs one, and resolves when the app has acknowledged it. */
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
      suggestions(store, channel).map((one) => suggestionNode(one, colleague(store, channel), onSuggest)),
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

// Those whose command the app does not have are left out.
function suggestions(store, channel) {
  const has = ({ text }) => store.commands.some(({ command }) => command === text.split(" ")[0]);
  const known = (channel.suggestions.length ? channel.suggestions : store.suggestions).filter(has);
  const found = known.length
    ? known
    : store.commands.slice(0, 4).map(({ command, description }) => ({ text: command, about: description }));
  return [...invitation(store, channel), ...found].slice(0, 4);
}

function invitation(store, { kind, bot_is_member: isMember }) {
  const bot = store.bot.real_name;
  return kind === "im" || isMember ? [] : [{ text: `/invite @${bot}`, about: `add ${bot} to this channel` }];
}

// Somebody else of the channel: the first name of the last colleague in it.
function colleague(store, channel) {
  const others = store.present.filter(({ id, is_bot, is_guest }) => id !== store.me.id && !is_bot && !is_guest);
  return others.findLast(({ id }) => channel.members.includes(id))?.real_name.split(" ")[0] ?? "somebody else";
}

function suggestionNode({ text, about }, other, onSuggest) {
  const node = h(
    "button",
    { type: "button", class: "suggestion", on: { click: () => busyWhile(node, onSuggest(text)) } },
    h("code", { text }),
    h("span", { text: about.replace("{colleague}", other) }),
  );
  return node;
}
