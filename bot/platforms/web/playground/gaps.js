// Gaps in the documentation with the threads behind them, and the pages that answers cite.

import { byId, h } from "./dom.js";
import { link } from "./figures.js";
import { titled } from "./inline.js";
import { put } from "./stops.js";

const REASONS = { abstained: "no answer", "voted down": "voted down", escalated: "asked a person", corrected: "corrected" };

function meter(part) {
  const bar = h("i");
  bar.style.width = `${100 * part}%`;
  return h("div", { class: "meter" }, bar);
}

// The threads behind a figure are looked up once somebody wants to see them.
function threads(answers) {
  const list = h("ul", { class: "plain" });
  const details = h("details", {}, h("summary", {}, "Threads"), list);
  details.addEventListener("toggle", async () => {
    if (!details.open || list.children.length) return;
    try {
      const response = await fetch(`api/threads?${new URLSearchParams({ answers: answers.join(",") })}`);
      const found = response.ok ? await response.json() : [];
      put(list, found.length ? found.map((one) => h("li", {}, link(one.question, one.link))) : h("li", { class: "quiet" }, "No thread of these can be linked."));
    } catch {
      put(list, h("li", { class: "quiet" }, "The bot does not answer; try again."));
      details.open = false;
    }
  });
  return details;
}

export function gaps({ gaps: found }, empty) {
  const open = byId("gaps").querySelector("details[open]");
  if (open) return undefined; // somebody is reading
  if (!found.length) return put(byId("gaps"), empty("None: everything was answered, and nobody complained."));
  const most = Math.max(...found.map((gap) => gap.count));
  const kind = (gap) => (gap.resolved ? "✓ resolved" : gap.lacks ? "missing in the docs" : "answered badly");
  const rows = found.map((gap) => h("tr", { class: gap.resolved ? "gap-done" : "" },
    h("td", { class: "number count" }, `${gap.count}×`, meter(gap.count / most)),
    h("td", {}, h("span", { class: `pill ${gap.resolved ? "" : "bad"}` }, kind(gap)), " ", gap.question,
      h("p", { class: "quiet" }, Object.entries(gap.reasons).map(([why, count]) => `${count} ${REASONS[why] ?? why}`).join(", "), gap.page[0] && [" · nearest page: ", link(titled(gap.page[0]), gap.page[1])]),
      threads(gap.answers))));
  return put(byId("gaps"), h("table", { class: "rows" }, h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Asked"), h("th", { scope: "col" }, "For example, and why it is here"))), h("tbody", {}, rows)));
}

export function pages({ cited, worst }, empty) {
  if (byId("pages").querySelector("details[open]")) return;
  const table = (title, found) => found.length > 0 && h("table", { class: "rows" }, h("thead", {}, h("tr", {}, ["Cited", title, "👍", "👎"].map((name, at) => h("th", { scope: "col", class: at > 1 && "number" }, name)))),
    h("tbody", {}, found.map((page) => h("tr", {}, h("td", { class: "number count" }, `${page.count}×`), h("td", {}, link(page.title, page.url), h("span", { class: "quiet" }, ` ${page.release}`), page.answers.length > 0 && threads(page.answers)), h("td", { class: "number" }, String(page.up)), h("td", { class: "number" }, String(page.down))))));
  put(byId("pages"), ...(cited.length ? [table("Most cited", cited), table("Worst votes", worst)].filter(Boolean) : [empty("No page is cited yet.")]));
}
