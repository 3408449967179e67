// One tab stop a chart: arrow keys go from mark to mark, and a small window tells its figures.

import { h } from "./dom.js";

const FAR = 14; // pixels between a mark and the window
const tip = h("div", { class: "tip", hidden: true, "aria-hidden": "true" }); // marks carry the same as their name
let current = null;

function show(stop) {
  if (current !== stop) hide();
  current = stop;
  const { title, parts, at, y } = stop.shown();
  tip.replaceChildren(h("strong", {}, title), ...(parts.length
    ? [h("dl", {}, parts.map(([kind, name, value]) => [h("dt", {}, kind && h("i", { class: `key ${kind}` }), name), h("dd", {}, String(value))]))]
    : [h("p", {}, "nothing")]));
  tip.hidden = false;
  const box = stop.ownerSVGElement.getBoundingClientRect();
  const { width, height } = tip.getBoundingClientRect();
  const x = box.left + at * box.width;
  const left = x + FAR + width < document.documentElement.clientWidth - 8 ? x + FAR : Math.max(8, x - FAR - width);
  const above = y === undefined ? box.top + 6 : box.top + y - 10;
  tip.style.left = `${left}px`;
  tip.style.top = `${Math.max(8, Math.min(above, innerHeight - height - 8))}px`;
}

function hide() {
  current?.hidden_?.();
  current = null;
  tip.hidden = true;
}

const stopOf = (event) => event.target instanceof Element && event.target.closest(".stop");

export function listen() {
  document.body.append(tip);
  for (const kind of ["pointerover", "pointerdown", "focusin"]) {
    document.addEventListener(kind, (event) => {
      const stop = stopOf(event);
      if (stop?.shown) show(stop);
      else if (kind !== "focusin") hide();
    });
  }
  document.addEventListener("focusout", hide);
  // what the keyboard is on may have been scrolled into view, and is told on
  document.addEventListener("scroll", () => (current && current === document.activeElement ? show(current) : hide()), { capture: true, passive: true });
  document.addEventListener("keydown", (event) => {
    const stop = stopOf(event);
    if (!stop) return;
    if (event.key === "Escape") return hide();
    const stops = [...stop.ownerSVGElement.querySelectorAll(".stop")];
    const at = stops.indexOf(stop);
    const to = { ArrowRight: at + 1, ArrowDown: at + 1, ArrowLeft: at - 1, ArrowUp: at - 1, Home: 0, End: stops.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    move(stops, at, Math.max(0, Math.min(to, stops.length - 1)));
  });
}

function move(stops, from, to) {
  stops[from].setAttribute("tabindex", "-1");
  stops[to].setAttribute("tabindex", "0");
  stops[to].focus({ preventScroll: false });
}

// Put something in place of what a box shows; what has the keyboard keeps it.
export function put(box, ...nodes) {
  const fresh = h("div", {}, nodes);
  if (box.shows === fresh.innerHTML) return;
  const at = [...box.querySelectorAll(".stop")].indexOf(document.activeElement);
  box.shows = fresh.innerHTML;
  box.replaceChildren(...fresh.childNodes);
  const stops = [...box.querySelectorAll(".stop")];
  if (at >= 0 && stops.length) move(stops, Math.max(stops.findIndex((one) => one.getAttribute("tabindex") === "0"), 0), Math.min(at, stops.length - 1));
}
