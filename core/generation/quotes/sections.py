"""Sections of pages as one question sees them: what they are worth, and what of them is to be quoted."""

from __future__ import annotations

import math
import re
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from core.domain import Evidence
from core.generation.quotes.blocks import headings, last_heading, terms
from core.generation.quotes.stretches import Stretch, begun, marked, stretches
from core.generation.quotes.tables import row_for
from core.retrieval.features import is_name
from core.retrieval.release_notes.notes import is_version
from core.text.words import STOP_WORDS, one_line


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
GLANCE = Limits(200, 150, 350, 150)
"""Of what stands beside the first section where it hardly is the answer: enough to see whether it is that."""
_CODE = 0.5
"""What a character of code counts: it is seen at a glance, and half of it is of no use."""
WEIGHTS: Mapping[str, float] = {
    "standing": 5.3,
    "near": 5.3,
    "held": 6.1,
    "named": -0.7,
    "parts": -0.4,
    "points": -1.9,
    "marked": -0.6,
}
"""What makes it likely that the answer is quoted with a stretch, as logarithms of odds (decisions, G-42).

`standing`: the page's share of the best page's score; `near`: the best cosine of a window that begins in
the stretch; `held`: the share of the question's weight that it holds with its code and headings; `named`: the
section is named after a thing in code; `parts`: the logarithm of the number of its stretches; `points`: it
only points elsewhere or asks; `marked`: it tells of a version. Fitted by listwise softmax on 286 questions
about five products.
"""
_OWN = 3.0
"""What the entry of a setting in the question is worth more: as much as half of its words; ours."""
_OF_DEFAULT = 3.0
"""What that entry is worth more still where its default is asked for; ours."""
_TELLS_DEFAULT = 1.0
"""What any section that begins with its default is worth more then; ours."""
_HEADING_SHARE, _CODE_SHARE = 0.6, 0.6
_BEGINNING = 300
"""Characters in which an entry tells its default, or what it is; ours."""
_FITS = 0.5
"""How well a heading is what is asked from which on its section is quoted from the beginning; ours."""
_PASTED, _PASTED_TERMS = 0.6, 6
"""Share of the question's weight, and its terms, in code that the question itself shows; ours."""
_LEANT = 400
"""Characters of what stands before what leans on it that are quoted even where there is no room; ours."""
_FAR, _BEFORE = 0.6, 0.1
"""What it counts against code that it is a stretch away from what answers, and that it is before it; ours."""
_BEARS = 0.4
"""Share of the best stretch's score that bears on the question, too; ours."""
_ALIKE = 0.7
"""What a stretch may be worth less than the best of its section and be about as likely; ours."""
_NO_CELL = 100.0
"""What it counts against a row of a long table that the question does not ask for; ours."""

