"""An answer with its reasoning as structured output (Hybrid CRAG, reasoning enhancement)."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from core import prompts
from core.domain import Evidence, sources
from core.errors import ModelMalformed
from core.generation.answer import write
from core.generation.calculator import fill
from core.generation.checked.checks import Checker, checker_of
from core.generation.checked.raw import is_unknown, plain, says_unknown
from core.generation.checked.sources import recited
from core.generation.checked.statements import joined, left_off, statements, whole, with_last
from core.generation.citations import Cleaned, bracketed, clean
from core.generation.context.fitting import Request, fit
from core.ports import LanguageModel, Prompt
from core.prompts import DONT_KNOW, REASONING, REASONING_SCHEMA
from core.text.markup import link

log = logging.getLogger(__name__)

REASONING_TOKENS = 400
"""Room for the reasoning beside the answer's own; five short sentences need about 200."""

LEAST_WORDS = 8
"""Words of output below which there is nothing to sum up."""
LONGEST = 6000
"""Characters of output that are summed up."""
_FIELD = re.compile(r'"(reasoning|answer)"\s*:\s*"((?:[^"\\]|\\.)*)"', re.DOTALL)
_FLAG = re.compile(r'"(false_premise|answerable)"\s*:\s*"?(true|false)', re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Reasoned:
    """A finished answer with how it was reached; `reasoning` is empty where the fallback wrote it."""

    written: Cleaned
    reasoning: str = ""
    false_premise: bool = False


async def reason(model: LanguageModel, request: Request, notes: str = "") -> Reasoned:
    """Answer with reasoning; where the output does not parse, have it summed up.

    What cites nothing, or comes to nothing, is written plainly instead. `notes` is told beside the evidence.
    What says "I don't know" anywhere is that phrase and nothing else, as the paper has it (section 4.7).
    Raises the ModelErrors, ModelMalformed only if the plain answer is malformed as well.
    """
    roomy = replace(request, max_tokens=request.max_tokens + REASONING_TOKENS)
    fitted = fit(model, roomy, notes + REASONING)
    try:
        output = await model.structured(fitted.prompts, REASONING_SCHEMA, max_tokens=fitted.max_tokens)
        fields = parse(output)
        if fields is None:
            raise ModelMalformed("The model left its answer out.", json.dumps(output, ensure_ascii=False))
        unknown = not fields["answerable"] and not fields["false_premise"]
        said = DONT_KNOW if unknown or says_unknown(fields["answer"]) else fields["answer"]
        reasoned = Reasoned(finish(said, fitted.evidence), fields["reasoning"], fields["false_premise"])
    except ModelMalformed as error:
        log.info("%s The answer is written without reasoning.", error)
        summed = await _summed_up(model, request.question, error.said)
        reasoned = Reasoned(finish(summed, fitted.evidence) if summed else await write(model, request))
    if reasoned.written.citations or reasoned.written.text == DONT_KNOW:
        return reasoned
    log.info("What was reasoned cites nothing, so the answer is written plainly.")
    return replace(reasoned, written=await write(model, request))


async def reason_openly(
    model: LanguageModel, request: Request, plainly: Callable[[], Awaitable[Cleaned]]
) -> Reasoned:
    """Answer with reasoning that is to be shown: of both only what passes the checks of any answer.

    `plainly` writes the answer as ever, which it does where that of the reasoning does not pass whole. Raises
    what that raises.
    """
    roomy = replace(request, max_tokens=request.max_tokens + REASONING_TOKENS)
    fitted = fit(model, roomy, REASONING)
    try:
        fields = parse(await model.structured(fitted.prompts, REASONING_SCHEMA, max_tokens=fitted.max_tokens))
    except ModelMalformed as error:
        log.info("%s The answer is written without reasoning.", error)
        fields = None
    if fields is None:
        return Reasoned(await plainly())
    if (not fields["answerable"] and not fields["false_premise"]) or says_unknown(fields["answer"]):
        return Reasoned(Cleaned(DONT_KNOW))
    checker = checker_of(request)
    reasoning, _lost = _supported(checker, fields["reasoning"], fitted.evidence)
    answer, lost = _supported(checker, fields["answer"], fitted.evidence)
    written = answer if answer.citations and not lost else await plainly()
    return Reasoned(written, _with_sources(reasoning), fields["false_premise"])


def _supported(checker: Checker, text: str, evidence: tuple[Evidence, ...]) -> tuple[Cleaned, int]:
    """Return of a text the statements that the evidence bears, cited, and how many it does not."""
    told = statements(bracketed(plain(text), evidence))
    told = [replace(one, text=recited(checker, one.text)) for one in told]
    kept = [one for one, last in with_last(told) if not checker.faults(one.text, before=last)]
    return clean(joined(kept), evidence), len(told) - len(kept)


def _with_sources(reasoning: Cleaned) -> str:
    """Return reasoning with its own list of sources, as it is shown apart from the answer."""
    if not reasoning.citations:  # what cites nothing may be anybody's thought
        return ""
    lines = [f"[{one.number}] {link(one.title, one.url)}" for one in sources(reasoning.citations)]
    return "\n\n".join((reasoning.text, "\n".join(lines)))


async def _summed_up(model: LanguageModel, question: str, said: str) -> str:
    """Return the answer that output which does not parse came to, "" where there is none (section 4.7)."""
    if len(re.findall(r"\w+", said)) < LEAST_WORDS:
        return ""
    system, user = prompts.summary(question, said[:LONGEST])
    try:
        output = await model.structured(
            (Prompt("system", system), Prompt("user", user)),
            prompts.SUMMARY_SCHEMA,
            max_tokens=REASONING_TOKENS,
        )
    except ModelMalformed:
        return ""
    answer = output.get("answer")
    text = answer.strip() if isinstance(answer, str) else ""
    return DONT_KNOW if says_unknown(text) else text


def parse(output: Mapping[str, Any] | str) -> dict[str, Any] | None:
    """Read reasoning, answer and both flags from an object, from JSON in text, or from broken JSON.

    Returns None where there is no answer to be had.
    """
    fields = _fields(output) if isinstance(output, str) else dict(output)
    answer = fields.get("answer")
    if not isinstance(answer, str) or not answer.strip():
        return None
    return {
        "reasoning": str(fields.get("reasoning") or "").strip(),
        "answer": answer.strip(),
        "false_premise": _is_true(fields.get("false_premise"), False),
        "answerable": _is_true(fields.get("answerable"), True),
    }


def _fields(text: str) -> dict[str, Any]:
    start, end = text.find("{"), text.rfind("}") + 1
    if 0 <= start < end:
        try:
            value = json.loads(text[start:end], strict=False)
        except (ValueError, RecursionError):
            value = None
        if isinstance(value, dict):
            return value
    found: dict[str, Any] = {}
    for name, content in _FIELD.findall(text):
        try:
            found[name] = json.loads(f'"{content}"', strict=False)
        except ValueError:
            found[name] = content
    found.update({name.lower(): value.lower() == "true" for name, value in _FLAG.findall(text)})
    return found


def _is_true(value: object, default: bool) -> bool:
    if isinstance(value, str):
        return value.strip().lower() in ("true", "yes", "1")
    return value if isinstance(value, bool) else default


def finish(raw: str, evidence: tuple[Evidence, ...], *, cut: bool = False) -> Cleaned:
    """Turn what a model wrote at once into an answer: true citations, whole sentences, or the fixed phrase.

    Raises ModelMalformed where nothing is left.
    """
    text = fill(plain(raw))
    if is_unknown(text):
        return Cleaned(DONT_KNOW)
    cleaned = clean(whole(text) if cut else text, evidence)
    if not re.search(r"\w", cleaned.text):
        raise ModelMalformed("The model wrote nothing that could be shown. Ask again.")
    return Cleaned(left_off(cleaned.text) if cut else cleaned.text, cleaned.citations)
