// Where a person types: messages, and slash commands with their completion.

import { reason, send } from "./api.js";
import { Attachments } from "./attachments.js";
import { Completion } from "./completion.js";
import { h, icon, iconButton } from "./dom.js";
import { openMenu } from "./popup.js";

const REACHED_THE_APP = new Set(["operation_timeout", "dispatch_failed"]);
const SLOW = 250; // an answer within this time needs no spinner

export class Composer {
  #sent = [];
  #recalled = 0;
  #drafts = new Map();

  constructor(store, { thread = false } = {}) {
    Object.assign(this, { store, thread });
    this.input = h("textarea", { rows: 1, class: "composer-input", spellcheck: "true", autocapitalize: "off" });
    this.completion = new Completion(store, this.input, { withCommands: !thread });
    this.hint = h("div", { class: "composer-hint", hidden: true });
    this.notice = h("div", { class: "composer-notice", role: "alert", hidden: true });
    this.waiting = h("div", { class: "composer-waiting", role: "status" });
    this.sendButton = iconButton("send", "Send message", () => this.#send(), { class: "icon-button send" });
    this.plus = iconButton("plus", "Commands", () => this.#openPlus(), {
      "aria-haspopup": "menu",
      "aria-expanded": "false",
    });
    this.attachments = new Attachments(store, () => this.#fit());
    const tools = h(
      "div",
      { class: "composer-tools" },
      !thread && [h("span", { class: "menu-place" }, this.plus), this.attachments.button, this.attachments.input],
      this.hint,
      this.sendButton,
    );
    const box = h("div", { class: "composer-box" }, this.attachments.node, this.input, tools, this.completion.node);
    this.node = h("div", { class: "composer" }, this.notice, box, this.waiting);
    this.#listen();
  }

  focus() {
    this.input.focus();
  }

  /** Writes `text` for the person to look at and send. */
  suggest(text) {
    this.#write(text);
    this.completion.close();
    this.focus();
  }

  /** Sends `text` at once; what is being typed stays. Resolves when the app has acknowledged it. */
  run(text) {
    return this.#say(text, []);
  }

  /** Attaches `files` to the message that is being written. */
  attach(files) {
    this.attachments.files = [...this.attachments.files, ...files];
    this.focus();
  }

  /** Goes over to another channel; what was typed in the one before is there when one comes back. */
  enter() {
    const { here, me } = this.store;
    if (this.place) this.#drafts.set(this.place, { text: this.input.value, files: this.attachments.files });
    this.place = `${me.id} ${here?.id}`;
    const name = here?.kind === "im" ? this.store.bot.real_name : `#${here?.name ?? ""}`;
    this.input.setAttribute("aria-label", this.thread ? "Reply" : `Message ${name}`);
    this.input.placeholder = this.thread ? "Reply…" : `Message ${name} as ${me.real_name}`;
    this.#restore(this.#drafts.get(this.place) ?? { text: "", files: [] });
    this.completion.close();
    this.#tell("");
  }

  #listen() {
    this.input.addEventListener("input", () => this.#typed());
    this.input.addEventListener("keydown", (event) => this.#key(event));
    this.input.addEventListener("blur", () => this.completion.close());
  }

  #typed() {
    this.#recalled = this.#sent.length;
    this.#fit();
    this.completion.look();
    this.#tell("");
  }

  #restore({ text, files }) {
    this.attachments.files = files;
    this.#write(text);
  }

  get #isReady() {
    return Boolean(this.input.value.trim()) || this.attachments.files.length > 0;
  }

  #write(text) {
    this.input.value = text;
    this.#fit();
  }

  #fit() {
    this.input.style.height = "auto";
    this.input.style.height = `${Math.min(this.input.scrollHeight, 220)}px`;
    this.sendButton.disabled = !this.#isReady;
    this.sendButton.classList.toggle("ready", this.#isReady);
    this.#showHint();
  }

  // Once the command stands, how it goes on.
  #showHint() {
    const name = this.thread ? null : /^(\/\S+)\s/.exec(this.input.value)?.[1];
    const command = this.store.commandsHere.find((one) => one.command === name);
    this.hint.hidden = !command?.usage_hint;
    this.hint.replaceChildren(...(command ? [h("b", { text: command.command }), ` ${command.usage_hint ?? ""}`] : []));
  }

  #key(event) {
    if (event.isComposing) return;
    if (this.completion.key(event)) {
      event.preventDefault();
      event.stopPropagation();
    } else if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      this.#send();
    } else if (event.key === "ArrowUp" || event.key === "ArrowDown") this.#recall(event);
  }

  // Up in an empty field brings back what was sent last; further up, what was sent before.
  #recall(event) {
    const recalling = this.#recalled < this.#sent.length && this.input.value === this.#sent[this.#recalled];
    if (this.input.value && !recalling) return;
    const to = this.#recalled + (event.key === "ArrowUp" ? -1 : 1);
    if (to < 0 || to > this.#sent.length) return;
    event.preventDefault();
    this.#recalled = to;
    this.#write(this.#sent[to] ?? "");
  }

  async #send() {
    const text = this.input.value.trim();
    const { files } = this.attachments;
    if (!this.#isReady) return;
    if (this.thread && isCommandText(text, files)) return this.#tell(`${text.split(" ")[0]} is not supported in threads. Sorry!`);
    this.completion.close();
    this.#restore({ text: "", files: [] });
    return this.#say(text, files);
  }

  async #say(text, files) {
    const { me, place } = this.store;
    const isCommand = isCommandText(text, files);
    this.#tell("");
    if (text) this.#remember(text);
    const done = this.#showWaiting(isCommand ? text.split(" ")[0] : null);
    const said = { user: me.id, channel: place.channel, text, ...(this.thread && { thread_ts: place.thread }) };
    const answer = await this.#deliver(said, files);
    done();
    if (answer.ok === false) this.#refused(answer, text, files);
  }

  async #deliver(said, files) {
    try {
      return await send("say", files.length ? { ...said, files: await this.attachments.send(files) } : said);
    } catch (error) {
      return { ok: false, error: error.message };
    }
  }

  // What has a text was said in the channel too, privately; what was never delivered is there to be corrected.
  #refused(answer, text, files) {
    if (!answer.text) this.#tell(reason(answer));
    if (!this.#isReady && !REACHED_THE_APP.has(answer.error)) this.#restore({ text, files });
  }

  #remember(text) {
    if (this.#sent.at(-1) !== text) this.#sent.push(text);
    this.#recalled = this.#sent.length;
  }

  #tell(words) {
    this.notice.hidden = !words;
    this.notice.replaceChildren(...(words ? [icon("error", 16), h("span", { text: words })] : []));
  }

  #showWaiting(command) {
    if (!command) return () => {};
    const note = h("span", null, h("span", { class: "spinner" }), `Waiting for ${command}…`);
    const timer = setTimeout(() => this.waiting.append(note), SLOW);
    return () => {
      clearTimeout(timer);
      note.remove();
    };
  }

  #openPlus() {
    const typed = this.store.commands.map(({ command, description }) => ({
      label: command,
      description,
      icon: icon("slash"),
      run: () => this.suggest(`${command} `),
    }));
    openMenu(this.plus, typed, { align: "start", label: "Commands" });
  }
}

function isCommandText(text, files) {
  return /^\/\S/.test(text) && !files.length;
}
