"""Write an answer from evidence with the language model, and clean what it wrote."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable

from core.domain import Evidence
from core.errors import ModelError, ModelMalformed
from core.generation.calculator import fill, without_unfinished
from core.generation.citations import Cleaned, clean, settled
from core.generation.context.fitting import ANSWER_TOKENS, Request, fit
from core.generation.unknown import is_unknown
from core.ports import LanguageModel
from core.prompts import DONT_KNOW
from core.text.words import sentences

__all__ = ["ANSWER_TOKENS", "OnText", "Request", "finish", "whole", "write"]

log = logging.getLogger(__name__)

OnText = Callable[[str], Awaitable[None]]

SHOW_SECONDS = 0.1
"""Least time between two looks at a growing answer; platforms show far fewer."""

# An answer may tell of the tag itself: then it stands in quotation marks or has its opening one.
_LEAKED = re.compile(r"\A(?:(?!<think>).)*(?<![`\"'“])</think>(?![`\"'”])", re.DOTALL)
_LABEL = re.compile(r"\A\s*(?:\*\*)?(?:answer|response|reply)\s*:\s*(?:\*\*)?\s*", re.IGNORECASE)
_TAGGED = re.compile(r"</?evidence\s+number=[\"']?(\d{1,2})[\"']?[^<>]*>", re.IGNORECASE)
_TAGS = re.compile(
    r"</?(?:evidence|question|answer|response|conversation|remembered|rejected)\b[^<>]*>", re.I
)
_MARKER = re.compile(r"\s*(?:[-*+]|\d+[.)])\s+")
_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})", re.MULTILINE)


async def write(
    model: LanguageModel, request: Request, on_text: OnText | None = None, *, every: float = SHOW_SECONDS
) -> Cleaned:
    """Stream an answer; `on_text` is awaited with all of the text so far, cleaned, as it grows.

    Raises the ModelErrors; one that comes after text was shown carries a note that says so.
    """
    fitted = fit(model, request)
    pieces = model.stream(fitted.prompts, temperature=request.temperature, max_tokens=fitted.max_tokens)
    clock = asyncio.get_running_loop().time
    raw = shown = ""
    last = 0.0
    try:
        async for piece in pieces:
            raw += piece
            if on_text is None or clock() - last < every:
                continue
            text = _so_far(raw, fitted.evidence)
            if text and text != shown:
                shown = text
                await on_text(text)
                last = clock()
    except ModelError as error:
        log.warning("%s (%d characters were shown)", error, len(shown))
        if shown:
            error.add_note(f"{len(shown)} characters were shown before.")
        raise
    finally:
        # Without this a cancelled or failing reader would leave the server writing.
        close = getattr(pieces, "aclose", None)
        if close is not None:
            await close()
    return finish(raw, fitted.evidence, cut=getattr(pieces, "finish", "") == "length")


def finish(raw: str, evidence: tuple[Evidence, ...], *, cut: bool = False) -> Cleaned:
    """Turn what a model wrote into an answer: true citations, whole sentences, or the fixed phrase.

    Raises ModelMalformed where nothing is left.
    """
    text = _plain(raw)
    if is_unknown(text):
        return Cleaned(DONT_KNOW)
    cleaned = clean(fill(whole(text) if cut else text), evidence)
    if not re.search(r"\w", cleaned.text):
        raise ModelMalformed("The model wrote nothing that could be shown. Ask again.")
    body = cleaned.text
    if cut:
        body = f"{body}\n…" if body.endswith(("```", "~~~", "|")) else f"{body} …"
    return Cleaned(body, cleaned.citations)


def whole(text: str) -> str:
    """Cut text back to its last whole sentence, list item or line of code; an open fence is closed."""
    fences = list(_FENCE.finditer(text))
    if len(fences) % 2:
        start = fences[-1].start()
        code = text[start:].rstrip("\n").split("\n")
        complete = code if text.endswith("\n") else code[:-1]
        if len(complete) > 1:
            return text[:start] + "\n".join(complete) + "\n" + fences[-1].group(1)
        text = text[:start]
    head, gap, tail = text.rstrip().rpartition("\n")
    if not tail or tail.lstrip().startswith(("```", "~~~")):
        return text.rstrip()
    # An ordinal is no sentence.
    marker = _MARKER.match(tail)
    lead = marker.group() if marker else tail[: len(tail) - len(tail.lstrip())]
    ended = [
        s for s in sentences(tail[len(lead) :]) if re.search(r"[.!?:。！？][\"')\]*_`]*(?:\s*\[\d+\])*$", s)
    ]
    if ended:
        return f"{head}{gap}{lead}{' '.join(ended)}"
    return head.rstrip() if head.strip() else tail.rpartition(" ")[0] or tail


def _plain(raw: str) -> str:
    """Take away thinking, labels and tags that are no part of an answer."""
    text = _LABEL.sub("", _LEAKED.sub("", raw)).strip()
    if "<" in text:
        text = _TAGS.sub("", _TAGGED.sub(r"[\1]", text)).strip()
    fenced = re.fullmatch(r"```(?:markdown|md)\n(.*?)\n?```", text, re.DOTALL)
    return fenced.group(1).strip() if fenced and "```" not in fenced.group(1) else text


def _so_far(raw: str, evidence: tuple[Evidence, ...]) -> str:
    return clean(fill(settled(without_unfinished(_plain(raw)))), evidence).text
