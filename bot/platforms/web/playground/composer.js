// Where people write: drafts per conversation, @names and /commands completed, Enter to send.

import { avatar, h, icon, toast } from "./dom.js";
import { state } from "./store.js";

const TALLEST_PX = 220;
const KEPT = "drafts"; // in this window's own storage: what was typed outlives a page that loads itself anew
const drafts = new Map(Object.entries(JSON.parse(sessionStorage.getItem(KEPT) ?? "{}")));

function keep(key, text) {
  if ((drafts.get(key) ?? "") === text) return;
  if (text) drafts.set(key, text);
  else drafts.delete(key);
  try {
    sessionStorage.setItem(KEPT, JSON.stringify(Object.fromEntries(drafts)));
  } catch { /* the storage is full */ }
}

// `where` returns {channel, thread}; `send` and `last` are told what to do with a text and with ↑.
export function composer(id, { where, send, last }) {
  let options = [];
  let chosen = 0;
  let key = "";
  let moved = false; // whether somebody chose among the options by arrow
  let soft = false; // whether what is typed can be sent as it is, so that Enter sends it
  const list = h("ul", { class: "options", role: "listbox", id: `${id}-options`, "aria-label": "Suggestions", hidden: true });
  const field = h("textarea", {
    id, rows: "1", "aria-autocomplete": "list", "aria-controls": `${id}-options`, autocomplete: "off",
    oninput: () => { grow(); suggest(); }, onkeydown: press, onblur: () => setTimeout(() => { if (document.activeElement !== field) offer([]); }, 150), onclick: () => suggest(),
  });
  const button = h("button", { type: "button", class: "send", "aria-label": "Send", title: "Send (Enter)", onclick: () => submit() }, icon("send"));
  const left = h("span", { class: "left-over", role: "status" });
  const box = h("div", { class: "composer" }, list, h("div", { class: "composer-box" }, field, left, button));

  function grow() {
    keep(key, field.value);
    field.style.height = "auto";
    field.style.height = `${Math.min(field.scrollHeight, TALLEST_PX)}px`;
    field.style.overflowY = field.scrollHeight > TALLEST_PX ? "auto" : "hidden";
    button.disabled = !field.value.trim() || field.value.length > state.limit;
    const room = state.limit - field.value.length;
    left.textContent = room < 0 ? `${-room} too many` : room < 500 ? `${room} left` : "";
    left.classList.toggle("bad", room < 0);
    field.setAttribute("aria-invalid", String(room < 0));
  }

  function offer(found) {
    options = found;
    chosen = 0;
    moved = false;
    soft = complete(field.value.slice(0, field.selectionStart));
    list.hidden = !found.length;
    list.replaceChildren(...found.map((option, index) => h("li", {
      role: "option", id: `${id}-option-${index}`, "aria-selected": String(index === 0),
      onmousedown: (event) => { event.preventDefault(); take(index); },
    }, option.face ?? h("span", { class: "slash" }, "/"), h("strong", {}, option.label), h("span", { class: "quiet" }, option.note), option.admin && h("span", { class: "app-badge" }, "ADMIN"))));
    point();
  }

  function point() {
    [...list.children].forEach((row, index) => row.setAttribute("aria-selected", String(index === chosen)));
    list.children[chosen]?.scrollIntoView({ block: "nearest" });
    if (options.length) field.setAttribute("aria-activedescendant", `${id}-option-${chosen}`);
    else field.removeAttribute("aria-activedescendant");
  }

  function suggest() {
    const before = field.value.slice(0, field.selectionStart);
    if (before.startsWith("/") && !before.includes("\n")) {
      offer(completions(before));
      return;
    }
    const match = /(?:^|[\s(])@([\p{L}\p{N}_]{0,20})$/u.exec(before);
    if (!match) { offer([]); return; }
    const typed = plain(match[1]);
    offer([{ ...state.bot, about: "answers from the documentation" }, ...state.people.filter((one) => one.id !== state.person)]
      .filter((one) => plain(one.name).startsWith(typed))
      .map((one) => ({ label: one.name, note: one.about, put: `@${one.name} `, from: before.length - match[1].length - 1, face: avatar(one, "tiny") })));
  }

  function take(index) {
    const { put, from } = options[index];
    const end = field.selectionStart;
    field.setRangeText(put, from, end, "end");
    offer([]);
    grow();
    field.focus();
    if (put.startsWith("/")) suggest(); // what may stand after the command
  }

  function press(event) {
    if (event.isComposing) return; // an input method is choosing characters
    if (options.length && ["ArrowDown", "ArrowUp"].includes(event.key)) {
      event.preventDefault();
      moved = true;
      chosen = (chosen + (event.key === "ArrowDown" ? 1 : options.length - 1)) % options.length;
      point();
    } else if (options.length && (event.key === "Tab" || (event.key === "Enter" && !(soft && !moved))) && !event.shiftKey) {
      event.preventDefault();
      take(chosen);
    } else if (options.length && event.key === "Escape") {
      event.preventDefault();
      event.stopPropagation();
      offer([]);
    } else if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      submit();
    } else if (event.key === "ArrowUp" && !field.value) {
      event.preventDefault();
      last();
    }
  }

  async function submit() {
    const text = field.value.trim();
    if (text.length > state.limit) toast(`The message is too long: ${text.length} of ${state.limit} characters. Shorten it, or send it in parts.`);
    if (!text || text.length > state.limit) return;
    const kept = field.value;
    field.value = "";
    grow();
    offer([]);
    if (!(await send(text, where())) && !field.value) {
      field.value = kept; // nothing that was typed is lost
      grow();
    }
  }

  return {
    element: box,
    focus: () => field.focus(),
    write(text) {
      field.value = text;
      grow();
      field.focus();
      suggest();
    },
    // Have what is written name a release, or begin a question that does.
    named(release) {
      const asked = field.value.trim().replace(/\s*\?+$/, "").replace(/(?:^| )in [\p{L}\p{N}_ ]+ \d[\w.]*:?$/iu, "");
      this.write(asked ? `${asked} in ${release}?` : `In ${release}: `);
    },
    update(placeholder) {
      const { channel, thread } = where();
      const now = `${state.person}/${channel}/${thread}`;
      field.placeholder = placeholder;
      field.setAttribute("aria-label", placeholder);
      if (now === key) return;
      key = now;
      field.value = drafts.get(key) ?? "";
      grow();
      offer([]);
    },
  };
}

