"""What a section and its stretches are worth for one question: how likely the answer is quoted with them."""

from __future__ import annotations

import math
import re
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from core.domain import Evidence
from core.generation.quotes.blocks import terms as terms_of
from core.generation.quotes.sections import BEGINNING, Section, Whole
from core.generation.quotes.stretches import Stretch, begun, marked, stretches
from core.generation.quotes.tables import row_for
from core.generation.quotes.titles import headings, last_heading
from core.retrieval.features import is_name
from core.retrieval.release_notes.notes import version_of
from core.retrieval.release_notes.requirements import required, states
from core.retrieval.release_notes.turned import asks_what_turned, turns
from core.text.words import STOP_WORDS, one_line

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
_IS_SET = 3.0
"""What it is worth more still where the question shows it with a value; ours."""
_STATES_NEEDED = 3.0
"""What a sentence that states which version of other software is needed is worth more then; ours."""
_TURNED = 3.0
"""What an entry of release notes that says what is otherwise is worth more where that is asked; ours."""
_TELLS_DEFAULT = 1.0
"""What any section that begins with its default, or a sentence that says one, is worth more then; ours."""
_HEADING_SHARE, _CODE_SHARE = 0.6, 0.6
_PASTED, _PASTED_TERMS = 0.6, 6
"""Share of the question's weight, and its terms, in code that the question itself shows; ours."""
_SHOWS = 2.0
"""What each line of the question's code is worth that a text shows as it is; ours."""
_A_LINE = 12
"""Characters, without spaces, from which a line of code is seldom another one's by chance; ours."""
_IS_CODE = re.compile(r"[()\[\]{}=].*[()\[\]{}=]")
_NO_CELL = 100.0
"""What it counts against a row of a long table that the question does not ask for; ours."""

_DEFAULT = re.compile(r"[*_]{0,2}default(?: value)?s?[*_]{0,2}:[*_]{0,2} (?=.*\w).{1,100}", re.IGNORECASE)
"""How a setting's entry says what it is as long as nobody sets it."""
_SAYS_DEFAULT = re.compile(
    r"\bdefault(?:s| value| setting)?(?:\s(?:for|of)\s[^.;:]{1,40})? (?:is|are|to)\b|\bdefaults?:"
    r"|\bby default\b|\b(?:if|when|unless|where)\s(?:\S{1,40}\s){0,4}?(?:is |are )?"
    r"(?:not (?:set|given|specified|provided|passed|configured)|omitted|unset|unspecified|left out)\b",
    re.IGNORECASE,
)
"""How a sentence says what holds where nobody set it."""
_ONE_NAME = re.compile(r"[a-z][a-z\d]*(?:-[a-z\d]+)+|[a-z][a-z\d]*[A-Z][A-Za-z\d]*")
"""A heading that is one name with hyphens or capitals: `ci-name`, `bodyLimit`."""
_ASSIGNED = re.compile(r"(?<![\w.`\"'(\[-])([A-Za-z][\w-]{2,60})\s?=(?!=)\s?(?=\S)")
"""A setting with its value: `threads = 4`."""
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
        for at, term in enumerate(terms_of(stretch.said)):
            places.setdefault(term, []).append(at)
        code = frozenset(terms_of(" ".join(block.text for block in stretch.blocks if block.kind == "code")))
        kept = {term: tuple(some) for term, some in places.items()}  # which the garbage collector passes over
        return cls(stretch, kept, code, stretch.points, bool(marked(stretch)), stretch.has_code)

    def order(self, wanted: Iterable[str]) -> list[str]:
        """Return the terms of the question that it says, in its order."""
        places = self.places
        said = [(at, term) for term in wanted if term in places for at in places[term]]
        said.sort()
        return [term for _at, term in said]


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
    telling = frozenset(term for term in terms_of(name) if term not in STOP_WORDS)
    return frozenset(terms_of(headings(title, heading, whole=True))), telling, name


@dataclass(frozen=True, slots=True)
class Asked:
    """A question as sections are weighed by it: its `terms` in order, and what else its words tell.

    `is_entry_wanted` tells that the entry of a setting goes before what else is said of it,
    `is_default_wanted` that what it is without being set is asked for; `meant` are the terms of a word of
    which the meaning is asked for, `assigned` the settings that it shows with a value, `lines` its lines of
    code, without spaces; `is_turned` tells that something is said to be otherwise than it was, `needed` the
    software of which it asks the version that is needed.
    """

    terms: Sequence[str]
    is_entry_wanted: bool = False
    is_default_wanted: bool = False
    meant: frozenset[str] = frozenset()
    assigned: frozenset[str] = frozenset()
    lines: tuple[str, ...] = ()
    is_turned: bool = False
    needed: str = ""

    @classmethod
    def of(
        cls,
        question: str,
        terms: Sequence[str],
        entry: bool = False,
        default: bool = False,
        product: str = "",
    ) -> Asked:
        """Read a question about a product; `terms` are what is searched for."""
        meant = (match[match.lastgroup or 0] for match in _ASKED_AFTER.finditer(question))
        lines = (re.sub(r"\s+", "", line).strip("`") for line in re.split(r"[\n;]", question))
        return cls(
            terms,
            entry,
            default,
            frozenset(term for word in meant for term in terms_of(word)),
            frozenset(_ASSIGNED.findall(question)),
            tuple(line for line in lines if len(line) >= _A_LINE and _IS_CODE.search(line)),
            asks_what_turned(question),
            required(question, (product,)),
        )


