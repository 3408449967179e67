// The page: which person, channel and thread are open, what is painted, and what clicks do.

import { composer } from "./composer.js";
import { announce, byId, h, icon, reconcile, toast } from "./dom.js";
import { showList } from "./messages.js";
import { showHeader, showProgress, showSidebar, showWhy, welcome } from "./panels.js";
import { api, author, channel, enter, roots, state, thread } from "./store.js";

const NEAR_PX = 120; // this close to its end a list follows new messages
let asked = "ada"; // the person who was chosen; `state.person` follows once loaded
let painting = false;
let focus = null; // what takes the focus once it is there
const follow = new Set(["messages"]); // lists to scroll to their end at the next paint

// --- where we are: #/person/channel/thread ---------------------------------------------------

function read() {
  const [, person = "", place = "", root = ""] = location.hash.split("/").map((part) => decodeURIComponent(part));
  return { person: person || localStorage.getItem("person") || "ada", channel: place || "help", thread: root };
}

function go(change) {
  const next = { person: asked, channel: state.channel, thread: state.thread, ...change };
  const parts = [next.person, next.channel, next.thread].filter(Boolean).map(encodeURIComponent);
  closeMenu();
  if (location.hash === `#/${parts.join("/")}`) arrive();
  else location.hash = `#/${parts.join("/")}`;
}

function arrive() {
  const next = read();
  if (next.channel !== state.channel || next.person !== asked) follow.add("messages");
  if (next.thread !== state.thread) {
    state.why = null;
    if (next.thread) follow.add("thread");
  }
  Object.assign(state, { channel: next.channel, thread: next.thread, editing: "" });
  state.unread.delete(state.channel);
  if (next.person !== asked || !state.person) {
    asked = next.person;
    state.why = null;
    localStorage.setItem("person", asked);
    enter(asked, changed);
  }
  paint();
}

function changed(kind, post) {
  if (kind === "state") {
    asked = state.person;
    if (!state.channels.some((one) => one.id === state.channel)) {
      const own = state.channel.startsWith("dm-") && state.channels.find((one) => one.kind === "direct");
      go({ channel: own ? own.id : "help", thread: "" });
    }
    follow.add("messages");
  }
  if (kind === "posted" && post.author !== state.person) {
    if (post.channel !== state.channel) state.unread.set(post.channel, (state.unread.get(post.channel) ?? 0) + 1);
    else if (post.author !== state.bot.id) announce(`${author(post.author).name}: ${post.text}`);
  }
  if (["posted", "edited"].includes(kind) && post.author === state.bot.id && post.final && post.channel === state.channel) {
    announce(`${state.bot.name}: ${post.text}`);
  }
  if (kind === "deleted" && post.id === state.thread) go({ thread: "" });
  paint();
}

// --- painting --------------------------------------------------------------------------------

function paint() {
  if (painting) return;
  painting = true;
  requestAnimationFrame(() => {
    painting = false;
    draw();
  });
}

function draw() {
  byId("lost").hidden = !state.lost;
  if (!state.person || !channel()) return;
  showSidebar(go);
  showHeader(toggleMenu);
  showProgress();
  const list = byId("messages");
  const posts = roots();
  scrolled(list, "messages", () => {
    if (posts.length) showList(list, posts, { inThread: false, actions });
    else reconcile(list, [welcome((text) => say(text, { channel: state.channel, thread: "" }))]);
  });
  mainComposer.update(placeholder());
  drawPanel();
  if (focus?.()) focus = null;
}

function placeholder() {
  const here = channel();
  if (here.kind === "direct") return "Ask Threadlore";
  if (here.listens) return `Ask in #${here.name}, no mention needed`;
  return `Message #${here.name}, mention @Threadlore to ask`;
}

function scrolled(list, name, change) {
  const near = list.scrollHeight - list.scrollTop - list.clientHeight < NEAR_PX;
  change();
  if (near || follow.delete(name)) list.scrollTop = list.scrollHeight;
}

const panelTitle = h("h2", { id: "panel-title" });
const panelBack = h("button", { type: "button", class: "icon-button", "aria-label": "Back to the thread", onclick: () => { state.why = null; paint(); } }, icon("back"));
const panelClose = h("button", { type: "button", class: "icon-button", "aria-label": "Close the panel", onclick: () => closePanel() }, icon("close"));
const panelList = h("div", { class: "messages in-thread", id: "thread", tabindex: "0", role: "region", "aria-label": "Thread" });
const panelWhy = h("div", { class: "panel-why", tabindex: "0", role: "region", "aria-label": "Why this answer" });
const panelCompose = h("div", { class: "compose" });

