// What hangs under a message: buttons and menus of the bot, emoji of people, and words to one person alone.

import { h, icon } from "./dom.js";
import { markdown } from "./markdown.js";
import { showMenu } from "./menu.js";
import { author, questionOf, state } from "./store.js";

const FIRST = ["up", "down", "release", "why", "apart"]; // in this order; what the page does not know comes after
const ICONS = { up: "up", down: "down", why: "why", delete: "trash", wrong: "flag", person: "person", share: "link" };
const VOTES = { up: "👍", down: "👎" };
const EMOJI = {
  "✅": { icon: "accept", label: "This answers it", note: "From a helper: remembered for the next who asks" },
  "❌": { icon: "object", label: "Do not remember this", note: "If you wrote it: never reuse it" },
  "👍": { icon: "up", label: "Helpful", note: "" },
  "👎": { icon: "down", label: "Not helpful", note: "" },
};

export const plural = (count, one, many) => `${count} ${count === 1 ? one : many}`;
const names = (ids) => ids.map((id) => author(id).name).join(", ");

// The row of controls under an answer, or null.
export function footer(post, actions) {
  if (!post.controls.length) return null;
  const rank = (control) => (FIRST.includes(control.name) ? FIRST.indexOf(control.name) : control.name === "delete" ? 99 : 50);
  const row = post.controls.filter((one) => one.name !== "delete" || mayDelete(post)).sort((a, b) => rank(a) - rank(b));
  return h("div", { class: "footer", role: "group", "aria-label": "What to do with this" }, row.map((one) => control(post, one, actions)));
}

// An answer is deleted by who asked for it, and by admins.
function mayDelete(post) {
  if (author(state.person).admin) return true;
  return (post.asker || questionOf(post)?.author) === state.person;
}

export function choose(button, post, one, actions) {
  const checked = (value) => (one.chosen ? { checked: value === one.chosen } : {});
  const items = one.choices.map(({ label, value }) => ({ label, ...checked(value), act: () => actions.press(post, one, value) }));
  showMenu(button, one.label, items);
}

function control(post, one, actions) {
  const act = `${one.name}-${post.id}`;
  if (VOTES[one.name]) return vote(post, one, act, actions);
  if (one.choices.length) {
    return h("button", {
      type: "button", class: `ghost control-${one.name}`, "data-act": act, "aria-haspopup": "menu", "aria-expanded": "false",
      onclick: (event) => choose(event.currentTarget, post, one, actions),
    }, icon(one.name.endsWith("release") ? "tag" : "menu"), one.label, icon("chevron"));
  }
  const shown = { type: "button", class: `ghost control-${one.name}`, "data-act": act };
  if (one.name === "why" && post.answer) shown.onclick = () => actions.why(post);
  else if (one.name === "delete") shown.onclick = () => actions.removeAnswer(post, one);
  else shown.onclick = () => actions.press(post, one, one.value);
  if (one.name === "delete") Object.assign(shown, { "aria-label": one.label, title: one.label });
  return h("button", shown, ICONS[one.name] && icon(ICONS[one.name]), one.name === "delete" ? null : h("span", { class: "label" }, one.label));
}

// A vote shows who gave it; pressed once more it is taken back.
function vote(post, one, act, actions) {
  const emoji = VOTES[one.name];
  const voters = post.reactions[emoji] ?? [];
  const mine = voters.includes(state.person);
  const { label } = EMOJI[emoji];
  return h("button", {
    type: "button", class: `vote ${one.name}`, "aria-pressed": String(mine), "data-act": act,
    "aria-label": `${label}, ${plural(voters.length, "vote", "votes")}`, title: voters.length ? `${label}: ${names(voters)}` : label,
    onclick: () => actions.press(post, one, one.value),
  }, icon(one.name), h("span", { class: "count" }, voters.length ? String(voters.length) : ""));
}

// The emoji that people put on a message, without those that its buttons show already.
export function reactions(post, actions) {
  const buttons = post.controls.map((one) => VOTES[one.name]);
  const given = Object.entries(post.reactions).filter(([emoji, who]) => who.length && !buttons.includes(emoji));
  if (!given.length) return null;
  return h("div", { class: "reactions", role: "group", "aria-label": "Reactions" }, given.map(([emoji, who]) => {
    const mine = who.includes(state.person);
    const { icon: shape, label } = EMOJI[emoji];
    return h("button", {
      type: "button", class: `reaction ${shape}`, "aria-pressed": String(mine), "data-act": `${shape}-reaction-${post.id}`,
      "aria-label": `${label}, ${plural(who.length, "person", "people")}`, title: `${label}: ${names(who)}`,
      onclick: () => actions.react(post, emoji, !mine),
    }, icon(shape), h("span", { class: "count" }, String(who.length)));
  }));
}

export function reactMenu(post, button, actions) {
  showMenu(button, "React", Object.entries(EMOJI).map(([emoji, { icon: shape, label, note }]) => {
    const mine = (post.reactions[emoji] ?? []).includes(state.person);
    return { label, note, face: h("span", { class: `face ${shape}` }, icon(shape)), checked: mine, act: () => actions.react(post, emoji, !mine) };
  }));
}

// What the bot said to one person alone about a message.
export function note(said, actions) {
  if (!said) return null;
  return h("div", { class: "note", "data-id": said.id },
    h("p", { class: "only" }, icon("eye"), "Only visible to you"),
    h("button", { type: "button", class: "icon-button", "aria-label": "Put this away", title: "Put this away", "data-act": `away-${said.id}`, onclick: () => actions.putAway(said) }, icon("close")),
    h("div", { class: "body" }, markdown(said.text, { anchor: `n${said.id}` })),
    footer(said, actions));
}
