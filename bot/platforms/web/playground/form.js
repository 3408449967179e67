// Windows in front of the page: forms that a button opens, and the question before something is deleted.

import { byId, h, icon } from "./dom.js";

const RADIOS = 6; // up to as many choices are all shown; more of them fold into a menu
const LINES = "5";
const drafts = new Map(); // what was typed into a form that was closed without sending

// Resolves to true where the person agrees.
export function confirmed({ title, text, yes, no = "Keep it" }) {
  const dialog = byId("confirm");
  byId("confirm-title").textContent = title;
  byId("confirm-text").textContent = text;
  byId("confirm-yes").textContent = yes;
  byId("confirm-no").textContent = no;
  dialog.returnValue = "";
  return new Promise((resolve) => {
    dialog.onclose = () => resolve(dialog.returnValue === "yes");
    dialog.onkeydown = (event) => stay(event, dialog);
    dialog.showModal();
  });
}

// `send(fields)` returns a sentence about what is wrong, or nothing where the form was taken.
export function openForm(form, send) {
  const dialog = byId("form");
  const before = document.activeElement?.dataset.act;
  const key = `${form.name} ${form.value}`;
  const kept = drafts.get(key) ?? {};
  const problem = h("p", { class: "form-problem", role: "alert", hidden: true });
  const submit = h("button", { type: "submit", class: "button primary" }, "Send");
  const inside = h("form", { method: "dialog", novalidate: true, onsubmit: (event) => { event.preventDefault(); sent(); }, oninput: () => { problem.hidden = true; drafts.set(key, filled()); } },
    h("header", {}, h("h2", { id: "form-title" }, form.title),
      h("button", { type: "button", class: "icon-button", "aria-label": "Close without sending", onclick: () => dialog.close() }, icon("close"))),
    form.fields.map((field, index) => input(field, index === 0, kept[field.name], field.label === form.title)),
    problem,
    h("div", { class: "confirm-actions" }, h("button", { type: "button", class: "button", onclick: () => dialog.close() }, "Cancel"), submit));

  const filled = () => Object.fromEntries([...new FormData(inside)].map(([name, value]) => [name, value.trim()]).filter(([, value]) => value));

  async function sent() {
    const fields = filled();
    const missing = form.fields.find((field) => field.required && !fields[field.name]);
    if (missing) return complain(`Please fill in “${missing.label}”.`, missing);
    if (!Object.keys(fields).length) return complain("Please fill in something, or cancel.", form.fields[0]);
    submit.disabled = true;
    const wrong = await send(fields);
    submit.disabled = false;
    if (wrong) return complain(wrong);
    drafts.delete(key);
    return dialog.close();
  }

  function complain(sentence, field) {
    problem.textContent = sentence;
    problem.hidden = false;
    if (field) inside.querySelector(`[name="${CSS.escape(field.name)}"]`)?.focus();
  }

  dialog.replaceChildren(inside);
  dialog.onclose = () => {
    dialog.replaceChildren();
    if (before && document.activeElement === document.body) document.querySelector(`[data-act="${CSS.escape(before)}"]`)?.focus();
  };
  dialog.onkeydown = (event) => {
    stay(event, dialog);
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) sent();
  };
  dialog.onpointerdown = (event) => { if (event.target === dialog) dialog.close(); };
  if (!dialog.open) dialog.showModal();
}

// Tab goes round inside the window, not out into the browser's own buttons.
function stay(event, dialog) {
  if (event.key !== "Tab") return;
  const buttons = [...dialog.querySelectorAll("button:not(:disabled)")]; // the first and the last stop are buttons
  const [edge, other] = event.shiftKey ? [buttons[0], buttons.at(-1)] : [buttons.at(-1), buttons[0]];
  if (document.activeElement !== edge) return;
  event.preventDefault();
  other.focus();
}

// A label that only repeats the title is for those who cannot see that.
function input(field, first, kept, repeats) {
  if (field.choices.length && field.choices.length <= RADIOS) {
    return h("fieldset", { class: "choices" }, h("legend", { class: repeats && "hidden-text" }, field.label),
      field.choices.map((choice, index) => h("label", {},
        h("input", { type: "radio", name: field.name, value: choice.value, required: field.required, autofocus: first && index === 0, checked: kept === choice.value }), choice.label)));
  }
  const more = { name: field.name, required: field.required, autofocus: first };
  const own = field.choices.length
    ? h("select", more, h("option", { value: "" }, "Choose…"), field.choices.map((choice) => h("option", { value: choice.value, selected: kept === choice.value }, choice.label)))
    : h("textarea", { ...more, rows: LINES, maxlength: "12000" }, kept ?? "");
  return h("label", { class: "field" }, h("span", {}, field.label), own);
}
