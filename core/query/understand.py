"""Understand a message (QAMR step 1): by rules, and by the model where they are in doubt."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, Literal

from core import prompts
from core.domain import Product, Queries, Question, Resolution, Turn
from core.errors import ModelRefused
from core.languages import name_of
from core.ports import LanguageModel, Prompt
from core.query.checks import checked, goes_on_otherwise, keeps_subject, translated
from core.query.decompose import MOST, leans, parts
from core.query.followups.complete import complete
from core.query.forms import content, expansions, filtered, topic, without
from core.query.other_software import ASIDE
from core.query.releases.mentions import mentions
from core.query.releases.resolve import lookup
from core.text.logs import without_stamps
from core.text.words import RULED, cut_at_word, identifiers, one_line, parts_of, quantities, query_terms

Doubt = Literal["", "language", "follow-up", "release"]

NO_PRODUCT = Product("")
"""Where nothing is known of what is talked about: its documentation is in English."""
OUTPUT_TOKENS = 500
"""Room for the forms of a chat message with four parts; most take 150."""
_FORMS = 4
"""How often a question may stand in the output: as base, filtered, versionless, and in its parts."""
_TURNS = 6
_TURN_CHARACTERS = 500
"""How much of a message is told; a question and the answer's first sentences stand in it."""
_EXPLAINED = 30
"""Words from which a message is taken to explain itself, as the rules do."""
_TRANSLATED = 1_500
"""Characters of a question that are translated; the output has no room for more."""
_KEPT = 0.5
"""Least share of the message's terms that its rewrite holds: "that approach" may go, "fish" may not."""
_SAID = 0.7
"""Least share of a rewrite's terms that somebody said; what is beyond is the model's own knowledge."""

_SEEMS_NAMED = re.compile(
    r"\b(?:old|older|oldest|legacy|earlier|original|initial|former|other|next|newer|upcoming|first|second|third"
    r"|two|three|both|lts|long[- ]term)\b[\s-]+(?:versions?|releases?|editions?"
    r"|branch(?:es)?|series|lts)\b"
    r"|\b(?:versions?|releases?|editions?)\s+(?:zero|one|two|three|four|five|six|seven|eight|nine|ten|[a-z]+\s+"
    r"(?:point|dot)\s+\w+)\b"
    r"|\b(?:zero|one|two|three|four|five|six|seven|eight|nine|ten)\s+(?:point|dot)\s+\w+\b",
    re.IGNORECASE,
)
_SIGNS = re.compile(r"[`{}=<>]")
"""What code is written with."""
_SEVERAL, _ENOUGH = 2, 3
"""Words in brackets that are an aside, and words that say something about the subject beside it."""
_COMPARES = re.compile(
    r"\b(?:between|versus|vs|compar\w*|differ\w*|chang\w*|new|instead|same|since|still|both|either|or|than"
    r"|remov\w*|deprecat\w*|added?|each|every|all)\b",
    re.IGNORECASE,
)
_JOINED = re.compile(
    r"[\s,;/&+>→-]*+(?:\b(?:[A-Z][\w-]*+|(?i:and|or|nor|to|vs|than|with|against|in|for|on|from|of|version"
    r"|release|v|the|also|compared))\b[\s.,]*+)*+"
)
"""What stands between releases that are asked for together: small words and the product's name."""


def is_foreign(question: Question, product: Product) -> bool:
    """Return True if a question is in another language than the documentation; one nobody knows is not."""
    return question.language not in ("", product.language)


def doubt(question: Question, resolution: Resolution, ruled: Queries, product: Product = NO_PRODUCT) -> Doubt:
    """Say what the rules are not sure of; nothing for a question that stands alone with a clear release.

    A question in another language than the documentation has to be translated. What is longer than rules
    look at explains itself.
    """
    if len(question.text) > RULED:
        return ""
    if is_foreign(question, product) and not resolution.unknown and len(question.text) <= _TRANSLATED:
        return "language"
    if resolution.unknown or len(question.text.split()) > _EXPLAINED or "```" in question.text:
        return ""
    clear = resolution.origin == "question" and not _ambiguous(question, resolution)
    if any(turn.role == "user" for turn in question.history) and (ruled.rewritten or not clear):
        return "follow-up"
    return "release" if _release_in_doubt(question, resolution) else ""