// Whether a command stands there that needs nothing more.
const complete = (typed) => state.commands.some((one) => typed.trim().toLowerCase() === one.line || typed.toLowerCase().startsWith(`${one.line} `));

// Commands that begin with what is typed; after a whole command, what may stand there.
function completions(typed) {
  const lower = typed.toLowerCase();
  const whole = state.commands.filter((one) => lower.startsWith(`${one.line} `)).sort((a, b) => b.line.length - a.line.length)[0];
  const values = whole ? words(whole, typed.slice(whole.line.length + 1)) : [];
  if (values.length) return values.map(([value, note]) => ({ label: value, note, put: value, from: typed.lastIndexOf(" ") + 1 }));
  return state.commands.filter((one) => one.line.startsWith(lower) && one.line !== lower.trimEnd())
    .map((one) => ({ label: one.usage.slice(1), note: one.help, put: one.options.length ? `${one.line} ` : one.line, from: 0, admin: !one.everybody }));
}

// The choices of the option that is being typed, or flags that are not there yet.
function words(command, rest) {
  const given = rest.split(/\s+/);
  const now = given.at(-1).toLowerCase();
  const places = command.options.filter((option) => option.kind !== "flag" && !option.named);
  const option = places[given.filter((word) => !word.startsWith("--")).length - 1];
  const choices = option?.choices.length ? option.choices.map((choice) => [choice, option.help])
    : option?.name === "release" ? state.releases.map((release) => [release.name, release.latest ? "latest" : ""]) : [];
  const flags = command.options.filter((one) => one.kind === "flag" && !given.slice(0, -1).includes(`--${one.name}`)).map((one) => [`--${one.name}`, one.help]);
  return [...choices, ...flags].filter(([value]) => value.toLowerCase().startsWith(now) && value.toLowerCase() !== now);
}

const plain = (name) => name.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
