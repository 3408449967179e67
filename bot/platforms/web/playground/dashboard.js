// The dashboard: reads the figures every fifteen seconds and draws them; index work every second while there is any.

import { diverging, lines, ring, stacked } from "./charts.js";
import { byId, h } from "./dom.js";
import { ROUTES, errors, growth, lights, releases, tiles } from "./figures.js";
import { gaps, pages } from "./gaps.js";
import { listen, put } from "./stops.js";
import { topicMap } from "./topics.js";

const EVERY = 15000;
const FOLLOWED = 1000;
const VOTES = [["up", "good"], ["down", "bad"]];
let latest = null;

const empty = (text) => h("p", { class: "empty" }, text);

// The width that a picture has, in pixels, so that letters have one size everywhere.
const room = (id) => Math.max(240, Math.floor(byId(id).clientWidth || 320));

// The same as a table, for those who read numbers, and for machines that read aloud.
function table(id, columns, rows) {
  const card = byId(id).parentElement;
  let details = card.querySelector(":scope > .numbers");
  if (!details) {
    details = h("details", { class: "numbers" }, h("summary", {}, "In numbers"), h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `${card.querySelector("h2").textContent}, in numbers` }));
    card.append(details);
  }
  details.hidden = !rows.length;
  put(details.lastElementChild, h("table", { class: "rows" },
    h("thead", {}, h("tr", {}, columns.map((name) => h("th", { scope: "col" }, name)))),
    h("tbody", {}, rows.map(([head, ...cells]) => h("tr", {}, h("th", { scope: "row" }, head), cells.map((cell) => h("td", {}, cell === null ? "–" : String(cell))))))));
}

const legend = (parts) => h("ul", { class: "legend" }, parts.map(([kind, name]) => h("li", {}, h("i", { class: `key ${kind}` }), name)));
const sum = (days, key) => days.reduce((total, day) => total + (day.routes[key] || 0), 0);
const seconds = (ms) => (ms ? +(ms / 1000).toFixed(ms < 10000 ? 2 : 1) : null);

function questions(days) {
  const asked = days.map((day) => ({ day: day.day, ...day.routes }));
  const used = ROUTES.filter(([key]) => sum(days, key));
  const total = used.reduce((whole, [key]) => whole + sum(days, key), 0);
  if (!total) {
    put(byId("questions"), empty("Nobody has asked anything yet."));
    put(byId("routes"), empty("Nothing to share out yet."));
  } else {
    put(byId("questions"), stacked("Questions a day", asked, used, room("questions")), legend(used));
    const parts = used.map(([key, name]) => [key, name, sum(days, key)]);
    put(byId("routes"), ring("How questions were answered", parts, [total.toLocaleString(), total === 1 ? "question" : "questions"]),
      h("ul", { class: "legend upright" }, parts.map(([kind, name, value]) => h("li", {}, h("i", { class: `key ${kind}` }), name, h("b", {}, `${Math.round(100 * value / total)}%`)))));
  }
  table("questions", ["Day", ...ROUTES.map(([, name]) => name)], total ? asked.map((day) => [day.day, ...ROUTES.map(([key]) => day[key] || 0)]) : []);
  table("routes", ["Answered", "Questions"], ROUTES.map(([key, name]) => [name, sum(days, key)]).filter(([, count]) => count));
}

function votes(days) {
  const any = days.some((day) => day.up || day.down);
  put(byId("votes"), any ? diverging("Votes a day", days, VOTES, room("votes")) : empty("No votes yet."));
  table("votes", ["Day", "good", "bad"], any ? days.map((day) => [day.day, day.up, day.down]) : []);
}

function times(days, id, p50, p95) {
  const rows = days.map((day) => ({ day: day.day, half: seconds(day[p50]), most: seconds(day[p95]) }));
  const any = rows.some((row) => row.half !== null);
  const series = [["second", "95th percentile", "most"], ["", "median", "half"]];
  const label = byId(`${id}-title`).textContent;
  put(byId(id), ...(any ? [lines(label, rows, series, { unit: " s", least: 0.1 }, room(id)), legend(series.map(([kind, name]) => [kind, name]).toReversed())] : [empty("Nothing to measure yet.")]));
  table(id, ["Day", "median, s", "95th percentile, s"], any ? rows.map((row) => [row.day, row.half, row.most]) : []);
}

