// The page: which person, channel and thread are open, what is painted, and what clicks do.

import { makeActions } from "./actions.js";
import { address, read } from "./address.js";
import { composer } from "./composer.js";
import { announce, byId, h, icon, reconcile, toast } from "./dom.js";
import { followUp } from "./hint.js";
import { closeMenu } from "./menu.js";
import { showList } from "./messages.js";
import { showHeader, showProgress, showSidebar } from "./panels.js";
import { listen as followKeys } from "./roving.js";
import { toggleSection } from "./section.js";
import { api, author, channel, enter, roots, state, thread } from "./store.js";
import { showTour, startTour, tourIsOver } from "./tour.js";
import { begin, count, see, seenUpTo } from "./unread.js";
import { showPrivacy, welcome } from "./welcome.js";
import { showWhy } from "./why.js";

const HELP = "help";
const NARROW = matchMedia("(max-width: 1080px)"); // where a panel covers the channel
const NEAR_PX = 120; // this close to its end a list follows new messages
let asked = "ada"; // the person who was chosen; `state.person` follows once loaded
let painting = false;
let focus = null; // what takes the focus once it is there
const follow = new Set(["messages"]); // lists to scroll to their end at the next paint

// --- where we are ----------------------------------------------------------------------------

function go(change) {
  const next = { person: asked, channel: state.channel, thread: state.thread, ...change };
  const there = address(next.person, next.channel, next.thread);
  closeDrawer();
  if (location.hash === there) arrive();
  else location.hash = there;
}

function arrive() {
  closeMenu();
  const link = /^#\/m\/(\d+)$/.exec(location.hash);
  if (link) {
    state.jump = link[1];
    if (state.person) jump();
    else enter(asked = localStorage.getItem("person") || "ada", changed);
    return;
  }
  const next = read();
  if (next.channel !== state.channel || next.person !== asked) follow.add("messages");
  if (next.thread !== state.thread) {
    state.why = null;
    if (next.thread) follow.add("thread");
  }
  if (next.channel !== state.channel) state.fresh = null;
  Object.assign(state, { channel: next.channel, thread: next.thread, editing: "" });
  if (next.person !== asked || !state.person) {
    asked = next.person;
    state.why = null;
    localStorage.setItem("person", asked);
    enter(asked, changed);
  }
  paint();
}

// Open the place of the message that a link names; the address becomes that of the place.
function jump() {
  const post = state.messages.get(state.jump);
  if (!post) {
    state.jump = "";
    toast("That message is gone, or it stands where you cannot read it.");
  }
  const root = post && (post.thread || (thread(post.id).length > 1 ? post.id : ""));
  location.replace(address(asked, post?.channel ?? state.channel, root));
}

// Bring the message that was linked into view, once it is painted.
function land() {
  const shown = [...document.querySelectorAll(`.message[data-id="${CSS.escape(state.jump)}"]`)].findLast((one) => one.offsetParent);
  if (!shown) return;
  state.jump = "";
  follow.clear();
  shown.scrollIntoView({ block: "center" });
  shown.classList.add("landed");
  shown.focus({ preventScroll: true });
}

