// Slack's menus, each a combobox: they differ in where options come from and in what is delivered.

import { valueKey } from "./answers.js";
import { Combobox } from "./combobox.js";
import { avatar, h, icon } from "./dom.js";
import { plain } from "./mrkdwn.js";

const KINDS = {
  static_select: staticKind,
  external_select: externalKind,
  conversations_select: conversationsKind,
};

/** Whether an element is one of the menus. */
export function isSelect(type) {
  return type.replace(/^multi_/, "") in KINDS;
}

/** A menu as a node. `field` names it: {id, name, labelled, describedBy}. */
export function selectNode(element, block, surface, field) {
  const many = element.type.startsWith("multi_");
  const kind = KINDS[element.type.replace(/^multi_/, "")](element, block, surface);
  const key = valueKey(element.type);
  const held = surface.answers.get(block, element);
  const chosen = (many ? held : [held]).filter((value) => value !== null && value !== undefined).map(kind.shown);
  const onChange = (options) => {
    const raw = options.map((option) => option.raw);
    const value = many ? raw : (raw[0] ?? null);
    return surface.change(block, element, value, { [key]: value });
  };
  const box = new Combobox({
    ...kind,
    chosen,
    many,
    onChange,
    field,
    most: element.max_selected_items ?? Infinity,
    clearable: block.type === "input" && block.optional === true,
    placeholder: plain(element.placeholder) || (many ? "Choose any" : "Choose one"),
  });
  return box.node;
}

function optionOf(option, group) {
  return {
    value: option.value ?? "",
    label: plain(option.text),
    description: plain(option.description),
    group,
    raw: option,
  };
}

function optionsOf({ options, option_groups: groups }) {
  if (groups) return groups.flatMap((group) => group.options.map((option) => optionOf(option, plain(group.label))));
  return (options ?? []).map((option) => optionOf(option));
}

function staticKind(element) {
  const all = optionsOf(element);
  return { find: (text) => all.filter(matches(text)), shown: (option) => optionOf(option) };
}

function externalKind(element, block, surface) {
  const least = element.min_query_length ?? 3;
  const find = async (text) => {
    if ([...text].length < least) return { hint: `Type ${least} or more characters to search.` };
    return optionsOf(await surface.options(block, element, text));
  };
  return { find, wait: 250, shown: (option) => optionOf(option) };
}

function userOption(user) {
  return {
    value: user.id,
    label: user.real_name || user.name,
    description: user.title,
    picture: () => avatar(user, 22),
    raw: user.id,
  };
}

function channelOption(channel) {
  return { value: channel.id, label: channel.name, picture: () => icon("hash", 16), raw: channel.id };
}

function conversationsKind(element, block, { store }) {
  const wanted = element.filter?.include ?? ["public", "im"];
  const people = wanted.includes("im") ? store.channels.filter((channel) => channel.kind === "im") : [];
  const direct = (channel) => ({ ...userOption(store.bot), value: channel.id, raw: channel.id });
  const all = () => [
    ...(wanted.includes("public") ? publicChannels(store).map(channelOption) : []),
    ...people.map(direct),
  ];
  const shown = (id) => all().find((option) => option.value === id) ?? { value: id, label: id, raw: id };
  return { find: (text) => all().filter(matches(text)), shown };
}

function publicChannels(store) {
  return store.channels.filter((channel) => channel.kind === "channel" && !channel.is_private && !channel.is_archived);
}

function matches(text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return ({ label, description = "" }) => words.every((word) => `${label} ${description}`.toLowerCase().includes(word));
}
