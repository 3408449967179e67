// The inside of a line: emphasis, code, links, citations, mentions. Linear in the length of the text.

import { h } from "./dom.js";

const DEEPEST = 10;
const ESCAPE = /\\([!-/:-@[-`{-~])/y;
const AUTOLINK = /<((?:https?:\/\/|mailto:)[^\s<>]+)>/y;
const URL_TEXT = /https?:\/\/[^\s<>"`|]+/y;
const MENTION = /@(threadlore|ada|ben|noor|hana|chloé|chloe|here|channel|everyone)(?![\p{L}\p{N}_])/iuy;
const CITATION = /\[(\d{1,3})\](?!\()/y;
const ADDRESS = /(?:https?:\/\/|\bwww\.|[\w+-]@(?=[\w-]+\.))([^\s/?#<>()[\]`\\]+)/gi;
const HOST = /^((?:[\p{L}\p{N}](?:[\p{L}\p{N}_-]{0,61}[\p{L}\p{N}])?\.){1,8}(?:com|net|org|edu|gov|info|biz|example))(?::\d+)?(?:[/?#]\S*)?$/iu;
const ENTITY = /&(amp|lt|gt|quot|#39|nbsp);/y;
const ENTITIES = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'", nbsp: "\u00a0" };
const MARKS = [["***", "strong"], ["**", "strong"], ["__", "strong"], ["~~", "del"], ["*", "em"], ["_", "em"]];
const WORD = /[\p{L}\p{N}_]/u;

const OWN = /^\/(?:#\/m\/\d+|api\/files\/\d+\/\w[\w.-]*\?person=[a-z]+)$/;

// Only addresses that open a page or a letter; never a script, and of this server a message or a file of one.
export function safeUrl(text) {
  if (!/^(https?:\/\/|mailto:)/i.test(text) && !OWN.test(text)) return null;
  try {
    return new URL(text, import.meta.url).href;
  } catch {
    return null;
  }
}

// The text of a link that is, or holds, another address than the link's own hides where it leads.
export function misleads(label, url) {
  const real = (new URL(url).hostname || url.split("@").at(-1).split("?")[0]).toLowerCase();
  const said = [...label.matchAll(ADDRESS)].map((match) => match[1].toLowerCase());
  const alone = HOST.exec(label.replace(/\\(?=[!-/:-@[-`{-~])/g, "").replace(/^[*_~` ]+|[*_~` ]+$/g, ""));
  if (alone && !said.length) said.push(alone[1].toLowerCase());
  return said.some((host) => real !== host && real !== host.replace(/^www\./, "") && !real.endsWith(`.${host}`));
}

const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

// The part of an address that names a message of this playground, whichever port it had then.
function ownMessage(url) {
  const { hash, hostname, pathname } = new URL(url);
  const here = hostname === location.hostname || (LOOPBACK.test(hostname) && LOOPBACK.test(location.hostname));
  return here && pathname === "/" && /^#\/m\/\d+$/.test(hash) ? hash : "";
}

export function link(url, children) {
  if (ownMessage(url)) return h("a", { href: ownMessage(url) }, children);
  return h("a", { href: url, target: "_blank", rel: "noopener noreferrer" }, children);
}

export function inline(text, context = {}, depth = 0) {
  const made = [];
  const hopeless = new Set(); // delimiters that never close from here on
  let plain = "";
  const push = (...nodes) => {
    if (plain) made.push(plain);
    plain = "";
    made.push(...nodes);
  };
  const at = (pattern, i) => {
    pattern.lastIndex = i;
    return pattern.exec(text);
  };
  for (let i = 0; i < text.length;) {
    const character = text[i];
    let match;
    if (character === "\\" && text[i + 1] === "\n") {
      push(h("br"));
      i += 2;
    } else if (character === "\\" && (match = at(ESCAPE, i))) {
      plain += match[1];
      i += 2;
    } else if (character === "\n") {
      const hard = context.breaks || plain.endsWith("  ");
      plain = plain.trimEnd();
      if (hard) push(h("br"));
      else plain += " ";
      i += 1;
    } else if (character === "`") {
      const span = codeSpan(text, i, hopeless);
      if (span) push(h("code", {}, span.body));
      else plain += text.slice(i, ticksEnd(text, i));
      i = span ? span.end : ticksEnd(text, i);
    } else if (character === "<" && (match = at(AUTOLINK, i)) && safeUrl(match[1])) {
      push(link(safeUrl(match[1]), [match[1]]));
      i += match[0].length;
    } else if (character === "&" && (match = at(ENTITY, i))) {
      plain += ENTITIES[match[1]];
      i += match[0].length;
    } else if (character === "[" && !context.plain && (match = at(CITATION, i))) {
      plain = plain.replace(/ $/, "\u00a0"); // a number does not begin a line
      push(citation(match[1], context));
      i += match[0].length;
    } else if ((character === "[" || (character === "!" && text[i + 1] === "[")) && depth < DEEPEST) {
      const start = character === "!" ? i + 1 : i;
      const found = bracketed(text, start, hopeless);
      if (found) {
        const url = context.plain ? null : safeUrl(found.url);
        const said = !found.label || (url && misleads(found.label, url)) ? found.url : found.label;
        const label = inline(said, { ...context, plain: true }, depth + 1);
        push(...(url ? [link(url, label)] : label));
        i = found.end;
      } else {
        plain += text.slice(i, start + 1);
        i = start + 1;
      }
    } else if (character === "h" && !context.plain && !WORD.test(text[i - 1] ?? "") && (match = at(URL_TEXT, i))) {
      const address = trimmed(match[0]);
      const url = safeUrl(address);
      if (url) push(link(url, [address]));
      else plain += address;
      i += address.length;
    } else if (character === "@" && !WORD.test(text[i - 1] ?? "") && (match = at(MENTION, i))) {
      push(h("span", { class: "mention" }, match[0]));
      i += match[0].length;
    } else if ((match = emphasis(text, i, hopeless)) && depth < DEEPEST) {
      const inner = inline(text.slice(match.from, match.to), context, depth + 1);
      push(h(match.tag, {}, match.mark === "***" ? h("em", {}, inner) : inner));
      i = match.end;
    } else {
      plain += character;
      i += 1;
    }
  }
  push();
  return made;
}

// A number is a link to its page; the page of the playground shows the page's words beside the answer.
function citation(number, { anchor, sources }) {
  const source = sources?.get(number);
  if (!source) return h("span", { class: "citation" }, number);
  const url = safeUrl(source.url ?? "");
  return h("a", { class: "citation", href: url ?? `#source-${anchor}-${number}`, ...(url && { target: "_blank", rel: "noopener noreferrer" }), title: source.title, "aria-label": `Source ${number}: ${source.title}`, "data-number": number }, number);
}

function ticksEnd(text, i) {
  let end = i;
  while (text[end] === "`") end += 1;
  return end;
}

function codeSpan(text, i, hopeless) {
  const open = ticksEnd(text, i);
  const ticks = text.slice(i, open);
  if (hopeless.has(ticks)) return null;
  for (let close = text.indexOf(ticks, open); close >= 0;) {
    const end = ticksEnd(text, close);
    if (end - close === ticks.length) {
      const body = text.slice(open, close).replaceAll("\n", " ");
      return { body: /^ .*[^ ].* $/.test(body) ? body.slice(1, -1) : body, end };
    }
    close = text.indexOf(ticks, end);
  }
  hopeless.add(ticks);
  return null;
}

function bracketed(text, i, hopeless) {
  if (hopeless.has("](")) return null;
  if (text.indexOf("](", i) < 0) {
    hopeless.add("](");
    return null;
  }
  let open = 0;
  for (let j = i; j < text.length && j < i + 1000; j += 1) {
    if (text[j] === "\\") j += 1;
    else if (text[j] === "[") open += 1;
    else if (text[j] === "]" && (open -= 1) === 0) {
      const target = /\(\s*(?:<([^<>\n]*)>|([^\s()]*(?:\([^\s()]*\)[^\s()]*)*))(?:\s+(?:"[^"]*"|'[^']*'))?\s*\)/y;
      target.lastIndex = j + 1;
      const match = target.exec(text);
      return match && { label: text.slice(i + 1, j), url: match[1] ?? match[2], end: target.lastIndex };
    }
  }
  return null;
}

function emphasis(text, i, hopeless) {
  for (const [mark, tag] of MARKS) {
    if (!text.startsWith(mark, i) || hopeless.has(mark)) continue;
    const from = i + mark.length;
    if (!text[from] || /\s/.test(text[from]) || (mark[0] === "_" && WORD.test(text[i - 1] ?? ""))) continue;
    const to = closing(text, from, mark);
    if (to > from) return { mark, tag, from, to, end: to + mark.length };
    if (to < 0) hopeless.add(mark);
  }
  return null;
}

function closing(text, from, mark) {
  const hopeless = new Set(); // of what lies ahead
  for (let i = from; i < text.length; i += 1) {
    if (text[i] === "\\") i += 1;
    else if (text[i] === "`") {
      i = (codeSpan(text, i, hopeless)?.end ?? ticksEnd(text, i)) - 1; // no emphasis ends inside of code
    } else if (text.startsWith(mark, i)) {
      const after = text[i + mark.length] ?? "";
      const longer = mark.length === 1 && after === mark;
      if (longer) { i += 1; continue; }
      if (!/\s/.test(text[i - 1]) && !(mark[0] === "_" && WORD.test(after))) return i;
    }
  }
  return -1;
}

function trimmed(address) {
  let url = address.replace(/[.,:;!?'*_~]+$/, "");
  while (url.endsWith(")") && url.split(")").length > url.split("(").length) url = url.slice(0, -1);
  return url.replace(/[.,:;!?\]]+$/, "");
}

// "Page: Page > Heading" says the page twice.
export function titled(title) {
  const [page, ...rest] = title.split(": ");
  const heading = rest.join(": ");
  const whole = !heading || heading.startsWith(page) ? heading || page : `${page} > ${heading}`;
  return whole.replaceAll(" > ", " › ").replaceAll("]\\(", "](");
}
