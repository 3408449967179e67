// What the widget asks of the bot, and what it keeps in this tab: the key of the conversation, and no more.

const NAME = "threadlore-widget";

export class Refused extends Error {
  constructor(sentence, status = 0) {
    super(sentence);
    this.status = status;
  }
}

export function kept() {
  try {
    return JSON.parse(sessionStorage.getItem(NAME)) ?? {};
  } catch { // a browser may keep nothing
    return {};
  }
}

export function keep(change) {
  try {
    sessionStorage.setItem(NAME, JSON.stringify({ ...kept(), ...change }));
  } catch { /* then the conversation ends with the page */ }
}

// The address of the page as far as it may name a release; nothing else of it leaves the browser.
export function page() {
  const { origin, pathname, searchParams, hash } = new URL(location.href);
  const named = new URLSearchParams([...searchParams].filter(([name]) => /^(version|release|ver)$/.test(name)));
  return `${origin}${pathname}${named.size ? `?${named}` : ""}${/^#!?\//.test(hash) ? hash : ""}`;
}

export function makeTalk(base, about) {
  async function send(name, body) {
    let response;
    try {
      response = await fetch(new URL(`api/${name}`, base), {
        method: "POST", credentials: "omit", referrerPolicy: "no-referrer",
        headers: { "Content-Type": "application/json" }, body: JSON.stringify({ ...about(), ...body }),
      });
    } catch {
      throw new Refused("", 0);
    }
    if (response.ok) return response;
    const { error } = await response.json().catch(() => ({}));
    throw new Refused(error ?? "", response.status);
  }
  return {
    call: async (name, body) => (await send(name, body)).json(),
    // Tells `hear(kind, data)` what a stream says; true once the stream came to its end.
    async stream(name, body, hear) {
      const response = await send(name, body);
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      let rest = "";
      let over = false;
      try {
        for (;;) {
          const { done, value } = await reader.read();
          if (done) return over;
          const frames = (rest + value).split("\n\n");
          rest = frames.pop();
          for (const frame of frames) {
            const [, kind, data] = /^event: (\w+)\ndata: (.*)$/.exec(frame) ?? [];
            if (!kind) continue;
            over ||= kind === "done" || kind === "failed";
            hear(kind, JSON.parse(data));
          }
        }
      } catch {
        return over;
      }
    },
  };
}
