// Elements in which a person types: text of several kinds, dates and times.

import { valueKey } from "./answers.js";
import { debounced, h } from "./dom.js";
import { fieldTime, secondsOf } from "./dates.js";
import { plain } from "./mrkdwn.js";

/** A text field of any kind; `field` names it: {id, name, labelled, describedBy}. */
export function textField(element, block, surface, field) {
  const kind = TEXT[element.type];
  const long = element.multiline;
  const input = h(long ? "textarea" : "input", {
    ...named(field),
    class: "field",
    type: long ? null : "text",
    inputmode: kind.inputmode,
    placeholder: plain(element.placeholder),
    autocomplete: "off",
    spellcheck: kind.prose ? "true" : "false",
    rows: long ? 4 : null,
    ".value": surface.answers.get(block, element) ?? "",
  });
  const valueNow = () => (input.value === "" ? null : input.value);
  listen(input, element, block, surface, valueNow);
  return element.max_length ? counted(input, element.max_length) : input;
}

const TEXT = {
  plain_text_input: { prose: true },
  email_text_input: { inputmode: "email" },
  url_text_input: { inputmode: "url" },
  number_input: { inputmode: "decimal" },
};

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

const PICKERS = {
  datepicker: { type: "date", key: "selected_date", words: "Pick a date" },
  timepicker: { type: "time", key: "selected_time", words: "Pick a time" },
  datetimepicker: { type: "datetime-local", key: "selected_date_time", words: "Pick a date and time" },
};

/** A date, a time, or both. Moments are shown in the person's own time zone. */
export function picker(element, block, surface, field) {
  const { type, key, words } = PICKERS[element.type];
  const zone = surface.store.zone;
  const exact = element.type === "datetimepicker";
  const shown = (value) => (value === null ? "" : exact ? fieldTime(value, zone) : value);
  const read = (text) => (text === "" ? null : exact ? secondsOf(text, zone) : text);
  const name = field.labelled ? field : { ...field, name: field.name || words };
  const input = h("input", {
    ...named(name),
    class: "field picker",
    type,
    ".value": shown(surface.answers.get(block, element)),
  });
  input.addEventListener("change", async () => {
    const value = read(input.value);
    if (value === null && block.type !== "input") return;
    const went = await surface.change(block, element, value, { [key]: value });
    if (!went) input.value = shown(surface.answers.get(block, element));
  });
  return input;
}
