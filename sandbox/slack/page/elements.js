// Block Kit's interactive elements: buttons and choices here, menus in selects.js, typing in fields.js.

import { freshId, h, icon } from "./dom.js";
import { picker, textField } from "./fields.js";
import { fileField } from "./files.js";
import { plain, textNodes } from "./mrkdwn.js";
import { openMenu } from "./popup.js";
import { isSelect, selectNode } from "./selects.js";

const ELEMENTS = {
  button: buttonNode,
  workflow_button: buttonNode,
  overflow: overflowNode,
  checkboxes: (...args) => choices("checkbox", ...args),
  radio_buttons: (...args) => choices("radio", ...args),
  datepicker: picker,
  timepicker: picker,
  datetimepicker: picker,
  plain_text_input: textField,
  email_text_input: textField,
  url_text_input: textField,
  number_input: textField,
  file_input: fileField,
};

/**
 * An element as a node. `field` says how it is called: {id, name} and, under a label, {labelled, describedBy}.
 * What this page does not know is shown as such, never left out.
 */
export function elementNode(element, block, surface, field) {
  const draw = isSelect(element.type) ? selectNode : ELEMENTS[element.type];
  const node =
    draw?.(element, block, surface, field) ??
    h("span", { class: "unsupported", text: `Unsupported element: ${element.type}` });
  node.dataset.action = element.action_id ?? "";
  return node;
}

function buttonNode(element, block, surface) {
  const style = { primary: "button primary", danger: "button danger" }[element.style] ?? "button";
  const label = element.accessibility_label ?? null;
  const inside = h("span", { class: "button-text" }, textNodes(element.text, surface.names));
  if (element.url) return urlButton(element, block, surface, style, inside);
  const value = element.value === undefined ? {} : { value: element.value };
  const press = () => pressed(node, element, block, surface, value);
  const node = h("button", { type: "button", class: style, "aria-label": label, on: { click: press } }, inside);
  return node;
}

// Slack opens the address and tells the bot all the same.
function urlButton(element, block, surface, style, inside) {
  const safe = /^(?:https?:|mailto:)/i.test(element.url);
  const tell = () => surface.act(block, element, { value: element.value });
  return h(
    "a",
    {
      class: style,
      role: "button",
      href: safe ? element.url : null,
      target: "_blank",
      rel: "noopener noreferrer",
      on: { click: tell },
    },
    inside,
    icon("link", 14),
  );
}

// Busy only once the question, if there is one, was answered with yes.
async function pressed(node, element, block, surface, payload) {
  if (await surface.agreed(element)) await busyWhile(node, surface.deliver(block, element, payload));
}

/** Shows `node` as busy, and deaf, until the promise ends. */
export async function busyWhile(node, promise) {
  if (node.getAttribute("aria-busy") === "true") return;
  const focused = document.activeElement === node; // a disabled button loses it
  node.setAttribute("aria-busy", "true");
  node.disabled = true;
  try {
    await promise;
  } finally {
    node.removeAttribute("aria-busy");
    node.disabled = false;
    if (focused && document.activeElement === document.body) node.focus();
  }
}

function overflowNode(element, block, surface, field) {
  const items = element.options.map((option) => ({
    label: plain(option.text),
    description: plain(option.description),
    run: () => {
      if (option.url && /^https?:/i.test(option.url)) window.open(option.url, "_blank", "noopener,noreferrer");
      pressed(node, element, block, surface, { selected_option: option });
    },
  }));
  const label = field.name ? `More actions for ${field.name}` : "More actions";
  const on = { click: () => openMenu(node, items, { label }) };
  const node = h(
    "button",
    {
      type: "button",
      class: "button overflow",
      "aria-label": label,
      title: "More actions",
      "aria-haspopup": "menu",
      "aria-expanded": "false",
      on,
    },
    icon("more"),
  );
  return h("span", { class: "overflow-place" }, node);
}

function choices(kind, element, block, surface, field) {
  const many = kind === "checkbox";
  const name = freshId("choice");
  const held = () =>
    [surface.answers.get(block, element)]
      .flat()
      .filter(Boolean)
      .map((option) => option.value);
  const inputs = element.options.map((option) =>
    h("input", { type: kind, name, id: freshId("option"), ".checked": held().includes(option.value) }),
  );
  const settle = () => inputs.forEach((input, at) => (input.checked = held().includes(element.options[at].value)));
  const changed = async () => {
    const picked = element.options.filter((_, at) => inputs[at].checked);
    const value = many ? picked : (picked[0] ?? null);
    const went = await surface.change(
      block,
      element,
      value,
      many ? { selected_options: value } : { selected_option: value },
    );
    if (!went) settle();
  };
  const rows = element.options.map((option, at) => choiceRow(option, inputs[at], surface));
  const role = many ? "group" : "radiogroup";
  const labels = field.labelled ? { "aria-labelledby": field.labelled } : { "aria-label": field.name || "Options" };
  return h(
    "div",
    { id: field.id, class: "choices", role, ...labels, "aria-describedby": field.describedBy, on: { change: changed } },
    rows,
  );
}

function choiceRow(option, input, surface) {
  const description = option.description && h("small", null, textNodes(option.description, surface.names));
  return h(
    "label",
    { class: "choice", for: input.id },
    input,
    h("span", null, h("span", { class: "text" }, textNodes(option.text, surface.names)), description),
  );
}
