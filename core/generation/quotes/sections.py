"""Sections of pages as one question sees them: what they are worth, and what of them is to be quoted."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from core.domain import Evidence
from core.generation.quotes.stretches import Stretch, marked
from core.generation.quotes.titles import last_heading
from core.retrieval.features import is_name
from core.retrieval.release_notes.notes import is_version, version_of
from core.text.words import one_line


@dataclass(frozen=True, slots=True)
class Limits:
    """How much of a section is quoted, in characters, of which those of code count half.

    `whole`: up to which all of it is; `goal`: up to which a part grows by what bears on the question;
    `most`: up to which it grows by what it is not understood without, and by its code; `begun`: up to which
    it begins where the section does. All ours.
    """

    whole: int
    goal: int
    most: int
    begun: int


FULL = Limits(1_100, 450, 1_200, 1_200)
BRIEF = Limits(300, 250, 600, 300)
"""Where several sections are quoted."""
DOUBT = Limits(750, 250, 600, 300)
"""Where the best section hardly holds the question: a part of it may well be the wrong one."""
GLANCE = Limits(200, 150, 450, 150)
"""Of what stands beside the first section where it hardly is the answer: enough to see whether it is that."""
_CODE = 0.5
"""What a character of code counts: it is seen at a glance, and half of it is of no use."""
BEGINNING = 300
"""Characters in which an entry tells its default, or what it is; ours."""
_FITS = 0.5
"""How well a heading is what is asked from which on its section is quoted from the beginning; ours."""
_LEANT = 400
"""Characters of what stands before what leans on it that are quoted even where there is no room; ours."""
_FAR, _BEFORE = 0.6, 0.1
"""What it counts against code that it is a stretch away from what answers, and that it is before it; ours."""
_BEARS = 0.4
"""Share of the best stretch's score that bears on the question, too; ours."""
_LACKS = 0.12
"""Share of the question that a stretch adds to what is quoted of its section, and is quoted for; ours."""
_ALIKE = 0.7
"""What a stretch may be worth less than the best of its section and be about as likely; ours."""
_TROUBLE = re.compile(
    r"\b(?:common (?:mistake|pitfall|problem)|pitfall|you may (?:encounter|get|see|run into)"
    r"|error (?:is|will be) raised|error (?:that )?occurs|experience an? error|raises? (?:an )?errors?"
    r"|subject to (?:this|these) errors?|(?:this |the |` )errors? (?:indicates?|means?|happens?|comes?)\b"
    r"|users? (?:seeing|who (?:see|encounter))|the problem)\b",
    re.IGNORECASE,
)
_REMEDY = re.compile(
    r"\b(?:(?:common|possible|simple|easy) solution|the solution"
    r"|(?:to|you can|can be) (?:solve|fix|avoid|prevent|resolve|work around)|work-?around"
    r"|instead,? you (?:should|can|need)"
    r"|should (?:fit|look|read|be written)|may be used|to allow)\b",
    re.IGNORECASE,
)
_OLD_CODE = re.compile(
    r"\b(?:previous|old|former) (?:code|syntax|way)\b"
    r"|\binstead of (?:the following|this|writing|doing)\b[^.:]{0,60}:"
    r"|^(?:before|wrong|bad|do not|don['’]t)\b[^.:]{0,40}:",
    re.IGNORECASE | re.MULTILINE,
)
_NEW_CODE = re.compile(
    r"\buse instead\b|\b(?:use|do|write|try) (?:this|the following|it)\b[^.:]{0,30}:"
    r"|\bnew (?:code|syntax|way)\b|^(?:after|right|good|do|instead)\b[^.:]{0,40}:",
    re.IGNORECASE | re.MULTILINE,
)
"""What introduces code as it should not be written any more, and as it should."""
_ENDS = re.compile(
    r"[*_]{0,2}(?:(?:note|warning|caution|important|attention)\b[*_:.! ]{0,4})?"
    r"(?:(?:this|these)\b(?! (?:keyword )?(?:arg|param))(?: [\w`.()-]+){0,4}"
    r" (?:is|are|was|were|has been|have been)(?: (?:now|strongly|officially|considered))?"
    r" (?:deprecated|obsolete|discouraged|superseded|unmaintained)\b"
    r"|deprecated\b(?! (?:aliases|apis?|arguments|features|functions|methods|names|options|parameters)\b)"
    r"(?!(?: (?:since|in)\b[^:\n]{0,60})?:? (?:the )?[`*\w.]+(?: and [`*\w.]+)? (?:arg|keyword|param)))",
    re.IGNORECASE,
)
"""What says of the thing that an entry is about that it should not be used any more."""
_NAMED = re.compile(r"[A-Za-z]{2}[_.:]{1,2}\w|\w\(|(?:^|\s)(?:--?[a-z]|(?!macOS|iOS)[a-z]\w{0,40}[A-Z])")
"""A thing in code in a heading: "PRAGMA case_sensitive_like"."""
_REMEDIED = 1.4
"""How much more than usual is quoted for a remedy to be in it; ours."""


