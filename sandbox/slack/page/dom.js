// How every node of the page is made: elements from data, text always as text, never markup from a string.

const SVG = "http://www.w3.org/2000/svg";

// What stands for an icon: the strokes of a 20 x 20 drawing.
const STROKES = {
  menu: "M3 5.5h14M3 10h14M3 14.5h14",
  close: "M5 5l10 10M15 5L5 15",
  back: "M12 4l-6 6 6 6",
  hash: "M8 3L6.5 17M13.5 3L12 17M3.5 7.5h13.5M3 12.5h13.5",
  home: "M3.5 9L10 3.5 16.5 9v7.5h-4.5V12H8v4.5H3.5z",
  eye: "M2 10s3-5 8-5 8 5 8 5-3 5-8 5-8-5-8-5zM10 7.6a2.4 2.4 0 1 0 0 4.8 2.4 2.4 0 0 0 0-4.8z",
  reply: "M4 4h12v9H9l-4 3.5V13H4z",
  more: "M10 4.5v.01M10 10v.01M10 15.5v.01",
  plus: "M10 4v12M4 10h12",
  send: "M3 3.5l14 6.5-14 6.5 2.5-6.5zM5.5 10H10",
  sun: "M10 6.5a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7zM10 2v1.5M10 16.5V18M2 10h1.5M16.5 10H18M4.3 4.3l1.1 1.1M14.6 14.6l1.1 1.1M4.3 15.7l1.1-1.1M14.6 5.4l1.1-1.1",
  moon: "M16.5 12A7 7 0 0 1 8 3.5a7 7 0 1 0 8.5 8.5z",
  auto: "M10 3a7 7 0 1 0 0 14zM10 3a7 7 0 0 1 0 14z",
  pulse: "M2 10.5h3.5l2-6 4 11 2.5-7 1 2h3",
  check: "M4 10.5l4 4 8-9",
  chevron: "M5.5 8l4.5 4.5L14.5 8",
  calendar: "M3.5 5h13v11.5h-13zM3.5 8.5h13M7 3v3.5M13 3v3.5",
  copy: "M7 7h9v9.5H7zM4 13V3.5h9",
  restart: "M4 10a6 6 0 1 0 2-4.5M4 3.5V6.5h3",
  warning: "M10 3l8 14H2zM10 8v4.5M10 15v.01",
  info: "M10 2.5a7.5 7.5 0 1 0 0 15 7.5 7.5 0 0 0 0-15zM10 9v5M10 6.2v.01",
  error: "M10 2.5a7.5 7.5 0 1 0 0 15 7.5 7.5 0 0 0 0-15zM10 6v5M10 13.8v.01",
  success: "M10 2.5a7.5 7.5 0 1 0 0 15 7.5 7.5 0 0 0 0-15zM6.5 10.2l2.5 2.5 4.5-5",
  down: "M10 4v12M5 11l5 5 5-5",
  search: "M9 3.5a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11zM13 13l4 4",
  bolt: "M11 2.5L4.5 11.5H9.5L9 17.5l6.5-9H10.5z",
  link: "M8.5 11.5l3-3M9 6l2-2a3.5 3.5 0 0 1 5 5l-2 2M11 14l-2 2a3.5 3.5 0 0 1-5-5l2-2",
  slash: "M6.5 16.5l7-13",
  paperclip: "M15.5 9l-6 6a3.7 3.7 0 0 1-5.2-5.2l6.6-6.6a2.5 2.5 0 0 1 3.5 3.5l-6.3 6.3a1.2 1.2 0 0 1-1.7-1.7l5.6-5.6",
  lock: "M4.5 9h11v8h-11zM7 9V6.2a3 3 0 0 1 6 0V9",
};

/** An element: `props` are attributes, except class, text, on (listeners), style, data and properties that begin with "." */
export function h(tag, props, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(props ?? {})) setProp(node, name, value);
  node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

function setProp(node, name, value) {
  if (value === null || value === undefined || value === false) return;
  if (name === "class") node.className = value;
  else if (name === "text") node.textContent = value;
  else if (name === "on") for (const [event, listener] of Object.entries(value)) node.addEventListener(event, listener);
  else if (name === "style") for (const [key, setting] of Object.entries(value)) node.style.setProperty(key, setting);
  else if (name === "data") Object.assign(node.dataset, value);
  else if (name.startsWith(".")) node[name.slice(1)] = value;
  else node.setAttribute(name, value === true ? "" : String(value));
}

/** A drawing of `STROKES`, hidden from screen readers: the control around it carries the name. */
export function icon(name, size = 18) {
  const svg = document.createElementNS(SVG, "svg");
  for (const [key, value] of Object.entries({
    viewBox: "0 0 20 20",
    width: size,
    height: size,
    class: "icon",
    "aria-hidden": "true",
  })) {
    svg.setAttribute(key, value);
  }
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", STROKES[name]);
  svg.append(path);
  return svg;
}

/** What stands before a channel's name: whether it is open to all, private, or shared with another company. */
export function channelIcon(channel, size = 16) {
  return icon(channel.is_private ? "lock" : channel.is_ext_shared ? "link" : "hash", size);
}

/** A button that shows only an icon; its name is read aloud and shown as a tooltip. */
export function iconButton(name, label, onClick, props) {
  return h(
    "button",
    { type: "button", class: "icon-button", "aria-label": label, title: label, on: { click: onClick }, ...props },
    icon(name),
  );
}

/** The coloured square with a person's initials. */
export function avatar(user, size = 36) {
  const color = /^#[0-9a-f]{6}$/i.test(user?.color ?? "") ? user.color : "#5b6b73";
  return h("span", {
    class: user?.is_bot ? "avatar bot" : "avatar",
    style: { "--size": `${size}px`, "--paint": color, "--ink": isBright(color) ? "#14201f" : "#ffffff" },
    "aria-hidden": "true",
    text: user?.initials || (user?.real_name || user?.name || "?").slice(0, 1).toUpperCase(),
  });
}

function isBright(hex) {
  const [red, green, blue] = [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16) / 255);
  return 0.2126 * red ** 2.2 + 0.7152 * green ** 2.2 + 0.0722 * blue ** 2.2 > 0.3;
}

/** Waits until nobody has called for `ms`, then runs the last call; `.cancel()` forgets it. */
export function debounced(ms, run) {
  let timer = 0;
  const later = (...args) => {
    clearTimeout(timer);
    timer = setTimeout(() => run(...args), ms);
  };
  later.cancel = () => clearTimeout(timer);
  return later;
}

let counter = 0;

/** An id that no other node of this page has. */
export function freshId(prefix) {
  counter += 1;
  return `${prefix}-${counter}`;
}
