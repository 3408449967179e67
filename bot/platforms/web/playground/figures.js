// The parts of the dashboard that are more than one chart: lights, tiles, memory, gaps, errors, releases.

import { lines, spark, stacked } from "./charts.js";
import { byId, h } from "./dom.js";
import { put } from "./stops.js";

export const ROUTES = [
  ["reuse", "from memory"], ["reference", "with memory’s help"], ["documents", "from the pages"],
  ["avoid", "avoiding a bad one"], ["quote", "quoted"], ["calculation", "calculated"], ["abstain", "“I don’t know”"],
];
const LATE = 2; // a source that was due so many times over is late
const DAY_S = 86400;
const DAYS = 30;

const percent = (part, whole) => (whole ? `${Math.round((100 * part) / whole)}%` : "–");
const many = (count, one, more) => `${count.toLocaleString()} ${count === 1 ? one : more}`;

export function link(title, url) {
  return /^(https?:\/\/|\/#\/m\/\d+$)/.test(url) ? h("a", { href: url, rel: "noopener noreferrer", target: "_blank" }, title) : title;
}

export function ago(seconds) {
  if (!Number.isFinite(seconds)) return "never";
  const minutes = Math.max(0, seconds / 60);
  if (minutes < 1.5) return "just now";
  if (minutes < 90) return `${Math.round(minutes)} min ago`;
  return minutes < 60 * 36 ? `${Math.round(minutes / 60)} h ago` : `${Math.round(minutes / 1440)} days ago`;
}

const age = (when, now) => (when ? now - new Date(when) / 1000 : NaN);

// --- how everything is now --------------------------------------------------------------------

function light(kind, name, text) {
  return h("li", { class: `light ${kind}` }, h("i", { class: "lamp", "aria-hidden": "true" }), h("span", {}, h("strong", {}, name), text), h("span", { class: "hidden-text" }, kind === "good" ? "fine" : kind === "bad" ? "wrong" : kind === "busy" ? "at work" : ""));
}

export function lights(figures) {
  const { breaker, model, indexing, errors, releases: all } = figures;
  const ready = all.filter((release) => release.ready).length;
  const lamps = [];
  if (figures.paused) lamps.push(light("bad", "Paused", paused(figures.paused)));
  lamps.push(model ? light(model.ready ? "good" : model.chosen === false ? "" : "bad", "Model", model.chosen === false && !model.ready ? "none; quoting the docs" : `${model.name} ${model.ready ? "answers" : "is unreachable; quoting the docs"}`) : light("", "Model", "none; quoting the docs"));
  if (model && model.chosen === false && !model.ready) { // nobody asked for one: that is no fault
  } else if (breaker && breaker.state !== "closed") {
    const told = { open: `paused after errors; next try in ${Math.ceil(breaker.retry_in)} s`, "half-open": "trying again after errors" };
    lamps.push(light(breaker.state === "open" ? "bad" : "busy", "Calls", told[breaker.state]));
  } else if (breaker?.waiting) lamps.push(light("busy", "Calls", `${breaker.running} running, ${breaker.waiting} waiting`));
  const work = indexing[0];
  lamps.push(work ? light("busy", "Index", `${work.doing ?? work.stage} ${work.release}${work.total ? `, ${percent(work.done, work.total)}` : ""}`) : light(ready === all.length ? "good" : "bad", "Index", `${ready} of ${many(all.length, "release", "releases")} ready`));
  const hours = errors?.hours.reduce((sum, count) => sum + count, 0) ?? 0;
  lamps.push(light(hours ? "bad" : "good", "Errors", hours ? `${hours} in 24 hours` : "none in 24 hours"));
  const { open = 0 } = figures.escalations ?? {};
  if (open) lamps.push(light("busy", "People", `${many(open, "question waits", "questions wait")} for an answer`));
  if (figures.quieter) lamps.push(light("busy", "Noise", `${many(figures.quieter, "channel", "channels")} fell back to mentions`));
  if (figures.learnt?.told) lamps.push(light("good", "Ranking", figures.learnt.told));
  return lamps;
}

function paused({ everywhere, until, why, channels }) {
  if (!everywhere) return `in ${many(channels, "channel", "channels")}`;
  const end = until ? `until ${new Date(until * 1000).toLocaleTimeString(undefined, { hour: "2-digit", minute: "2-digit" })}` : "until somebody resumes it";
  return [end, why].filter(Boolean).join(": ");
}

export function tiles({ days, memory, model }) {
  const total = (row) => Object.values(row.routes).reduce((sum, count) => sum + count, 0);
  const all = days.reduce((sum, day) => sum + total(day), 0);
  const of = (key) => days.reduce((sum, day) => sum + (day.routes[key] || 0), 0);
  const up = days.reduce((sum, day) => sum + day.up, 0), down = days.reduce((sum, day) => sum + day.down, 0);
  const wrong = days.reduce((sum, day) => sum + day.wrong_reuse, 0);
  const total_ = (key) => days.reduce((sum, day) => sum + (day[key] || 0), 0);
  const written = total_("written"), reused = of("reuse");
  const saved = written ? Math.max(0, (reused * total_("written_ms")) / written - total_("reuse_ms")) / 1000 : 0;
  const calls = written ? Math.round((reused * total_("calls")) / written) : 0;
  const lived = days.slice(days.findIndex((day) => total(day) || day.up || day.down)); // not the days before the first question
  const part = (key) => lived.map((day) => (day.routes[key] || 0) / Math.max(total(day), 1));
  const tile = (values, value, label) => h("div", { class: "tile" }, spark(values), h("b", {}, value), h("span", {}, label));
  return [
    tile(lived.map((day) => day.people), String(Math.max(0, ...days.map((day) => day.people))), "people asked on the busiest day"),
    tile(part("reuse"), percent(of("reuse"), all), `answered from memory${wrong ? `, ${wrong.toLocaleString()} of them wrongly` : ""}`),
    tile(lived.map((day) => day.routes.reuse || 0), saved < 120 ? `${Math.round(saved)} s` : `${Math.round(saved / 60).toLocaleString()} min`, `saved by memory${calls ? `, and ${many(calls, "call", "calls")} of the model` : ""}`),
    tile(part("abstain"), percent(of("abstain"), all), "not answered"),
    tile(lived.map((day) => day.up / Math.max(day.up + day.down, 1)), percent(up, up + down), `of ${many(up + down, "vote", "votes")} good`),
    model && tile(lived.map((day) => day.failed), days.reduce((sum, day) => sum + day.failed, 0).toLocaleString(), "answers without the model"),
    tile(memory.growth.map((day) => day.stored), memory.high.toLocaleString(), memory.high === 1 ? "good answer remembered" : "good answers remembered"),
  ].filter(Boolean);
}

// --- memory, gaps, errors ---------------------------------------------------------------------

// A row for each day, also for those on which nothing came.
function everyDay(rows, now) {
  const made = [];
  for (const row of rows) {
    const before = made.at(-1);
    for (let at = before ? Date.parse(before.day) + DAY_S * 1000 : Infinity; at < Date.parse(row.day); at += DAY_S * 1000) {
      made.push({ day: new Date(at).toISOString().slice(0, 10), stored: before.stored });
    }
    made.push(row);
  }
  const today = new Date(now * 1000).toISOString().slice(0, 10);
  if (made.length && made.at(-1).day < today) made.push(...everyDay([made.at(-1), { day: today, stored: made.at(-1).stored }], now).slice(1));
  return made.slice(-DAYS);
}

export function growth({ memory, at }, { room, table, empty }) {
  const rows = everyDay(memory.growth, at);
  put(byId("growth"), rows.length ? lines("Answers kept", rows, [["", "kept", "stored"]], { least: 4 }, room("growth"), 170) : empty("Nothing is remembered yet: votes make memory."));
  put(byId("stores"), memory.stores.length ? stores(memory.stores) : "");
  table("growth", ["Day", "kept"], rows.map((day) => [day.day, day.stored]));
}

// Good and bad answers of each release, as two bars at a common scale.
function stores(all) {
  const most = Math.max(...all.map((one) => one.kept + one.waiting), 1);
  const of = (release, store) => all.filter((one) => one.release === release && one.store === store).reduce((sum, one) => sum + one.kept + one.waiting, 0);
  const bar = (count, kind) => {
    const drawn = h("i", { class: `store ${kind}` });
    drawn.style.width = `${(100 * count) / most}%`;
    return count > 0 && drawn;
  };
  const rows = [...new Set(all.map((one) => one.release))].toReversed().map((release) => {
    const good = of(release, "high"), bad = of(release, "low");
    return h("li", {}, h("span", {}, release === "*" ? "every release" : release.replaceAll("+", " and ")), h("span", { class: "store-bars", "aria-hidden": "true" }, bar(good, "up"), bar(bad, "down")),
      h("span", { class: "quiet" }, `${good} good`, bad > 0 && `, ${bad} bad`));
  });
  return h("ul", { class: "stores" }, rows);
}

export function errors({ errors: seen, at }, { room, table, empty }) {
  const any = seen?.total > 0;
  const rows = (seen?.hours ?? []).map((count, place) => ({ day: new Date((at - (seen.hours.length - 1 - place) * 3600) * 1000).toISOString().slice(0, 13), errors: count }));
  const named = rows.map((row) => ({ ...row, name: `${row.day.slice(11)} h` }));
  put(byId("errors"), any ? stacked("Errors an hour", named, [["errors", "errors"]], room("errors"), 130, (row) => row.name) : empty("None since the bot was started."));
  put(byId("errors-last"), any ? h("ul", { class: "plain" }, seen.last.slice(0, 4).map((one) => h("li", {}, h("code", {}, one.part), ` ${one.kind}`, h("span", { class: "quiet" }, ` ${ago(at - one.at)}`)))) : "");
  table("errors", ["Hour (UTC)", "errors"], any ? named.filter((row) => row.errors).map((row) => [`${row.day.replace("T", " ")} h`, row.errors]) : []);
}

// --- releases ---------------------------------------------------------------------------------

export function releases(figures) {
  const running = new Map(figures.indexing.map((work) => [work.release, work]));
  const failed = new Map((figures.indexed ?? []).filter((work) => work.error).map((work) => [work.release, work]));
  const rows = [...figures.releases].reverse().map((release) => {
    const sources = figures.sources.filter((source) => source.release === release.name);
    return h("li", { class: "release" },
      h("h3", {}, release.name, release.latest && h("small", {}, "latest"), h("span", { class: `pill ${release.ready ? "" : "bad"}` }, release.ready ? "answers" : "not ready")),
      running.has(release.name) ? work(running.get(release.name)) : h("p", { class: "quiet" }, `${many(release.documents, "page", "pages")}, ${many(release.chunks, "passage", "passages")}, built ${ago(age(release.built_at, figures.at))}`),
      failed.has(release.name) && !running.has(release.name) && h("p", { class: "failed", role: "status" }, `Reindexing failed ${ago(age(failed.get(release.name).at, figures.at))}: ${failed.get(release.name).error}`),
      h("ul", { class: "sources-read" }, sources.map((source) => freshness(source, figures.at))));
  });
  put(byId("releases"), h("ul", { class: "releases-read" }, rows));
}

function work({ stage, doing = stage, unit = "passages", done, total, rate, eta_s: left }) {
  const bar = h("i");
  bar.style.width = total ? `${(100 * done) / total}%` : "30%";
  const text = [doing || "starting", (done || total) && `${done}${total ? ` of ${total}` : ""} ${unit}`, rate > 0 && `${Math.round(rate)}/s`, Number.isFinite(left) && `${Math.ceil(left)} s left`].filter(Boolean).join(", ");
  return h("div", { class: "working", role: "progressbar", "aria-label": "Indexing", "aria-valuemin": "0", "aria-valuemax": "100", "aria-valuenow": total ? String(Math.round((100 * done) / total)) : null, "aria-valuetext": text },
    h("div", { class: total ? "meter" : "meter unknown" }, bar), h("span", { class: "quiet" }, text));
}

// How much of the time until a source is read again has gone by.
function freshness(source, now) {
  const since = age(source.succeeded_at ?? source.read_at, now);
  const every = source.every_s || 0;
  const late = every && since > LATE * every;
  const bar = h("i");
  bar.style.width = `${100 * (every ? Math.max(0.02, 1 - since / every) : 1)}%`;
  const said = source.failures ? `failed ${source.failures}×, last read ${ago(since)}` : `read ${ago(since)}`;
  return h("li", {}, h("span", { class: "source-name" }, source.source), h("div", { class: `meter ${source.failures || late ? "bad" : ""}`, title: every ? `re-indexed every ${every >= DAY_S ? many(Math.round(every / DAY_S), "day", "days") : many(Math.round(every / 3600), "hour", "hours")}` : "read when somebody says so" }, bar),
    h("span", { class: source.failures ? "pill bad" : "quiet" }, said));
}
