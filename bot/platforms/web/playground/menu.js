// A menu that opens at a button: arrow keys, Escape, a click elsewhere.

import { h } from "./dom.js";

const GAP_PX = 6;
let open = null;

// Items are {label, note, face, checked, act}; `checked` is true or false where the item is a switch.
export function showMenu(button, label, items) {
  const again = open?.button === button;
  closeMenu(again);
  if (again) return;
  const rows = items.map((item) => h("button", {
    type: "button", role: item.checked === undefined ? "menuitem" : "menuitemcheckbox", tabindex: "-1",
    "aria-checked": item.checked === undefined ? null : String(item.checked),
    onclick: () => { closeMenu(true); item.act(); },
  }, item.face, h("span", { class: "menu-text" }, h("span", {}, item.label), item.note && h("small", {}, item.note))));
  const menu = h("div", { class: "popup", role: "menu", "aria-label": label, onkeydown: press }, rows);
  (button.closest("main") ?? document.body).append(menu);
  const act = button.dataset.act;
  open = { button, menu, rows, back: () => (button.isConnected ? button : document.querySelector(`[data-act="${CSS.escape(act)}"]`))?.focus() };
  button.setAttribute("aria-expanded", "true");
  place(menu, button.getBoundingClientRect());
  rows[0]?.focus();
}

export function closeMenu(refocus = false) {
  if (!open) return;
  const { button, menu, back } = open;
  open = null;
  button.setAttribute("aria-expanded", "false");
  menu.remove();
  if (refocus) back();
}

function place(menu, at) {
  const { width, height } = menu.getBoundingClientRect();
  const below = at.bottom + GAP_PX + height <= innerHeight - GAP_PX;
  menu.style.top = `${Math.max(GAP_PX, below ? at.bottom + GAP_PX : at.top - GAP_PX - height)}px`;
  menu.style.left = `${Math.max(GAP_PX, Math.min(at.left, innerWidth - width - GAP_PX))}px`;
}

function press(event) {
  const { rows } = open;
  const at = rows.indexOf(document.activeElement);
  const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: rows.length - 1 }[event.key];
  if (to !== undefined) {
    event.preventDefault();
    rows.at(to % rows.length)?.focus();
  } else if (event.key === "Escape" || event.key === "Tab") {
    event.preventDefault();
    event.stopPropagation();
    closeMenu(true);
  } else if (event.key.length === 1 && event.key !== " ") {
    const letter = event.key.toLowerCase();
    const later = [...rows.slice(at + 1), ...rows.slice(0, at + 1)];
    later.find((row) => row.textContent.toLowerCase().startsWith(letter))?.focus();
  }
}

document.addEventListener("pointerdown", (event) => {
  if (open && !open.menu.contains(event.target) && !open.button.contains(event.target)) closeMenu();
});
addEventListener("resize", () => closeMenu());
// What is said meanwhile may move the button; the menu goes with it.
document.addEventListener("scroll", (event) => {
  if (!open || open.menu.contains(event.target)) return;
  if (open.button.isConnected) place(open.menu, open.button.getBoundingClientRect());
  else closeMenu();
}, true);
