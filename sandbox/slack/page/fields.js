// The element in which a person types.

import { valueKey } from "./answers.js";
import { debounced, h } from "./dom.js";
import { plain } from "./mrkdwn.js";

/** A text field; `field` names it: {id, name, labelled, describedBy}. */
export function textField(element, block, surface, field) {
  const long = element.multiline;
  const input = h(long ? "textarea" : "input", {
    ...named(field),
    class: "field",
    type: long ? null : "text",
    placeholder: plain(element.placeholder),
    autocomplete: "off",
    spellcheck: "true",
    rows: long ? 4 : null,
    ".value": surface.answers.get(block, element) ?? "",
  });
  const valueNow = () => (input.value === "" ? null : input.value);
  listen(input, element, block, surface, valueNow);
  return element.max_length ? counted(input, element.max_length) : input;
}

function named(field) {
  return { id: field.id, "aria-label": field.labelled ? null : field.name, "aria-describedby": field.describedBy };
}

// Typing only keeps the value; the bot hears of it when the element says so.
function listen(input, element, block, surface, valueNow) {
  const triggers = element.dispatch_action_config?.trigger_actions_on ?? ["on_enter_pressed"];
  const dispatch = () => surface.change(block, element, valueNow(), { [valueKey(element.type)]: valueNow() });
  const soon = debounced(300, dispatch);
  input.addEventListener("input", () => {
    surface.answers.set(block, element, valueNow());
    if (block.dispatch_action && triggers.includes("on_character_entered")) soon();
  });
  input.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.isComposing || input.localName === "textarea") return;
    if (!block.dispatch_action || !triggers.includes("on_enter_pressed")) return;
    event.preventDefault();
    event.stopPropagation();
    dispatch();
  });
}

// How much room is left, once it becomes scarce.
function counted(input, most) {
  const left = h("span", { class: "count", "aria-hidden": "true" });
  const show = () => {
    const room = most - [...input.value].length;
    left.textContent = room;
    left.hidden = room > Math.max(20, most / 10);
    left.classList.toggle("over", room < 0);
  };
  input.addEventListener("input", show);
  show();
  return h("span", { class: "counted" }, input, left);
}
