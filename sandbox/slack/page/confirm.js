// The question that Slack asks before it sends an action whose element has a `confirm`.

import { freshId, h } from "./dom.js";
import { plain, textNodes } from "./mrkdwn.js";

/** Asks; resolves to whether the person agreed. Escape and Cancel mean no. */
export function confirmed(question, names) {
  return ask({
    title: plain(question.title) || "Are you sure?",
    text: h("div", { class: "text" }, textNodes(question.text, names)),
    yes: plain(question.confirm) || "Yes",
    no: plain(question.deny) || "Cancel",
    danger: question.style === "danger",
  });
}

/** A dialog with two buttons; resolves to whether `yes` was pressed. */
export function ask({ title, text, yes, no, danger }) {
  return new Promise((resolve) => {
    const id = freshId("ask");
    const dialog = h(
      "dialog",
      {
        class: "ask",
        role: "alertdialog",
        "aria-labelledby": id,
        "aria-describedby": `${id}-text`,
        on: { close: () => done(dialog, resolve) },
      },
      h("form", { method: "dialog" }, [
        h("h2", { id, text: title }),
        h("div", { id: `${id}-text`, class: "ask-text" }, text),
        h("div", { class: "dialog-buttons" }, [
          h("button", { class: "button", value: "no", text: no, autofocus: danger }),
          h("button", {
            class: danger ? "button danger solid" : "button primary",
            value: "yes",
            text: yes,
            autofocus: !danger,
          }),
        ]),
      ]),
    );
    document.body.append(dialog);
    dialog.showModal();
  });
}

function done(dialog, resolve) {
  dialog.remove();
  resolve(dialog.returnValue === "yes");
}
