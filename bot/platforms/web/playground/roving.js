// One tab stop a list: arrow keys go from message to message, Tab goes into the one that has the keyboard.

const TABBABLE = "a[href], button, input, select, textarea, [tabindex]:not(article)";

// Give the list's stop to the message that had it, else to the last; what is within the others is passed over.
export function rove(list) {
  const messages = messagesOf(list);
  const current = messages.find((one) => one.dataset.key === list.current) ?? messages.at(-1);
  for (const message of messages) reach(message, message === current);
}

export function listen(list) {
  list.addEventListener("focusin", ({ target }) => {
    const message = target.closest(".message");
    if (message?.parentElement !== list || message.isReached) return;
    list.current = message.dataset.key;
    rove(list);
  });
  list.addEventListener("keydown", (event) => {
    const messages = messagesOf(list);
    const at = messages.indexOf(event.target); // within a message the keys are its own
    if (at < 0 || event.altKey || event.ctrlKey || event.metaKey) return;
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: messages.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    messages[Math.max(0, Math.min(to, messages.length - 1))].focus();
  });
}

const messagesOf = (list) => [...list.children].filter((one) => one.matches(".message"));

// What scrolls by itself, such as wide code, is not passed over: how else would it be read to its end?
const scrolls = (one) => one.hasAttribute("tabindex") && (one.scrollWidth > one.clientWidth || one.scrollHeight > one.clientHeight);

function reach(message, isReached) {
  if (message.isReached === isReached) return;
  message.isReached = isReached;
  message.tabIndex = isReached ? 0 : -1;
  for (const one of message.querySelectorAll(TABBABLE)) {
    if (!isReached && one.tabIndex >= 0 && !scrolls(one)) {
      one.stop = one.getAttribute("tabindex");
      one.tabIndex = -1;
    } else if (isReached && one.stop !== undefined) {
      if (one.stop === null) one.removeAttribute("tabindex");
      else one.setAttribute("tabindex", one.stop);
      delete one.stop;
    }
  }
}
