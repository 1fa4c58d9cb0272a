// Files: those of a message, to be saved, and the input of a form that takes some.

import { reason, upload } from "./api.js";
import { h, icon } from "./dom.js";
import { toast } from "./toast.js";

const UNITS = ["bytes", "KB", "MB", "GB"];

/** A number of bytes as people read it: `980 bytes`, `1.2 MB`. */
export function sizeOf(bytes) {
  let [size, unit] = [bytes, 0];
  while (size >= 1000 && unit < UNITS.length - 1) [size, unit] = [size / 1000, unit + 1];
  return `${unit && size < 10 ? size.toFixed(1) : Math.round(size)} ${UNITS[unit]}`;
}

/** The files of a message, each with its name, its size and a link that saves it; null where there are none. */
export function messageFiles(message, store) {
  if (!message.files?.length) return null;
  return h("div", { class: "files" }, message.files.map((file) => fileCard(file, store.me.id)));
}

function fileCard(file, user) {
  if (file.mode === "tombstone") return h("div", { class: "file-card gone", text: "This file was deleted." });
  const href = `/_local/file?${new URLSearchParams({ id: file.id, user })}`;
  return h(
    "a",
    { class: "file-card", href, download: file.name, "aria-label": `Download ${file.name}, ${sizeOf(file.size)}` },
    icon("down"),
    h("span", null, h("b", { text: file.title || file.name }), h("small", { text: `${file.pretty_type}, ${sizeOf(file.size)}` })),
  );
}

const REFUSED = {
  file_type_not_allowed: (element) => `Only these files: ${element.filetypes.join(", ")}.`,
  too_many_files: (element) => `At most ${element.max_files ?? 10} files.`,
  file_too_large: () => "A file may have at most 10 MB here.",
};

/** Slack's `file_input`: what is picked goes up at once, and is handed to the bot with the form. */
export function fileField(element, block, surface, field) {
  const many = (element.max_files ?? 10) > 1;
  const accept = element.filetypes?.map((one) => `.${one}`).join(",") ?? null;
  const names = h("small", { "aria-live": "polite" });
  const show = () => {
    const held = surface.answers.get(block, element) ?? [];
    names.textContent = held.map((file) => `${file.name}, ${sizeOf(file.size)}`).join(" · ");
  };
  const described = field.describedBy ?? null;
  const input = h("input", { id: field.id, type: "file", accept, multiple: many, "aria-describedby": described });
  input.addEventListener("change", async () => {
    surface.answers.set(block, element, await sent([...input.files], element, block, surface));
    show();
  });
  show();
  return h("div", { class: "file-note" }, input, names);
}

// The files that Slack took; the person hears of each that it did not.
async function sent(files, element, block, surface) {
  const place = { user: surface.store.me.id, ...surface.ref, block_id: block.block_id, action_id: element.action_id };
  if (files.length > (element.max_files ?? 10)) {
    toast(REFUSED.too_many_files(element), "error");
    return [];
  }
  const answers = await Promise.all(files.map((file) => upload({ ...place, name: file.name }, file)));
  for (const answer of answers)
    if (!answer.ok) toast(REFUSED[answer.error]?.(element) ?? reason(answer), "error");
  return answers.filter((answer) => answer.ok).map((answer) => answer.file);
}
