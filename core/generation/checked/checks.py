"""What of an answer stands neither in its evidence nor in its question, in words that help to mend it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from core.errors import UsageError
from core.generation.calculator import calculate
from core.generation.checked.code import unsaid
from core.generation.checked.material import Material, numbers_of
from core.generation.citations import uncited
from core.generation.context.fitting import Request
from core.generation.context.layout import laid_out
from core.generation.quotes.blocks import headings
from core.text.markup import fences
from core.text.words import identifiers, one_line, query_terms

HELD = 0.5
"""Share of a sentence's terms that the material must hold: below it the sentence is somebody's own."""
LEAST_TERMS = 4
"""Terms from which a sentence is weighed by its words at all."""
_URL = re.compile(r"(?:https?://|www\.)\S+|\]\([^()\s]{0,300}+\)")
_LITERAL = re.compile(
    r"(?<![\w.])(True|False|None|true|false|null|none|\d[\d_.]*|\"[^\"\s]{1,60}+\"|'[^'\s]{1,60}+')(?!\w)"
)
_SPAN = re.compile(r"(?<!`)`++([^`\n]+)`+")
_AS_CODE = re.compile(r"\w\([^()\n]{1,120}+\)|\w\s?=\s?\S|\A\$?\s?[\w-]{1,40}+ [^\n]{0,80}--?\w")
_NAMED = re.compile(
    r"(?<![.!?:>•\-] )(?<!^)(?<![\w`'\"/.(=-])"
    r"((?!True\b|False\b|None\b|Python\b|English\b|Markdown\b)[A-Z][A-Za-z]*[a-z0-9](?:-[A-Z][a-z]\w*)?\b)"
)
"""A name in an English sentence: acronyms and literals say what kind of thing something is, not which."""
_IS_DEFAULT = re.compile(r"\bdefaults?\s(?:\w+\s){0,2}(?:is|to)\b|\bstandard(?:wert)?\sist\b", re.IGNORECASE)
_WORD = re.compile(r"[\w.]+")
_STEP = re.compile(r"\b(?:step|option|method|part|section|example|schritt|paso)\s+\d+", re.IGNORECASE)
_MARK = re.compile(r"^[ \t]*(?:[-*+]|\d{1,3}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?", re.MULTILINE)
_SUM = re.compile(r"(?<![\d_,.])\d[\d_,.]{0,20}+(?:\s{0,2}+(?:\*\*|[*×x+/-])\s{0,2}+\d[\d_,.]{0,20}+){1,8}+")
_TIMES = {"ms": 0.001, "s": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0, "week": 604800.0}
_SIZES = {
    kind: {"b": 1.0, "kb": kilo, "mb": kilo**2, "gb": kilo**3}
    for kind, kilo in (("decimal", 1000.0), ("binary", 1024.0))
}
_FACTORS = ("1000", "1024", "60", "3600", "24", "7", "86400", "1048576", "1000000")


@dataclass(frozen=True, slots=True)
class Checker:
    """Checks statements against the material; `alike` tells that both are in the same language."""

    material: Material
    alike: bool = True

    def faults(self, text: str) -> tuple[str, ...]:
        """Return what is wrong with a statement, a sentence each; empty where it is all there."""
        found: list[str] = []
        prose, blocks = _parted(text)
        for language, code in blocks:
            found += [f"The code has `{name}`, which no evidence has." for name in self._code(code, language)]
        prose = _MARK.sub("", _URL.sub(" ", uncited(prose)))
        if prose.strip():
            found += self._prose(prose)
        return tuple(dict.fromkeys(found))

    def holders(self, text: str) -> list[int]:
        """Return which evidence holds all names and numbers of a statement, and most of its words."""
        prose, blocks = _parted(text)
        plain = _MARK.sub("", _URL.sub(" ", uncited(prose)))
        code = "\n".join(code for _, code in blocks)
        held = self.material.holders(_names(plain) + identifiers(code), [v for v, _ in numbers_of(plain)])
        terms = frozenset(query_terms(plain)) or frozenset(query_terms(code))
        shares = {
            source.number: len(terms & source.terms) / len(terms)
            for source in self.material.sources
            if terms and source.number in held
        }
        least = HELD if self.alike else 0.0
        facts = bool(_names(plain) or numbers_of(plain) or code)
        kept = [number for number, share in shares.items() if share >= least and (share or facts)]
        return sorted(kept, key=lambda number: -shares[number])

    def allow(self, expression: str, result: str) -> None:
        """Let a result be named whose expression is made of known numbers."""
        if all(value in self.material.numbers or value in _FACTORS for value, _ in numbers_of(expression)):
            for value, unit in numbers_of(result):
                self.material.numbers.setdefault(value, set()).add(unit)

    def _code(self, code: str, language: str) -> Iterator[str]:
        for name in unsaid(code, language, self.material):
            if not self._is_worked_out(name, code):
                yield name

    def _prose(self, prose: str) -> Iterator[str]:
        material = self.material
        for span in _SPAN.findall(prose):
            if _AS_CODE.search(span):
                for name in self._code(span, "sh" if re.search(r"(?<!\S)--?\w", span) else "python"):
                    yield f"`{name}` stands nowhere in the evidence."
        for name in _names(prose):
            if not material.has(name):
                yield f"`{name}` stands nowhere in the evidence."
        yield from self._numbers(_STEP.sub("", prose))
        if self.alike:
            for name in _NAMED.findall(_SPAN.sub("", prose)):
                known = name.lower()
                if not {known, known.rstrip("s")} & material.names:
                    yield f"{name} stands nowhere in the evidence."
            terms = frozenset(query_terms(prose))
            if len(terms) >= LEAST_TERMS and len(terms & material.terms) < HELD * len(terms):
                yield "The evidence does not say this."
        if material.speaks_of_default(prose):
            yield from self._default(prose)

    def _numbers(self, prose: str) -> Iterator[str]:
        known = self.material.numbers
        for value, unit in numbers_of(prose):
            units = known.get(value)
            if units is None:
                if not self._is_worked_out(value, prose, unit):
                    yield f"{value} stands nowhere in the evidence."
            elif _other_kind(unit, units) and not self._is_worked_out(value, prose, unit):
                yield f"The evidence has no {value} with that unit."

    def _is_worked_out(self, value: str, said: str, unit: str = "") -> bool:
        """Return True if a number is a result of, or a factor in, what stands there."""
        if not re.fullmatch(r"\d[\d.]*", value):
            return False
        known = self.material.numbers
        for expression in _SUM.findall(said):
            operands = [
                one.rstrip(".,").replace("_", "").replace(",", "")
                for one in re.findall(r"\d[\d_,.]*", expression)
            ]
            if not any(one in known for one in operands) or not all(
                one in known or one in _FACTORS for one in operands
            ):
                continue
            try:
                result = calculate(
                    expression.replace("_", "").replace(",", "").replace("x", "*").rstrip(". ")
                )
            except UsageError:
                continue
            if value in operands or value == result:
                return True
        return self._is_converted(value, unit)

    def _is_converted(self, value: str, unit: str) -> bool:
        """Return True if a quantity is one of the material's in another unit."""
        for scale in (_TIMES, *_SIZES.values()):
            ours = float(value) * scale.get(unit, 0.0) if value.count(".") < 2 else 0.0
            for other, units in self.material.numbers.items():
                is_number = ours and re.fullmatch(r"\d+(?:\.\d+)?", other)
                if is_number and any(
                    abs(float(other) * scale[u] - ours) < 1e-6 for u in units & scale.keys()
                ):
                    return True
        return False

    def _default(self, prose: str) -> Iterator[str]:
        """Check a default that a statement gives to a name against what is said of that name's default."""
        names = [name for name in _names(prose) if not _LITERAL.fullmatch(name)]
        values = [value.strip("\"'") for value in _LITERAL.findall(prose)]
        if not names and _IS_DEFAULT.search(prose):
            for value in values:
                if value not in self.material.asked.names and not self.material.any_default(value):
                    yield f"The evidence does not say that {value} is a default."
        for name in names:
            told = self.material.defaults(name)
            for value in values if told else ():
                if not any(_says(text, value) for text in told) and value not in self.material.asked.names:
                    yield (
                        f"{value} is not the default of `{name}` that the evidence gives:"
                        f" {one_line(told[0])[:160]}"
                    )


