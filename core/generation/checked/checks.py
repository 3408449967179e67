"""What of an answer stands neither in its evidence nor in its question, in words that help to mend it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property

from core.generation.calculator import FACTORS, follows, other_kind
from core.generation.checked.code import PATH, unsaid
from core.generation.checked.defaults import LITERAL, MAY_GIVE_DEFAULT, RELEASED, wrong_defaults
from core.generation.checked.history import wrong_history
from core.generation.checked.material import AS_CODE, SPAN, Material, names_in, numbers_of
from core.generation.checked.raw import EXTREMES, says_lack, unmarked
from core.generation.citations import uncited
from core.generation.context.by_rule import laid_out
from core.generation.context.fitting import Request
from core.generation.quotes.titles import headings
from core.prompts import code_fault
from core.text.markup import fences
from core.text.words import query_terms, sentences
from core.vocabulary import UNITS

HELD = 0.5
"""Share of a sentence's terms that one page, or the cited ones together, must hold: below it the sentence is
somebody's own. The question's words do not count, as it may hold an order or a wrong premise."""
LEAST_TERMS = 4
"""Terms from which a sentence is weighed by its words at all."""
_URL = re.compile(r"(?:https?://|www\.)\S+|\]\([^()\s]{0,300}+\)")
_CAMEL = re.compile(r"\b[A-Z][a-z]{1,30}[A-Z]\w{1,60}")
_TITLED = re.compile(r"\b[A-Z][a-z]{1,30}+(?: [A-Z][a-z]{1,30}+){1,6}+\b")
_UNIT = re.compile(
    r"(?i)\b(?:m(?:illi|ikro|icro)(?:se[ck]\w+)|(?:kilo|mega|giga|kibi|mebi|gibi)bytes?|stunden?|minuten?"
    r"|hours?|minutes?|tagen?|weeks?|wochen?|horas?|minutos?)\b|毫秒|分钟|小时|兆字节|千字节"
)
"""Units that mean nothing else; a second is a place in a row as well."""
_MEASURED = re.compile(r"(?<![\d_.,])\d[\d_.,]{0,20}+\s?(?:[A-Za-z]{1,20}+|[\u4e00-\u9fff]{1,3})")
_MEASURE = re.compile(r"(`{0,2})(?<![\w.])(\d(?:[\d_.,]{0,20}\d)?) ?([A-Za-z]{1,12}+)\b\1")
_SUBCOMMAND = re.compile(r"(?<=[\w.] )([a-z][a-z0-9]*+(?:-[a-z0-9]++)++)(?![\w-])")
"""A name behind another word of a span, as in `git filter-branch`; what stands alone is checked as a name."""
_FLAG = re.compile(r"(?<![\w-])--[A-Za-z][\w-]*|(?<=[`\"'])\.[a-z]{2,8}(?=[`\"'])")
"""An option or an ending: what may be made up by joining in, so that a question does not lend it."""
_DENIES = re.compile(r"\b(?:not?|never|nothing|unknown|without|kein\w*|nicht)\b|n['’]t\b", re.IGNORECASE)
_AGREES = re.compile(r"\A\W{0,3}(?:yes|no|correct|right|indeed)\b", re.IGNORECASE)
_FOUND = re.compile(r"\bthe\sdocumentation\sI\sfound\b", re.IGNORECASE)
"""What readers are told instead of the evidence."""
_FORMULA = re.compile(r"[A-Za-z_)]\s?(?:\*\*?|[/+])\s?\d|\d\s?(?:\*\*?|[/+])\s?[A-Za-z_(]")
"""A sum with names in it; one of numbers alone is worked out."""
_NAMED = re.compile(
    r"(?<![.!?:>•\-] )(?<!^)(?<![\w`'\"/.(=-])"
    r"((?!True\b|False\b|None\b|Python\b|English\b|Markdown\b)[A-Z][A-Za-z]*[a-z0-9](?:-[A-Z][a-z]\w*)?\b)"
)
"""A name in an English sentence: acronyms and literals say what kind of thing something is, not which."""
_JUDGES = re.compile(
    r"\b(?:(?:un)?safe|(?:in)?secure|recommended|required|necessary|faster|slower|better|best|worse)\b",
    re.IGNORECASE,
)
"""What a short sentence may say only where a page says it: "Yes, it is safe."."""
_ABOUT = re.compile(
    r"\A\W*(?:yes\W+)?(?:(?:the|an?|your|this|that|each|every)\s)?(?P<what>[^,;:()]{2,50}?)"
    r"\s(?:is|are|was|were|can|will|has|have|does|must|should|gets?)\b",
    re.IGNORECASE,
)
_NO_NOUN = re.compile(
    r"(?i)\b(?:it|you|we|they|that|which|who|as|if|when|where|while|until|unless|because|to|and|or|for|with|by|in)\b"
)
"""What makes more of a sentence's beginning than its noun."""
_GLUED = re.compile(r"(?<!`)(`[^`\n]{1,120}+`)-(?=\w)")
"""A German compound with a name: `RequestEntityTooLarge`-Exception."""
_WORD = re.compile(r"[\w.]+")
_GIVEN = re.compile(r"([a-z]\w{2,60})\s?=\s?[\w.\"'-]{1,40}")
"""An option with its value, alone in a span of code."""
_CITED = re.compile(r"\[\d{1,2}\]")
_STEP = re.compile(r"\b(?:step|option|method|part|section|example|schritt|paso)\s+\d+", re.IGNORECASE)
_MARK = re.compile(r"^[ \t]*(?:[-*+]|\d{1,3}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?", re.MULTILINE)