async def understand(
    model: LanguageModel, question: Question, product: Product, resolution: Resolution, ruled: Queries
) -> tuple[Resolution, Queries]:
    """Ask the model once for release, Base, Filtered, Versionless and parts; keep what holds.

    What of the output invents or drops something is replaced by what the rules found: `resolution` and
    `ruled` come back as they are where nothing holds. Raises the ModelErrors.
    """
    fitted, limit = _fitted(model, question, product)
    output = await model.structured(fitted, prompts.UNDERSTAND_SCHEMA, max_tokens=limit)
    if is_foreign(question, product):
        base = _translation(output, question, product, resolution) or ruled.base
        resolution = _with_release(output, replace(question, text=base), product, resolution)
    else:
        resolution = _with_release(output, question, product, resolution)
        base = _base(output, question, product, resolution, ruled)
    plain = replace(question, text=base, history=())
    forms = queries(plain, product, resolution)
    if base == ruled.base:
        forms = replace(forms, parts=ruled.parts)
    is_own = _same(base, one_line(str(output.get("base") or "")))
    added = expansions(base, product.glossary)
    versionless = output.get("versionless") if forms.versionless else ""
    forms = replace(
        forms,
        filtered=_search_form(output.get("filtered"), forms.filtered, added) or _with(forms.filtered, added),
        versionless=_search_form(versionless, forms.versionless, added) or _with(forms.versionless, added),
        # what belongs to a base that was refused asks for what nobody asked
        parts=(_parts(output.get("parts"), base, question.history) if is_own else ()) or forms.parts,
        rewritten=base not in (question.text, without_stamps(question.text)),
        carried=ruled.carried if base == ruled.base else (),
    )
    return resolution, forms


# --- what is asked of the model ---------------------------------------------------------------------


def _fitted(model: LanguageModel, question: Question, product: Product) -> tuple[tuple[Prompt, ...], int]:
    """Write the prompts with as much of the thread as has room."""
    turns = [(turn.role, cut_at_word(turn.text, _TURN_CHARACTERS)) for turn in question.history[-_TURNS:]]
    foreign = is_foreign(question, product)
    languages = (name_of(question.language), name_of(product.language)) if foreign else ()
    while True:
        system, user = prompts.understand(product, question.text, turns, *languages)
        left = model.context_tokens - model.count_tokens(system) - model.count_tokens(user)
        if left >= OUTPUT_TOKENS // 2:
            room = max(OUTPUT_TOKENS, _FORMS * model.count_tokens(question.text))
            return (Prompt("system", system), Prompt("user", user)), min(room, left)
        if not turns:
            raise ModelRefused(
                f"A context of {model.context_tokens} tokens is too small; raise OLLAMA_NUM_CTX."
            )
        del turns[0]


# --- what of the output holds -----------------------------------------------------------------------


def _ambiguous(question: Question, resolution: Resolution) -> bool:
    """Return True if several releases are named and nothing says that all of them are meant."""
    if not resolution.comparison or _COMPARES.search(question.text):
        return False
    places = sorted(resolution.spans)
    between = [question.text[end:start] for (_, end), (start, _) in pairwise(places)]
    return not all(_JOINED.fullmatch(text) for text in between)


def _release_in_doubt(question: Question, resolution: Resolution) -> bool:
    if resolution.origin == "given":
        return False
    return _ambiguous(question, resolution) or bool(
        not resolution.named and _SEEMS_NAMED.search(question.text)
    )


def _with_release(
    output: Mapping[str, Any], question: Question, product: Product, resolution: Resolution
) -> Resolution:
    """Take the model's release where the rules were not sure, and only one that exists."""
    name = lookup(str(output.get("release") or ""), product)
    if not name or not _release_in_doubt(question, resolution):
        return resolution
    if resolution.named and name not in resolution.named:
        return resolution
    return replace(resolution, release=name, origin="question", named=(name,), comparison=False)


def _translation(
    output: Mapping[str, Any], question: Question, product: Product, resolution: Resolution
) -> str:
    """Return the model's Base of a foreign question where it keeps to what was said, else nothing."""
    base = one_line(str(output.get("base") or ""))
    known = Turn("user", "", release=" ".join((resolution.release, *resolution.named)))
    heard = (*question.history, known)
    if not translated(base, question.text, heard, question.language):
        return ""
    return base if _keeps_releases(base, question, product, resolution) else ""


def _base(
    output: Mapping[str, Any], question: Question, product: Product, resolution: Resolution, ruled: Queries
) -> str:
    """Return the model's Base where it keeps to what was said, the message itself where it stands alone."""
    asked, base = question.text, one_line(str(output.get("base") or ""))
    if not any(turn.role == "user" for turn in question.history):
        return asked
    if _same(base, asked):
        # The rules saw something to complete that the model did not: theirs is the fuller one.
        return ruled.base
    known = Turn("user", "", release=" ".join((resolution.release, *resolution.named)))
    heard = (*question.history, known)
    if not checked(base, asked, heard) or not _keeps_releases(base, question, product, resolution):
        return ruled.base
    said = set(query_terms(" ".join([asked, *(turn.text for turn in heard)])))
    told = query_terms(base)
    own = sum(term in said for term in told)
    if not told or (own < _SAID * len(told) and not goes_on_otherwise(question)):
        return ruled.base
    return base if keeps_subject(base, question) else ruled.base


