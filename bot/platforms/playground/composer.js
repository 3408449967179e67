// Where people write: drafts per conversation, @names and /commands completed, Enter to send.

import { avatar, h, icon } from "./dom.js";
import { state } from "./store.js";

const COMMANDS = [
  ["/ask ", "question", "Ask without anybody seeing it"],
  ["/threadlore status", "", "What is indexed, and what is wrong"],
  ["/threadlore releases", "", "Which releases there are"],
  ["/threadlore reindex", "[release]", "Read the documentation again (admins)"],
  ["/threadlore memory corrections", "", "What people found wrong with answers (admins)"],
  ["/threadlore forget me", "", "Remove what you asked and voted"],
];
const TALLEST_PX = 220;
const drafts = new Map();

// `where` returns {channel, thread}; `send` and `last` are told what to do with a text and with ↑.
export function composer(id, { where, send, last }) {
  let options = [];
  let chosen = 0;
  let key = "";
  const list = h("ul", { class: "options", role: "listbox", id: `${id}-options`, "aria-label": "Suggestions", hidden: true });
  const field = h("textarea", {
    id, rows: "1", "aria-autocomplete": "list", "aria-controls": `${id}-options`, autocomplete: "off",
    oninput: () => { grow(); suggest(); }, onkeydown: press, onblur: () => setTimeout(() => offer([]), 150), onclick: () => suggest(),
  });
  const button = h("button", { type: "button", class: "send", "aria-label": "Send", title: "Send (Enter)", onclick: () => submit() }, icon("send"));
  const left = h("span", { class: "left-over", role: "status" });
  const box = h("div", { class: "composer" }, list, h("div", { class: "composer-box" }, field, left, button));

  function grow() {
    drafts.set(key, field.value);
    field.style.height = "auto";
    field.style.height = `${Math.min(field.scrollHeight, TALLEST_PX)}px`;
    field.style.overflowY = field.scrollHeight > TALLEST_PX ? "auto" : "hidden";
    button.disabled = !field.value.trim() || field.value.length > state.limit;
    const room = state.limit - field.value.length;
    left.textContent = room < 500 ? `${room} left` : "";
  }

  function offer(found) {
    options = found;
    chosen = 0;
    list.hidden = !found.length;
    field.setAttribute("aria-expanded", String(found.length > 0));
    list.replaceChildren(...found.map((option, index) => h("li", {
      role: "option", id: `${id}-option-${index}`, "aria-selected": String(index === 0),
      onmousedown: (event) => { event.preventDefault(); take(index); },
    }, option.face ?? h("span", { class: "slash" }, "/"), h("strong", {}, option.label), h("span", { class: "quiet" }, option.note))));
    point();
  }

  function point() {
    [...list.children].forEach((row, index) => row.setAttribute("aria-selected", String(index === chosen)));
    if (options.length) field.setAttribute("aria-activedescendant", `${id}-option-${chosen}`);
    else field.removeAttribute("aria-activedescendant");
  }

  function suggest() {
    const before = field.value.slice(0, field.selectionStart);
    if (before.startsWith("/") && !before.includes("\n")) {
      offer(COMMANDS.filter(([command]) => command.startsWith(before.toLowerCase()) && command !== before.toLowerCase())
        .map(([command, rest, note]) => ({ label: `${command.slice(1)}${rest && ` ${rest}`}`.replace("  ", " "), note, put: command, from: 0 })));
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
  }

  function press(event) {
    if (event.isComposing) return; // an input method is choosing characters
    if (options.length && ["ArrowDown", "ArrowUp"].includes(event.key)) {
      event.preventDefault();
      chosen = (chosen + (event.key === "ArrowDown" ? 1 : options.length - 1)) % options.length;
      point();
    } else if (options.length && (event.key === "Tab" || event.key === "Enter") && !event.shiftKey) {
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

const plain = (name) => name.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