@dataclass(frozen=True)
class Checker:
    """Checks statements against the material; `alike` tells that both are in the same language."""

    material: Material
    alike: bool = True

    def faults(self, text: str, own: frozenset[str] = frozenset(), before: str = "") -> tuple[str, ...]:
        """Return what is wrong with a statement, a sentence each.

        `own` is what its answer's code defines, `before` the statement before it.
        """
        found: list[str] = []
        prose, blocks = parted(text)
        for language, code in blocks:
            found += [code_fault(name) for name in self._code(code, language, own)]
        said = self.plain(prose)
        if said.strip():
            found += self._prose(said, self.plain(parted(before)[0]))
            found += self._words(said, cited_in(prose))
            found += self._claims(said, cited_in(prose))
            found += [*self._counted(said, cited_in(prose)), *self._units(said)]
        return tuple(dict.fromkeys(found))

    def plain(self, prose: str) -> str:
        """Return what prose says, with names and measures as the material has them.

        `413 Request Entity Too Large` is a `RequestEntityTooLarge`, and of `16 MiB` the unit is no name.
        """

        def joined(found: re.Match[str]) -> str:
            name = found[0].replace(" ", "")
            return name if name.lower() in self.material.names else found[0]

        def measured(found: re.Match[str]) -> str:
            unit = UNITS.get(found[3].lower())
            return f"{found[2]} {unit}" if unit else found[0]

        return _MEASURE.sub(measured, _TITLED.sub(joined, bare_prose(prose)))

    def allow(self, expression: str, result: str) -> None:
        """Let a result be named whose expression is made of known numbers."""
        if all(value in self.material.numbers or value in FACTORS for value, _ in numbers_of(expression)):
            for value, unit in numbers_of(result):
                self.material.numbers.setdefault(value, set()).add(unit)

    def _code(self, code: str, language: str, own: frozenset[str] = frozenset()) -> Iterator[str]:
        for name in unsaid(code, language, self.material, own):
            if not follows(name, code, self.material.numbers):
                yield name

    def _prose(self, prose: str, before: str) -> Iterator[str]:
        material = self.material
        for span in SPAN.findall(prose):
            for name in _SUBCOMMAND.findall(span):
                if not material.has(name):
                    yield f"`{name}` stands nowhere in the evidence."
            if (given := _GIVEN.fullmatch(span)) and not material.has(given[1]):
                yield f"`{given[1]}` stands nowhere in the evidence."
            elif AS_CODE.search(span):
                for name in self._code(span, "sh" if re.search(r"(?<!\S)--?\w", span) else "python"):
                    yield f"`{name}` stands nowhere in the evidence."
            elif _FORMULA.search(span) and not material.reads(span):
                yield f"`{span}` stands nowhere in the evidence."
        for name in names_in(SPAN.sub(self._without_own_path, prose)):
            if not material.has(name):
                yield f"`{name}` stands nowhere in the evidence."
        for flag in _FLAG.findall(prose) if not _DENIES.search(prose) else ():
            if not any(material.has_all([source.number], [flag]) for source in material.sources):
                yield f"`{flag}` stands nowhere in the evidence."
        yield from self._numbers(_STEP.sub("", prose))
        if self.alike:
            for name in _NAMED.findall(unmarked(SPAN.sub("", prose))):
                known = name.lower()
                if not {known, known.rstrip("s")} & material.names:
                    yield f"{name} stands nowhere in the evidence."
        if MAY_GIVE_DEFAULT.search(prose):
            yield from wrong_defaults(prose, material, before)

    def _words(self, prose: str, cited: Collection[int]) -> Iterator[str]:
        """Weigh a sentence by its words; one that says what the evidence lacks has words of its own."""
        terms, material = self.terms(prose), self.material
        if (self.alike or len(terms) > 1) and terms and material.obeyed(_AGREES.sub("", prose)):
            yield "An order says this, which you are not to follow, and the evidence does not say it."
            return
        if not terms or not self.alike or says_lack(prose):
            return
        if unheard := self._unheard(prose):
            yield f"The evidence says nothing of {unheard}."
        terms, is_held = self.terms(SPAN.sub(self._without_askers_own, prose)), True
        if len(terms) >= LEAST_TERMS:
            is_held = material.held(terms, cited) >= HELD
        elif judged := frozenset(query_terms(" ".join(_JUDGES.findall(prose)))):
            is_held = material.held(judged, cited) > 0
        elif (len(terms) > 2 and not prose.rstrip().endswith(":")) or (
            len(terms) > 1 and (material.ordered or terms <= material.asked.terms)
        ):  # "Open a terminal and type:" says nothing yet
            is_held = material.held(terms, cited) > 0
        if not is_held:
            yield "The evidence does not say this."
        for told in map(self.material.contrary, sentences(prose)):
            if told:
                yield f"The evidence says the contrary: {told}"

    def _unheard(self, prose: str) -> str:
        """Return what a sentence is about where only the question names it; empty where a page does.

        One that denies something is about all that it names.
        """
        prose = SPAN.sub(self._without_own_path, prose)
        about, is_denied = _ABOUT.match(prose), bool(_DENIES.search(prose))
        told = prose if is_denied else about["what"] if about and not _NO_NOUN.search(about["what"]) else ""
        pages = frozenset[str]().union(*(source.terms for source in self.material.sources))
        terms = self.terms(told)
        unheard = (terms - pages - EXTREMES) & self.material.asked.terms
        if not unheard or (is_denied and len(unheard) * 2 < len(terms)):
            return ""
        return " ".join(word for word in _WORD.findall(told) if unheard & frozenset(query_terms(word)))

    def _without_own_path(self, span: re.Match[str]) -> str:
        """Leave out a path in code that stands in a page, an address of it too, or in the question."""
        path = span[0].strip("`")
        return "" if PATH.fullmatch(path) and self.material.holds(path) else span[0]

    def _without_askers_own(self, span: re.Match[str]) -> str:
        """Leave out code that only the question has: what an answer puts in an example's place."""
        text = span[0].strip("`")
        is_asked = any(text in block.text for block in self.material.asked.blocks)
        return "" if is_asked and not any(text in block.text for block in self.material.blocks) else span[0]

    def terms(self, prose: str) -> frozenset[str]:
        """Return the terms of a sentence; the product's own name is in every page, and numbers are apart."""
        prose = _CAMEL.sub(self._as_one_word, prose)
        found = frozenset(query_terms(_FOUND.sub(" ", _AGREES.sub("", prose)))) - self.material.known
        return frozenset(term for term in found if not term.replace(".", "").isdigit())

    def _as_one_word(self, name: re.Match[str]) -> str:
        """Return a known name in small letters where the pages do not have its parts: `SameSite`."""
        apart = not frozenset(query_terms(name[0])) <= self.material.terms
        return name[0].lower() if apart and self.material.has(name[0]) else name[0]

    def _claims(self, prose: str, cited: Collection[int]) -> Iterator[str]:
        """Check that something is gone, and what is said of several releases at once."""
        names = [name for name in names_in(prose) if not LITERAL.fullmatch(name)]
        yield from wrong_history(
            prose, names, self.terms(prose) if self.alike else frozenset(), self.material
        )
        releases = self.material.releases(cited)
        for value in LITERAL.findall(RELEASED.sub(" ", prose)) if len(names) == 1 else ():
            said = {one: self.material.says_of(one, names[0], value.strip("\"'")) for one in releases}
            for release in (one for one in releases if said[one] is False and True in said.values()):
                yield f"The evidence for {release} does not say {value} of `{names[0]}`."

    def _counted(self, prose: str, cited: Collection[int]) -> Iterator[str]:
        """Check that a number stands in what is cited for it, where it stands in a page at all."""
        for value, where in self.material.elsewhere(_STEP.sub("", prose), cited).items():
            yield f"{value} does not stand in what you cite, but in evidence {', '.join(map(str, where))}."

    def _units(self, prose: str) -> Iterator[str]:
        """Check that the evidence has a unit that is said without a number: "the timeout in milliseconds"."""
        for word in dict.fromkeys(_UNIT.findall(_MEASURED.sub(" ", prose))):
            if (unit := UNITS.get(word.lower())) and unit not in self._measures:
                yield f"The evidence says nothing of {word}."

    @cached_property
    def _measures(self) -> frozenset[str]:
        every = (*self.material.sources, self.material.asked)
        return frozenset(UNITS[word] for one in every for word in one.names if word in UNITS)

    def _numbers(self, prose: str) -> Iterator[str]:
        known = self.material.numbers
        for value, unit in numbers_of(prose):
            units = self.material.units(value)
            if units is None:
                if not follows(value, prose, known, unit):
                    yield f"{value} stands nowhere in the evidence."
            elif other_kind(unit, units) and not follows(value, prose, known, unit):
                yield f"The evidence has no {value} with that unit."


