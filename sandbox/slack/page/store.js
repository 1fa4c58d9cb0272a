// What the page knows, and who wants to hear when it changes. Nothing here touches the document.

import { TAB } from "./api.js";
import { knownZone } from "./dates.js";
import { History } from "./history.js";

/** Listeners by topic: `on` returns the function that stops listening. */
export class Topics {
  #listeners = new Map();

  on(topic, listener) {
    const all = this.#listeners.get(topic) ?? new Set();
    this.#listeners.set(topic, all.add(listener));
    return () => all.delete(listener);
  }

  emit(topic, detail) {
    for (const listener of this.#listeners.get(topic) ?? []) listener(detail);
  }
}

const IN_CHANNELS = [
  { command: "/invite", description: "Add somebody, or an app, to this channel", usage_hint: "@name" },
  { command: "/leave", description: "Leave this channel", usage_hint: "" },
];

/** The workspace as one person sees it. Topics: workspace, channels, place, message, messages, views, home, traffic, troubles, thread. */
export class Store extends Topics {
  team = { name: "Local Slack" };
  me = null;
  bot = null;
  zone = knownZone(); // in which the person reads clocks
  users = new Map();
  groups = new Map(); // handles of user groups, by id
  channels = [];
  commands = [];
  suggestions = []; // of channels that have none of their own
  shortcuts = [];
  slackbot = false; // whether the app has tools for it
  views = [];
  home = null;
  troubles = [];
  scenes = []; // several troubles with one click
  unread = new Set();
  place = { channel: null, tab: "messages", thread: null };
  #histories = new Map();

  /** Takes the answer of `/_local/state`. */
  enter(state) {
    const changed = this.me?.id !== state.me.id;
    this.team = state.team;
    this.me = state.me;
    this.bot = state.bot;
    this.zone = knownZone(state.me.tz);
    this.users = new Map([...state.users, state.bot].filter(Boolean).map((user) => [user.id, user]));
    this.groups = new Map(state.groups.map((group) => [group.id, group.handle]));
    this.channels = state.channels;
    this.commands = state.commands;
    this.suggestions = state.suggestions;
    this.shortcuts = state.shortcuts;
    this.slackbot = state.slackbot;
    this.views = viewsHere(state.modals);
    this.home = state.home;
    if (changed) this.forget();
    this.emit("workspace");
  }

  /** Takes the modals that are open, wherever they are shown. */
  showViews(modals) {
    this.views = viewsHere(modals);
    this.emit("views");
  }

  /** Takes what can be put out of order, and what is. */
  breaks({ troubles, scenes }) {
    this.troubles = troubles;
    this.scenes = scenes;
    this.emit("troubles");
  }

  /** What is out of order now. */
  get broken() {
    return this.troubles.filter((trouble) => trouble.is_on);
  }

  /** Drops what belongs to the person who acted before. */
  forget() {
    this.#histories.clear();
    this.unread.clear();
  }

  /** Everybody but those who left: whom one can be, mention or choose. */
  get present() {
    return [...this.users.values()].filter((user) => !user.is_deleted);
  }

  channel(id) {
    return this.channels.find((channel) => channel.id === id) ?? null;
  }

  /** The app's commands, and in channels Slack's own. */
  get commandsHere() {
    return this.here?.kind === "channel" ? [...this.commands, ...IN_CHANNELS] : this.commands;
  }

  get here() {
    return this.channel(this.place.channel);
  }

  get botChannel() {
    return this.channels.find((channel) => channel.kind === "im") ?? null;
  }

  /** The messages of a channel that were read so far. */
  history(channel) {
    if (!this.#histories.has(channel)) this.#histories.set(channel, new History());
    return this.#histories.get(channel);
  }

  /** Forgets a channel's messages: its newest page is about to be read. What arrives from now on is newer than that page. */
  beginPage(channel) {
    this.#histories.set(channel, new History());
  }
}

function viewsHere({ views, tab }) {
  return tab === "" || tab === TAB ? views : [];
}
