// What a person has chosen or typed in one message or view: Slack's `state.values`.

const SHAPES = {
  plain_text_input: ["value", "initial_value"],
  email_text_input: ["value", "initial_value"],
  url_text_input: ["value", "initial_value"],
  number_input: ["value", "initial_value"],
  static_select: ["selected_option", "initial_option"],
  external_select: ["selected_option", "initial_option"],
  radio_buttons: ["selected_option", "initial_option"],
  users_select: ["selected_user", "initial_user"],
  conversations_select: ["selected_conversation", "initial_conversation"],
  channels_select: ["selected_channel", "initial_channel"],
  datepicker: ["selected_date", "initial_date"],
  timepicker: ["selected_time", "initial_time"],
  datetimepicker: ["selected_date_time", "initial_date_time"],
  checkboxes: ["selected_options", "initial_options", true],
  multi_static_select: ["selected_options", "initial_options", true],
  multi_external_select: ["selected_options", "initial_options", true],
  multi_users_select: ["selected_users", "initial_users", true],
  multi_conversations_select: ["selected_conversations", "initial_conversations", true],
  multi_channels_select: ["selected_channels", "initial_channels", true],
  file_input: ["files", "initial_files", true],
};

/** The name under which an element's value is delivered, such as `selected_option`; null for what has no state. */
export function valueKey(type) {
  return SHAPES[type]?.[0] ?? null;
}

/** The interactive elements of blocks, as pairs [block, element]. */
export function* elementsOf(blocks) {
  for (const block of blocks) {
    const elements =
      block.type === "actions" ? block.elements : [block.type === "input" ? block.element : block.accessory];
    for (const element of elements) if (element?.action_id) yield [block, element];
  }
}

function initial(element) {
  const [key, start, many] = SHAPES[element.type];
  const zone = element.timezone ? { timezone: element.timezone } : {};
  return { type: element.type, [key]: element[start] ?? (many ? [] : null), ...zone };
}

export class Answers {
  values = {};

  constructor(blocks, firstValue) {
    this.firstValue = firstValue ?? (() => undefined);
    this.adopt(blocks);
  }

  /** Goes over to new blocks: what keeps its block_id, action_id and type keeps what was typed, the rest starts anew. */
  adopt(blocks) {
    const before = this.values;
    this.values = {};
    for (const [block, element] of elementsOf(blocks)) {
      if (!SHAPES[element.type]) continue;
      const kept = before[block.block_id]?.[element.action_id];
      const value = kept?.type === element.type ? kept : { ...initial(element), ...this.firstValue(element) };
      (this.values[block.block_id] ??= {})[element.action_id] = value;
    }
  }

  /** The bare value of an element: text, option, list of ids and so on. */
  get(block, element) {
    return this.values[block.block_id]?.[element.action_id]?.[valueKey(element.type)] ?? null;
  }

  set(block, element, value) {
    const entry = this.values[block.block_id]?.[element.action_id];
    if (entry) entry[valueKey(element.type)] = value;
  }

  /** What Slack itself refuses before the app hears of it: `{block_id: text}`, empty when all is well. */
  problems(blocks) {
    const found = {};
    for (const [block, element] of elementsOf(blocks)) {
      if (block.type !== "input") continue;
      const problem = problemOf(element, this.get(block, element), block.optional === true);
      if (problem) found[block.block_id] = problem;
    }
    return found;
  }
}

function problemOf(element, value, optional) {
  const empty = value === null || value === "" || (Array.isArray(value) && !value.length);
  if (empty) return optional ? null : "Please complete this required field.";
  return CHECKS[element.type]?.(value, element) ?? null;
}

const CHECKS = {
  plain_text_input: lengthProblem,
  email_text_input: (value) =>
    /^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(value) ? null : "Enter a valid email address, such as name@example.com.",
  url_text_input: (value) => (URL.canParse(value) ? null : "Enter a valid link, such as https://example.com."),
  number_input: numberProblem,
};

function lengthProblem(value, { min_length: min, max_length: max }) {
  const length = [...value].length;
  if (min && length < min) return `Please enter at least ${min} characters (now ${length}).`;
  return max && length > max ? `Please enter at most ${max} characters (now ${length}).` : null;
}

function numberProblem(value, element) {
  const number = Number(value);
  if (!Number.isFinite(number)) return "Enter a number.";
  if (!element.is_decimal_allowed && !Number.isInteger(number)) return "Enter a whole number.";
  if (element.min_value !== undefined && number < Number(element.min_value))
    return `Enter ${element.min_value} or more.`;
  return element.max_value !== undefined && number > Number(element.max_value)
    ? `Enter ${element.max_value} or less.`
    : null;
}
