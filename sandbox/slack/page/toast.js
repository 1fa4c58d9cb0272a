// Short notices at the edge of the window. They are read aloud and go away by themselves.

import { h, icon, iconButton } from "./dom.js";

const STAYS = 6000;
let shelf = null;

/** Shows `text` for a while; `kind` is "info" or "error". */
export function toast(text, kind = "info") {
  shelf ??= document.body.appendChild(
    h("div", { class: "toasts", role: "status", "aria-live": "polite", popover: "manual" }),
  );
  const note = h("div", { class: `toast ${kind}` }, icon(kind === "error" ? "error" : "info"), h("span", { text }));
  const remove = () => {
    note.remove();
    if (!shelf.childElementCount && shelf.matches(":popover-open")) shelf.hidePopover();
  };
  note.append(iconButton("close", "Dismiss", remove));
  raise();
  shelf.append(note);
  setTimeout(remove, STAYS);
}

// A notice must lie above a dialog that was opened before it.
function raise() {
  const dialogs = document.querySelectorAll("dialog[open]");
  (dialogs.item(dialogs.length - 1) ?? document.body).append(shelf);
  if (shelf.matches(":popover-open")) shelf.hidePopover();
  shelf.showPopover();
}
