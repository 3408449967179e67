// Everything around the messages: the sidebar, the head of the channel, index work, and empty channels.

import { avatar, byId, h, icon, reconcile } from "./dom.js";
import { author, channel, state } from "./store.js";
import { waits } from "./unread.js";

const ABOUT = {
  member: "Asks, answers and votes",
  newcomer: "Asks what others have asked",
  helper: "A helper: ✅ makes an answer remembered, and votes weigh more",
  admin: "An admin: can delete answers and re-index the documentation",
};

const LEARNING = "learning its sentences";
const shape = (one) => (one.kind === "private" ? "lock" : one.forum ? "forum" : "hash");
const MODES = {
  off: "Threadlore is off here", mentions: "answers when it is mentioned", questions: "answers what looks like a question", forum: "answers every new post",
};

export function showSidebar(go, tour) {
  const sidebar = byId("sidebar");
  if (!sidebar.firstChild) {
    sidebar.append(
      h("div", { class: "brand" }, h("img", { src: "favicon.svg", alt: "" }), h("div", {}, h("strong", {}, "Threadlore"), h("span", { id: "brand-note" }))),
      h("h2", { id: "channels-title" }, "Channels"), h("ul", { id: "channels", "aria-labelledby": "channels-title" }),
      h("h2", { id: "direct-title" }, "Direct messages"), h("ul", { id: "direct", "aria-labelledby": "direct-title" }),
      h("a", { class: "to-dashboard", href: "/dashboard" }, icon("chart"), "Dashboard"),
      h("button", { type: "button", class: "to-dashboard", "data-act": "take-tour", onclick: tour }, icon("answer"), "Take the tour"),
      h("fieldset", { class: "people" }, h("legend", {}, "You are"), h("div", { id: "people" })),
      h("footer", { id: "privacy-drawer", class: "privacy" }));
  }
  byId("brand-note").textContent = state.product ? `${state.product} community` : "Playground";
  const row = (one) => {
    const unread = state.unread.get(one.id) ?? 0;
    const current = one.id === state.channel;
    return {
      key: one.id, mark: [one.name, unread, current],
      build: () => h("li", {}, h("a", {
        href: `#/${state.person}/${one.id}`, class: unread ? "unread" : "", "aria-current": current ? "page" : null, "data-act": one.id,
        onclick: (event) => { event.preventDefault(); go({ channel: one.id, thread: "" }); },
      }, one.kind === "direct" ? avatar(state.bot, "tiny") : icon(shape(one)),
      h("span", {}, one.name), one.kind === "private" && h("span", { class: "hidden-text" }, "(private)"),
      unread > 0 && h("span", { class: "badge", "aria-label": `${unread} unread` }, String(unread)))),
    };
  };
  reconcile(byId("channels"), state.channels.filter((one) => one.kind !== "direct").map(row));
  reconcile(byId("direct"), state.channels.filter((one) => one.kind === "direct").map(row));
  reconcile(byId("people"), state.people.map((one) => ({
    key: one.id, mark: [one.name, waits(one)],
    build: () => h("label", { title: ABOUT[one.about] ?? one.about },
      h("input", { type: "radio", name: "person", value: one.id, class: "hidden-text", onchange: () => go({ person: one.id }) }),
      avatar(one), h("span", { class: "person-name" }, one.name), waits(one) && h("span", { class: "waits" }, h("span", { class: "hidden-text" }, "has a new message")), h("span", { class: "person-about" }, one.about)),
  })));
  byId("people").dataset.person = state.person; // who was chosen is checked at once, and speaks once loaded
  for (const input of byId("people").querySelectorAll("input")) input.checked = input.value === state.person;
}

