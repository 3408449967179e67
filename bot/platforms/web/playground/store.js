// What the page knows, and how it hears of changes.

import { isBehind, isOfAnotherRun, open } from "./events.js";

export const state = {
  person: "", people: [], bot: { id: "threadlore", name: "Threadlore" }, product: "", channels: [], messages: new Map(),
  releases: [], progress: [], examples: [], commands: [], privacy: "", limit: 12000, unread: new Map(), fresh: null,
  channel: "help", thread: "", jump: "", why: null, editing: "", lost: false,
};

export class Refused extends Error {
  constructor(sentence, status = 0) {
    super(sentence);
    this.status = status;
  }
}

export async function api(method, path, body) {
  let response;
  try {
    response = await fetch(path, {
      method, headers: body ? { "Content-Type": "application/json" } : {}, body: body && JSON.stringify(body),
    });
  } catch {
    throw new Refused("The server cannot be reached. Is Threadlore still running?");
  }
  const told = await response.json().catch(() => ({}));
  if (!response.ok) throw new Refused(told.error ?? `The server answered ${response.status}.`, response.status);
  return told;
}

const ANSWERS_MS = 5000; // the longest time that the shared worker may take to begin
let wanted = 0;
let listen = null; // follows what happens from the last change on that was heard of
let stop = () => {};

// A window that nobody looks at hears nothing until it is looked at.
document.addEventListener("visibilitychange", () => { if (document.hidden) stop(); else listen?.(); });

// Hear what happens after a mark, until what is returned is called. Windows share a worker, and it a stream; where there is
// no such worker, or none that answers, a window has its own.
function hear(person, mark, told) {
  let close = () => {};
  const alone = () => {
    const source = open(person, mark, told);
    close = () => source.close();
  };
  try {
    const shared = new SharedWorker("/stream.js", { type: "module" });
    const { port } = shared;
    const leave = close = () => {
      clearTimeout(late);
      shared.onerror = port.onmessage = null;
      port.postMessage({});
      port.close();
    };
    const giveUp = () => { leave(); alone(); };
    const late = setTimeout(giveUp, ANSWERS_MS);
    shared.onerror = giveUp;
    port.onmessage = ({ data }) => {
      clearTimeout(late);
      if (data.kind !== "joined") told(data);
    };
    port.postMessage({ person, mark });
  } catch {
    alone();
  }
  return () => close();
}

// Load everything as that person and follow what happens; `changed(kind, data)` is told each time.
export async function enter(person, changed) {
  const turn = (wanted += 1);
  stop();
  listen = null;
  let told;
  try {
    told = await api("GET", `/api/state?person=${encodeURIComponent(person)}`);
  } catch (error) {
    if (turn !== wanted) return;
    if (error.status === 422 && person !== "ada") { // an address that names nobody
      enter("ada", changed);
      return;
    }
    if (error.status === 401) { // the bot was started anew, and wants another token: the page says so
      location.reload();
      return;
    }
    state.lost = true;
    changed("lost", {});
    setTimeout(() => { if (turn === wanted) enter(person, changed); }, 2000);
    return;
  }
  if (turn !== wanted) return; // somebody else was chosen meanwhile
  Object.assign(state, told, { messages: new Map(told.messages.map((post) => [post.id, post])), lost: false });
  sorted = null;
  changed("state", {});
  let mark = told.event;
  const apply = (message) => {
    if (turn !== wanted) return;
    if (message.kind === "open") found(changed);
    else if (message.kind === "error") lose(message, () => { if (turn === wanted) enter(person, changed); }, changed);
    else if (message.kind === "reset" || isOfAnotherRun(mark, message.mark)) enter(person, changed);
    else if (isBehind(mark, message.mark)) {
      ({ mark } = message);
      APPLIED[message.kind](message.data);
      sorted = null;
      changed(message.kind, message.data);
    }
  };
  listen = () => {
    stop();
    stop = hear(person, mark, apply);
  };
  if (!document.hidden) listen();
}

const put = (post) => state.messages.set(post.id, post);
const APPLIED = {
  posted: put, edited: put, reaction: put,
  direct({ person: who, id }) { state.people = state.people.map((one) => (one.id === who ? { ...one, direct: id } : one)); },
  modes({ modes }) { state.channels = state.channels.map((one) => ({ ...one, mode: modes[one.id] ?? one.mode })); },
  deleted({ id }) { state.messages.delete(id); },
  progress({ running }) { state.progress = running; },
  releases({ releases, examples }) { Object.assign(state, { releases, examples }); },
};

function found(changed) {
  if (!state.lost) return;
  state.lost = false;
  changed("found", {});
}

function lose({ isClosed }, again, changed) {
  state.lost = true;
  changed("lost", {});
  if (isClosed) setTimeout(again, 2000); // a refused stream is not tried again by the browser itself
}

// All messages, oldest first; sorted once after each change.
let sorted = null;
const ordered = () => (sorted ??= [...state.messages.values()].sort((a, b) => Number(a.id) - Number(b.id)));

export const author = (id) => (id === state.bot.id ? state.bot : state.people.find((one) => one.id === id) ?? { id, name: id });
export const channel = () => state.channels.find((one) => one.id === state.channel) ?? state.channels[0];
// What was said to one person about a message stands under that message, as long as it is there.
const standsUnder = (post) => post.about && state.messages.has(post.about);
export const roots = () => ordered().filter((post) => post.channel === state.channel && !post.thread && !standsUnder(post));
export const thread = (root) => ordered().filter((post) => (post.id === root || post.thread === root) && !standsUnder(post));
export const notes = () => new Map(ordered().filter(standsUnder).map((post) => [post.about, post]));

// The message that an answer follows in its thread or direct channel.
export const questionOf = (answer) => ordered().findLast((post) => post.channel === answer.channel && post.author !== state.bot.id
  && Number(post.id) < Number(answer.id) && (!answer.thread || [post.id, post.thread].includes(answer.thread)));

export function replies() {
  const found = new Map();
  for (const post of ordered()) {
    if (!post.thread || post.channel !== state.channel || post.only) continue;
    const summary = found.get(post.thread) ?? { count: 0, authors: new Set(), last: null };
    summary.count += 1;
    summary.authors.add(post.author);
    summary.last = post;
    found.set(post.thread, summary);
  }
  return found;
}
