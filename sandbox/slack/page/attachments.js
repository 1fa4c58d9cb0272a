// The files that a person picked for the next message: shown above what they type, sent with it.

import { reason, upload } from "./api.js";
import { sizeOf } from "./files.js";
import { h, icon, iconButton } from "./dom.js";

const MOST_FILES = 10;
const TOO_MANY = `One message holds at most ${MOST_FILES} files.`;
const WORDS = { file_too_large: "The local Slack takes files of up to 100 MB." };

export class Attachments {
  #files = [];

  /** `onChange()` hears that files came or went. */
  constructor(store, onChange) {
    Object.assign(this, { store, onChange });
    this.input = h("input", { type: "file", multiple: true, hidden: true, "aria-label": "Files to attach" });
    this.input.addEventListener("change", () => this.#pick([...this.input.files]));
    this.button = iconButton("paperclip", "Attach files", () => this.input.click());
    this.node = h("ul", { class: "attachments", "aria-label": "Attached files", hidden: true });
  }

  get files() {
    return this.#files;
  }

  set files(files) {
    this.#files = files;
    this.node.hidden = !files.length;
    this.node.replaceChildren(...files.map((file) => this.#chip(file)));
    this.onChange();
  }

  #pick(files) {
    this.input.value = ""; // the same file may be picked again
    this.files = [...this.#files, ...files];
  }

  #chip(file) {
    const remove = () => {
      this.files = this.#files.filter((one) => one !== file);
      this.button.focus();
    };
    return h(
      "li",
      { class: "attachment" },
      icon("paperclip", 15),
      h("span", null, h("b", { text: file.name }), h("small", { text: sizeOf(file.size) })),
      iconButton("close", `Remove ${file.name}`, remove),
    );
  }

  /** Sends `files` to the server, which keeps them; gives their ids. Raises an Error whose text may be shown. */
  async send(files) {
    if (files.length > MOST_FILES) throw new Error(TOO_MANY);
    const answers = await Promise.all(files.map((file) => upload({ user: this.store.me.id, name: file.name }, file)));
    const refusal = answers.find((answer) => !answer.ok);
    if (refusal) throw new Error(WORDS[refusal.error] ?? reason(refusal));
    return answers.map(({ file }) => file.id);
  }
}