def _says(text: str, value: str) -> bool:
    plain = text.replace("_", "") if value.isdigit() else text
    return value.lower() in {word.rstrip(".").lower() for word in _WORD.findall(plain)}


def _names(prose: str) -> list[str]:
    """Return the names in a sentence; what stands in a span of code with blanks is checked as code."""
    spans = [span for span in _SPAN.findall(prose) if _AS_CODE.search(span)]
    inside = {name for span in spans for name in identifiers(f"`{span}`")}
    outside = prose
    for span in spans:
        outside = outside.replace(f"`{span}`", " ")
    names = identifiers(outside)
    return [name for name in names if name not in inside or name in outside]


def _other_kind(unit: str, units: set[str]) -> bool:
    """Return True if a number has a unit of time or size, and the material has it with other such units."""
    for scale in (_TIMES, _SIZES["decimal"]):
        if unit in scale:
            return unit not in units and all(other in scale for other in units)
    return False


def _parted(text: str) -> tuple[str, list[tuple[str, str]]]:
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
        head = f"{headings(chunk.title, chunk.heading, whole=True)} {chunk.release} {known}"
        pieces.append(
            (item.number, head, "\n\n".join((laid[item.number].whole, request.texts.get(item.number, ""))))
        )
    asked = [request.question, request.original, known, *request.parts]
    asked += [turn.text for turn in request.history if turn.role == "user"]
    alike = not request.code or not request.documented or request.code == request.documented
    return Checker(Material(pieces, asked), alike)
