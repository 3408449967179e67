"""Write an answer from evidence with the language model; show and keep of it only what the evidence bears."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial

from core.errors import ModelError, ModelInterrupted, ModelMalformed
from core.generation.calculator import fill, without_unfinished, worked_out
from core.generation.checked.checks import checker_of
from core.generation.checked.code import defined
from core.generation.checked.raw import (
    asks,
    echoes,
    is_unknown,
    plain,
    polite,
    recites,
    says_lack,
    unrepeated,
    worded,
)
from core.generation.checked.sources import recited, tellers
from core.generation.checked.statements import (
    Statement,
    attributed,
    cites,
    drafted,
    ended,
    joined,
    leaning,
    left_off,
    once,
    said,
    settled,
    statements,
    whole,
    with_last,
    without,
)
from core.generation.citations import Cleaned, bracketed, clean
from core.generation.context.fitting import ANSWER_TOKENS, Fitted, Request, fit, renumbered
from core.generation.quotes.blocks import closed
from core.languages import _, told_name
from core.ports import LanguageModel
from core.prompts import DONT_KNOW, wrong_citations, wrong_language
from core.text.code_language import fenced

__all__ = ["ANSWER_TOKENS", "OnText", "Request", "write"]

log = logging.getLogger(__name__)

OnText = Callable[[str], Awaitable[None]]
Objection = Callable[[str], Awaitable[str]]
"""Says what speaks against an answer as a whole, in words for the model; empty where nothing does."""

SHOW_SECONDS = 0.1
"""Least time between two looks at a growing answer; platforms show far fewer."""
_NAMED_FAULTS = 6
"""Faults that a model is told of; a small one heeds no more."""
_REPAIR_TEMPERATURE = 0.2
_TOKENS_FOR_ONE = 3
"""Tokens of context for each character that is shown of what is to be mended: all of it at 8,192. Ours."""
_JUDGED_LANGUAGE = 60
"""Characters of prose from which its language is told."""
_LEAST_KEPT = 0.5
"""Share of its statements that must be left for an answer to be shown at all; ours."""
_MARKS = re.compile(r"\[\d+\]")


@dataclass(frozen=True, slots=True)
class _Raw:
    """What a model wrote, whether room ran out, the stream broke or it ran in a loop, and what was shown."""

    text: str
    cut: bool = False
    broken: ModelError | None = None
    shown: str = ""
    looped: bool = False


@dataclass(frozen=True, slots=True)
class _Judged:
    """What of an answer may be shown, and what is wrong with it in words for the model."""

    cleaned: Cleaned
    told: tuple[Statement, ...]
    faults: tuple[str, ...] = ()
    draft: str = ""
    unknown: bool = False
    foreign: str = ""
    objected: bool = False
    lost: int = 0
    cut: bool = False
    beheaded: bool = False
    """Whether its first statement is left out: what answers."""
    halved: bool = False  # whether code, or more than a third of it, is left out

    @property
    def is_shown(self) -> bool:
        """Return True if enough is left for an answer."""
        enough = self.told and self.lost <= _LEAST_KEPT * (self.lost + len(self.told))
        return bool(enough) and not self.objected and any(re.search(r"\w", one.text) for one in self.told)


_UNKNOWN = _Judged(Cleaned(DONT_KNOW), (), unknown=True)


class Writer:
    """Writes one answer: streams what passes, has it mended once, and keeps the best that is honest."""

    def __init__(
        self,
        model: LanguageModel,
        request: Request,
        on_text: OnText | None,
        every: float,
        objection: Objection | None,
    ) -> None:
        self._model = model
        self._request = request = renumbered(request)
        self._on_text = on_text
        self._every = every
        self._objection = objection
        self._fitted = fit(model, request)
        self._checker = checker_of(request)
        self._checked = cache(self._checker.faults)
        self._recited = cache(partial(recited, self._checker))

    async def written(self) -> Cleaned:
        """Return the answer; raises the ModelErrors, ModelMalformed where nothing may be shown."""
        raw = await self._streamed(self._fitted, self._on_text)
        if raw.broken and not raw.shown:
            raw = await self._streamed(self._fitted, self._on_text)
            if raw.broken and not raw.shown:
                raise raw.broken
        first = await self._judged(raw)
        if raw.broken or not first.faults:
            return self._settled(first, raw.broken)
        log.info("the answer is written once more", extra={"faults": len(first.faults)})
        again = await self._mended(first)
        best = self._better(first, again) if again else first
        is_other = not first.lost or first.foreign or first.objected or first.cut
        is_less = not is_other and 3 * len(best.told) < 2 * (len(first.told) + first.lost)
        return self._settled(replace(best, halved=best.halved or is_less))

    # --- one draft --------------------------------------------------------------------------------

    async def _streamed(self, fitted: Fitted, on_text: OnText | None) -> _Raw:
        """Have it written; what is whole and passes every check is shown as it grows."""
        pieces = self._model.stream(
            fitted.prompts, temperature=self._request.temperature, max_tokens=fitted.max_tokens
        )
        clock = asyncio.get_running_loop().time
        raw = shown = ""
        last, held = 0.0, on_text is None or self._objection is not None
        try:
            async for piece in pieces:
                raw += piece
                if clock() - last < self._every:
                    continue
                last = clock()
                if (first := unrepeated(raw)) != raw:
                    log.warning("%s repeated itself and was stopped", self._model.name)
                    return _Raw(first, True, None, shown, True)
                told = [] if held else self._told(ended(self._body(settled(without_unfinished(raw)))))
                while told[1:] and says_lack(told[-1].text):  # a second search may find it
                    told.pop()
                held = held or recites(raw) or not self._passes(told)
                if on_text is None or held or not told:
                    continue
                cleaned = clean(joined(told), self._fitted.evidence)
                if cleaned.citations and cleaned.text != shown:
                    shown = cleaned.text
                    await on_text(shown)
        except ModelInterrupted as error:
            log.warning("%s (%d characters were shown)", error, len(shown))
            return _Raw(raw, True, error, shown)
        finally:
            # Without this a cancelled or failing reader would leave the server writing.
            if (close := getattr(pieces, "aclose", None)) is not None:
                await close()
        first = unrepeated(raw)
        looped = first != raw
        return _Raw(first, looped or getattr(pieces, "finish", "") == "length", None, shown, looped)

    def _body(self, raw: str) -> str:
        pages = [item.chunk.text for item in self._request.evidence]
        return worded(bracketed(fill(fenced(closed(plain(raw)))), self._fitted.evidence), pages)

    def _told(self, text: str) -> list[Statement]:
        """Return the statements of an answer that tell something, each with the pages that hold it."""
        told = statements(text)
        asked = (self._request.question, self._request.original)
        idle = [
            at
            for at, one in enumerate(told)
            if polite(one.text) or asks(one.text) or (one.kind != "code" and echoes(one.text, asked))
        ]
        return [replace(one, text=self._recited(one.text)) for one in without(told, idle)]

    def _passes(self, told: Sequence[Statement]) -> bool:
        """Return True if the beginning of an answer may be shown."""
        return not (
            (told and says_lack(told[0].text))
            or len(once(told)) < len(told)
            or self._faults(told)
            or self._language(joined(told))
        )

    def _faults(self, told: Sequence[Statement]) -> dict[int, tuple[str, ...]]:
        """Return what is wrong with statements, by their places."""
        own = frozenset[str]().union(*(defined(one.text) for one in told if one.kind == "code"))
        each = (self._checked(one.text, own, last) for one, last in with_last(told))
        return {at: wrong for at, wrong in enumerate(each) if wrong}

    def _language(self, text: str) -> str:
        """Return the language that an answer is in where it is not the asker's; empty otherwise."""
        speaks, wanted = self._request.speaks, self._request.code
        if speaks is None or not wanted or len(_MARKS.sub("", text)) < _JUDGED_LANGUAGE:
            return ""
        found = speaks(text)
        return found if found != wanted else ""

    # --- what is wrong with it --------------------------------------------------------------------

    async def _judged(self, raw: _Raw) -> _Judged:
        for expression, result in worked_out(raw.text):
            self._checker.allow(expression, result)
        text = self._body(raw.text)
        if is_unknown(text):
            return _UNKNOWN
        told = once(self._told(whole(text) if raw.cut else text))
        found = self._faults(told)
        kept = without(told, {*found, *leaning(told, found)}) or without(told, found)
        faults = [f"Number {number}: {' '.join(some[:2])}" for number, some in enumerate(found.values(), 1)]
        cleaned = clean(joined(kept), self._fitted.evidence)
        cited, there = cites(told), [item.number for item in self._fitted.evidence]
        if recites(raw.text) or (raw.looped and not cited & {*there}):
            return _Judged(Cleaned(""), ())  # to ask once more leads into the next loop
        beyond, is_bare = sorted(cited - {*there}), bool(kept) and not cleaned.citations
        held = attributed(kept, partial(tellers, self._checker)) if is_bare else kept
        is_clear = self._checker.alike and not found and not cited and len(held) == len(kept)
        if (is_bare and not is_clear and not (found and cited & {*there})) or (found and beyond):
            faults.insert(0, wrong_citations(beyond, there))
        kept = held
        foreign = self._language(text)
        if foreign:  # what its words lack of the evidence's follows from it
            found, faults = {}, [wrong_language(self._request.language)]
        objection = await self._objection(joined(kept)) if self._objection and kept else ""
        if objection:
            faults = [objection]
        return _Judged(
            cleaned,
            tuple(kept),
            tuple(faults[:_NAMED_FAULTS]),
            "" if objection else drafted(told, found, self._model.context_tokens // _TOKENS_FOR_ONE),
            foreign=foreign,
            objected=bool(objection),
            lost=len(told) - len(kept),
            cut=raw.cut,
            beheaded=0 in found,
            halved=any(told[at].kind == "code" for at in found) or 3 * (len(told) - len(kept)) > len(told),
        )

    async def _mended(self, first: _Judged) -> _Judged | None:
        """Have it written once more with its faults named; None where the model fails."""
        temperature = min(self._request.temperature, _REPAIR_TEMPERATURE)
        request = replace(self._request, faults=first.faults, previous=first.draft, temperature=temperature)
        try:
            raw = await self._streamed(fit(self._model, request), None)
        except ModelError as error:
            log.info("it was not repaired: %s", error)
            return None
        return await self._judged(raw)

    def _better(self, first: _Judged, again: _Judged) -> _Judged:
        """Choose between two drafts: the second where it has no faults, or fewer that are left out.

        One that is only the lesser part of a first draft without what answered there answers nothing.
        """
        if first.beheaded and again.is_shown and not first.is_shown and said(again.told) <= said(first.told):
            return _UNKNOWN
        if again.unknown:
            return first if first.is_shown and not (first.foreign or first.beheaded) else again
        if not again.faults or not first.is_shown or (first.foreign and not again.foreign):
            return again
        return again if again.is_shown and again.lost <= first.lost else first

    # --- what is shown of it ----------------------------------------------------------------------

    def _settled(self, best: _Judged, broken: ModelError | None = None) -> Cleaned:
        """Return what may be shown; raises ModelMalformed where that is nothing."""
        if best.unknown:
            return best.cleaned
        if best.objected:
            return Cleaned("", repeats=True)
        cleaned = clean(joined(best.told), self._fitted.evidence)
        if not best.is_shown or not cleaned.citations:
            raise ModelMalformed("What the model wrote is not in the pages, so I quote them.")
        text = cleaned.text
        if best.foreign:
            if best.foreign != self._request.documented:
                raise ModelMalformed("The model wrote in another language, so the pages are quoted.")
            told = _("The model answered in {language}:").format(language=told_name(best.foreign))
            text = f"{told}\n\n{text}"
        remarks = [_("The model broke off here.")] if broken else []
        text = left_off(text) if best.cut and not broken else text
        remarks += [_("Part of what the model wrote is left out, as the pages do not say it.")] * best.halved
        return Cleaned("\n\n".join([text, *(f"*{one}*" for one in remarks)]), cleaned.citations)


async def write(
    model: LanguageModel,
    request: Request,
    on_text: OnText | None = None,
    *,
    every: float = SHOW_SECONDS,
    objection: Objection | None = None,
) -> Cleaned:
    """Write an answer; `on_text` is awaited with all of the text so far that passes, as it grows.

    What the evidence does not bear is written once more with its faults named, then left out. Raises the
    ModelErrors, ModelMalformed where nothing is left.
    """
    return await Writer(model, request, on_text, every, objection).written()
