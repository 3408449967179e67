// What an empty channel shows, and the line on privacy under every channel.

import { h, reconcile } from "./dom.js";
import { inline } from "./inline.js";
import { author, channel, state } from "./store.js";

// Where an admin pastes an address, to be read as a release of its own.
function addDocs(add) {
  const box = h("input", {
    type: "text", name: "address", required: "", autocomplete: "off", spellcheck: "false", inputmode: "url",
    placeholder: "https://docs.example.org/", "aria-label": "Address of a website or git repository, or package==version",
  });
  return h("form", { class: "add-docs", onsubmit: (event) => { event.preventDefault(); if (box.value.trim()) { add(box.value.trim()); box.value = ""; } } },
    h("h3", {}, "Try it with your docs"),
    h("p", {}, "A website, a git repository, or a package with its version. It is read in the background and answers as a release of its own."),
    h("div", {}, box, h("button", { type: "submit" }, "Add")));
}

// The one row of an empty channel's list; `add` takes an address.
export function welcome(ask, add) {
  const here = channel();
  const about = state.product || "the documentation";
  const texts = {
    help: [`Ask about ${about}`, "Click a question or write your own. The answer comes in a thread, from the documentation of the release you name, with its sources."],
    general: ["Talk with each other", "Threadlore keeps quiet here until somebody mentions it. Try one of these:"],
    forum: ["A forum", "Every post gets a thread of its own. Its first line is the title."],
    maintainers: ["A private channel", "Only its members see it, and what Threadlore learns here is never told elsewhere."],
  };
  const reading = here.id === "help" && !state.releases.some((one) => one.ready);
  if (reading) texts.help[1] = "Threadlore is reading the documentation; the bar above says how long that takes. Each release answers as soon as it is read.";
  const [title, text] = texts[here.id] ?? ["Just the two of you", "Ask anything; direct messages are never remembered."];
  const isAdmin = here.id === "help" && author(state.person)?.about === "admin";
  const build = () => h("div", { class: "welcome" },
    h("img", { src: "favicon.svg", alt: "" }), h("h2", {}, title), h("p", {}, text),
    h("div", { class: "examples" }, state.examples.map((question) =>
      h("button", { type: "button", onclick: () => ask(here.listens || here.forum ? question : `@${author(state.bot.id).name} ${question}`) }, question))),
    isAdmin && addDocs(add));
  return { key: "welcome", mark: [here.id, reading, isAdmin, ...state.examples], build };
}

// Commands in the line are buttons that write them into the box.
export function showPrivacy(box, write) {
  box.hidden = !state.privacy;
  reconcile(box, state.privacy ? [{
    key: "privacy", mark: [state.privacy],
    build: () => h("p", {}, inline(state.privacy).map((node) => (node.tagName === "CODE"
      ? h("button", { type: "button", class: "command", title: "Write this command", onclick: () => write(node.textContent) }, node.textContent) : node))),
  }] : []);
}
