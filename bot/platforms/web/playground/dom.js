// Elements are only ever built from tags, attributes and text: nothing here parses HTML.

const SVG = "http://www.w3.org/2000/svg";

export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === false || value === null || value === undefined) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else element.setAttribute(name, value);
  }
  element.append(...children.flat(3).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

export function icon(name) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("class", "icon");
  svg.setAttribute("aria-hidden", "true");
  const use = document.createElementNS(SVG, "use");
  use.setAttribute("href", `#i-${name}`);
  svg.append(use);
  return svg;
}

export const byId = (id) => document.getElementById(id);

export function avatar(author, size = "") {
  if (author.id === "threadlore") {
    return h("span", { class: `avatar bot ${size}`, "aria-hidden": "true" }, h("img", { src: "favicon.svg", alt: "" }));
  }
  return h("span", { class: `avatar of-${author.id} ${size}`, "aria-hidden": "true" }, author.name.slice(0, 1));
}

export function toast(sentence) {
  const box = byId("toast");
  box.textContent = sentence;
  box.hidden = false;
  clearTimeout(box.timer);
  box.timer = setTimeout(() => { box.hidden = true; }, 6000);
}

export function announce(text) {
  byId("announce").textContent = text.slice(0, 400);
}

// Bring a list up to date: rows that did not change keep their element, and with it hover and focus.
// A row is {key, mark, build}; `mark` is an array compared item by item.
export function reconcile(container, rows) {
  const old = new Map([...container.children].map((child) => [child.dataset.key, child]));
  let next = container.firstElementChild;
  for (const row of rows) {
    let element = old.get(row.key);
    old.delete(row.key);
    if (!element || !same(element.mark, row.mark)) {
      const fresh = row.build();
      fresh.dataset.key = row.key;
      fresh.mark = row.mark;
      if (element) {
        const isCurrent = element === document.activeElement;
        const act = element.contains(document.activeElement) ? document.activeElement.dataset.act : undefined;
        if (element === next) next = fresh;
        element.replaceWith(fresh);
        if (isCurrent) fresh.focus({ preventScroll: true });
        if (act) fresh.querySelector(`[data-act="${CSS.escape(act)}"]`)?.focus({ preventScroll: true });
      }
      element = fresh;
    }
    if (element === next) next = next.nextElementSibling;
    else container.insertBefore(element, next);
  }
  for (const element of old.values()) element.remove();
}

function same(a, b) {
  return a && a.length === b.length && a.every((value, index) => value === b[index]);
}
