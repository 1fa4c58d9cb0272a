// What a person has chosen or typed in one message or view: Slack's `state.values`.

const SHAPES = {
  plain_text_input: ["value", "initial_value"],
  static_select: ["selected_option", "initial_option"],
  external_select: ["selected_option", "initial_option"],
  radio_buttons: ["selected_option", "initial_option"],
  conversations_select: ["selected_conversation", "initial_conversation"],
  multi_static_select: ["selected_options", "initial_options", true],
  multi_external_select: ["selected_options", "initial_options", true],
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
  return { type: element.type, [key]: element[start] ?? (many ? [] : null) };
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
  return element.type === "plain_text_input" ? lengthProblem(value, element) : null;
}

function lengthProblem(value, { min_length: min, max_length: max }) {
  const length = [...value].length;
  if (min && length < min) return `Please enter at least ${min} characters (now ${length}).`;
  return max && length > max ? `Please enter at most ${max} characters (now ${length}).` : null;
}
