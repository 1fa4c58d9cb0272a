// The page as a whole: reads the workspace, draws its parts, and keeps them in step with the server's news.

import { read, send } from "./api.js";
import { Breaking } from "./breaking.js";
import { Composer } from "./composer.js";
import { debounced, h } from "./dom.js";
import { Header } from "./header.js";
import { isReply } from "./history.js";
import { Home } from "./home.js";
import { Inspector } from "./inspector.js";
import { Live } from "./live.js";
import { Modals } from "./modal.js";
import { followHere } from "./permalinks.js";
import { Slackbot } from "./slackbot.js";
import { Sidebar } from "./sidebar.js";
import { Store } from "./store.js";
import { openSwitcher } from "./switcher.js";
import { startTheme } from "./theme.js";
import { Thread } from "./thread.js";
import { Timeline } from "./timeline.js";
import { toast } from "./toast.js";

class App {
  #live = null;
  #inspecting = false;
  #breaking = false;
  #asking = false;

  constructor() {
    this.store = new Store();
    const moves = {
      onGo: (place) => this.go(place),
      onPerson: (id) => this.actAs(id),
      onSwitcher: () => openSwitcher(this.store, moves),
    };
    this.sidebar = new Sidebar(this.store, moves);
    this.header = new Header(this.store, {
      onMenu: () => this.#drawer(true),
      onTab: (tab) => this.go({ channel: this.store.place.channel, tab }),
      onInspector: () => this.#inspect(!this.#inspecting),
      onBreak: () => this.#break(!this.#breaking),
      onSlackbot: () => this.#ask(!this.#asking),
    });
    this.composer = new Composer(this.store);
    this.timeline = new Timeline(this.store, { onSuggest: (text) => this.composer.run(text) });
    this.home = new Home(this.store);
    this.thread = new Thread(this.store);
    this.inspector = new Inspector(this.store, { onClose: () => this.#inspect(false) });
    this.breaking = new Breaking(this.store, { onClose: () => this.#break(false) });
    this.slackbot = new Slackbot(this.store, { onClose: () => this.#ask(false) });
    this.modals = new Modals(this.store);
    this.modals.node.addEventListener("close", () => this.#closed());
    this.#build();
    this.store.on("traffic", () => this.store.broken.length && this.#recount());
    this.store.on("thread", (ts) => this.#openThread(ts));
    document.addEventListener("keydown", (event) => this.#key(event, moves));
    for (const type of ["dragover", "drop"]) document.addEventListener(type, (event) => this.#dragged(event));
    followHere(document, () => this.store.team.domain, (place) => this.#follow(place));
  }

  #build() {
    const messages = h("div", { class: "messages-place" }, this.timeline.node, this.composer.node);
    const main = h("main", { class: "pane main" }, this.header.node, messages, this.home.node);
    const scrim = h("div", { class: "scrim", on: { click: () => this.#drawer(false) } });
    this.messages = messages;
    const side = h("div", { class: "side-column" }, this.thread.node, this.slackbot.node, this.breaking.node, this.inspector.node);
    this.frame = h("div", { class: "app" }, this.sidebar.node, scrim, main, side);
    document.body.append(this.frame, this.modals.node);
  }

  /** Begins with the person and place that the address names. */
  async start() {
    const wanted = new URLSearchParams(location.search);
    await this.actAs(wanted.get("user"), { channel: wanted.get("channel"), tab: wanted.get("tab") });
  }

  /** Acts as another person: everything is read anew as they see it. */
  async actAs(user, place = this.store.place) {
    const state = await stateOf(user);
    if (!state) return;
    this.#live?.close();
    this.store.place = { channel: null, tab: "messages", thread: null };
    this.store.enter(state);
    this.#readTroubles();
    this.#live = new Live(state.me.id, {
      onEvent: (event) => this.#heard(event),
      onBack: () => this.#catchUp(),
      onState: (now) => this.header.reconnecting(now === "lost"),
    });
    await this.#live.ready;
    await this.go(this.#nearest(place));
  }

  // A person's own place, when they cannot see the one asked for (direct messages differ from person to person).
  #nearest({ channel, tab }) {
    const { channels, botChannel } = this.store;
    const known = this.store.channel(channel) ?? (tab === "home" || channel?.startsWith("D") ? botChannel : null);
    const found = known ?? channels.find((one) => one.kind === "channel" && one.bot_is_member) ?? channels[0];
    return { channel: found?.id ?? null, tab: tab === "home" && found?.kind === "im" ? "home" : "messages" };
  }

  /** Opens a channel, or, with tab "home", the app's Home tab. */
  async go({ channel, tab = "messages" }) {
    const { store } = this;
    const direct = store.channel(channel)?.kind === "im";
    store.place = { channel, tab, thread: null };
    store.unread.delete(channel);
    store.emit("place");
    this.#drawer(false);
    this.thread.show(null);
    this.frame.classList.remove("threaded");
    this.messages.hidden = tab === "home";
    this.#address();
    if (tab === "home") return this.home.open();
    this.home.close();
    this.composer.enter();
    if (direct) send("home", { user: store.me.id, tab: "messages" }).catch(() => {});
    await this.timeline.show(channel);
    if (!document.querySelector("dialog[open]")) this.#await();
  }

  // Ready for the next words; not on a touch screen, where the keyboard would hide half the channel.
  #await() {
    if (!matchMedia("(pointer: coarse)").matches) this.composer.focus();
  }

  // What had the focus before the form gets it back; unless it is gone, or the form was there first.
  #closed() {
    const focused = document.activeElement;
    if (focused === document.body || this.modals.node.contains(focused)) this.#await();
  }

  // Where a permalink leads: to its message, in its thread or in its channel.
  async #follow({ file, ...named }) {
    const { store } = this;
    const place = file ? await whereIs(file, store.me.id) : named;
    if (!place || !store.channel(place.channel)) return toast("You are not where that is.", "error");
    if (!this.modals.leave()) return toast("Close the form first: that is behind it.");
    await this.go(place);
    if (!place.ts || (await this.timeline.seek(place.ts))) return;
    const replied = place.thread && (await this.#seekReply(place));
    if (!replied) toast("That message is gone.", "error");
  }

  async #seekReply({ ts, thread }) {
    if (!(await this.timeline.seek(thread))) return false;
    await this.#openThread(thread);
    return this.thread.seek(ts);
  }

  #address() {
    const { me, place, here, team, bot } = this.store;
    const query = new URLSearchParams({
      user: me.id,
      channel: place.channel ?? "",
      ...(place.tab === "home" && { tab: "home" }),
    });
    history.replaceState(null, "", `?${query}`);
    document.title = `${here?.kind === "im" ? bot.real_name : `#${here?.name ?? ""}`} · ${me.real_name} · ${team.name}`;
  }

  // After a gap in the news: what was missed is read again.
  async #catchUp() {
    try {
      this.store.enter(await read("state", { user: this.store.me.id }));
      this.#readTroubles();
      const { channel, thread } = this.store.place;
      if (channel) await this.timeline.show(channel, true);
      if (thread) await this.thread.show(thread);
    } catch (error) {
      toast(error.message, "error");
    }
  }

  #heard(event) {
    const take = HEARD[event.type];
    if (take) take(this.store, event);
    if (event.type === "channels" && !this.store.here) this.go(this.#nearest(this.store.place));
    if (event.type === "message" && !isReply(event.message)) this.#markUnread(event.channel);
  }

  #markUnread(channel) {
    const { place, unread } = this.store;
    if (channel === place.channel && place.tab === "messages") return;
    unread.add(channel);
    this.store.emit("channels");
  }

  #openThread(ts) {
    this.store.place.thread = ts;
    this.#inspect(false);
    this.#break(false);
    this.#ask(false);
    this.frame.classList.toggle("threaded", ts !== null);
    this.thread.composer.enter();
    const shown = this.thread.show(ts);
    if (ts === null) this.composer.focus();
    return shown;
  }

  #inspect(open) {
    if (open && !this.thread.node.hidden) this.#openThread(null);
    this.#inspecting = open;
    this.frame.classList.toggle("inspecting", open);
    this.header.inspect.setAttribute("aria-pressed", String(open));
    this.inspector.toggle(open);
  }

  #break(open) {
    if (open === this.#breaking) return;
    if (open && !this.thread.node.hidden) this.#openThread(null);
    this.#breaking = open;
    this.frame.classList.toggle("breaking", open);
    this.header.breaks.setAttribute("aria-pressed", String(open));
    this.breaking.toggle(open);
    if (!open) this.header.breaks.focus();
  }

  #ask(open) {
    if (open === this.#asking) return;
    if (open && !this.thread.node.hidden) this.#openThread(null);
    this.#asking = open;
    this.frame.classList.toggle("asking", open);
    this.header.slackbot.setAttribute("aria-pressed", String(open));
    this.slackbot.toggle(open);
    if (!open) this.header.slackbot.focus();
  }

  async #readTroubles() {
    try {
      this.store.breaks(await read("troubles", {}));
    } catch (error) {
      toast(error.message, "error");
    }
  }

  // What is used up is normal again; each request may have used something.
  #recount = debounced(150, () => this.#readTroubles());

  #drawer(open) {
    this.frame.classList.toggle("drawer-open", open);
    if (open) this.sidebar.node.querySelector("button")?.focus();
  }

  // A browser opens a file that nothing takes, and so leaves the page. A form's own field takes what is dropped on it.
  #dragged(event) {
    const { dataTransfer: dragged, target, type } = event;
    if (!dragged.types.includes("Files") || target.type === "file") return;
    event.preventDefault();
    const canAttach = !this.messages.hidden && !document.querySelector("dialog[open]");
    dragged.dropEffect = canAttach ? "copy" : "none";
    if (type === "drop" && canAttach) this.composer.attach(dragged.files);
  }

  #key(event, moves) {
    if (event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey) && !event.shiftKey) {
      event.preventDefault();
      openSwitcher(this.store, moves);
    } else if (event.key === "Escape") this.#drawer(false);
  }
}

