// What the page has read of one channel.

export class History {
  #messages = new Map();
  #sorted = null;
  oldest = null;
  hasMore = false;
  loaded = false;

  /** Adds a page that was read backwards, under what came live in the meantime. */
  addPage(page) {
    this.#addMissing(page.messages);
    this.oldest = page.messages[0]?.ts ?? this.oldest;
    this.hasMore = page.has_more;
    this.loaded = true;
  }

  /** Adds what a thread holds; where the channel's own pages end is not touched by it. */
  addReplies(messages) {
    this.#addMissing(messages.filter(isReply));
  }

  #addMissing(messages) {
    for (const message of messages) if (!this.#messages.has(message.ts)) this.put(message);
  }

  put(message) {
    this.#messages.set(message.ts, message);
    this.#sorted = null;
  }

  drop(ts) {
    this.#messages.delete(ts);
    this.#sorted = null;
  }

  get(ts) {
    return this.#messages.get(ts);
  }

  /** What the channel itself shows, oldest first: everything but the replies that stand in threads alone. */
  get timeline() {
    return this.#inOrder().timeline;
  }

  /** The replies known so far to the message `ts`, oldest first. */
  replies(ts) {
    return this.#inOrder().threads.get(ts) ?? [];
  }

  #inOrder() {
    this.#sorted ??= sorted(this.#messages.values());
    return this.#sorted;
  }
}

function sorted(messages) {
  const all = [...messages].sort((one, other) => Number(one.ts) - Number(other.ts));
  const replies = all.filter(isReply);
  return { timeline: all.filter((message) => !isReply(message)), threads: Map.groupBy(replies, (message) => message.thread_ts) };
}

/** Whether a message answers another one, in a thread. */
export function isReply(message) {
  return Boolean(message.thread_ts) && message.thread_ts !== message.ts;
}
