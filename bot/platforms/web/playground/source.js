// The panel that shows what a number in an answer cites: the page's own words, as they were read.

import { h, icon } from "./dom.js";
import { link, safeUrl } from "./inline.js";
import { markdown } from "./markdown.js";
import { state } from "./store.js";

export function showSource(container, { told, error }) {
  const url = safeUrl(told?.url ?? "");
  container.replaceChildren(h("div", { class: "why source" },
    error && h("p", { class: "quiet" }, error),
    !told && !error && h("p", { class: "quiet" }, "Looking it up…"),
    told && [
      h("header", {}, h("h3", {}, told.title.replaceAll(" > ", " › ").replaceAll("]\\(", "](")),
        h("p", { class: "quiet" }, [`${state.product} ${told.release}`.trim(), told.path].filter(Boolean).join(" · "))),
      told.text ? h("div", { class: "body passage", tabindex: "0", role: "region", "aria-label": "The page's text" }, markdown(told.text, { breaks: false }))
        : h("p", { class: "quiet" }, "The page was changed since then, so its words are not here any more."),
      url && h("p", {}, link(url, [h("span", { class: "open-page" }, "Open the page ", icon("link"))])),
    ]));
}