def cited_in(prose: str) -> list[int]:
    """Return the numbers that prose cites, in order."""
    return [int(mark[1:-1]) for mark in _CITED.findall(prose)]


def bare_prose(prose: str) -> str:
    """Return prose without citations, addresses and the marks of a list."""
    return _MARK.sub("", _URL.sub(" ", uncited(_GLUED.sub(r"\1 ", prose))))


def parted(text: str) -> tuple[str, list[tuple[str, str]]]:
    """Part a statement into its prose and its blocks of code with their languages."""
    lines = text.split("\n")
    found, prose, at = list[tuple[str, str]](), list[str](), 0
    for fence in fences(lines):
        prose += lines[at : fence.first]
        language = re.sub(r"[^\w+-].*", "", lines[fence.first].strip().lstrip("`~ >").lower())
        found.append((language, "\n".join(lines[fence.first + 1 : fence.end])))
        at = fence.last
    return "\n".join([*prose, *lines[at:]]), found


def checker_of(request: Request) -> Checker:
    """Return what checks an answer to this request."""
    known = " ".join((request.product, *request.releases))
    pieces = []
    laid = laid_out(request.evidence)
    for item in (item for item in request.evidence if item.number in laid):
        chunk = item.chunk
        head = f"{headings(chunk.title, chunk.heading, whole=True)}\n{chunk.release} {known}"
        text = "\n\n".join((laid[item.number].whole, request.texts.get(item.number, "")))
        pieces.append((item.number, head, text, chunk.release))
    asked = [request.question, request.original, request.answered, known, *request.parts]
    asked += [turn.text for turn in request.history if turn.role == "user"]
    alike = not request.code or not request.documented or request.code == request.documented
    return Checker(Material(pieces, asked, known), alike)