function changed(kind, post) {
  if (kind === "state") {
    asked = state.person;
    if (state.jump) jump();
    if (!state.channels.some((one) => one.id === state.channel)) {
      const own = state.channel.startsWith("dm-") && state.channels.find((one) => one.kind === "direct");
      go({ channel: own ? own.id : "help", thread: "" });
    }
    follow.add("messages");
    state.fresh = null;
    begin();
  }
  if (kind === "posted" && post.author !== state.person && post.author !== state.bot.id && post.channel === state.channel) {
    announce(`${author(post.author).name}: ${post.text}`);
  }
  if (["posted", "edited"].includes(kind) && post.author === state.bot.id && post.final && post.channel === state.channel) {
    announce(`${state.bot.name}: ${post.text}`);
  }
  if (kind === "deleted" && state.editing.startsWith(`${post.id} `)) state.editing = "";
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
  // what is new is marked off until the channel is left, though it counts as seen from now on
  state.fresh ??= { channel: state.channel, after: seenUpTo(state.person, state.channel) };
  if (!document.hidden) see(state.channel);
  state.unread = count();
  showSidebar(go, () => { closeDrawer(); startTour(); paint(); });
  showHeader(toggleDrawer, (release) => mainComposer.named(`${state.product} ${release}`.trim()), () => mainComposer.write("/threadlore sources add "));
  showProgress();
  const list = byId("messages");
  const posts = roots();
  scrolled(list, "messages", () => {
    if (posts.length) showList(list, posts, { inThread: false, actions });
    else reconcile(list, [welcome((text) => say(text, { channel: state.channel, thread: "" }), (address) => say(`/threadlore sources add ${address}`, { channel: state.channel, thread: "" }))]);
  });
  mainComposer.update(placeholder());
  for (const id of ["privacy", "privacy-drawer"]) {
    showPrivacy(byId(id), (command) => { closeDrawer(); mainComposer.write(command); });
  }
  drawPanel();
  guide(posts.length === 0);
  for (const one of [posts.length ? list : null, panelList]) if (one) one.scrollTop += (one.room ?? one.clientHeight) - one.clientHeight; // what came below took room
  if (state.jump) land();
  else if (focus?.()) focus = null;
}

// The tour stands above the box where one writes; on a narrow screen an open thread covers that of the channel.
function guide(isEmpty) {
  const boxes = [byId("tour"), panelTour];
  const covered = NARROW.matches && document.body.classList.contains("with-panel");
  const [box, other] = covered ? boxes.reverse() : boxes;
  showTour({
    box, other, paint, go,
    welcomes: isEmpty && !covered,
    ask(text, where = { channel: HELP, thread: "" }) { go(where); say(text, where); },
  });
}

function placeholder() {
  const here = channel();
  if (here.kind === "direct") return "Ask Threadlore";
  if (here.forum) return "New post: its first line is the title";
  if (here.listens) return `Ask in #${here.name}, no mention needed`;
  return `Message #${here.name}, mention @Threadlore to ask`;
}

// Follow the end of a list, but show a message that is taller than the list from its question on.
function scrolled(list, name, change) {
  const last = list.lastElementChild;
  const atEnd = list.scrollHeight - list.scrollTop - list.clientHeight < NEAR_PX;
  const atStart = Math.abs(list.scrollTop - (list.start ?? -1)) < 4;
  const wasTall = last?.offsetHeight > list.clientHeight;
  change();
  list.room = list.clientHeight;
  const now = list.lastElementChild;
  if (!(follow.delete(name) || atEnd || atStart) || !now) return;
  const reading = atEnd && wasTall && now.dataset.key === last.dataset.key;
  if (now.offsetHeight > list.clientHeight && !reading) list.scrollTop += startOf(now) - list.getBoundingClientRect().top;
  else list.scrollTop = list.scrollHeight;
  list.start = list.scrollTop;
}

function startOf(message) {
  let before = message.previousElementSibling;
  while (before && !before.matches(".message")) before = before.previousElementSibling;
  return (before && !before.matches(".from-bot") ? before : message).getBoundingClientRect().top;
}

const panelTitle = h("h2", { id: "panel-title" });
const panelBack = h("button", { type: "button", class: "icon-button", "aria-label": "Back to the thread", onclick: () => { state.why = null; paint(); } }, icon("back"));
const panelClose = h("button", { type: "button", class: "icon-button", "aria-label": "Close the panel", onclick: () => closePanel() }, icon("close"));
const panelList = h("div", { class: "messages in-thread", id: "thread", tabindex: "0", role: "region", "aria-label": "Thread", "aria-describedby": "message-keys" });
const panelWhy = h("div", { class: "panel-why", tabindex: "0", role: "region", "aria-label": "Why this answer" });
const panelFollow = h("div", { class: "follow-box", hidden: true });
const panelTour = h("div", { class: "tour-box", role: "region", "aria-label": "Tour", hidden: true });
const panelCompose = h("div", { class: "compose" });

