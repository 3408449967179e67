// What people do to messages, as calls to the server.

import { confirmed, openForm } from "./form.js";
import { api, state } from "./store.js";

// `attempt` runs a call and shows what went wrong; `open`, `edited` and `explained` move the focus.
export function makeActions({ attempt, paint, follow, open, edited, explained }) {
  const busy = new Set(); // controls whose press is under way

  const send = (post, name, value, fields) => api("POST", "/api/presses", { person: state.person, message: post.id, name, value, fields });

  function show(post, form) {
    if (!form) return;
    openForm(form, async (fields) => {
      try {
        show(post, (await send(post, form.name, form.value, fields)).form);
        return "";
      } catch (error) {
        return error.message;
      }
    });
  }

  async function press(post, control, value) {
    const key = `${post.id} ${control.name}`;
    if (busy.has(key)) return;
    busy.add(key);
    follow.add(post.thread ? "thread" : "messages");
    await attempt(async () => show(post, (await send(post, control.name, value)).form));
    busy.delete(key);
  }

  const remove = (post) => attempt(() => api("DELETE", `/api/messages/${post.id}`, { person: state.person }));

  // Show in the panel what the server tells of an answer.
  async function explain(post, path) {
    const told = (more) => { state.why = { post, ...more }; paint(); };
    explained();
    told({});
    try {
      told({ told: await api("GET", `${path}?person=${encodeURIComponent(state.person)}`) });
    } catch (error) {
      told({ error: error.message });
    }
  }

  return {
    open,
    press,
    react: (post, emoji, added) => attempt(() => api("POST", "/api/reactions", { person: state.person, message: post.id, emoji, added })),
    edit(post, inThread = false) {
      state.editing = post ? `${post.id} ${inThread}` : "";
      paint();
      if (!post) edited();
    },
    async save(post, text) {
      if (text.trim() && !(await attempt(() => api("PATCH", `/api/messages/${post.id}`, { person: state.person, text })))) return;
      this.edit(null);
    },
    async remove(post) {
      const text = "The answer to it goes as well. This cannot be undone.";
      if (await confirmed({ title: "Delete this message?", text, yes: "Delete" })) remove(post);
    },
    async removeAnswer(post, control) {
      const text = "Only the asker or an admin can delete this. It cannot be undone.";
      if (await confirmed({ title: "Delete this answer?", text, yes: "Delete" })) press(post, control, control.value);
    },
    putAway: remove,
    async answerThis(post) {
      follow.add(post.thread ? "thread" : "messages");
      const told = await attempt(() => api("POST", `/api/messages/${post.id}/answer`, { person: state.person }));
      if (told && post.channel && !post.channel.startsWith("dm-")) open(post.thread || post.id); // the answer comes there
    },
    async think(post) {
      state.why = null;
      paint();
      await press(post, { name: "think" }, post.answer); // what comes of it is shown under the message, to this person alone
    },
    why: (post) => explain(post, `/api/answers/${encodeURIComponent(post.answer)}/why`),
  };
}