// One colour a release, the newest first; what compares several has the last.
const KINDS = ["one", "two", "three", "four"];

function topics(found, releases) {
  const newest = releases.map((release) => release.name).reverse();
  const kind = (release) => KINDS[newest.indexOf(release)] ?? "several";
  const named = [...newest.filter((name, at) => at < KINDS.length && found.some((one) => one.release === name)).map((name) => [kind(name), name]),
    ...(found.some((one) => kind(one.release) === "several") ? [["several", "several releases"]] : [])];
  put(byId("topics"), ...(found.length ? [topicMap(found, room("topics"), innerWidth < 720 ? 320 : 400, kind), legend(named)] : [empty("Good answers will gather here by topic, once people vote.")]));
  table("topics", ["Topic", "Release", "Remembered"], found.map((topic) => [topic.label, topic.release === "*" ? "every release" : topic.release, topic.size]));
}

function draw(figures) {
  latest = figures;
  byId("main").hidden = false;
  byId("product").textContent = `${figures.product} · dashboard`;
  document.title = `${figures.product} · Threadlore dashboard`;
  byId("problems").hidden = !figures.problems.length;
  put(byId("problems"), h("ul", {}, figures.problems.map((problem) => h("li", {}, problem))));
  put(byId("lights"), lights(figures));
  put(byId("tiles"), tiles(figures));
  questions(figures.days);
  votes(figures.days);
  times(figures.days, "first", "first_p50", "first_p95");
  times(figures.days, "times", "ms_p50", "ms_p95");
  topics(figures.topics, figures.releases);
  growth(figures, { room, table, empty });
  gaps(figures, empty);
  pages(figures, empty);
  choices("release", figures.releases.map(({ name }) => [name, name]));
  choices("channel", Object.entries(figures.channels));
  errors(figures, { room, table, empty });
  releases(figures);
}

// While something is indexed its bars follow it; when it ends all figures are read anew.
async function follow() {
  try {
    const response = await fetch("api/progress");
    if (response.ok && latest) {
      const { running, ended } = await response.json();
      const before = latest.indexing.length;
      latest = { ...latest, indexing: running, indexed: ended };
      if (running.length || before) {
        put(byId("lights"), lights(latest));
        releases(latest);
      }
      if (before && !running.length) read(false);
    }
  } catch { /* the next reading of the figures says so */ }
  setTimeout(follow, latest?.indexing.length ? FOLLOWED : EVERY / 3);
}

// What can be chosen; what is chosen stays.
function choices(id, known) {
  const select = byId(id), chosen = select.value;
  put(select, h("option", { value: "" }, "all"), ...known.map(([value, name]) => h("option", { value }, name)));
  select.value = known.some(([value]) => value === chosen) ? chosen : "";
}

async function read(again = true) {
  const state = byId("state");
  try {
    const asked = new URLSearchParams(["days", "release", "channel"].map((id) => [id, byId(id).value]));
    const response = await fetch(`api/dashboard?${asked}`);
    const figures = await response.json().catch(() => ({})); // a proxy in front of it may answer with a page of its own
    if (!response.ok || !figures.days) throw new Error(figures.error ?? `The server answered ${response.status}; trying again …`);
    draw(figures);
    state.textContent = `as of ${new Date(figures.at * 1000).toLocaleTimeString(undefined, { hour: "2-digit", minute: "2-digit" })}`;
    state.classList.remove("bad");
  } catch (error) {
    state.textContent = error instanceof TypeError ? "The bot does not answer; trying again …" : error.message;
    state.classList.add("bad");
  }
  if (again) setTimeout(read, EVERY);
}

let width = innerWidth;
addEventListener("resize", () => {
  if (latest && innerWidth !== width) draw(latest);
  width = innerWidth;
});
byId("filters").addEventListener("change", () => read(false));
listen();
read().then(follow);
