// The panel: a dialog beside the page, over all of it on a phone.

import { h, icon } from "./dom.js";
import { makeExchange } from "./exchange.js";
import { sprite } from "./icons.js";
import { keep, kept, makeTalk, page } from "./talk.js";

const NARROW = matchMedia("(max-width: 600px)");
const FOCUSABLE = "button:not([disabled]), select, textarea, a[href], [tabindex='0']";

export async function makePanel({ root, button, base, given, language, product }) {
  let told = null; // what the bot said last of this page: release, words, examples
  let at = ""; // the address that it was about: some sites change pages without loading any
  let key = kept().conversation ?? "";
  let asking = false;
  let turn = 0; // a conversation that was ended tells nothing any more
  let follows = true; // whether the list follows what is written
  const talk = makeTalk(base, () => ({ page: page(), language, product: given.product, conversation: key, release: chosen() }));

  // What the reader chose holds on pages of the release where they chose it.
  const chosen = () => kept().chosen || given.release || "";

  const select = h("select", { onchange: () => choose(select.value) });
  const said = h("p", { class: "said" });
  const title = h("h2", { id: "title" });
  const again = h("button", { type: "button", class: "icon-button", onclick: restart }, icon("again"));
  const shut = h("button", { type: "button", class: "icon-button", onclick: () => close() }, icon("close"));
  const list = h("div", { class: "list", tabindex: "0", role: "region", "aria-labelledby": "title" });
  const field = h("textarea", { rows: "1", oninput: fit, onkeydown: entered });
  const send = h("button", { type: "submit", class: "send" }, icon("send"));
  const form = h("form", { onsubmit: (event) => { event.preventDefault(); ask(field.value); } }, field, send);
  const privacy = h("p", { class: "privacy" });
  const live = h("div", { class: "hidden-text", "aria-live": "polite" });
  const label = h("label", { class: "release" }, h("span", {}), select);
  const panel = h("div", { class: "panel", role: "dialog", "aria-labelledby": "title", tabindex: "-1", hidden: true, onkeydown: keys },
    h("header", {}, title, again, shut),
    h("div", { class: "for" }, said, label),
    list, form, privacy);
  root.append(sprite(), panel, live);
  list.addEventListener("wheel", () => { follows = false; }, { passive: true });
  list.addEventListener("touchmove", () => { follows = false; }, { passive: true });
  NARROW.addEventListener("change", shape);

  async function load() {
    const found = await talk.call("open", {});
    if (kept().chosen && kept().on !== found.page) { // another release's page: the choice was for that one
      keep({ chosen: "", on: "" });
      return load();
    }
    told = found;
    at = page();
    const { words } = told;
    title.textContent = words.title;
    label.firstChild.textContent = words.release;
    field.setAttribute("aria-label", words.question);
    field.placeholder = words.question;
    field.maxLength = told.limit;
    privacy.textContent = words.privacy;
    for (const [element, name] of [[again, "again"], [shut, "close"], [send, "send"]]) {
      element.setAttribute("aria-label", words[name]);
      element.title = words[name];
    }
    serve(told);
    select.replaceChildren(...told.releases.map((release) => h("option", { value: release },
      release === told.latest ? words.latest.replace("{release}", release) : release)));
    select.value = told.release;
    label.hidden = told.releases.length < 2;
    return found;
  }

  function serve({ said: sentence, release }) {
    if (sentence) said.textContent = sentence;
    if (release) select.value = release;
  }

  async function open(focus = true) {
    panel.hidden = false;
    shape();
    button.setAttribute("aria-expanded", "true");
    keep({ open: true });
    if (!told) {
      list.replaceChildren(h("p", { class: "working" }, h("span", { class: "dots", "aria-hidden": "true" }, h("i"), h("i"), h("i"))));
      try {
        restore((await load()).conversation);
      } catch (error) {
        list.replaceChildren(h("p", { class: "error", role: "alert" }, error.message || `${product}: ${base.origin} does not answer. Try again in a moment.`));
        console.warn(`Threadlore: ${error.message || "the bot does not answer"}`);
      }
    } else if (at !== page()) {
      load().catch(() => {}); // whatever is asked says it again
    }
    if (focus) (told ? field : panel).focus();
    fit();
  }

  function close() {
    panel.hidden = true;
    button.setAttribute("aria-expanded", "false");
    keep({ open: false });
    button.focus();
  }

  function shape() {
    panel.setAttribute("aria-modal", String(NARROW.matches));
  }

  // Show what was said on an earlier page of this tab, and go on with what is being answered.
  function restore(conversation) {
    list.replaceChildren();
    key = conversation?.id ?? "";
    keep({ conversation: key });
    for (const one of conversation?.told ?? []) add(one.question).done(one);
    if (conversation?.asked) listen(add(conversation.asked), "follow", {}, conversation.asked);
    else if (!conversation?.told.length) welcome();
    list.scrollTop = list.scrollHeight;
  }

  function welcome() {
    list.replaceChildren(h("div", { class: "welcome" }, h("p", {}, told.words.intro),
      h("ul", {}, told.examples.map((text) => h("li", {}, h("button", { type: "button", class: "example", onclick: () => ask(text) }, text))))));
  }

  function add(question) {
    list.querySelector(".welcome")?.remove();
    const one = makeExchange(question, { words: told.words, root, vote, leave, retry: () => { one.element.remove(); ask(question); } });
    list.append(one.element);
    return one;
  }

  async function ask(text) {
    const question = text.trim();
    if (!question || asking || !told) return;
    if (field.value === text) field.value = "";
    fit();
    live.textContent = told.words.working;
    await listen(add(question), "ask", { text: question }, question);
    if (!panel.hidden && !NARROW.matches) field.focus();
  }

  async function listen(one, name, body, question) {
    asking = send.disabled = follows = true;
    const [before, mine] = [key, (turn += 1)];
    const hear = (kind, data) => {
      if (mine !== turn) return;
      if (kind === "begun") {
        serve(data);
        keep({ conversation: key = data.conversation });
        if (before && before !== key) one.element.before(h("p", { class: "note" }, told.words.fresh));
      } else if (kind === "done") one.done(data);
      else if (kind === "failed") one.failed(data.error);
      else one[kind](data.text ?? data.markdown);
      if (kind === "done") live.textContent = `${told.words.ready} ${one.said()}`;
      scroll(one.element);
    };
    scroll(one.element);
    let failed = null;
    try {
      // a stream that broke off may go on
      const ended = await talk.stream(name, body, hear) || mine !== turn || await talk.stream("follow", {}, hear);
      if (!ended) failed = "";
    } catch (error) {
      failed = error.message;
    }
    if (mine !== turn) return;
    if (failed !== null) one.failed(failed);
    asking = send.disabled = false;
    scroll(one.element);
  }

  // Follow the answer as far as its question stays in view.
  function scroll(element) {
    if (follows) list.scrollTop = Math.min(list.scrollHeight, element.offsetTop - list.offsetTop - 8);
  }

  async function vote(one) {
    try {
      await talk.call("vote", { answer: one.answer, vote: one.vote });
      live.textContent = one.vote ? told.words.thanks : "";
      return true;
    } catch (error) {
      live.textContent = error.message || told.words.away;
      return false;
    }
  }

  async function choose(release) {
    keep({ chosen: release, on: told.page });
    try {
      serve(await talk.call("open", {}));
    } catch (error) {
      said.textContent = error.message || told.words.away;
    }
  }

  async function restart() {
    const ended = key;
    key = "";
    turn += 1;
    keep({ conversation: "" });
    asking = send.disabled = false;
    if (told) welcome();
    field.focus();
    if (ended) await talk.call("forget", { conversation: ended }).catch(() => {}); // it ends by itself, too
  }

  // On a phone a page that was opened from here would stand behind the panel.
  function leave() {
    if (NARROW.matches) close();
  }

  function entered(event) {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      ask(field.value);
    }
  }

  function fit() {
    field.style.height = "auto";
    field.style.height = `${Math.min(field.scrollHeight + 2, 140)}px`;
  }

  function keys(event) {
    if (event.key === "Escape" && !event.isComposing) {
      close();
    } else if (event.key === "Tab") {
      const all = [...panel.querySelectorAll(FOCUSABLE)].filter((one) => one.offsetParent);
      const [from, to] = event.shiftKey ? [all[0], all.at(-1)] : [all.at(-1), all[0]];
      if (root.activeElement === from || root.activeElement === panel) {
        event.preventDefault();
        to.focus();
      }
    }
  }

  return { open, close };
}