function drawPanel() {
  const panel = byId("panel");
  const posts = state.thread ? thread(state.thread).filter((post) => post.channel === state.channel) : [];
  const open = Boolean(state.why || posts.length);
  if (!panel.firstChild) {
    panel.append(h("header", { class: "header" }, panelBack, panelTitle, panelClose), panelList, panelWhy, panelCompose);
    panelCompose.append(threadComposer.element);
  }
  panel.hidden = !open;
  document.body.classList.toggle("with-panel", open);
  if (!open) return;
  panelTitle.replaceChildren(state.why ? "Why this answer" : "Thread", h("span", { class: "quiet" }, state.why ? "" : `#${channel().name}`));
  panelBack.hidden = !(state.why && posts.length);
  panelList.hidden = panelCompose.hidden = Boolean(state.why);
  panelWhy.hidden = !state.why;
  if (state.why) {
    if (panelWhy.shown !== state.why) showWhy(panelWhy, state.why);
    panelWhy.shown = state.why;
    return;
  }
  scrolled(panelList, "thread", () => showList(panelList, posts, { inThread: true, actions }));
  threadComposer.update("Reply, follow up, or ask for another release");
}

function closePanel() {
  state.why = null;
  const root = state.thread;
  focus = () => {
    if (!byId("panel").hidden) return false;
    (document.querySelector(`#messages [data-act="thread-${CSS.escape(root)}"]`) ?? byId("composer-main")).focus();
    return true;
  };
  go({ thread: "" });
}

// --- what people do --------------------------------------------------------------------------

async function attempt(work) {
  try {
    return (await work()) ?? true;
  } catch (error) {
    toast(error.message);
    return null;
  }
}

async function say(text, where) {
  const command = text.startsWith("/") && !text.startsWith("//");
  const told = await attempt(() => api("POST", command ? "/api/commands" : "/api/messages", { person: state.person, ...where, text }));
  if (!told) return false;
  follow.add(where.thread ? "thread" : "messages");
  const here = channel();
  const opens = !command && !where.thread && here.kind !== "direct" && (here.listens || /@threadlore\b/i.test(text));
  if (opens && here.id === where.channel) actions.open(told.id); // the answer comes there
  else paint();
  return true;
}

const actions = {
  open(root) {
    follow.add("thread");
    focus = () => {
      if (panelList.offsetParent === null || state.thread !== root) return false;
      threadComposer.focus();
      return true;
    };
    go({ thread: root });
  },
  vote: (post, emoji, added) => attempt(async () => {
    await api("POST", "/api/reactions", { person: state.person, message: post.id, emoji, added });
  }),
  again(post, release) {
    const text = `And in ${release}?`;
    const own = thread(post.thread)[0]?.author === state.person || !post.thread;
    return say(own ? text : `@${state.bot.name} ${text}`, { channel: post.channel, thread: post.thread });
  },
  edit(post, inThread = false) {
    state.editing = post ? `${post.id} ${inThread}` : "";
    paint();
    if (!post) (state.thread ? threadComposer : mainComposer).focus();
  },
  async save(post, text) {
    if (text.trim() && !(await attempt(() => api("PATCH", `/api/messages/${post.id}`, { person: state.person, text })))) return;
    actions.edit(null);
  },
  remove(post) {
    const dialog = byId("confirm");
    dialog.returnValue = "";
    dialog.onclose = () => {
      if (dialog.returnValue === "delete") attempt(() => api("DELETE", `/api/messages/${post.id}`, { person: state.person }));
    };
    dialog.showModal();
  },
  async why(post) {
    const show = (told) => { state.why = { post, ...told }; paint(); };
    focus = () => {
      panelWhy.focus();
      return true;
    };
    show({});
    try {
      const path = `/api/answers/${encodeURIComponent(post.answer)}/why?person=${encodeURIComponent(state.person)}`;
      show({ told: await api("GET", path) });
    } catch (error) {
      show({ error: error.message });
    }
  },
};

function lastOwn(posts, inThread) {
  const own = posts.findLast((post) => post.author === state.person && !post.gone);
  if (own) actions.edit(own, inThread);
}

const mainComposer = composer("composer-main", {
  where: () => ({ channel: state.channel, thread: "" }), send: say, last: () => lastOwn(roots(), false),
});
const threadComposer = composer("composer-thread", {
  where: () => ({ channel: state.channel, thread: state.thread }), send: say, last: () => lastOwn(thread(state.thread), true),
});

function toggleMenu() {
  const open = document.body.classList.toggle("with-menu");
  byId("scrim").hidden = !open;
  byId("menu").setAttribute("aria-expanded", String(open));
  if (open) byId("sidebar").querySelector("a[aria-current]")?.focus();
}

function closeMenu() {
  if (document.body.classList.contains("with-menu")) toggleMenu();
}

byId("compose").append(mainComposer.element);
byId("scrim").addEventListener("click", closeMenu);
document.querySelector(".skip").addEventListener("click", (event) => { event.preventDefault(); mainComposer.focus(); });
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || event.defaultPrevented || byId("confirm").open || state.editing) return;
  if (document.body.classList.contains("with-menu")) closeMenu();
  else if (state.why && state.thread) { state.why = null; paint(); }
  else if (state.thread || state.why) closePanel();
});
window.addEventListener("hashchange", arrive);
asked = "";
arrive();