_TROUBLE = re.compile(
    r"\b(?:common (?:mistake|pitfall|problem)|pitfall|you may (?:encounter|get|see|run into)"
    r"|error (?:is|will be) raised|error (?:that )?occurs|experience an? error|raises? (?:an )?errors?"
    r"|subject to (?:this|these) errors?"
    r"|users? (?:seeing|who (?:see|encounter))|the problem)\b",
    re.IGNORECASE,
)
_REMEDY = re.compile(
    r"\b(?:(?:common|possible|simple|easy) solution|the solution"
    r"|to (?:solve|fix|avoid|prevent|resolve|work around)|work-?around|instead,? you (?:should|can|need)"
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
_REMEDIED = 1.4
"""How much more than usual is quoted for a remedy to be in it; ours."""
_DEFAULT = re.compile(r"[*_]{0,2}default(?: value)?s?[*_]{0,2}:[*_]{0,2} (?=.*\w).{1,100}", re.IGNORECASE)
"""How a setting's entry says what it is as long as nobody sets it."""
_ONE_NAME = re.compile(r"[a-z][a-z\d]*(?:-[a-z\d]+)+|[a-z][a-z\d]*[A-Z][A-Za-z\d]*")
"""A heading that is one name with hyphens or capitals: `ci-name`, `bodyLimit`."""
_GLOSSARY = re.compile(r"\b(?:glossary|terminology|vocabulary)\b", re.IGNORECASE)
_ASKED_AFTER = re.compile(
    r"\bwhat(?:['’]?s|\s(?:is|are))\s(?:(?:an?|the|this|that|these|all)\s){0,2}(?P<is>[\w.-]{1,30}(?:\s[\w.-]{1,30})?)"
    r"(?:\s(?:things?|stuff))?(?=\W{0,9}(?:$|\n)|[?.!,;]|\s(?:that|which|exactly|anyway|actually)\b)"
    r"|\bwhat\sdo(?:es)?\s(?:(?:an?|the)\s)?(?P<does>[\w.-]{1,30}(?:\s[\w.-]{1,30})?)\smean\b"
    r"|\b(?:meaning\sof|define)\s(?:(?:an?|the)\s)?(?P<of>[\w-]{1,30})"
    r"|(?<![\w-])(?P<before>[\w-]{1,30})[\s.,:]{1,4}meaning\b",
    re.IGNORECASE,
)
"""How it is asked what a word means."""


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
            return [0, at] if is_api and found[0].length <= _BEGINNING else [at]
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
        return sorted(kept | {n for n, one in enumerate(found) if one.tells_default})

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
        for end in range(at + 1, len(self.found)):
            if self._counted(range(at, end + 1)) > _REMEDIED * limits.most:
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


@dataclass(frozen=True, slots=True)
class Read:
    """A stretch with what is known of it whatever is asked.

    `places` tells where each term stands in what it says, `code` which terms its code has, `points` whether
    it only points elsewhere or asks.
    """

    stretch: Stretch
    places: Mapping[str, Sequence[int]]
    code: frozenset[str]
    points: bool
    is_marked: bool
    has_code: bool

    @classmethod
    def of(cls, stretch: Stretch) -> Read:
        """Read a stretch."""
        places: dict[str, list[int]] = {}
        for at, term in enumerate(terms(stretch.said)):
            places.setdefault(term, []).append(at)
        code = frozenset(terms(" ".join(block.text for block in stretch.blocks if block.kind == "code")))
        kept = {term: tuple(some) for term, some in places.items()}  # which the garbage collector passes over
        return cls(stretch, kept, code, stretch.points, bool(marked(stretch)), stretch.has_code)

    def order(self, wanted: Iterable[str]) -> list[str]:
        """Return the terms of the question that it says, in its order."""
        return [term for _at, term in sorted((at, t) for t in wanted for at in self.places.get(t, ()))]


@lru_cache(maxsize=1024)
def _read(section: str) -> tuple[list[Stretch], list[Read]]:
    """Return the stretches of a section, as they are and as they were read."""
    found = stretches(section)
    return found, [Read.of(stretch) for stretch in found]


@lru_cache(maxsize=1024)
def _begun(section: str, windows: tuple[str, ...]) -> tuple[tuple[int, ...], ...]:
    """Return for each window in which stretches of a section it begins."""
    return begun(_read(section)[0], windows)


@lru_cache(maxsize=4096)
def _headed(title: str, heading: str) -> tuple[frozenset[str], frozenset[str], str]:
    """Return the terms of title and headings, those of the last heading that tell something, and itself."""
    name = last_heading(title, heading)
    telling = frozenset(term for term in terms(name) if term not in STOP_WORDS)
    return frozenset(terms(headings(title, heading, whole=True))), telling, name


def _is_api(title: str, heading: str) -> bool:
    """Return True if a section is named after a thing in code: it says first what that is."""
    name = last_heading(title, heading)
    return is_name(name) and not is_version(name)


def weighed(
    item: Evidence,
    whole: Whole,
    wanted: Mapping[str, float],
    asked: Sequence[str],
    standing: float,
    is_entry_wanted: bool = False,
    is_default_wanted: bool = False,
    meant: frozenset[str] = frozenset(),
) -> Section:
    """Weigh a section by the question's terms: `wanted` with their weights, `asked` in order.

    `is_entry_wanted` tells that the entry of a setting goes before what else is said of it,
    `is_default_wanted` that what it is without being set is asked for; `meant` are the terms of a word of
    which the meaning is asked for.
    """
    found, read = _read(whole.text)
    total = sum(wanted.values()) or 1.0
    chunk = item.chunk
    above, last, name = _headed(chunk.title, chunk.heading)
    heading = wanted.keys() & above
    # how well the heading is what is asked, both ways
    fitting = _share(last, wanted) * len(last & wanted.keys()) / len(last) if last else 0.0
    of_all = {
        "standing": standing,
        "named": float(is_name(name)),
        "parts": math.log(len({one.within or n for n, one in enumerate(found)}) or 1),
    }
    entry = is_entry_wanted and name != one_line(chunk.title) and _is_entry(name, wanted)
    entry = entry or bool(meant and _defines(chunk.title, name, meant))
    own = _OWN * entry
    if is_default_wanted:
        own += _OF_DEFAULT * entry + _TELLS_DEFAULT * bool(_DEFAULT.search(whole.text[:_BEGINNING]))
    bigrams = set(pairwise(asked))
    worth: list[float] = []
    scores: list[float] = []
    held: list[set[str]] = []
    pasted, pointing = set[int](), set[int]()
    for one, near in zip(read, _nearness(whole, len(found)), strict=True):
        order = one.order(wanted)
        here = set(order)
        shown = wanted.keys() & one.code
        inside = shown - here - heading
        points, is_marked = one.points, one.is_marked
        signs = {
            **of_all,
            "near": near,
            "held": sum(wanted[t] for t in here | inside | heading) / total,
            "points": float(points),
            "marked": float(is_marked),
        }
        no_cell = one.stretch.is_row and row_for(one.stretch.text, " ".join(asked)) is None
        known = sum(weight * signs[name] for name, weight in WEIGHTS.items())
        worth.append(known + own - _NO_CELL * no_cell)
        score = sum(wanted[t] for t in here)
        score += _HEADING_SHARE * sum(wanted[t] for t in heading - here)
        score += _CODE_SHARE * sum(wanted[t] for t in inside)
        score /= total
        score += 0.1 * sum(pair in bigrams for pair in pairwise(order)) / max(1, len(asked))
        score += 0.05 * one.has_code
        score *= (0.3 if points else 1.0) * (0.5 if is_marked else 1.0)
        pointing |= {len(scores)} if points else set()
        if len(shown) >= _PASTED_TERMS and sum(wanted[t] for t in shown) >= _PASTED * total:
            pasted.add(len(scores))
        scores.append(score)
        held.append(here | inside | heading)
    at = frozenset(pasted), frozenset(pointing)
    return Section(item, found, worth, scores, held, *at, standing, fitting, entry)


def _nearness(whole: Whole, count: int) -> list[float]:
    """Return for each stretch how near the nearest window is that begins in it, 0 where none does."""
    best = [0.0] * count
    windows = tuple(window for window, _cosine in whole.near)
    for (_window, cosine), places in zip(whole.near, _begun(whole.text, windows), strict=True):
        for at in places:
            best[at] = max(best[at], cosine)
    return best


def _is_entry(heading: str, wanted: Container[str]) -> bool:
    """Return True if a heading is a setting or an option that the question names."""
    name = heading.strip("`").partition(" ")[0].lower()
    is_one = name.startswith("--") or ("_" in name and name.replace("_", "").isalnum())
    return (is_one or bool(_ONE_NAME.fullmatch(heading.strip("`")))) and name in wanted


def asked_after(question: str) -> frozenset[str]:
    """Return the terms of the word of which a question asks what it is or means: "whats this kombu thing"."""
    found = (match[match.lastgroup or 0] for match in _ASKED_AFTER.finditer(question))
    return frozenset(term for word in found for term in terms(word))


def _defines(title: str, heading: str, meant: Container[str]) -> bool:
    """Return True if a page is a glossary's, and its heading a word that is asked after."""
    return bool(_GLOSSARY.search(title)) and any(
        (said := tuple(terms(word))) and all(term in meant for term in said) for word in heading.split(",")
    )


def _share(some: Iterable[str], wanted: Mapping[str, float]) -> float:
    return sum(wanted[t] for t in some if t in wanted) / (sum(wanted.values()) or 1.0)
