// Lists that open beside a control: where they stand, and the menus of buttons among them.

import { h } from "./dom.js";

const GAP = 4;
const EDGE = 8;

/** Shows `node` in the top layer beside `anchor`; gives `place()`, to be called when its size changed, and `close()`. */
export function openBeside(node, anchor, { width = "auto", align = "start" } = {}) {
  node.popover = "manual";
  node.showPopover();
  const place = () => position(node, anchor, width, align);
  place();
  window.addEventListener("scroll", place, true);
  window.addEventListener("resize", place);
  const close = () => {
    window.removeEventListener("scroll", place, true);
    window.removeEventListener("resize", place);
    if (node.isConnected && node.matches(":popover-open")) node.hidePopover();
  };
  return { place, close };
}

function position(node, anchor, width, align) {
  const beside = anchor.getBoundingClientRect();
  if (width === "anchor") node.style.width = `${Math.max(beside.width, 220)}px`;
  node.style.maxHeight = "none";
  const below = window.innerHeight - beside.bottom - GAP - EDGE;
  const above = beside.top - GAP - EDGE;
  const wanted = Math.min(node.scrollHeight + 2, 340);
  const up = wanted > below && above > below;
  const height = Math.min(wanted, up ? above : below);
  node.style.maxHeight = `${height}px`;
  node.style.top = `${up ? beside.top - GAP - height : beside.bottom + GAP}px`;
  const left = align === "end" ? beside.right - node.offsetWidth : beside.left;
  node.style.left = `${Math.max(EDGE, Math.min(left, window.innerWidth - node.offsetWidth - EDGE))}px`;
}

/**
 * Opens a menu under `anchor`. `items`: {label, description, icon, danger, url, run} or {heading}.
 * Arrow keys move, Escape or a click elsewhere closes, focus goes back to the anchor.
 */
export function openMenu(anchor, items, { align = "end", label = "Menu" } = {}) {
  const menu = h(
    "div",
    { class: "menu", role: "menu", "aria-label": label },
    items.map((item) => menuItem(item, () => close())),
  );
  anchor.after(menu);
  const shown = openBeside(menu, anchor, { align });
  anchor.setAttribute("aria-expanded", "true");
  const elsewhere = (event) => {
    if (!menu.contains(event.target) && !anchor.contains(event.target)) close(false);
  };
  const close = (refocus = true) => {
    document.removeEventListener("pointerdown", elsewhere, true);
    shown.close();
    menu.remove();
    anchor.setAttribute("aria-expanded", "false");
    if (refocus && anchor.isConnected) anchor.focus();
  };
  document.addEventListener("pointerdown", elsewhere, true);
  menu.addEventListener("keydown", (event) => menuKey(event, menu, close));
  menu.querySelector("[role=menuitem]")?.focus();
  return close;
}

function menuItem(item, close) {
  if (item.heading) return h("div", { class: "menu-heading", role: "presentation", text: item.heading });
  const inside = [
    h("span", { class: "menu-icon" }, item.icon),
    h("span", { class: "menu-words" }, [
      h("span", { text: item.label }),
      item.description && h("small", { text: item.description }),
    ]),
  ];
  const press = () => {
    close();
    item.run();
  };
  return h(
    "button",
    {
      type: "button",
      role: "menuitem",
      tabindex: "-1",
      class: item.danger ? "menu-item danger" : "menu-item",
      on: { click: press },
    },
    inside,
  );
}

function menuKey(event, menu, close) {
  const items = [...menu.querySelectorAll("[role=menuitem]")];
  const at = items.indexOf(document.activeElement);
  const goals = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: items.length - 1 };
  if (event.key in goals) items.at(goals[event.key] % items.length)?.focus();
  else if (event.key === "Escape") close();
  else if (event.key === "Tab") close();
  else return;
  if (event.key !== "Tab") event.preventDefault();
  event.stopPropagation();
}
