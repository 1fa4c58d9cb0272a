// One message, modal or home tab as its elements see it: what was answered there, and the way to the bot.

import { Answers } from "./answers.js";
import { reason, send } from "./api.js";
import { confirmed } from "./confirm.js";
import { toast } from "./toast.js";

export class Surface {
  /** `ref` names the message or view for the server: `{channel, ts}` or `{view_id}`. `now()` gives the store's present. */
  constructor(store, ref, blocks) {
    this.store = store;
    this.ref = ref;
    this.answers = new Answers(blocks, (element) => this.#firstValue(element));
  }

  /** What text needs to show names and moments as this person reads them. */
  get names() {
    return namesIn(this.store);
  }

  /** Takes a new value. Tells the bot where Slack would; false when the person declined in the confirm dialog. */
  async change(block, element, value, payload) {
    const before = this.answers.get(block, element);
    this.answers.set(block, element, value);
    if (block.type === "input" && !block.dispatch_action) return true;
    const went = await this.act(block, element, payload);
    if (!went) this.answers.set(block, element, before);
    return went;
  }

  /** Sends one block action; resolves when the bot has acknowledged it. False: declined, nothing was sent. */
  async act(block, element, payload) {
    if (!(await this.agreed(element))) return false;
    await this.deliver(block, element, payload);
    return true;
  }

  /** Whether the person agrees, where the element asks. */
  async agreed(element) {
    return !element.confirm || confirmed(element.confirm, this.names);
  }

  /** Sends one block action that needs no more questions; resolves when the bot has acknowledged it. */
  async deliver(block, element, payload) {
    const body = { user: this.store.me.id, ...this.ref, block_id: block.block_id, action_id: element.action_id };
    await told(
      send("action", { ...body, element: { type: element.type, ...payload }, state: { values: this.answers.values } }),
    );
  }

  /** The options that the bot offers for what was typed: `{options}` or `{option_groups}`. */
  async options(block, element, value) {
    const body = { user: this.store.me.id, ...this.ref, block_id: block.block_id, action_id: element.action_id, value };
    const answer = await send("options", body);
    if (answer.ok === false) throw new Error(reason(answer));
    return answer;
  }

  #firstValue(element) {
    if (!element.default_to_current_conversation || !this.store.place.channel) return undefined;
    const here = this.store.place.channel;
    const wanted = element.filter?.include ?? ["im"];
    if (this.store.channel(here)?.kind === "im" && !wanted.includes("im")) return undefined;
    return { selected_conversation: element.initial_conversation ?? here };
  }
}

/** The names that references in texts resolve to, for the person who acts. */
export function namesIn(store) {
  return {
    user: (id) => store.users.get(id),
    group: (id) => store.groups.get(id),
    channel: (id) => store.channel(id),
    me: store.me?.id,
    zone: store.zone,
  };
}

/** Waits for an answer and shows what went wrong, if anything. Returns whether it went well. */
export async function told(answering) {
  try {
    const answer = await answering;
    if (answer.ok === false) toast(reason(answer), "error");
    return answer.ok !== false;
  } catch (error) {
    toast(error.message, "error");
    return false;
  }
}
