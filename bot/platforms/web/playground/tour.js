// A tour of five steps, made of what is there: it looks at what was said and done, and says what comes next.

import { announce, byId, h, icon, reconcile } from "./dom.js";
import { author, questionOf, state, thread } from "./store.js";

const KEY = "tour"; // in the browser: "done", or the last message that was there when the tour began
const STEPS = 5;
const OTHER_WORDS = [ // the same question as somebody else would put it
  [/^how (?:do|can|should) (?:i|we|you) (.+)$/i, "What is the best way to $1"],
  [/^is (.+) still there$/i, "Does $1 still exist"],
  [/^how long (does|do) (.+) last$/i, "For how long $1 $2 last"],
  [/^what changed in (.+)$/i, "What has changed in $1"],
  [/^(?:what is|what's) (.+)$/i, "Can somebody explain what $1 is"],
];

const newest = () => String(Math.max(1, ...[...state.messages.keys()].map(Number)));
const isDone = () => localStorage.getItem(KEY) === "done";
const begin = () => localStorage.setItem(KEY, newest());

export function startTour() {
  begin();
  shown = 0;
}

export const tourIsOver = () => isDone() || !state.examples.length;

// What people did since the tour began.
function look() {
  if (!localStorage.getItem(KEY)) begin();
  const base = Number(localStorage.getItem(KEY));
  const answers = [...state.messages.values()].sort((a, b) => Number(a.id) - Number(b.id))
    .filter((post) => Number(post.id) > base && post.author === state.bot.id && post.final && post.answer && post.release && !post.only);
  const last = answers.at(-1);
  const other = state.releases.filter((one) => one.ready && !last?.release?.split("+").includes(one.name)).at(-1);
  const followed = answers.some((one) => one.thread && answers.some((two) => two.thread === one.thread && two.release !== one.release));
  const voted = answers.findLast((post) => post.reactions["👍"]?.length && !post.remembered);
  const remembered = voted && answers.find((post) => post.remembered && Number(post.id) > Number(voted.id));
  const asker = voted && questionOf(voted)?.author;
  const missed = voted && answers.findLast((post) => Number(post.id) > Number(voted.id) && !post.remembered && questionOf(post)?.author !== asker);
  const step = remembered ? 5 : voted ? 4 : !last ? 1 : followed || !other ? 3 : 2;
  return { step, last, other, voted, asker, missed };
}

// The question of an answer's thread in other words; empty where there are none at hand.
function inOtherWords(answer, asItIs) {
  const root = state.messages.get(answer.thread) ?? questionOf(answer);
  const asked = (root?.text ?? "").replace(/@threadlore[,:]?\s*/i, "").trim().replace(/\?+$/, "");
  const found = OTHER_WORDS.find(([form]) => form.test(asked));
  const said = asItIs ? asked : found && asked.replace(...found);
  if (!said) return "";
  const { release } = answer;
  const named = state.releases.find((one) => said.split(/\s+/).includes(one.name))?.name;
  if (named) return `${said.replace(named, release)}?`;
  const isLatest = release.includes("+") || state.releases.some((one) => one.latest && one.name === release);
  return `${said}${isLatest ? "" : ` in ${state.product} ${release}`}?`;
}

// What a step says: its title, its text, and its buttons as [name, text, what it does].
function parts({ step, last, other, voted, asker, missed }, { go, ask, welcomes }) {
  if (step === 1) {
    return ["Ask something", welcomes ? "Pick a question above, or write your own." : "Pick one of these, or write your own.",
      welcomes ? [] : state.examples.map((text, index) => [`ask-${index}`, text, () => ask(text)])];
  }
  if (step === 2) {
    const text = `And in ${other.name}?`;
    return ["Follow up for another release", "The bot remembers this thread; each answer says which release it is for.",
      [["follow", text, () => ask(text, { channel: last.channel, thread: last.thread })]]];
  }
  if (step === 3) {
    return ["Vote 👍 on an answer", "That is how a good answer gets into the memory of your community.", [["vote", "Show me the 👍", () => showVote(last, go)]]];
  }
  if (step === 4) {
    const next = state.people.find((one) => one.id !== asker && one.about === "newcomer") ?? state.people.find((one) => one.id !== asker);
    if (state.person === asker) {
      return ["Now become somebody else", `Below “You are” in the sidebar you play anybody. ${next.name} is new and has the same question.`,
        [["become", `Become ${next.name}`, () => go({ person: next.id, channel: "help", thread: "" })]]];
    }
    const text = inOtherWords(voted, Boolean(missed));
    const how = missed ? "That was taken for another question, so it got a new answer. Try words closer to the first ones." : "The same question, as you would put it.";
    return [`You are ${author(state.person).name}: ask it in other words`, how, text ? [["reword", text, () => ask(text)]] : []];
  }
  return ["Answered from memory", "At once, because people found it good: the mark above the answer says how many. That was the tour.", [["end", "Finish", null]]];
}

// Bring the 👍 of an answer into view and give it the keyboard.
function showVote(answer, go) {
  go({ channel: answer.channel, thread: answer.thread });
  const reach = (left) => {
    const button = [...document.querySelectorAll(`[data-act="up-${CSS.escape(answer.id)}"]`)].findLast((one) => one.offsetParent);
    if (!button && left) { setTimeout(reach, 50, left - 1); return; }
    button?.scrollIntoView({ block: "center" });
    button?.focus();
    button?.classList.add("pointed-at");
  };
  reach(40);
}

let shown = 0; // the step that was told last

// Paint the tour into one of the two boxes and empty the other; `welcomes` tells whether questions stand above it.
export function showTour({ box, other, paint, ...can }) {
  other.hidden = true;
  other.replaceChildren();
  box.hidden = tourIsOver();
  if (box.hidden) return;
  const now = look();
  const [title, text, chips] = parts(now, can);
  const close = () => { localStorage.setItem(KEY, "done"); paint(); byId(state.thread ? "composer-thread" : "composer-main")?.focus(); };
  reconcile(box, [{
    key: "tour", mark: [now.step, now.last?.id, now.voted?.id, title, text, ...chips.map(([, said]) => said)],
    build: () => h("div", { class: `tour at-${now.step}`, onkeydown: (event) => { if (event.key === "Escape") { event.preventDefault(); close(); } } },
        h("ol", { class: "tour-steps", "aria-hidden": "true" }, Array.from({ length: STEPS }, (_, index) => h("li", { class: index + 1 < now.step ? "done" : index + 1 === now.step ? "now" : "" }))),
        h("p", { class: "tour-text" }, h("strong", {}, h("span", { class: "hidden-text" }, `Tour, step ${now.step} of ${STEPS}: `), title), " ", h("span", {}, text)),
        chips.length > 0 && h("div", { class: "tour-acts" }, chips.map(([name, said, run]) =>
          h("button", { type: "button", class: "chip", "data-act": `tour-${name}`, onclick: run ?? close }, said))),
        h("button", { type: "button", class: "icon-button", "aria-label": "Close the tour", title: "Close the tour", "data-act": "tour-close", onclick: close }, icon("close"))),
  }]);
  if (shown && shown !== now.step) announce(`Tour, step ${now.step} of ${STEPS}: ${title}. ${text}`);
  shown = now.step;
}
