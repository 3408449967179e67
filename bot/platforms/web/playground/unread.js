// What each person has not seen yet: kept in the browser, one mark a person and channel.

import { state } from "./store.js";

const KEY = "seen";
const older = (one, other) => Number(one || 0) < Number(other || 0);

function read() {
  try {
    return JSON.parse(localStorage.getItem(KEY)) ?? {};
  } catch {
    return {};
  }
}

// Marks are {base, people: {person: {channel: id of the last message seen}}}; `base` is what was there at the
// first visit of this browser, and old news for everybody.
const marks = { base: "0", people: {}, ...read() };

const save = () => localStorage.setItem(KEY, JSON.stringify(marks));
export const seenUpTo = (person, channel) => marks.people[person]?.[channel] ?? marks.base;

export function begin() {
  if (marks.base !== "0") return;
  marks.base = String(Math.max(1, ...[...state.messages.keys()].map(Number)));
  save();
}

// Count what is new for the person who is played, by channel.
export function count() {
  const found = new Map();
  for (const post of state.messages.values()) {
    if (post.author === state.person || post.only || post.gone || !older(seenUpTo(state.person, post.channel), post.id)) continue;
    found.set(post.channel, (found.get(post.channel) ?? 0) + 1);
  }
  return found;
}

// The channel is on the screen: all that is there was seen.
export function see(channel) {
  const last = Math.max(0, ...[...state.messages.values()].filter((post) => post.channel === channel).map((post) => Number(post.id)));
  if (!last || !older(seenUpTo(state.person, channel), last)) return;
  (marks.people[state.person] ??= {})[channel] = String(last);
  save();
}

// Whether the bot wrote to somebody since they were played last; `direct` is the last such message's id.
export const waits = (person) => Boolean(person.direct) && person.id !== state.person && older(seenUpTo(person.id, `dm-${person.id}`), person.direct);
