// One message as an element, and the two lists that messages stand in.

import { copy } from "./code.js";
import { compare } from "./compare.js";
import { choose, footer, note, plural, reactions, reactMenu } from "./controls.js";
import { avatar, h, icon, reconcile } from "./dom.js";
import { inline } from "./inline.js";
import { markdown } from "./markdown.js";
import { rove } from "./roving.js";
import { offerSections, reopen } from "./section.js";
import { author, channel, notes, replies, state } from "./store.js";

const TOGETHER_MS = 5 * 60 * 1000; // one author's messages within this time share a head
const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });
const whole = new Intl.DateTimeFormat(undefined, { dateStyle: "full", timeStyle: "short" });
const day = new Intl.DateTimeFormat(undefined, { weekday: "long", day: "numeric", month: "long" });

// `inThread` tells whether the list is the side panel.
export function showList(container, posts, { inThread, actions }) {
  const summaries = inThread ? new Map() : replies();
  const said = notes();
  const rows = [];
  let before = null;
  for (const [index, post] of posts.entries()) {
    const date = new Date(post.at);
    if (!inThread && (!before || new Date(before.at).toDateString() !== date.toDateString())) {
      rows.push({ key: `day-${date.toDateString()}`, mark: [], build: () => h("div", { class: "day" }, h("span", {}, dayName(date))) });
      before = null;
    }
    if (!inThread && isFirstNew(post, posts[index - 1])) {
      rows.push({ key: "new", mark: [], build: () => h("div", { class: "day new" }, h("span", {}, "New")) });
      before = null;
    }
    if (inThread && index === 1) {
      const count = posts.filter((one) => one.thread && !one.only).length;
      rows.push({ key: "count", mark: [count], build: () => h("div", { class: "day left" }, h("span", {}, plural(count, "reply", "replies"))) });
      before = null;
    }
    const compact = Boolean(before) && before.author === post.author && !post.only && !before.only && !before.gone
      && date - new Date(before.at) < TOGETHER_MS && !summaries.get(before.id) && post.author !== state.bot.id;
    const summary = summaries.get(post.id);
    const last = summary?.last;
    // What is being edited stays as it is, whatever happens around it.
    const editing = state.editing === `${post.id} ${inThread}`; // a root stands in both lists
    const mark = editing ? ["editing"] : [post, state.person, compact, said.get(post.id) ?? null, summary?.count ?? 0, last ?? null, !inThread && state.thread === post.id];
    rows.push({ key: post.id, mark, build: () => article(post, { compact, said: said.get(post.id), editing, summary, inThread, actions }) });
    before = post;
  }
  reconcile(container, rows);
  rove(container);
}

function isFirstNew(post, before) {
  const { channel: where, after } = state.fresh ?? {};
  const isNew = (one) => one.channel === where && Number(one.id) > Number(after) && one.author !== state.person && !one.only;
  return Boolean(where) && Boolean(before) && isNew(post) && Number(before.id) <= Number(after); // all of it new is nothing new
}

function dayName(date) {
  const midnight = new Date().setHours(0, 0, 0, 0);
  if (date >= midnight) return "Today";
  return date >= midnight - 24 * 3600 * 1000 ? "Yesterday" : day.format(date);
}

function article(post, { compact, said, editing, summary, inThread, actions }) {
  const who = author(post.author);
  const bot = who.id === state.bot.id;
  const own = post.author === state.person;
  if (post.gone) {
    return h("article", { class: "message gone", "aria-label": "Deleted message" },
      h("div", { class: "gutter" }, h("span", { class: "avatar blank" }, icon("trash"))),
      h("div", { class: "content" }, h("p", { class: "quiet" }, post.text || "This message was deleted."), !inThread && thread(post, summary, actions)));
  }
  const date = new Date(post.at);
  const time = h("time", { datetime: post.at, title: whole.format(date) }, clock.format(date));
  const classes = ["message", compact && "compact", bot && "from-bot", post.only && "ephemeral", !post.final && "growing",
    !inThread && state.thread === post.id && "open", !inThread && channel().forum && "card-post"].filter(Boolean).join(" ");
  const head = h("div", { class: "head" },
    h("span", { class: "author" }, who.name),
    bot && h("span", { class: "app-badge" }, "APP"),
    post.release && badge(post, actions),
    time, post.edited && h("span", { class: "quiet" }, "(edited)"));
  const body = editing && own
    ? editor(post, actions)
    : h("div", { class: "body" }, !inThread && channel().forum && !bot ? titled(post.text) : markdown(post.text, { anchor: `${inThread ? "t" : "m"}${post.id}`, breaks: !bot || Boolean(post.command) }));
  if (bot && post.answer && post.final) {
    offerSections(body);
    compare(body, post);
    reopen(body, post, inThread);
  }
  return h("article", { class: classes, tabindex: "-1", "aria-label": `${who.name}, ${clock.format(date)}`, "data-id": post.id },
    h("div", { class: "gutter" }, compact ? time.cloneNode(true) : avatar(who)),
    h("div", { class: "content" },
      post.only && h("p", { class: "only" }, icon("eye"), "Only visible to you", post.command && h("code", {}, post.command),
        post.final && h("button", { type: "button", class: "put-away", "data-act": `away-${post.id}`, onclick: () => actions.putAway(post) }, "Dismiss")),
      compact ? null : head,
      post.remembered && remembered(post.remembered),
      body,
      !post.final && working(post.text),
      reactions(post, actions),
      post.final && footer(post, actions),
      note(said, actions),
      !inThread && thread(post, summary, actions)),
    toolbar(post, { own, bot, inThread, actions }));
}

