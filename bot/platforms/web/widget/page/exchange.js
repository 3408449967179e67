// One question and its answer: as it grows, as it stands, and where it failed.

import { h, icon } from "./dom.js";
import { markdown } from "./markdown.js";

const READING_MS = 500; // an answer that comes at once is not announced

export function makeExchange(question, { words, vote, retry, leave, root }) {
  const body = h("div", { class: "body", "aria-busy": "true" });
  const foot = h("div", { class: "foot" });
  const element = h("article", { class: "exchange" },
    h("p", { class: "question" }, h("span", { class: "hidden-text" }, `${words.you}: `), question),
    h("div", { class: "answer" }, h("span", { class: "hidden-text" }, `${words.bot}: `), body, foot));
  const number = (makeExchange.count = (makeExchange.count ?? 0) + 1);
  let text = "";
  let timer = 0;

  function show(written, growing) {
    clearTimeout(timer);
    body.replaceChildren(markdown(written, { anchor: `w${number}` }));
    body.classList.toggle("growing", growing);
    for (const link of body.querySelectorAll("a[href]")) home(link);
  }

  // A page of this site opens in this tab; a source without a page is below the answer.
  function home(link) {
    const target = link.getAttribute("href");
    if (target.startsWith("#")) {
      link.addEventListener("click", (event) => {
        event.preventDefault();
        root.getElementById(target.slice(1))?.focus();
      });
    } else if (new URL(target).origin === location.origin) {
      link.removeAttribute("target");
      link.removeAttribute("rel");
      link.addEventListener("click", leave);
    }
  }

  function working() {
    body.replaceChildren(h("p", { class: "working" },
      h("span", { class: "dots", "aria-hidden": "true" }, h("i"), h("i"), h("i")), h("span", {}, words.working)));
    foot.replaceChildren();
  }

  function votes(told) {
    const button = (name) => h("button", {
      type: "button", class: `vote ${name}`, "aria-label": words[name], title: words[name],
      "aria-pressed": String(told.vote === name),
      onclick: async () => {
        const before = told.vote;
        paint(told.vote = before === name ? "" : name);
        if (!(await vote(told))) paint(told.vote = before);
      },
    }, icon(name));
    const both = ["up", "down"].map(button);
    const paint = (now) => both.forEach((one) => one.setAttribute("aria-pressed", String(one.classList.contains(now))));
    return both;
  }

  working();
  return {
    element,
    reading(said) {
      timer = setTimeout(() => { if (!text) show(said, false); }, READING_MS);
    },
    text(written) {
      text = written;
      show(text, true);
    },
    more(added) {
      text += added;
      show(text, true);
    },
    done(told) {
      show(told.markdown, false);
      body.removeAttribute("aria-busy");
      if (told.remembered) body.prepend(h("p", { class: "remembered" }, told.remembered));
      foot.replaceChildren(...(told.answer ? votes(told) : []));
    },
    failed(sentence) {
      clearTimeout(timer);
      body.removeAttribute("aria-busy");
      body.classList.remove("growing");
      body.replaceChildren(h("p", { class: "error", role: "alert" }, sentence || words.away));
      foot.replaceChildren(h("button", { type: "button", class: "quiet-button", onclick: retry }, words.retry));
    },
    said: () => body.innerText.slice(0, 400),
  };
}