function drawPanel() {
  const panel = byId("panel");
  const posts = state.thread ? thread(state.thread).filter((post) => post.channel === state.channel) : [];
  const open = Boolean(state.why || posts.length);
  if (!panel.firstChild) {
    panel.append(h("header", { class: "header" }, panelBack, panelTitle, panelClose), panelList, panelWhy, panelFollow, panelTour, panelCompose);
    panelCompose.append(threadComposer.element);
  }
  panel.hidden = !open;
  document.body.classList.toggle("with-panel", open);
  if (!open) return;
  const title = state.why ? "Why this answer" : "Thread";
  panelTitle.replaceChildren(title, h("span", { class: "quiet" }, state.why ? "" : `#${channel().name}`));
  panelBack.hidden = !(state.why && posts.length);
  panelList.hidden = panelCompose.hidden = Boolean(state.why);
  panelWhy.setAttribute("aria-label", `${title}, in full`);
  panelWhy.hidden = !state.why;
  if (state.why) {
    if (panelWhy.shown !== state.why) showWhy(panelWhy, state.why, actions.think);
    panelWhy.shown = state.why;
    panelFollow.hidden = true;
    return;
  }
  scrolled(panelList, "thread", () => showList(panelList, posts, { inThread: true, actions }));
  threadComposer.update("Reply or follow up");
  if (tourIsOver()) followUp(panelFollow, posts, (text) => say(text, { channel: state.channel, thread: state.thread }));
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
  const opens = !command && !where.thread && here.kind !== "direct" && (here.listens || here.forum || /@threadlore\b/i.test(text));
  if (opens && here.id === where.channel) actions.open(told.id); // the answer comes there
  else paint();
  return true;
}

const actions = makeActions({
  attempt, paint, follow,
  open(root) {
    follow.add("thread");
    focus = () => {
      if (panelList.offsetParent === null || state.thread !== root) return false;
      threadComposer.focus();
      return true;
    };
    go({ thread: root });
  },
  edited: () => (state.thread ? threadComposer : mainComposer).focus(),
  explained() {
    focus = () => {
      panelWhy.focus();
      return true;
    };
  },
});

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

function toggleDrawer() {
  const open = document.body.classList.toggle("with-menu");
  byId("scrim").hidden = !open;
  byId("menu").setAttribute("aria-expanded", String(open));
  if (open) byId("sidebar").querySelector("a[aria-current]")?.focus();
}

function closeDrawer() {
  if (document.body.classList.contains("with-menu")) toggleDrawer();
}

for (const one of [byId("messages"), panelList]) followKeys(one);
byId("compose").append(mainComposer.element);
byId("scrim").addEventListener("click", closeDrawer);
document.querySelector(".skip").addEventListener("click", (event) => { event.preventDefault(); mainComposer.focus(); });
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || event.defaultPrevented || document.querySelector("dialog[open]") || state.editing) return;
  if (document.body.classList.contains("with-menu")) closeDrawer();
  else if (state.why && state.thread) { state.why = null; paint(); }
  else if (state.thread || state.why) closePanel();
});
document.addEventListener("click", (event) => {
  const cited = event.target instanceof Element && event.target.closest("a.citation, .open-section");
  if (!cited || event.ctrlKey || event.metaKey || event.shiftKey) return;
  const post = state.messages.get(cited.closest(".message, .note")?.dataset.id);
  if (post?.answer) {
    event.preventDefault();
    toggleSection(cited, post.answer);
  } else if (cited.hash?.startsWith("#source-")) {
    event.preventDefault(); // the address of the page says which channel is open
    byId(cited.hash.slice(1))?.focus();
  }
});
document.addEventListener("visibilitychange", paint);
window.addEventListener("hashchange", arrive);
NARROW.addEventListener("change", paint);
asked = "";
arrive();
