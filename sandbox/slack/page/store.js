// What the page knows, and who wants to hear when it changes. Nothing here touches the document.

import { knownZone } from "./dates.js";

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

/** The workspace as one person sees it. Topics: workspace, channels, place, message, messages, views, home, traffic, thread. */
export class Store extends Topics {
  team = { name: "Local Slack" };
  me = null;
  bot = null;
  users = new Map();
  channels = [];
  commands = [];
  shortcuts = [];
  views = [];
  home = null;
  traffic = [];
  unread = new Set();
  place = { channel: null, tab: "messages", thread: null };
  #histories = new Map();

  /** Takes the answer of `/_local/state`. */
  enter(state) {
    const changed = this.me?.id !== state.me.id;
    this.team = state.team;
    this.me = state.me;
    this.bot = state.bot;
    this.users = new Map([...state.users, state.bot].filter(Boolean).map((user) => [user.id, user]));
    this.channels = state.channels;
    this.commands = state.commands;
    this.shortcuts = state.shortcuts;
    this.views = state.views;
    this.home = state.home;
    if (changed) this.forget();
    this.emit("workspace");
  }

  /** Drops what belongs to the person who acted before. */
  forget() {
    this.#histories.clear();
    this.unread.clear();
  }

  channel(id) {
    return this.channels.find((channel) => channel.id === id) ?? null;
  }

  /** The time zone in which the person reads clocks. */
  get zone() {
    return knownZone(this.me?.tz);
  }

  get here() {
    return this.channel(this.place.channel);
  }

  get botChannel() {
    return this.channels.find((channel) => channel.kind === "im") ?? null;
  }

  /** The messages of a channel that were read so far: `{messages, oldest, hasMore, loaded}`. */
  history(channel) {
    if (!this.#histories.has(channel)) this.#histories.set(channel, { messages: new Map(), oldest: null, hasMore: false, loaded: false });
    return this.#histories.get(channel);
  }

  /** Forgets a channel's messages: its newest page is about to be read. What arrives from now on is newer than that page. */
  beginPage(channel) {
    this.#histories.delete(channel);
    this.history(channel);
  }

  /** Adds a page of messages under those that came live in the meantime. */
  addPage(channel, page) {
    const history = this.history(channel);
    for (const message of page.messages) if (!history.messages.has(message.ts)) history.messages.set(message.ts, message);
    history.oldest = page.messages[0]?.ts ?? history.oldest; // pages are read backwards
    history.hasMore = page.has_more;
    history.loaded = true;
  }

  /** Adds what a thread holds; the channel's own pages are not touched by it. */
  addReplies(channel, messages) {
    const known = this.history(channel).messages;
    for (const message of messages) if (message.thread_ts && !known.has(message.ts)) known.set(message.ts, message);
  }

  put(channel, message) {
    this.history(channel).messages.set(message.ts, message);
  }

  drop(channel, ts) {
    this.history(channel).messages.delete(ts);
  }

  /** The replies known so far to the message `ts`, oldest first. */
  replies(channel, ts) {
    return sorted(this.history(channel).messages).filter((message) => message.thread_ts === ts && message.ts !== ts);
  }

  /** What the channel itself shows, oldest first: everything but the replies in threads. */
  timeline(channel) {
    return sorted(this.history(channel).messages).filter(isTopLevel);
  }
}

function sorted(messages) {
  return [...messages.values()].sort((one, other) => Number(one.ts) - Number(other.ts));
}

/** Whether a message stands in the channel, not in a thread. */
export function isTopLevel(message) {
  return !message.thread_ts || message.thread_ts === message.ts;
}
