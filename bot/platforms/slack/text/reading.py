"""What was said in Slack: messages as values, a conversation's history, and what a message answers."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import chain
from typing import Any

from bot.platforms.slack.api.client import SlackApi
from bot.platforms.slack.api.errors import NO_ENTRY, REVOKED, UNREADABLE, SlackRefused
from bot.platforms.slack.api.paging import after
from bot.platforms.slack.directory import Directory
from bot.platforms.slack.text.mrkdwn import escape, from_slack
from bot.ports.chat import Message, Person, Stray
from bot.ports.standing import Standing, Unreadable
from core.domain import MessageRef

ATTACHED = 20_000
"""Characters of attached text that are read as part of a message."""
FILES = 5
"""Attached texts that are read."""
_LOOKED_UP = 10
"""Files of a message that are looked up, pictures among them: Slack does not say which are texts."""
_MARKS = (("code", "`"), ("strike", "~"), ("italic", "_"), ("bold", "*"))
log = logging.getLogger(__name__)
READ_SECONDS = 2.0
"""From one reading of emoji to the next: `reactions.get` may be called 50 times a minute."""
_ADDRESS = re.compile(r"<(?:@[UW]|!subteam|!here|!channel|!everyone)")
_PERSON_SUBTYPES = frozenset({None, "", "file_share", "thread_broadcast", "me_message"})


def written(message: Mapping[str, Any]) -> str:
    """Return what somebody wrote, as mrkdwn: text, or blocks where there is none."""
    return str(message.get("text") or "") or _blocks(message.get("blocks") or ())


def _forwarded(message: Mapping[str, Any]) -> Iterable[Mapping[str, Any]]:
    """Return what a message forwards: its own text may be empty; a link that unfolds is no such thing."""
    return (one for one in message.get("attachments") or () if one.get("is_share"))


def _forwarded_words(share: Mapping[str, Any]) -> str:
    """Return the words of what is forwarded, as mrkdwn: text, or blocks where there is none."""
    inner = [(part.get("message") or {}).get("blocks") or () for part in share.get("message_blocks") or ()]
    return str(share.get("text") or "") or "\n".join(filter(None, map(_blocks, inner)))


async def attached(files: Sequence[Mapping[str, Any]], api: SlackApi | None) -> str:
    """Return what stands in text files, each as a block of code in Markdown; empty for pictures.

    An event has a few lines of each. Where the rest cannot be read, or is not to be asked of an `api`, a
    line of dots says that there is more.
    """

    async def text_of(file: Mapping[str, Any]) -> str:
        begun = str(file.get("preview") or file.get("plain_text") or "").strip("\n")
        if not (file.get("preview_is_truncated") or int(file.get("lines_more") or 0)):
            return begun
        try:
            whole = await api.text_of(str(file.get("url_private") or ""), ATTACHED, begun) if api else ""
        except SlackRefused as error:
            log.info("only the beginning of a file can be read: %s", error)
            whole = ""
        return whole.strip("\n") or f"{begun}\n[…]"

    told = await asyncio.gather(*(_told(file, api) for file in files[:_LOOKED_UP]))
    readable = [file for file in told if _is_text(file)][:FILES]
    texts = [text[:ATTACHED] for text in await asyncio.gather(*map(text_of, readable))]
    fences = ["````" if "```" in text else "```" for text in texts]
    return "\n\n".join(f"{fence}\n{text}\n{fence}" for fence, text in zip(fences, texts, strict=True))


async def _told(file: Mapping[str, Any], api: SlackApi | None) -> Mapping[str, Any]:
    """Return a file as Slack describes it; events of a channel shared by Slack Connect have its id alone."""
    if api is None or file.get("file_access") != "check_file_info":
        return file
    try:
        return (await api.call("files.info", quick=True, file=str(file.get("id") or "")))["file"] or {}
    except (SlackRefused, KeyError) as error:
        log.info("a file of a shared channel cannot be read: %s", error)
        return file


def _is_text(file: Mapping[str, Any]) -> bool:
    kind, mode = str(file.get("mimetype") or ""), str(file.get("mode") or "")
    is_text = mode == "snippet" or kind.startswith("text/")
    return is_text and bool(str(file.get("preview") or file.get("plain_text") or "").strip("\n"))


def _blocks(blocks: Iterable[Mapping[str, Any]]) -> str:
    """Return the words of rich text, sections, headers and Markdown blocks."""
    parts: list[str] = []
    for block in blocks:
        match block.get("type"):
            case "rich_text":
                parts += [_wide(element) for element in block.get("elements") or ()]
            case "section" | "header":
                texts = [block.get("text"), *(block.get("fields") or ())]
                parts += [str(one.get("text") or "") for one in texts if one]
            case "markdown":
                parts.append(escape(str(block.get("text") or "")))
    return "\n".join(part for part in parts if part.strip())


def _wide(element: Mapping[str, Any]) -> str:
    """Write a section, a quote, a list or a block of code."""
    kind, inner = str(element.get("type") or ""), element.get("elements") or ()
    if kind == "rich_text_list":
        first, ordered = int(element.get("offset") or 0) + 1, element.get("style") == "ordered"
        lead = "    " * int(element.get("indent") or 0)
        signs = (f"{number}. " if ordered else "• " for number in range(first, first + len(inner)))
        return "\n".join(f"{lead}{sign}{_wide(item)}" for sign, item in zip(signs, inner, strict=True))
    text = "".join(_inline(one, plain=kind == "rich_text_preformatted") for one in inner)
    if kind == "rich_text_preformatted":
        return f"```\n{text}\n```"
    if kind == "rich_text_quote":
        return "\n".join(f"&gt; {line}" for line in text.split("\n"))
    return text.rstrip("\n")


def _inline(element: Mapping[str, Any], plain: bool) -> str:
    """Write one element of a line as Slack's own `text` has it."""
    match element.get("type"):
        case "text":
            text = escape(str(element.get("text") or ""))
            return text if plain else _styled(text, element.get("style") or {})
        case "link":
            url, label = str(element.get("url") or ""), escape(str(element.get("text") or ""))
            return f"<{url}|{label}>" if label else f"<{url}>"
        case "user":
            return f"<@{element.get('user_id')}>"
        case "channel":
            return f"<#{element.get('channel_id')}>"
        case "usergroup":
            return f"<!subteam^{element.get('usergroup_id')}>"
        case "broadcast":
            return f"<!{element.get('range')}>"
        case "emoji":
            return f":{element.get('name')}:"
        case "date":
            return str(element.get("fallback") or "")
    return ""