@dataclass(frozen=True, slots=True)
class Whole:
    """All that stands in a section, and how near each window of it is to the question (a cosine)."""

    text: str
    near: Sequence[tuple[str, float]] = ()


@dataclass(frozen=True, slots=True)
class Section:
    """A section's stretches for one question: their scores, and which of its terms they hold.

    `worth` says how likely the answer is quoted with each stretch, `scores` how much it bears on the
    question by its words. `pasted` are stretches with code that the question itself shows, `pointing` those
    that only point elsewhere or ask. `standing` is the page's share of the best page's score, `fitting` how
    well the heading is what is asked; an `entry` is that of a setting which the question names.
    """

    evidence: Evidence
    found: Sequence[Stretch]
    worth: Sequence[float]
    scores: Sequence[float]
    held: Sequence[set[str]]
    pasted: frozenset[int]
    pointing: frozenset[int]
    standing: float
    fitting: float
    entry: bool
    shares: Mapping[str, float] = field(default_factory=dict)

    @property
    def best(self) -> int:
        """Return the stretch that most likely answers."""
        return max(range(len(self.worth)), key=lambda n: (self.worth[n], self.scores[n]))

    @property
    def value(self) -> float:
        """Return what the section is worth beside others."""
        return self.worth[self.best]

    def holds(self, picked: Iterable[int]) -> set[str]:
        """Return the terms of the question that these stretches hold."""
        return set().union(*(self.held[n] for n in picked))

    def says(self, picked: Iterable[int]) -> set[str]:
        """Return what these stretches say outside of code."""
        return {one_line(self.found[n].said) for n in picked}

    def size(self, picked: Iterable[int]) -> int:
        """Return the characters that these stretches take."""
        return sum(self.found[n].length for n in picked)

    def lists_after(self, at: int) -> bool:
        """Return True if a stretch is an item of a list that is introduced and goes on after it."""
        both = self.found[at : at + 2]
        return len(both) == 2 and all(one.blocks[0].introduced for one in both)

    @property
    def marked(self) -> list[int]:
        """Return the stretches that tell since which version something is so."""
        return [n for n, one in enumerate(self.found) if marked(one)]

    @property
    def ended(self) -> set[int]:
        """Return the longest paragraph that says of what the section is about that it is deprecated."""
        name = last_heading(self.evidence.chunk.title, self.evidence.chunk.heading)
        if not _NAMED.search(name) and self.fitting < _FITS:
            return set()
        blocks = (one.blocks[0] for one in self.found)
        said = [block.kind == "paragraph" and _ENDS.match(block.text) is not None for block in blocks]
        told = {n: one.length for n, one in enumerate(self.found) if said[n] and one.length <= _LEANT}
        return {max(told, key=lambda n: told[n])} if told else set()

    @property
    def _is_notes(self) -> bool:
        """Return True for what a release brings, of which each item is a thing of its own."""
        chunk = self.evidence.chunk
        return bool(version_of(f"{chunk.title} > {chunk.heading}"))

    @property
    def _begins(self) -> bool:
        """Return True if it begins with a few words on what it is about, and its heading is asked for."""
        first = self.found[0]
        tells = first.length <= BEGINNING and not (first.stands_alone or self._is_notes)
        return tells and self.fitting > 0

    def _first(self) -> int:
        """Return the first stretch that answers about as likely as the best."""
        return next(n for n, worth in enumerate(self.worth) if worth >= self.value - _ALIKE)

    def picked(self, limits: Limits, early: bool = False, whole: bool = False) -> list[int]:
        """Return the stretches to quote, in order: all of a short section, else what holds the answer.

        With `early` it begins with the first stretch that is about as likely as the best, with `whole` where
        the section does.
        """
        found, at = self.found, self.best
        chunk = self.evidence.chunk
        is_api = _is_api(chunk.title, chunk.heading) and not found[0].stands_alone
        if whole and (is_api or not found[at].stands_alone):
            at = next((n for n in range(len(found)) if n not in self.pointing), at)
        is_short = self._counted(range(len(found))) <= limits.whole
        if found[at].stands_alone and not (is_short and self.entry):
            items = self._with_others(at, limits)
            return [0, *items] if is_api and found[0].length <= BEGINNING and 0 not in items else items
        at = self._first() if early else at
        if is_short:
            return list(range(len(found)))
        kept = self._understood(at, limits)
        # what follows a message that was pasted says what to do about it
        if at in self.pasted and at + 1 < len(found) and self._counted(kept | {at + 1}) <= limits.most:
            kept.add(at + 1)
        kept |= self._remedy_for(at, limits)
        kept |= self._code_for(kept, at, limits)
        if (self.fitting >= _FITS or is_api) and self._counted(kept | {0}) <= limits.most:
            kept.add(0)
        kept |= self._points_after(kept, limits)
        # what follows explains, also what code before it says; what stands before it only leads there
        while (after := max(kept) + 1) < len(found):
            bears = self.scores[after] >= _BEARS * self.scores[at] or found[after].leans
            bears = bears or found[at].announces
            most = limits.most if limits is not GLANCE and self._conditions(after) else limits.goal
            if not (bears or most > limits.goal) or self._counted(kept | {after}) > most:
                break
            kept.add(after)
        if self._counted(kept | set(range(max(kept)))) <= limits.begun:
            kept |= set(range(max(kept)))
        kept |= {n + 1 for n in kept if self._is_old_code_before_new(n)}
        kept |= set() if whole else self._lacking(kept, limits)
        kept |= self.ended if limits in (FULL, DOUBT) else set()
        if limits is FULL and self._begins and self._counted(kept | {0}) <= limits.most:
            kept.add(0)
        return sorted(kept | {n for n, one in enumerate(found) if one.tells_default})

    def _with_others(self, at: int, limits: Limits) -> list[int]:
        """Return an item with those of its list that hold what else is asked, in order; of notes it alone."""
        picked = [at]
        if self.found[at].is_row or self._is_notes:
            return picked
        first = last = at
        while first and self.found[first - 1].stands_alone:
            first -= 1
        while last + 1 < len(self.found) and self.found[last + 1].stands_alone:
            last += 1
        items = [n for n in range(first, last + 1) if not self.found[n].is_row]
        for n in sorted(items, key=lambda n: -self.worth[n]):
            more = self.held[n] - self.holds(picked)
            adds = sum(self.shares.get(term, 0.0) for term in more) >= _LACKS
            if adds and self._counted([*picked, n]) <= limits.goal:
                picked.append(n)
        return sorted(picked)

    def _lacking(self, kept: set[int], limits: Limits) -> set[int]:
        """Return the stretch that holds most of what is asked and not in those kept, where that is a lot."""
        held = self.holds(kept)

        def adds(n: int) -> float:
            return sum(self.shares.get(term, 0.0) for term in self.held[n] - held)

        others = [
            n for n, one in enumerate(self.found) if n not in kept | self.pointing and not one.stands_alone
        ]
        best = max(others, key=lambda n: (round(adds(n), 3), self.worth[n]), default=-1)
        if best < 0 or adds(best) < _LACKS or self.found[best].leans or self.found[best].length > _LEANT:
            return set()
        return {best} if self._counted(kept | {best}) <= limits.most else set()

    def _conditions(self, at: int) -> bool:
        """Return True for a paragraph that says what must be so for what stands before it to hold."""
        one = self.found[at]
        return not one.stands_alone and not one.has_code and one.length <= _LEANT and one.requires

    def _is_old_code_before_new(self, at: int) -> bool:
        """Return True for a stretch whose code is outdated, where the next one has what to write instead."""
        pair = self.found[at : at + 2]
        both = len(pair) == 2 and all(one.has_code for one in pair)
        return both and bool(_OLD_CODE.search(pair[0].said) and _NEW_CODE.search(pair[1].said))

    def _remedy_for(self, at: int, limits: Limits) -> set[int]:
        """Return what follows a stretch that tells of trouble, up to what says what to do about it."""
        if not _TROUBLE.search(self.found[at].said):
            return set()
        most = FULL.most if limits is DOUBT else limits.most
        for end in range(at + 1, len(self.found)):
            if self._counted(range(at, end + 1)) > _REMEDIED * most:
                break
            if _REMEDY.search(self.found[end].said):
                return set(range(at, end + 1))
        return set()

    def _points_after(self, kept: set[int], limits: Limits) -> set[int]:
        """Return the list behind what is kept, whole, in a section that is named after what is asked."""
        start = end = max(kept) + 1
        while end < len(self.found) and self.found[end].stands_alone:
            end += 1
        fits = self.fitting >= _FITS and self._counted(kept | set(range(start, end))) <= limits.most
        return set(range(start, end)) if fits else set()

    def _code_for(self, kept: set[int], at: int, limits: Limits) -> set[int]:
        """Return the stretch of the section's code that goes with those kept, unless they have some."""
        coded = [n for n, one in enumerate(self.found) if one.has_code and n not in self.pasted]
        if kept & set(coded):
            return set()
        coded.sort(key=lambda n: _FAR * (abs(n - at) - 1) + _BEFORE * (n < at) - self.scores[n])
        for n in coded:
            more = self._understood(n, limits, near=False)
            if self._counted(kept | more) <= limits.most:
                return more
        return set()

    def _understood(self, at: int, limits: Limits, near: bool = True) -> set[int]:
        """Return a stretch with those before it that it leans on, as far as there is room or it is `near`."""
        start = at
        while start and self.found[start].leans:
            is_near = near and start == at and self.found[at - 1].length <= _LEANT and limits is not GLANCE
            if not is_near and self._counted(range(start - 1, at + 1)) > limits.most:
                break
            start -= 1
        return set(range(start, at + 1))

    def _counted(self, picked: Iterable[int]) -> float:
        told = (n for n in picked if not self.found[n].announces)
        blocks = (block for n in told for block in self.found[n].blocks)
        return sum(len(block.text) * (_CODE if block.kind == "code" else 1.0) for block in blocks)


def _is_api(title: str, heading: str) -> bool:
    """Return True if a section is named after a thing in code: it says first what that is."""
    name = last_heading(title, heading)
    return is_name(name) and not is_version(name)
