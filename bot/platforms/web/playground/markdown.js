// Markdown to elements, without HTML and without a library: what is not understood stays text.

import { code } from "./code.js";
import { h } from "./dom.js";
import { inline, link, misleads, safeUrl } from "./inline.js";

const FROM_RIGHT = /^\P{L}*[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u;
const DEEPEST = 8; // nested quotes and lists; deeper ones stay flat
const FENCE = /^ {0,3}(`{3,}|~{3,})[ \t]*([^`\s]*)[^`]*$/;
const HEADING = /^ {0,3}(#{1,6})[ \t]+(.*)$/;
const RULE = /^ {0,3}([-*_])[ \t]*(?:\1[ \t]*){2,}$/;
const QUOTE = /^ {0,3}> ?/;
const ITEM = /^( *)([-*+]|\d{1,9}[.)])( +|$)(.*)$/;
const DASHES = /^ *\|?(?: *:?-+:? *\|)+ *(?::?-+:? *\|?)? *$/;
const SOURCES = /^(?:#{1,6} +\S.*|(\*\*|__|_|\*)\S[^*_]{0,30}\1|(?:sources?|references?)\b.{0,3})$/i; // the title in any language
const SOURCE = /^(?:[-*+] +)?(?:\[(\d{1,3})\]:?|(\d{1,3})[.)]) +(?:\[(.+)\]\(<?([^\s()]*(?:\([^\s()]*\)[^\s()]*)*)>?\)|<?(https?:\/\/[^\s>]+)>?|([^\s\[].*?))((?: [-–—].*)?)$/;

// `anchor` makes the ids of the sources unique on the page; `breaks` keeps single line breaks.
export function markdown(text, { anchor = "", breaks = false } = {}) {
  const [before, sources, after, title] = withoutSources(text.replaceAll("\t", "    ").split("\n"));
  const top = Math.min(6, ...before.map((line) => HEADING.exec(line)?.[1].length ?? 6));
  const context = { anchor, breaks, top, sources: new Map(sources.map((source) => [source.number, source])) };
  const fragment = document.createDocumentFragment();
  fragment.append(...blocks(before, context, 0));
  if (sources.length) fragment.append(sourceList(sources, context, title));
  if (after.some((line) => line.trim())) fragment.append(h("div", { class: "after" }, blocks(after, context, 0)));
  return fragment;
}

// Split into what stands before the list of sources, its entries, what stands after it, and its title.
function withoutSources(lines) {
  const title = lines.findLastIndex((line, index) => SOURCES.test(line.trim()) && SOURCE.test(lines[index + 1]?.trim() ?? ""));
  if (title >= 0) {
    let end = title + 1;
    while (end < lines.length && SOURCE.test(lines[end].trim())) end += 1;
    const said = lines[title].replace(/[#*_:]/g, "").trim();
    return [lines.slice(0, title), lines.slice(title + 1, end).map(entry), lines.slice(end), said];
  }
  let start = lines.length;
  while (start > 0 && (!lines[start - 1].trim() || cited(lines[start - 1]))) start -= 1;
  return [lines.slice(0, start), lines.slice(start).filter((line) => line.trim()).map(entry), [], "Sources"];
}

function entry(line) {
  const match = SOURCE.exec(line.trim());
  return match && {
    number: match[1] ?? match[2], bracketed: match[1] !== undefined,
    title: match[3] ?? match[5] ?? match[6], url: match[4] ?? match[5] ?? "", rest: match[7].trim(),
  };
}

// A source without a title line above it is one only if it is marked [1] and leads somewhere.
function cited(line) {
  const found = entry(line);
  return found?.bracketed && found.url;
}

function sourceList(sources, context, title) {
  const row = (source) => {
    const url = safeUrl(source.url);
    const title = inline(url && misleads(source.title, url) ? source.url : source.title, { ...context, plain: true });
    return h("li", { id: `source-${context.anchor}-${source.number}`, tabindex: "-1" },
      h("span", { class: "source-number" }, source.number),
      h("span", { class: "source-text" },
        url ? link(url, title) : h("span", {}, title),
        source.rest && h("span", { class: "source-rest" }, inline(source.rest, context))));
  };
  return h("div", { class: "sources", role: "group", "aria-label": title },
    h("p", { class: "sources-title" }, title), h("ol", {}, sources.map(row)));
}

function blocks(lines, context, depth) {
  const made = [];
  let paragraph = [];
  const flush = () => {
    if (paragraph.length) made.push(h("p", {}, inline(paragraph.join("\n"), context)));
    paragraph = [];
  };
  for (let i = 0; i < lines.length;) {
    const line = lines[i];
    let match;
    if (!line.trim()) {
      flush();
      i += 1;
    } else if ((match = FENCE.exec(line))) {
      flush();
      const close = new RegExp(`^ {0,3}\\${match[1][0]}{${match[1].length},} *$`);
      const indent = line.search(/\S/);
      let end = i + 1;
      while (end < lines.length && !close.test(lines[end])) end += 1; // while it streams the end is missing
      const body = lines.slice(i + 1, end).map((row) => row.slice(Math.min(indent, row.search(/\S|$/))));
      made.push(code(body.join("\n"), match[2]));
      i = end + 1;
    } else if ((match = HEADING.exec(line))) {
      flush();
      made.push(h(`h${Math.min(match[1].length - (context.top ?? 1) + 3, 6)}`, {}, inline(match[2].trimEnd().replace(/(?<=\s)#+$/, "").trim(), context)));
      i += 1;
    } else if (RULE.test(line) && !(line.trim()[0] === "-" && paragraph.length)) {
      flush();
      made.push(h("hr"));
      i += 1;
    } else if (QUOTE.test(line) && depth < DEEPEST) {
      flush();
      let end = i;
      while (end < lines.length && lines[end].trim() && (QUOTE.test(lines[end]) || !startsBlock(lines[end]))) end += 1;
      made.push(sided(h("blockquote", {}, blocks(lines.slice(i, end).map((row) => row.replace(QUOTE, "")), context, depth + 1))));
      i = end;
    } else if (line.includes("|") && DASHES.test(lines[i + 1] ?? "")) {
      flush();
      let end = i + 2;
      while (end < lines.length && lines[end].includes("|")) end += 1;
      made.push(table(lines.slice(i, end), context));
      i = end;
    } else if (ITEM.test(line) && depth < DEEPEST) {
      flush();
      const end = listEnd(lines, i);
      made.push(list(lines.slice(i, end), context, depth));
      i = end;
    } else {
      paragraph.push(line);
      i += 1;
    }
  }
  flush();
  return made;
}

const startsBlock = (line) => FENCE.test(line) || HEADING.test(line) || QUOTE.test(line) || ITEM.test(line);

function listEnd(lines, start) {
  const [, margin, marker] = ITEM.exec(lines[start]);
  const ordered = /\d/.test(marker);
  let end = start + 1;
  for (let i = end; i < lines.length; i += 1) {
    const line = lines[i];
    const item = ITEM.exec(line);
    const inner = line.search(/\S/) > margin.length;
    const sibling = item && !inner && /\d/.test(item[2]) === ordered && !RULE.test(line);
    const lazy = lines[i - 1].trim() && !startsBlock(line) && !RULE.test(line);
    if (!line.trim()) continue;
    if (!inner && !sibling && !lazy) break;
    end = i + 1;
  }
  return end;
}

function list(lines, context, depth) {
  const [, margin, marker] = ITEM.exec(lines[0]);
  const items = [];
  for (const line of lines) {
    const item = ITEM.exec(line);
    if (item && item[1].length <= margin.length) {
      items.push({ offset: item[1].length + item[2].length + Math.min(item[3].length || 1, 4), lines: [item[4]] });
    } else {
      const { offset, lines: body } = items.at(-1);
      body.push(line.slice(Math.min(offset, Math.max(line.search(/\S/), 0))));
    }
  }
  const loose = items.some((item) => item.lines.slice(0, -1).some((line, i) => !line.trim() && item.lines[i + 1].trim()));
  const rows = items.map((item) => {
    const made = blocks(item.lines, context, depth + 1);
    return h("li", {}, loose ? made : made.flatMap((block) => (block.tagName === "P" ? [...block.childNodes] : [block])));
  });
  const ordered = /\d/.test(marker);
  const start = ordered ? Number.parseInt(marker, 10) : 1;
  return sided(h(ordered ? "ol" : "ul", { start: ordered && start !== 1 ? String(start) : null }, rows));
}

function table(lines, context) {
  const [head, dashes, ...rows] = lines.map(cells);
  const align = dashes.map((cell) => (/^:.*:$/.test(cell) ? "center" : cell.endsWith(":") ? "right" : ""));
  const row = (tag, row) => h("tr", {}, head.map((_, i) =>
    h(tag, { class: align[i] ? `align-${align[i]}` : null, scope: tag === "th" && "col" }, inline(row[i] ?? "", context))));
  return h("div", { class: "table", tabindex: "0", role: "region", "aria-label": "Table" },
    sided(h("table", {}, h("thead", {}, row("th", head)), h("tbody", {}, rows.map((cell) => row("td", cell))))));
}

// What is written from right to left has its marks, bars and first column at the right.
function sided(element) {
  if (FROM_RIGHT.test(element.textContent)) element.dir = "rtl";
  return element;
}

function cells(line) {
  const found = [""];
  let ticks = false;
  const inner = line.trim().replace(/^\|/, "").replace(/(?<!\\)\|$/, "");
  for (let i = 0; i < inner.length; i += 1) {
    if (inner[i] === "`") ticks = !ticks;
    if (inner[i] === "\\" && inner[i + 1] === "|") { found[found.length - 1] += "|"; i += 1; }
    else if (inner[i] === "|" && !ticks) found.push("");
    else found[found.length - 1] += inner[i];
  }
  return found.map((cell) => cell.trim());
}