def _styled(text: str, style: Mapping[str, Any]) -> str:
    for name, mark in _MARKS:
        if style.get(name) and text.strip():
            inner = text.strip(" ")
            before, after = text[: len(text) - len(text.lstrip(" "))], text[len(text.rstrip(" ")) :]
            text = f"{before}{mark}{inner}{mark}{after}"
    return text


def timestamp(ts: str) -> tuple[int, int]:
    """Read `1700000000.000100` as numbers that compare in the order of posting."""
    seconds, _, micros = ts.partition(".")
    return (int(seconds), int(micros.ljust(6, "0") or 0)) if (seconds + micros).isdigit() else (0, 0)


class Reader:
    """Reads texts, messages and conversations; raises SlackRefused where it says so."""

    read_seconds = READ_SECONDS
    reads_here = None

    def __init__(
        self, api: SlackApi, directory: Directory, is_out: Callable[[str], bool] = lambda account: False
    ) -> None:
        """`is_out` tells whose forwarded words are not read: of who opted out."""
        self._api, self._directory, self._is_out = api, directory, is_out
        self.user, self.bot = api.user, api.bot
        self._mention = mention_of(self.user)

    def read(self, text: str) -> tuple[str, bool]:
        """Return a message's Markdown without the mention of the bot, and whether it had one."""
        plain, mentions = self._mention.subn(_gap, text)
        return from_slack(plain), mentions > 0

    def forwarded(self, message: Mapping[str, Any]) -> list[tuple[str, str, Sequence[Mapping[str, Any]]]]:
        """Return what a message forwards, as `shared` does, with its files.

        What somebody wrote who opted out is left out.
        """
        found = [(by, text, one.get("files") or ()) for by, text, one in self.shared(message)]
        return [one for one in found if not self._is_out(one[0])]

    def shared(self, message: Mapping[str, Any]) -> list[tuple[str, str, Mapping[str, Any]]]:
        """Return all that a message forwards: each one's author, "" for a bot; its Markdown; the whole."""
        return [
            (f"slack:{by}" if (by := one.get("author_id")) else "", self.read(_forwarded_words(one))[0], one)
            for one in _forwarded(message)
        ]

    def addresses_others(self, text: str) -> bool:
        """Return True if a message calls a person other than the bot, a group, or everyone."""
        return bool(_ADDRESS.search(self._mention.sub(" ", text)))

    def own(self, message: dict[str, Any]) -> bool:
        """Return True if the bot wrote a message."""
        by_bot = bool(self.bot) and message.get("bot_id") == self.bot
        return by_bot or (bool(self.user) and message.get("user") == self.user)

    async def message_from(
        self, sent: dict[str, Any], channel: str, kind: str = "", event: str = ""
    ) -> Message:
        """Return a message as Slack describes it; who is no person counts as a bot."""
        scope = await self._directory.scope(channel, kind)
        if is_person(sent) and not self.own(sent):
            author = await self._directory.person(str(sent["user"]))
        else:
            author = Person(f"slack:{sent.get('user') or sent.get('bot_id') or ''}", bot=True)
        said = written(sent)
        text, mentioned = self.read(said)
        # what stands at the top of a channel without a mention is seldom for the bot
        called = mentioned or scope.kind == "direct" or bool(sent.get("thread_ts")) or not kind
        passed_on = self.forwarded(sent)
        given = [sent.get("files") or (), *(files for _, _, files in passed_on)]
        files = await attached(list(chain(*given)), self._api if called else None)
        authors = {by for by, _, _ in passed_on} - {""}
        authors |= {author.id} if text or sent.get("files") else set()
        text = "\n\n".join(part for part in (text, *(said for _, said, _ in passed_on), files) if part)
        ts, thread = str(sent["ts"]), str(sent.get("thread_ts") or "")
        return Message(
            ref=MessageRef("slack", channel, ts, thread or ("" if scope.kind == "direct" else ts)),
            author=author,
            text=text,
            scope=scope,
            mentions_bot=mentioned or sent.get("type") == "app_mention",
            mentions_others=self.addresses_others(said),
            event=event,
            authors=tuple(sorted(authors)) if authors - {author.id} else (),
        )

    async def message(self, ref: MessageRef) -> Message | None:
        """Return one message as it stands now; None where there is none or the bot may not read it."""
        only: dict[str, Any] = {"oldest": ref.message, "latest": ref.message, "inclusive": True, "limit": 2}
        try:
            page = await self._api.call("conversations.replies", channel=ref.channel, ts=ref.message, **only)
        except SlackRefused as error:
            if error.code not in UNREADABLE:
                raise
            log.info("%s cannot be read: %s", ref.key, error)
            return None
        found = next((m for m in page.get("messages") or () if m.get("ts") == ref.message), None)
        return await self.message_from(found, ref.channel) if found else None

    async def question_of(self, ref: MessageRef) -> Message | None:
        """Return the message that opened a thread; a message outside of threads answers nothing."""
        if ref.thread in ("", ref.message):
            return None
        return await self.message(replace(ref, message=ref.thread))

    async def own_after(self, ref: MessageRef) -> Sequence[Stray]:
        """Return the bot's latest messages in the conversation of a message after it, oldest first."""
        since = timestamp(ref.message)
        said = after(self._api, ref.channel, ref.message, ref.thread)
        own = [m async for m in said if self.own(m) and timestamp(str(m["ts"])) > since]
        found = (replace(ref, message=str(message["ts"])) for message in own)
        told = [Stray(at, self.read(written(message))[0]) for at, message in zip(found, own, strict=True)]
        return sorted(told, key=lambda stray: timestamp(stray.ref.message))

    async def standing(self, ref: MessageRef) -> Standing | Unreadable:
        """Return whose emoji stand under a message; raises SlackRefused where that may be read later."""
        given = {"channel": ref.channel, "timestamp": ref.message, "full": True}
        try:
            told = (await self._api.call("reactions.get", quick=True, **given)).get("message") or {}
        except SlackRefused as error:
            if error.retryable:
                raise
            if error.code == "missing_scope" or error.code in REVOKED:
                return Unreadable("all", f"{error} Add the scope (docs/slack-manifest.yaml).")
            return Unreadable("channel" if error.code in NO_ENTRY else "message", str(error))
        people: dict[str, frozenset[str]] = {}
        whole = True
        for one in told.get("reactions") or ():
            users = [str(user) for user in one.get("users") or ()]
            whole = whole and len(users) >= int(one.get("count") or 0)
            people[str(one.get("name") or "")] = frozenset(f"slack:{u}" for u in users if u != self.user)
        return Standing(people, whole)

    async def somebody(self, account: str, ref: MessageRef) -> Person:
        """Return the person of an account."""
        return await self._directory.person(account.removeprefix("slack:"))


@lru_cache(maxsize=16)
def mention_of(user: str) -> re.Pattern[str]:
    """Return the pattern of a mention of an account, with the spaces around it; of none for ""."""
    name = rf"<@{re.escape(user)}(?:\|[^>]{{0,200}})?>"
    return re.compile(rf"(?<![ \t])[ \t]*+{name}[:,]?[ \t]*+" if user else r"(?!)")


def _gap(mention: re.Match[str]) -> str:
    before, after = mention.string[: mention.start()], mention.string[mention.end() :]
    return "" if not before or before.endswith("\n") or after[:1] in ("", *".,;:!?)\n") else " "


def is_person(message: dict[str, Any]) -> bool:
    """Return True if a person wrote a message: no bot, no join, no change of topic."""
    return (
        bool(message.get("user"))
        and message["user"] != "USLACKBOT"
        and not message.get("bot_id")
        and not message.get("bot_profile")
        and message.get("subtype") in _PERSON_SUBTYPES
    )
