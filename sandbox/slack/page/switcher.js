// Ctrl or Cmd K: go to a channel, the app, or act as somebody else, by typing a few letters.

import { Combobox } from "./combobox.js";
import { avatar, channelIcon, h, icon } from "./dom.js";

/** Opens the switcher; `onGo` and `onPerson` are the sidebar's. */
export function openSwitcher(store, { onGo, onPerson }) {
  if (document.querySelector("dialog[open]")) return;
  const places = [...placesOf(store, onGo), ...peopleOf(store, onPerson)];
  const find = (text) => places.filter(({ label }) => label.toLowerCase().includes(text.toLowerCase()));
  const onChange = ([option]) => {
    dialog.close();
    option?.raw();
  };
  const box = new Combobox({ find, onChange, placeholder: "Go to…", field: { name: "Go to" } });
  const dialog = h(
    "dialog",
    { class: "switcher", "aria-label": "Go to", on: { close: () => dialog.remove() } },
    box.node,
  );
  document.body.append(dialog);
  dialog.showModal();
  box.node.click();
}

function placesOf(store, onGo) {
  const channels = store.channels.filter(({ kind, is_archived: gone }) => kind === "channel" && !gone);
  const rows = channels.map((channel) => ({
    value: channel.id,
    label: channel.name,
    picture: () => channelIcon(channel),
    raw: () => onGo({ channel: channel.id, tab: "messages" }),
  }));
  const direct = store.botChannel?.id;
  if (!direct) return rows;
  const bot = {
    value: direct,
    label: store.bot.real_name,
    picture: () => avatar(store.bot, 22),
    raw: () => onGo({ channel: direct, tab: "messages" }),
  };
  return [
    ...rows,
    bot,
    {
      value: "home",
      label: "Home tab",
      picture: () => icon("home", 16),
      raw: () => onGo({ channel: direct, tab: "home" }),
    },
  ];
}

function peopleOf(store, onPerson) {
  const others = store.present.filter((user) => !user.is_bot && user.id !== store.me.id);
  return others.map((user) => ({
    value: user.id,
    label: user.real_name,
    description: user.title,
    group: "Act as",
    picture: () => avatar(user, 22),
    raw: () => onPerson(user.id),
  }));
}