def weighed(
    item: Evidence, whole: Whole, wanted: Mapping[str, float], standing: float, asked: Asked
) -> Section:
    """Weigh a section by what is `asked`: the `wanted` terms with their weights."""
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
    entry = asked.is_entry_wanted and name != one_line(chunk.title) and _is_entry(name, wanted)
    entry = entry or bool(asked.meant and _defines(chunk.title, name, asked.meant))
    is_set = asked.is_entry_wanted and name.strip("`") in asked.assigned
    entry = entry or is_set
    own = _OWN * entry + _IS_SET * is_set
    if asked.is_default_wanted:
        own += _OF_DEFAULT * entry + _TELLS_DEFAULT * bool(_DEFAULT.search(whole.text[:BEGINNING]))
    is_notes = bool(version_of(f"{chunk.title} > {chunk.heading}"))
    is_told, tells = asked.is_turned and is_notes, asked.is_default_wanted and not is_notes
    bigrams = set(pairwise(asked.terms))
    same_for_all = sum(WEIGHTS[sign] * value for sign, value in of_all.items())
    of_heading, question = sum(wanted[t] for t in heading), " ".join(asked.terms)
    worth: list[float] = []
    scores: list[float] = []
    held: list[set[str]] = []
    pasted, pointing = set[int](), set[int]()
    for at, (one, near) in enumerate(zip(read, _nearness(whole, len(found)), strict=True)):
        order = one.order(wanted)
        here = set(order)
        shown = {t for t in wanted if t in one.code} if one.code else set()
        inside = shown - here - heading
        holds = here | inside | heading
        points, is_marked = one.points, one.is_marked
        bears = sum(wanted[t] for t in holds) / total if here or inside else of_heading / total
        known = same_for_all + WEIGHTS["near"] * near + WEIGHTS["held"] * bears
        known += WEIGHTS["points"] * points + WEIGHTS["marked"] * is_marked
        no_cell = one.stretch.is_row and row_for(one.stretch.text, question) is None
        shows = _shown(one.stretch.text, asked.lines) if one.has_code and asked.lines else 0
        told = _TURNED * (is_told and one.stretch.stands_alone and turns(one.stretch.said))
        told += _TELLS_DEFAULT * (tells and _SAYS_DEFAULT.search(one.stretch.said) is not None)
        told += _STATES_NEEDED * (bool(asked.needed) and states(asked.needed, one.stretch.said))
        worth.append(known + own + told + _SHOWS * shows - _NO_CELL * no_cell)
        score = sum(wanted[t] for t in here)
        score += _HEADING_SHARE * sum(wanted[t] for t in heading - here)
        score += _CODE_SHARE * sum(wanted[t] for t in inside)
        score /= total
        score += 0.1 * sum(pair in bigrams for pair in pairwise(order)) / max(1, len(asked.terms))
        score += 0.05 * one.has_code
        score *= (0.3 if points else 1.0) * (0.5 if is_marked else 1.0)
        if points:
            pointing.add(at)
        if len(shown) >= _PASTED_TERMS and sum(wanted[t] for t in shown) >= _PASTED * total:
            pasted.add(at)
        scores.append(score)
        held.append(holds)
    places = frozenset(pasted), frozenset(pointing)
    shares = {term: weight / total for term, weight in wanted.items()}
    return Section(item, found, worth, scores, held, *places, standing, fitting, entry, shares)


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


def _shown(text: str, lines: Sequence[str]) -> int:
    """Return how many of these lines of code a text has, however they are spaced; three at most."""
    tight = re.sub(r"\s+", "", text)
    return min(3, sum(line in tight for line in lines))


def _defines(title: str, heading: str, meant: Container[str]) -> bool:
    """Return True if a page is a glossary's, and its heading a word that is asked after."""
    return bool(_GLOSSARY.search(title)) and any(
        (said := tuple(terms_of(word))) and all(term in meant for term in said) for word in heading.split(",")
    )


def _share(some: Iterable[str], wanted: Mapping[str, float]) -> float:
    return sum(wanted[t] for t in some if t in wanted) / (sum(wanted.values()) or 1.0)
