// What to try: a bar for the first visit, and a follow-up under the first answers.

import { byId, h, icon, reconcile } from "./dom.js";
import { author, state } from "./store.js";

const KEY = "hint";
const FOLLOWED = "followed";

const done = (key) => localStorage.getItem(key) === "done";
const finish = (key) => localStorage.setItem(key, "done");

// The bar above the box where one writes, until somebody asked or closed it; `ask` sends a question.
export function firstVisit(box, { ask, paint, listens }) {
  const asked = [...state.messages.values()].some((post) => post.author === state.person);
  box.hidden = done(KEY) || asked || !listens || !state.examples.length;
  if (box.hidden) return;
  reconcile(box, [{
    key: "hint", mark: state.examples,
    build: () => h("div", { class: "hint" },
      h("strong", {}, "New here? Ask one of these, or anything:"),
      h("div", { class: "hint-asks" }, state.examples.map((question) => h("button", { type: "button", class: "chip", onclick: () => ask(question) }, question))),
      h("p", {}, "Then vote 👍, become somebody else under “You are”, and ask the same in other words: the answer comes from memory."),
      h("button", { type: "button", class: "icon-button", "aria-label": "Close this hint", onclick: () => { finish(KEY); paint(); byId("composer-main").focus(); } }, icon("close"))),
  }]);
}

// A follow-up question about another release under a finished answer, until one was asked.
export function followUp(box, posts, send) {
  const last = posts.at(-1);
  const other = state.releases.filter((one) => one.ready && one.name !== last?.release).at(-1);
  const fits = last && last.author === state.bot.id && last.final && last.answer && last.release && !last.only && other;
  box.hidden = !fits || done(FOLLOWED);
  if (box.hidden) return;
  const text = `And in ${other.name}?`;
  reconcile(box, [{
    key: "follow", mark: [text],
    build: () => h("div", { class: "follow" }, h("span", { class: "quiet" }, `Ask on; ${author(state.bot.id).name} knows what you talk about:`),
      h("button", { type: "button", class: "chip", "data-act": "follow-up", onclick: () => { finish(FOLLOWED); send(text); } }, text)),
  }]);
}
