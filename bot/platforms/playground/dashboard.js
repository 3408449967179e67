// The dashboard: reads the figures every fifteen seconds and draws them.

import { diverging, lines, map, stacked, svg } from "./charts.js";

const ROUTES = [
  ["reuse", "from memory"], ["reference", "with memory"], ["documents", "from the pages"],
  ["avoid", "avoiding a bad one"], ["quote", "quoted"], ["abstain", "“I don't know”"],
];
const EVERY = 15000;
const at = (id) => document.getElementById(id);

function el(name, attributes = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

// the width of a chart in its own units, so that letters have one size everywhere
const room = (id) => Math.max(320, at(id).clientWidth || 1080);
const empty = (text) => el("p", { class: "empty" }, text);

function put(id, ...nodes) {
  // what has the keyboard keeps it: a chart that did not change is not drawn anew
  const box = at(id), fresh = el("div", {}, ...nodes);
  if (box.innerHTML !== fresh.innerHTML) box.replaceChildren(...fresh.childNodes);
}

function link(title, url) {
  return /^https?:\/\//.test(url) ? el("a", { href: url, rel: "noopener noreferrer", target: "_blank" }, title) : title;
}

function ago(when) {
  if (!when) return "never";
  const minutes = Math.max(0, (Date.now() - new Date(when)) / 60000);
  if (minutes < 90) return `${Math.round(minutes)} min ago`;
  return minutes < 60 * 36 ? `${Math.round(minutes / 60)} h ago` : `${Math.round(minutes / 1440)} days ago`;
}

function meter(part) {
  const bar = el("i");
  bar.style.width = `${100 * part}%`;
  return el("div", { class: "meter" }, bar);
}

function tile(value, label, bad = false) {
  return el("div", { class: bad ? "tile bad" : "tile" }, el("b", {}, String(value)), el("span", {}, label));
}

function share(part, whole) {
  return whole ? `${Math.round(100 * part / whole)} %` : "–";
}

function tiles(figures) {
  const sum = (key) => figures.days.reduce((total, day) => total + (day.routes[key] || 0), 0);
  const asked = ROUTES.reduce((total, [key]) => total + sum(key), 0);
  const up = figures.days.reduce((total, day) => total + day.up, 0);
  const down = figures.days.reduce((total, day) => total + day.down, 0);
  const model = figures.model;
  const breaker = figures.breaker && figures.breaker.state !== "closed";
  put("tiles",
    tile(asked, "questions in 30 days"),
    tile(share(sum("reuse"), asked), "answered from memory"),
    tile(share(sum("abstain"), asked), "not answered"),
    tile(share(up, up + down), `of ${up + down} votes good`),
    tile(figures.memory.high, "good answers remembered"),
    tile(model ? (model.ready && !breaker ? "ready" : "away") : "none", model ? model.name : "language model", Boolean(model) && (!model.ready || breaker)));
}

function charts(figures) {
  const days = figures.days;
  if (days.length) {
    put("questions", stacked(days.map((day) => ({ day: day.day, ...day.routes })), ROUTES, room("questions")));
    put("times", lines(days.map((day) => day.day), [
      ["", "half of the answers", days.map((day) => +(day.ms_p50 / 1000).toFixed(2))],
      ["second", "all but one in twenty", days.map((day) => +(day.ms_p95 / 1000).toFixed(2))],
    ], " s"));
  } else {
    put("questions", empty("Nobody has asked anything yet."));
    put("times", empty("Nothing to measure yet."));
  }
  put("votes", days.some((day) => day.up || day.down) ? diverging(days) : empty("No votes yet."));
  put("routes", ...ROUTES.map(([key, label]) =>
    el("li", {}, svg("svg", { viewBox: "0 0 11 11", "aria-hidden": "true" }, svg("rect", { width: 11, height: 11, rx: 3, class: key })), label)));
}

function memory(figures) {
  const growth = figures.memory.growth;
  put("growth", growth.length ? lines(growth.map((day) => day.day), [["", "remembered", growth.map((day) => day.stored)]], "") : empty("Nothing is remembered yet: votes make memory."));
  const rows = figures.memory.stores.map((store) => el("tr", {}, el("td", {}, store.release === "*" ? "every release" : store.release),
    el("td", {}, store.store === "high" ? "good" : "bad"), el("td", { class: "number" }, String(store.kept + store.waiting))));
  put("stores", ...(rows.length ? [el("table", { class: "rows" }, el("tbody", {}, ...rows))] : []));
  put("topics", figures.topics.length ? map(figures.topics, (told) => { at("topic").textContent = told; }, room("topics")) : empty("Good answers will gather here by topic."));
}

function gaps(figures) {
  if (!figures.gaps.length) return put("gaps", empty("None: everything was answered, and nobody complained."));
  const most = figures.gaps[0].count;
  const rows = figures.gaps.map((gap) => el("tr", {},
    el("td", { class: "number" }, `${gap.count}×`, meter(gap.count / most)),
    el("td", {}, gap.question),
    el("td", { class: "optional" }, Object.entries(gap.reasons).map(([why, count]) => `${count} ${why}`).join(", ")),
    el("td", { class: "optional" }, gap.page[0] ? link(gap.page[0], gap.page[1]) : "")));
  const head = el("tr", {}, el("th", {}, "Asked"), el("th", {}, "For example"), el("th", { class: "optional" }, "Why it is here"), el("th", { class: "optional" }, "Nearest page"));
  return put("gaps", el("table", { class: "rows" }, el("thead", {}, head), el("tbody", {}, ...rows)));
}

function releases(figures) {
  const running = Object.fromEntries(figures.indexing.map((work) => [work.release, work]));
  const rows = [...figures.releases].reverse().map((release) => {
    const work = running[release.name];
    const state = work ? el("span", { class: "pill" }, `${work.stage} ${work.done} of ${work.total || "?"}`)
      : el("span", { class: release.ready ? "pill" : "pill bad" }, release.ready ? "answers" : "not ready");
    const sources = figures.sources.filter((source) => source.release === release.name).map((source) => el("div", {}, `${source.source} `,
      el("span", { class: source.failures ? "pill bad" : "quiet" }, source.failures ? `failed ${source.failures}×` : `read ${ago(source.read_at)}`)));
    return el("tr", {}, el("td", { class: "number" }, release.name, release.latest ? " · latest" : ""), el("td", {}, state),
      el("td", { class: "optional" }, `${release.documents} pages, ${release.chunks} passages`), el("td", {}, `built ${ago(release.built_at)}`), el("td", { class: "optional" }, ...sources));
  });
  const head = el("tr", {}, el("th", {}, "Release"), el("th", {}, "State"), el("th", { class: "optional" }, "Size"), el("th", {}, "Fresh"), el("th", { class: "optional" }, "Sources"));
  put("releases", el("table", { class: "rows" }, el("thead", {}, head), el("tbody", {}, ...rows)));
}

function draw(figures) {
  at("main").hidden = false;
  at("product").textContent = figures.product;
  document.title = `${figures.product} · Threadlore dashboard`;
  at("problems").hidden = !figures.problems.length;
  put("problems", el("ul", {}, ...figures.problems.map((problem) => el("li", {}, problem))));
  tiles(figures);
  charts(figures);
  memory(figures);
  gaps(figures);
  releases(figures);
}

async function read() {
  try {
    const response = await fetch("api/dashboard");
    const figures = await response.json();
    if (!response.ok) throw new Error(figures.error);
    draw(figures);
    at("state").textContent = `as of ${new Date(figures.at * 1000).toLocaleTimeString()}`;
  } catch (error) {
    at("state").textContent = error instanceof TypeError ? "The bot does not answer; trying again …" : error.message;
  }
  setTimeout(read, EVERY);
}

read();