// Which release an answer speaks for; where others can be asked for, it opens their menu.
function badge(post, actions) {
  const others = post.controls.find((one) => one.name === "release");
  const text = `${state.product} ${post.release.replaceAll("+", " and ")}`.trim();
  if (!others || !post.final) return h("span", { class: "release-badge", title: "The release this answer speaks for" }, icon("tag"), text);
  return h("button", { type: "button", class: "release-badge", title: "The release this answer speaks for; choose another one", "data-act": `badge-${post.id}`, "aria-haspopup": "menu", "aria-expanded": "false",
    onclick: (event) => choose(event.currentTarget, post, others, actions) }, icon("tag"), text, icon("chevron"));
}

// The mark of an answer from memory: who found it good, and how fast it came.
function remembered(line) {
  const [first, ...rest] = line.split(" · ");
  return h("p", { class: "remembered" }, icon("memory"), h("span", {}, h("strong", {}, first), rest.map((part) => [" ", h("span", {}, `· ${part}`)])));
}

// A post of a forum: its first line is the title.
function titled(text) {
  const [title, ...rest] = text.split("\n");
  return [h("h3", { class: "post-title" }, inline(title, { plain: true })), markdown(rest.join("\n"), { breaks: true })];
}

function working(text) {
  return h("div", { class: "working", role: "status" },
    h("span", { class: "dots", "aria-hidden": "true" }, h("i"), h("i"), h("i")),
    h("span", { class: text ? "hidden-text" : "" }, "Threadlore is looking it up"));
}

function thread(post, summary, actions) {
  if (!summary && !(channel().forum && !post.thread && !post.only)) return null;
  const { count, authors, last } = summary ?? { count: 0, authors: [], last: { final: true, at: post.at } };
  const busy = !last.final;
  return h("button", { type: "button", class: "thread-link", "data-act": `thread-${post.id}`, onclick: () => actions.open(post.id) },
    h("span", { class: "faces" }, [...authors].slice(0, 3).map((id) => avatar(author(id), "tiny"))),
    h("span", { class: "thread-count" }, plural(count, "reply", "replies")),
    h("span", { class: busy ? "thread-last busy" : "thread-last" },
      busy ? "Threadlore is answering…" : !count ? "Be the first" : `Last reply ${clock.format(new Date(last.at))}`));
}

function toolbar(post, { own, bot, inThread, actions }) {
  if (post.only || !post.final) return null;
  const tool = (name, label, act) => h("button", {
    type: "button", "aria-label": label, title: label, "data-act": `${name}-tool-${post.id}`, onclick: act,
  }, icon(name));
  const tools = [
    h("button", { type: "button", "aria-label": "React", title: "React", "aria-haspopup": "menu", "aria-expanded": "false", "data-act": `react-tool-${post.id}`,
      onclick: (event) => reactMenu(post, event.currentTarget, actions) }, icon("react")),
    !inThread && channel().kind !== "direct" && tool("thread", "Reply in thread", () => actions.open(post.id)),
    !bot && tool("answer", "Answer this", () => actions.answerThis(post)),
    bot && h("button", { type: "button", class: "copy-text", "aria-label": "Copy the text", title: "Copy the text", onclick: (event) => copy(post.text, event.currentTarget) },
      icon("copy"), h("span", { class: "hidden-text" })),
    h("button", { type: "button", class: "copy-text", "aria-label": "Copy the link", title: "Copy the link", onclick: (event) => copy(`${location.origin}/#/m/${post.id}`, event.currentTarget) },
      icon("link"), h("span", { class: "hidden-text" })),
    own && tool("edit", "Edit", () => actions.edit(post, inThread)),
    own && tool("trash", "Delete", () => actions.remove(post)),
  ].filter(Boolean);
  return tools.length ? h("div", { class: "toolbar", role: "group", "aria-label": "Actions" }, tools) : null;
}

function editor(post, actions) {
  const save = () => actions.save(post, field.value);
  const field = h("textarea", {
    "aria-label": "Edit the message", rows: String(Math.min(post.text.split("\n").length + 1, 12)), maxlength: String(state.limit),
    onkeydown: (event) => {
      if (event.key === "Escape") {
        event.preventDefault(); // the thread around it stays open
        actions.edit(null);
      }
      if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
        event.preventDefault();
        save();
      }
    },
  });
  field.value = post.text;
  queueMicrotask(() => { field.focus(); field.setSelectionRange(field.value.length, field.value.length); });
  return h("div", { class: "editor" }, field, h("div", { class: "editor-actions" },
    h("button", { type: "button", class: "button", onclick: () => actions.edit(null) }, "Cancel"),
    h("button", { type: "button", class: "button primary", onclick: save }, "Save")));
}
