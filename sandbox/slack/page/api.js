// The page's requests to the local Slack's server. Every call names the person who acts.

/** This load of the page: a modal is shown where it was asked for, and is gone after a reload. */
export const TAB = crypto.randomUUID();

/** Asks `/_local/<what>`; returns the JSON answer. Raises an Error whose text may be shown. */
export async function read(what, query) {
  const params = new URLSearchParams(
    Object.entries(query).filter(([, value]) => value !== undefined && value !== null),
  );
  return answered(await reached(`/_local/${what}?${params}`));
}

/** Sends to `/_local/<what>`; returns the JSON answer, `{ok: false, ...}` included. The header keeps foreign sites out. */
export async function send(what, body) {
  const headers = { "Content-Type": "application/json", "X-Local-Slack-Page": "1", "X-Local-Slack-Tab": TAB };
  return answered(await reached(`/_local/${what}`, { method: "POST", headers, body: JSON.stringify(body) }));
}

/** Sends `file` itself as the body of `/_local/upload`; `query` says where it belongs. Returns the JSON answer. */
export async function upload(query, file) {
  const headers = { "Content-Type": "application/octet-stream", "X-Local-Slack-Page": "1" };
  return answered(await reached(`/_local/upload?${new URLSearchParams(query)}`, { method: "POST", headers, body: file }));
}

async function reached(url, options) {
  try {
    return await fetch(url, options);
  } catch {
    throw new Error("The local Slack does not answer. Is it still running?");
  }
}

async function answered(response) {
  const answer = await response.json().catch(() => null);
  if (answer === null) throw new Error(`The local Slack answered ${response.status} without a reason.`);
  if (!response.ok && answer.ok !== false)
    throw new Error(answer.text || answer.error || `The local Slack answered ${response.status}.`);
  return answer;
}

const WORDS = {
  operation_timeout: "The app did not answer in time. Try again?",
  dispatch_failed: "The app could not be reached. Try again?",
  message_not_found: "That message is gone.",
  view_not_found: "That window was closed already.",
  no_such_action: "That has changed in the meantime. Look again?",
};

/** What went wrong, in words for the person, when an answer says `ok: false`. */
export function reason(answer) {
  return answer.text || WORDS[answer.error] || answer.error || "That did not work.";
}