export function showHeader(toggleMenu, askFor, addDocs) {
  const header = byId("header");
  if (!header.firstChild) {
    header.append(
      h("button", { type: "button", class: "icon-button menu", "aria-label": "Channels and people", "aria-expanded": "false", id: "menu", onclick: toggleMenu }, icon("menu")),
      h("div", { class: "where" }, h("h2", { id: "title", class: "channel-title" }), h("p", { id: "topic" })),
      h("ul", { id: "releases", class: "releases", "aria-label": "Releases" }));
  }
  const here = channel();
  if (!here) return;
  byId("title").replaceChildren(
    here.kind === "direct" ? avatar(state.bot, "tiny") : icon(shape(here)), here.name);
  const mode = here.kind !== "direct" && (!here.listens || here.mode === "off") && MODES[here.mode];
  byId("topic").textContent = [here.topic, mode].filter(Boolean).join(" · ");
  document.title = `${here.kind === "direct" ? "" : "#"}${here.name} · Threadlore`;
  const isAdmin = author(state.person).about === "admin";
  const adding = { key: "+", mark: [], build: () => h("li", {}, h("button", { class: "pill", type: "button", "data-act": "add-docs", title: "Add documentation by its address", onclick: addDocs }, "+ Add docs")) };
  reconcile(byId("releases"), [...state.releases.map((one) => {
    const work = state.progress.find((some) => some.release === one.name);
    const busy = Boolean(work);
    const left = work?.doing === LEARNING && Number.isFinite(work.eta_s) ? ` in ${duration(work.eta_s)}` : "";
    const learns = one.ready && one.learning ? `; still learning its sentences: answers get better${left || " soon"}` : "";
    const built = one.built_at ? `, built ${new Date(one.built_at).toLocaleString()}` : "";
    const note = one.ready ? `${one.documents} pages, ${one.chunks} passages${built}${learns}` : busy ? "being indexed" : "not indexed yet";
    return {
      key: one.name, mark: [one.ready, one.latest, busy, note, state.product],
      build: () => h("li", {}, h(one.ready ? "button" : "span", { class: `pill ${one.ready ? "ready" : ""} ${busy ? "busy" : ""}`, type: one.ready && "button",
        title: `${one.ready ? "Ask about " : ""}${`${state.product} ${one.name}`.trim()}: ${note}`, "data-act": `pill-${one.name}`, onclick: () => one.ready && askFor(one.name) },
      h("span", { class: "dot", "aria-hidden": "true" }), one.name, one.latest && h("small", {}, "latest"), learns && h("small", { class: "learning" }, "still learning"),
      h("span", { class: "hidden-text" }, one.ready ? (learns ? `ready${learns}` : "ready; ask about it") : note))),
    };
  }), ...(isAdmin ? [adding] : [])]);
}

export function showProgress() {
  const box = byId("progress");
  box.hidden = !state.progress.length;
  reconcile(box, state.progress.slice(0, 3).map((work, index) => ({
    key: String(index), mark: [work],
    build: () => {
      const share = work.total > 0 ? Math.min(work.done / work.total, 1) : null;
      const bar = h("span", { class: share === null ? "bar unknown" : "bar" }, h("i"));
      if (share !== null) bar.firstChild.style.width = `${(share * 100).toFixed(1)}%`;
      return h("div", {
        class: "work", role: "progressbar", "aria-label": "Indexing", "aria-valuemin": "0", "aria-valuemax": "100",
        "aria-valuenow": share === null ? null : String(Math.round(share * 100)), "aria-valuetext": progressText(work), title: work.source,
      }, h("span", { class: "work-text" }, progressText(work)), bar);
    },
  })));
}

export function progressText(work) {
  const learning = work.doing === LEARNING;
  const parts = [learning ? "ready, still learning its sentences" : work.doing || work.stage || "starting"];
  if (work.done || work.total) parts.push(`${work.done}${work.total > 0 ? ` of ${work.total}` : ""} ${work.unit ?? "passages"}`);
  if (learning) return `${`${state.product} ${work.release}`.trim()}: ${parts.join(", ")}: answers get better${Number.isFinite(work.eta_s) ? ` in ${duration(work.eta_s)}` : " soon"}`;
  if (work.rate > 0) parts.push(`${work.rate >= 10 ? Math.round(work.rate) : work.rate.toFixed(1)}/s`);
  if (Number.isFinite(work.eta_s)) parts.push(`${duration(work.eta_s)} left`);
  return `${`${state.product} ${work.release}`.trim()}: ${parts.join(", ")}`;
}

export function duration(seconds) {
  if (seconds < 90) return `${Math.max(Math.round(seconds), 1)} s`;
  return seconds < 5400 ? `${Math.round(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`;
}
