"""Readers of what is sent, as strict as the platforms': what of a text acts, and what people see of it.

CommonMark is read by markdown-it, with HTML, as the most that a reader of the `markdown` block may do.
Discord's and Slack's notations are read here, by the rules that their clients follow: code first, then
escapes, then whatever acts.
"""

from __future__ import annotations

import html
import re
from dataclasses import dataclass, field
from urllib.parse import unquote

from markdown_it import MarkdownIt
from markdown_it.token import Token

_COMMONMARK = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])


@dataclass
class Read:
    """What a reader makes of a text: links as (text, target), what else acts, and the words that are seen."""

    links: list[tuple[str, str]] = field(default_factory=list)
    acts: list[str] = field(default_factory=list)
    seen: str = ""

    @property
    def masked(self) -> list[tuple[str, str]]:
        """Return the links whose text is not the address they lead to."""
        return [
            link for link in self.links if link[0] not in (unquote(link[1]), link[1].removeprefix("mailto:"))
        ]


def commonmark(text: str) -> Read:
    """Read Markdown as CommonMark says, with links, pictures and tags of HTML."""
    read = Read()
    _walk(_COMMONMARK.parse(text), read)
    return read


def _walk(tokens: list[Token], read: Read) -> None:
    target: str | None = None
    label = ""
    for token in tokens:
        if token.type == "link_open":
            target, label = str(token.attrs["href"]), ""
        elif token.type == "link_close":
            read.links.append((label, target or ""))
            target = None
        elif token.type in ("image", "html_inline", "html_block"):
            read.acts.append(token.content or str(token.attrs.get("src")))
        elif token.type in ("text", "code_inline", "fence", "code_block", "text_special"):
            label += token.content
            read.seen += token.content
        elif token.type in ("softbreak", "hardbreak", "paragraph_close", "td_close", "th_close"):
            read.seen += "\n"
        if token.children:
            _walk(token.children, read)


_DISCORD = re.compile(
    r"(?P<block>```(?:[a-z0-9_+\-.#]+?\n)?\n*[^\n][\s\S]*?\n*```)"
    r"|\\(?P<escape>[^0-9A-Za-z\s])"
    r"|(?P<link>\[(?P<label>(?:\\.|\[(?:\\.|[^\[\]\\])*\]|[^\[\]\\])+)\]\(\s*<?(?P<target>[a-z]+:(?:\\.|\([^()\s]*\)|[^\s()<>])+)>?\s*(?:[\"'][^\n]*?[\"'])?\s*\))"
    r"|<(?P<auto>[^ :>]+:/[^ >]+)>"
    r"|(?P<url>https?://[^\s<]+[^<.,:;\"')\]\s])"
    r"|(?P<mention><@[!&]?\d+>|<#\d+>|</[^:>]+:\d+>|<a?:\w+:\d+>|<t:-?\d+(?::\w)?>|<id:\w+>|@everyone\b|@here\b)"
    r"|(?P<code>(?P<ticks>`+)(?P<inside>[\s\S]*?[^`])(?P=ticks)(?!`))"
    r"|(?P<spoiler>\|\|[\s\S]+?\|\|)"
    r"|(?P<other>[\s\S])",
    re.IGNORECASE,
)


def discord(text: str) -> Read:
    """Read a message as Discord's clients do: masked links, mentions, spoilers, code of any length."""
    read = Read()
    for found in _DISCORD.finditer(text):
        if found["link"]:
            read.links.append((found["label"], found["target"]))
            read.seen += found["label"]
        elif found["auto"] or found["url"]:
            read.links.append((found["auto"] or found["url"],) * 2)
            read.seen += found["auto"] or found["url"]
        elif found["mention"] or found["spoiler"]:
            read.acts.append(found[0])
        elif found["code"]:
            read.seen += found["inside"]
        else:
            read.seen += found["escape"] or (found["block"] or found["other"]).replace("```", "")
    return read


_SLACK = re.compile(r"<(?P<inside>[^<>]*)>")


def slack(text: str) -> Read:
    """Read mrkdwn as Slack does: whatever stands in angle brackets is a link or calls somebody."""
    read = Read()
    done = 0
    for found in _SLACK.finditer(text):
        read.seen += html.unescape(text[done : found.start()])
        done = found.end()
        target, _, label = found["inside"].partition("|")
        if re.match(r"https?://|mailto:", target):
            read.links.append((html.unescape(label or target), html.unescape(target)))
            read.seen += html.unescape(label or target)
        else:
            read.acts.append(found[0])
    read.seen += html.unescape(text[done:])
    read.acts += re.findall(r"@(?:here|channel|everyone)\b", _SLACK.sub("", text))
    return read


def words(text: str) -> str:
    """Return a text without white space and what nobody sees, to compare what is read."""
    return re.sub(r"[\s\u200b]+", "", text)