def _with(form: str, added: Sequence[str]) -> str:
    return " ".join([form, *(word for word in added if word not in form)]) if form else ""


def _same(one: str, other: str) -> bool:
    return re.findall(r"\w+", one.lower()) == re.findall(r"\w+", other.lower())


def _keeps_releases(base: str, question: Question, product: Product, resolution: Resolution) -> bool:
    """Return True if a rewrite names the releases that the message names, and none that nobody named."""
    heard = {resolution.release, *resolution.named}
    for turn in question.history:
        heard |= {turn.release, *(found.release for found in mentions(turn.text, product))}
    told = {found.release for found in mentions(base, product, resolution.release)}
    return set(resolution.named) <= told <= heard


def _search_form(form: object, ruled: str, added: Sequence[str]) -> str:
    """Return the model's Filtered or Versionless with what the glossary adds, "" where it does not hold.

    Its words are all the rules' own, with every identifier and number, and not too few of them.
    """
    text = one_line(form) if isinstance(form, str) else ""
    terms, wanted = set(query_terms(text)), set(query_terms(ruled))
    if not terms <= wanted or len(terms) < _KEPT * len(wanted) or not _facts(ruled) <= _facts(text):
        return ""
    return _with(text, added)


def _parts(parts: object, base: str, history: Sequence[Turn]) -> tuple[str, ...]:
    """Return the parts of a composite question that keep to it and together hold all of it."""
    if not isinstance(parts, list) or not all(isinstance(part, str) for part in parts):
        return ()
    found = tuple(dict.fromkeys(one_line(part) for part in parts if part.strip()))
    if not 2 <= len(found) <= MOST:
        return (base,) if len(found) == 1 else ()
    heard = _facts(" ".join([base, *(turn.text for turn in history)]))
    if any(len(query_terms(part)) < 2 or not _facts(part) <= heard or leans(part) for part in found):
        return ()
    told = set(query_terms(" ".join(found)))
    wanted = query_terms(base)
    whole = _facts(base) <= _facts(" ".join(found)) and sum(t in told for t in wanted) >= _SAID * len(wanted)
    return found if whole else ()


def _facts(text: str) -> set[str]:
    """Return what a rewrite may neither invent nor drop: identifiers by their words, and numbers."""
    names = {" ".join(parts_of(name)) or name.lower() for name in identifiers(text)}
    return names | {digits.rstrip(".xX") for digits, _ in quantities(text)}


def queries(question: Question, product: Product, resolution: Resolution) -> Queries:
    """Return the query forms of a question; pure, well under a millisecond for a chat message.

    `base` is the message itself where it stands alone, else its completion from the thread; lines of a log
    without their time.
    """
    completion = complete(question.text, question.history, product)
    base = without_stamps(completion.text)
    found = mentions(base, product, resolution.release)
    told, beside = _without_aside(base)
    plain = filtered(told)
    named = mentions(told, product, resolution.release) if beside else found
    versionless = filtered(without(told, named)) if found else ""
    added = expansions(base, product.glossary)
    return Queries(
        base=base,
        filtered=" ".join([plain, *added]),
        versionless=" ".join([versionless, *added]) if versionless else "",
        # a completion may hold the earlier question too, which has its answer already
        parts=parts(base) if completion.text == question.text or len(parts(question.text)) > 1 else (base,),
        topic=topic(base, product, found),
        rewritten=completion.text != question.text,
        carried=(*completion.carried, *beside),
    )


def _without_aside(text: str) -> tuple[str, tuple[str, ...]]:
    """Return a question without what it says in brackets, and the words there: "elsewhere (nfs is slow)".

    They are searched for, and no sign of an answer. A single word, a name, a number or code in brackets
    belongs to what is asked, as does all where little else is said.
    """
    beside: list[str] = []

    def taken(found: re.Match[str]) -> str:
        said = found["said"]
        if len(said.split()) < _SEVERAL or _SIGNS.search(said) or identifiers(said) or quantities(said):
            return found[0]
        beside.extend(filtered(said).split())
        return " "

    told = ASIDE.sub(taken, text)
    return (told, tuple(beside)) if len(content(told)) >= _ENOUGH else (text, ())