// The workspace as that person sees it; as the first person, where there is none of that id or name.
async function stateOf(user) {
  try {
    const isId = /^[UW][A-Z0-9]{3,}$/.test(user ?? "");
    const state = await read("state", isId ? { user } : {});
    if (state.ok === false) return await read("state", {});
    const named = isId ? null : state.users.find(({ name, is_deleted: gone }) => name === user && !gone);
    return named ? await read("state", { user: named.id }) : state;
  } catch (error) {
    toast(error.message, "error");
    return null;
  }
}

// The message that a file stands in, where this person sees one; else null.
async function whereIs(file, user) {
  try {
    const answer = await read("place", { user, file });
    return answer.ok === false ? null : answer;
  } catch (error) {
    toast(error.message, "error");
    return null;
  }
}

// What each kind of news changes in what the page knows.
const HEARD = {
  message: (store, { channel, message }) => {
    store.history(channel).put(message);
    store.emit("message", { channel, message });
  },
  message_changed: (store, event) => HEARD.message(store, event),
  message_deleted: (store, { channel, ts }) => {
    store.history(channel).drop(ts);
    store.emit("message", { channel, gone: ts });
  },
  views: (store, modals) => store.showViews(modals),
  view_errors: (store, event) => store.emit("view_errors", event),
  home: (store, { view }) => {
    store.home = view;
    store.emit("home");
  },
  channels: (store, { channels }) => {
    store.channels = channels;
    store.emit("channels");
  },
  troubles: (store, event) => store.breaks(event),
  traffic: (store, { entry }) => store.emit("traffic", entry),
};

startTheme();
new App().start();
