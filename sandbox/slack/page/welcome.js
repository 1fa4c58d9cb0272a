// What stands at the beginning of a channel: what it is for, and commands that run with one click.

import { avatar, h, icon } from "./dom.js";
import { busyWhile } from "./elements.js";

// Those whose command the app does not have are left out. `words` may name the person to act as next.
const ANYWHERE = [
  { text: "/rules list", words: "every traffic rule, ten a page" },
  { text: "/rules new", words: "make one in a form" },
  { text: "/members list", words: "who is in, and in which segments" },
  { text: "/gatehouse help", words: "everything I can do for you" },
];
const BY_CHANNEL = {
  "ops-traffic": [
    { text: "/rules which https://shop.example.com/old", words: "where a URL goes, and by which rule" },
    { text: "/rules off Old shop for 2h", words: "off now, on again in two hours" },
    { text: "/rules delete Old shop", words: (other) => `then switch to ${other} and approve` },
    { text: "/rules check", words: "loops, duplicates and rules that never match" },
  ],
  support: [
    { text: "/members why anna.berg@example.com vip", words: "why she doesn't get in, and a button to fix it" },
    { text: "/members offboard chloe.diaz@example.com", words: (other) => `off every site: switch to ${other} and approve` },
    { text: "/members list", words: "who is in, and in which segments" },
    { text: "/gatehouse help", words: "everything I can do for you" },
  ],
};

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
      suggestions(store, channel).map((one) => suggestionNode(one, onSuggest)),
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

function suggestions(store, channel) {
  const has = (text) => store.commands.some(({ command }) => command === text.split(" ")[0]);
  const known = (BY_CHANNEL[channel.name] ?? ANYWHERE).filter(({ text }) => has(text));
  const found = known.length
    ? known
    : store.commands.slice(0, 4).map(({ command, description }) => ({ text: command, words: description }));
  const other = approver(store, channel);
  const shown = found.map(({ text, words }) => ({ text, words: typeof words === "function" ? words(other) : words }));
  return [...invitation(store, channel), ...shown].slice(0, 4);
}

function invitation(store, { kind, bot_is_member: isMember }) {
  const bot = store.bot.real_name;
  return kind === "im" || isMember ? [] : [{ text: `/invite @${bot}`, words: `add ${bot} to this channel` }];
}

// Somebody else of the channel: the first name of the last colleague in it.
function approver(store, channel) {
  const others = store.present.filter(({ id, is_bot, is_guest }) => id !== store.me.id && !is_bot && !is_guest);
  return others.findLast(({ id }) => channel.members.includes(id))?.real_name.split(" ")[0] ?? "somebody else";
}

function suggestionNode({ text, words }, onSuggest) {
  const node = h(
    "button",
    { type: "button", class: "suggestion", on: { click: () => busyWhile(node, onSuggest(text)) } },
    h("code", { text }),
    h("span", { text: words }),
  );
  return node;
}
