// The panel that explains an answer: route, memory, votes, confidence, pages. Scores are for admins.

import { h, icon } from "./dom.js";
import { inline, link, safeUrl, titled } from "./inline.js";
import { markdown } from "./markdown.js";
import { author, questionOf, state } from "./store.js";

const ROUTES = {
  reuse: "Reused an answer that people voted up",
  reference: "Written with the help of an answer that people voted up",
  avoid: "A new answer, because people voted down an earlier one",
  documents: "Written from the documentation",
  quote: "Quoted from the documentation",
  calculation: "Worked out by a calculator",
  abstain: "Not found in the documentation",
};
const PERSON = "Reused an answer that a helper vouched for";
const ORIGINS = {
  given: "asked for", question: "named in the question", thread: "from the thread", channel: "this channel's", latest: "the latest",
};
const PAGES = 3; // shown at once; the others unfold

export function showWhy(container, { post, told, error }, think) {
  const question = questionOf(post);
  const trace = told?.trace ?? {};
  container.replaceChildren(h("div", { class: "why" },
    question && h("blockquote", {}, markdown(question.text, { breaks: true })),
    error && h("p", { class: "quiet" }, error),
    !told && !error && h("p", { class: "quiet" }, "Looking it up…"),
    told && [how(told, trace), reasoning(trace), memory(told, trace), votes(told), corrections(told), confidence(trace), pages(trace), inWords(told, trace), thinking(told, () => think(post))]));
}

const section = (title, ...inside) => h("section", {}, h("h3", {}, title), inside);
const width = (share) => `${(Math.max(0, Math.min(share, 1)) * 100).toFixed(1)}%`;
const percent = (share) => `${Math.round(share * 100)}%`;
const isAdmin = () => Boolean(author(state.person).admin);

function how(told, trace) {
  const origin = ORIGINS[trace.release_origin];
  const asked = trace.rewritten && trace.queries?.base;
  return section("How",
    h("p", { class: `route route-${told.route}` }, h("span", { class: "route-dot", "aria-hidden": "true" }), trace.origin === "person" ? PERSON : ROUTES[told.route] ?? told.route),
    h("dl", {},
      told.release && [h("dt", {}, "Release"), h("dd", {}, `${state.product} ${told.release.replaceAll("+", " and ")}`.trim(), origin && h("span", { class: "quiet" }, ` · ${origin}`))],
      asked && [h("dt", {}, "Understood as"), h("dd", {}, asked)],
      trace.model && !trace.model_error && [h("dt", {}, "Model"), h("dd", {}, trace.model)],
      trace.model_error && [h("dt", {}, "Model"), h("dd", {}, trace.model_error)],
      trace.decided && [h("dt", {}, "Because"), h("dd", {}, trace.decided)]));
}

function reasoning(trace) {
  if (!trace.why || !trace.reasoning) return null;
  return h("details", {}, h("summary", {}, "Reasoning"), markdown(trace.reasoning));
}

function thinking(told, think) {
  if (!told.thinks) return null;
  return h("button", { type: "button", class: "button", onclick: think }, "Think it through");
}

function meter(share, mark, label) {
  const bar = h("span", { class: "meter", role: "img", "aria-label": label }, h("i"));
  bar.firstChild.style.width = width(share);
  if (mark) {
    const line = h("b");
    line.style.left = width(mark);
    bar.append(line);
  }
  return bar;
}

function memory(told, trace) {
  if (!trace.high && !trace.low) return null;
  const near = (kind, one) => h("li", {},
    h("span", { class: `face ${kind === "high" ? "up" : "down"}` }, icon(kind === "high" ? "up" : "down")),
    h("div", {}, h("p", {}, one.question),
      h("p", { class: "figures" }, meter(one.similarity, 0, `${percent(one.similarity)} similar`),
        `${percent(one.similarity)} similar`, isAdmin() && ` · score ${one.score.toFixed(2)}`, told.pair_id === one.pair && told.route === "reuse" && h("strong", {}, " · reused"))));
  const all = [...(trace.high ?? []).map((one) => near("high", one)), ...(trace.low ?? []).map((one) => near("low", one))];
  return section("Community memory",
    all.length ? h("ul", { class: "near" }, all) : h("p", { class: "quiet" }, "When this was asked, nobody had voted on a question like it."),
    trace.guard && h("p", { class: "guard" }, icon("flag"), h("span", {}, "Not reused as it is: ", trace.guard)));
}

function votes(told) {
  const { up, down, score, store } = told.votes ?? {};
  if (up === undefined) return null;
  const stands = { high: "remembered as good", low: "remembered as bad", neutral: "not in memory yet", retired: "retired", evicted: "made room for others" };
  return section("Votes on it", h("p", { class: "tally" },
    h("span", { class: "face up" }, icon("up")), String(up), h("span", { class: "face down" }, icon("down")), String(down),
    h("span", { class: "quiet" }, [isAdmin() && score !== undefined && `score ${score.toFixed(2)}`, stands[store] ?? store].filter(Boolean).join(" · "))));
}

function corrections(told) {
  const list = told.corrections ?? [];
  if (!list.length) return null;
  return section("Corrections", h("ul", { class: "corrections" }, list.map((line) => h("li", {}, line))));
}

function confidence(trace) {
  if (trace.confidence === undefined) return null;
  const sure = percent(trace.confidence), needed = percent(trace.threshold);
  const quoted = trace.signs?.found !== undefined; // a sign of quotes alone: the figure is that of what is quoted
  const text = quoted ? `Quote: ${sure} likely to hold the answer; ${needed} is needed`
    : `Pages: ${sure} likely to answer the question; ${needed} is needed`;
  return section("Confidence", h("p", { class: "figures wide" }, meter(trace.confidence, trace.threshold, text), text),
    quoted && h("p", { class: "figures" }, `Pages: ${percent(trace.signs.found)} likely to answer the question`));
}

function pages(trace) {
  const found = trace.evidence ?? [];
  if (!found.length) return null;
  const best = Math.max(...found.map((page) => page.score), 0.001);
  const row = (page) => {
    const url = safeUrl(page.url ?? "");
    const by = Object.keys(page.ranks ?? {}).map((name) => (name.startsWith("words") ? "words" : "meaning"));
    return h("li", {}, h("div", {},
      h("p", {}, url ? link(url, [titled(page.title)]) : titled(page.title)),
      h("p", { class: "figures" }, meter(page.score / best, 0, `${percent(page.score / best)} as near as the nearest page`),
        isAdmin() && `score ${page.score.toFixed(2)} · `, by.length > 0 && `found by ${[...new Set(by)].join(" and ")}`)));
  };
  const rest = found.slice(PAGES).map(row);
  return section("Pages that were read", h("ol", { class: "pages" }, found.slice(0, PAGES).map(row)),
    rest.length > 0 && h("details", {}, h("summary", {}, `${rest.length} more`), h("ol", { class: "pages", start: String(PAGES + 1) }, rest)));
}

// The same in sentences, as every other platform tells it.
function inWords(told, trace) {
  const lines = told.sentences ?? [];
  if (!lines.length) return null;
  const list = h("ol", { class: "steps" }, lines.map((line) => h("li", {}, inline(line))));
  const known = Object.keys(trace).length > 0;
  return h("details", { open: !known }, h("summary", {}, "In words"), list);
}
