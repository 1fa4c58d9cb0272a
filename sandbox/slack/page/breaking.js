// The panel with which one puts things out of order, to see what the app makes of it.

import { reason, send } from "./api.js";
import { freshId, h, icon, iconButton } from "./dom.js";
import { toast } from "./toast.js";

const COMMAND = /(?<=\s)(\/[a-z][^,:.]*)/; // in a hint
const MANY = 7; // a longer group is folded at first

export class Breaking {
  #rows = new Map(); // name -> {node, shown}

  constructor(store, { onClose }) {
    this.store = store;
    this.count = h("small", { role: "status" });
    this.mend = h(
      "button",
      { type: "button", class: "button mend", on: { click: () => this.#post("mend", {}) } },
      icon("restart", 16),
      "Back to normal",
    );
    this.scenes = h("div", { class: "scenes", role: "group", "aria-label": "Scenes" });
    this.groups = h("div");
    this.switches = h(
      "details",
      { class: "all-switches" },
      h("summary", null, h("h3", { text: "All switches" }), icon("chevron", 16)),
      this.groups,
    );
    const head = h(
      "header",
      { class: "pane-head" },
      h("div", { class: "pane-title" }, h("h2", { text: "Break it" }), this.count),
      this.mend,
      iconButton("close", "Close the panel", onClose),
    );
    this.node = h(
      "aside",
      {
        class: "pane side breaking",
        "aria-label": "Break it",
        hidden: true,
        on: { keydown: (event) => event.key === "Escape" && onClose() },
      },
      head,
      h("div", { class: "troubles" }, this.scenes, this.switches),
    );
    store.on("troubles", () => this.#draw());
  }

  toggle(open) {
    this.node.hidden = !open;
    this.#draw();
    if (open) this.node.querySelector(".scene button, select")?.focus();
  }

  #draw() {
    const { broken, troubles, scenes } = this.store;
    this.count.textContent = broken.length ? `${broken.length} on` : "Everything is as it should be";
    this.mend.disabled = !broken.length;
    if (this.node.hidden) return;
    this.#drawScenes(scenes);
    if (troubles.length !== this.#rows.size) this.#drawGroups(troubles);
    for (const trouble of troubles) this.#drawRow(trouble);
  }

  #drawScenes(scenes) {
    const focused = document.activeElement?.dataset.scene;
    this.scenes.hidden = !scenes.length;
    this.scenes.replaceChildren(...scenes.map((scene) => this.#sceneNode(scene)));
    if (focused) this.scenes.querySelector(`[data-scene="${CSS.escape(focused)}"]`)?.focus();
  }

  #sceneNode({ name, label, hint, is_on: isOn }) {
    const id = freshId("scene");
    const click = () => (isOn ? this.#post("mend", {}) : this.#post("scene", { name }));
    return h(
      "div",
      { class: isOn ? "scene on" : "scene" },
      h(
        "button",
        {
          type: "button",
          class: "button",
          "aria-pressed": String(isOn),
          "aria-describedby": id,
          data: { scene: name },
          on: { click },
        },
        icon(isOn ? "warning" : "bolt", 16),
        label,
      ),
      h("small", { id }, hint.split(COMMAND).map((part, at) => (at % 2 ? h("code", { text: part }) : part))),
    );
  }

  #drawGroups(troubles) {
    this.switches.open ||= !this.store.scenes.length;
    this.#rows = new Map(troubles.map(({ name }) => [name, { node: h("div", { class: "trouble" }), shown: "" }]));
    const groups = Map.groupBy(troubles, ({ group }) => group);
    this.groups.replaceChildren(
      ...[...groups].map(([name, rows]) =>
        h(
          "details",
          { class: "trouble-group", open: rows.length < MANY },
          h("summary", null, h("h4", { text: name }), icon("chevron", 16)),
          rows.map((row) => this.#rows.get(row.name).node),
        ),
      ),
    );
  }

  // A row that did not change keeps its nodes, and with them the focus.
  #drawRow(trouble) {
    const row = this.#rows.get(trouble.name);
    const shown = JSON.stringify(trouble);
    if (row.shown === shown) return;
    row.shown = shown;
    const focused = row.node.contains(document.activeElement) ? document.activeElement.dataset.part : null;
    row.node.classList.toggle("on", trouble.is_on);
    row.node.replaceChildren(...this.#parts(trouble));
    if (focused) row.node.querySelector(`[data-part="${focused}"]`)?.focus();
  }

  #parts(trouble) {
    const id = freshId("trouble");
    const asked = () => Object.fromEntries([...boxes].map((box) => [box.dataset.part, box.value]));
    const choose = () => this.#post("break", { name: trouble.name, ...asked() });
    const box = (part, options, value, label) => selectNode({ part, options, value, label, choose });
    const main = box("choice", trouble.choices, trouble.choice, null);
    main.id = id;
    main.setAttribute("aria-describedby", `${id}-about`);
    const { chosen = {} } = trouble;
    const boxes = [
      main,
      trouble.which && box("which", trouble.which, chosen.which, "Which calls"),
      trouble.times && box("times", trouble.times, chosen.times, "How many calls"),
    ].filter(Boolean);
    return [
      h("div", { class: "trouble-words" }, [
        h("label", { for: id, text: trouble.label }),
        trouble.is_on && h("span", { class: "trouble-on" }, icon("warning", 14), onWords(trouble)),
        h("small", { id: `${id}-about`, text: trouble.about }),
      ]),
      h("div", { class: "trouble-boxes" }, boxes),
    ];
  }

  async #post(what, body) {
    try {
      const answer = await send(what, body);
      if (answer.ok === false) toast(reason(answer), "error");
      else this.store.breaks(answer);
    } catch (error) {
      toast(error.message, "error");
    }
  }
}

function onWords({ left }) {
  if (left === null || left === undefined) return "On";
  return left === 1 ? "On, 1 call left" : `On, ${left} calls left`;
}

function selectNode({ part, options, value, label, choose }) {
  const known = options.map((option) => h("option", { value: option.value, text: option.words }));
  const node = h(
    "select",
    { class: "field select", data: { part }, "aria-label": label, on: { change: choose } },
    known,
  );
  node.value = value ?? options[0].value;
  return node;
}
