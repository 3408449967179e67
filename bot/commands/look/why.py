"""`why`: what led to an answer, by its id, by a link to it, or the last one here."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from bot.commands.command import Command, Given, Option, Result, at_terminal

if TYPE_CHECKING:
    from bot.commands.slash.table import Call
    from bot.operations.application import Application
    from core.memory.community import CommunityMemory

NEAR = 3
"""Similar pairs of each store that are told."""
EXPLAINED = 8
"""Pages of which is told how they were ranked."""
FOUND_BY = {"dense": "meaning", "words": "words", "words, filtered": "key words"}
RAISED_BY = {
    "passage": "its place in the search",
    "near": "a passage close in meaning",
    "sentence": "a sentence close in meaning",
    "joint": "a sentence with the question's words and meaning",
    "tokens": "words close in meaning to the question's",
    "identifiers": "names in code that the question has",
    "reference": "its kind: guide or API reference",
    "document": "other pages of its document that match",
    "pairs": "words side by side as in the question",
    "older": "the age of its version",
    "changed": "release notes, as the question is about a change",
    "notes": "its kind: release notes or not",
    "making": "its kind: for users or for contributors",
    "question": "a pregenerated question close in meaning",
    "answer": "a pregenerated answer close in meaning",
    "question_terms": "words of a pregenerated question",
    "answer_terms": "words of a pregenerated answer",
    "votes": "votes on nearly the same question",
    "reranker": "the reranker",
}
"""What raises a page, by the features of `core.retrieval.features` and the parts beside them."""
_ID = re.compile(r"a[0-9a-f]{16}")
_LINK = re.compile(r"https?://[^\s<>|)]+")


async def run(app: Application, given: Given) -> Result:
    """Explain an answer, with how the pair behind it stands today. Raises UsageError."""
    from core.errors import UsageError

    try:
        found = await app.engine.answer_log.why(given["answer_id"])
    except KeyError:
        raise UsageError(f"There is no answer {given['answer_id']}.") from None
    admins = await for_admins(app.memory, found, given.audience)
    return Result(
        {
            "question": found["question"],
            "sentences": list(found["sentences"]),
            "for_admins": admins,
            "pages": pages(found["trace"]),
        }
    )


def text(result: Result) -> Sequence[str]:
    """Say it in plain words."""
    found = result.data
    return ["\n".join([f"“{found['question']}”", *found["sentences"], *found["for_admins"]])]


def pages(stored: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the pages of a stored trace with score, rank at each retriever, and what raised them most."""
    from core.domain import Trace

    return [
        {
            "place": place,
            "title": page.title.rstrip(": "),
            "url": page.url,
            "release": page.release,
            "score": round(page.score, 2),
            "ranks": dict(page.ranks),
            "raised_by": dict(sorted(page.lifts.items(), key=lambda entry: -entry[1])),
        }
        for place, page in enumerate(Trace.of(stored).evidence, start=1)
    ]


def _ranked(page: Mapping[str, Any]) -> str:
    """Say how a page came to its place; empty where it was not ranked, as release notes are not."""
    ranks = ", ".join(f"rank {rank} by {FOUND_BY.get(name, name)}" for name, rank in page["ranks"].items())
    raised = ", ".join(f"{RAISED_BY.get(name, name)} (+{by:.2f})" for name, by in page["raised_by"].items())
    if not ranks and not raised:
        return ""
    told = f"Page {page['place']}: score {page['score']:.2f}" + (f"; {ranks}" if ranks else "")
    return told + (f". Ahead of the average page by {raised}." if raised else ".")


async def for_admins(
    memory: CommunityMemory, found: Mapping[str, Any], request: Mapping[str, Any]
) -> list[str]:
    """Say what only admins see of an answer (as `AnswerLog.why` returns it), line by line."""
    from bot.privacy.visibility import heard
    from bot.rendering.pairs import named, standing
    from core.domain import RecalledTrace, Trace, own_pair

    trace = Trace.of(found["trace"])
    queries = trace.queries
    lines = []
    pair = await memory.find(found["pair_id"]) if found["pair_id"] else None
    if pair is not None:
        is_own = found["pair_id"] == own_pair(found["answer_id"])
        which = "This answer" if is_own else "The remembered answer"
        near = "" if is_own or not found["similarity"] else f", with similarity {found['similarity']:.2f}"
        lines.append(f"{which} is pair {named(pair)}{near}. Today {standing(memory, pair)}.")
    forms = {name: getattr(queries, name) for name in ("base", "filtered", "versionless", "topic")}
    told = ", ".join(f"{name} “{value}”" for name, value in forms.items() if value)
    lines += [f"Searched with: {told}"] if told else []
    lines += [f"In parts: {' · '.join(queries.parts)}"] if len(queries.parts) > 1 else []
    recalled = trace.recalled or RecalledTrace()
    for pairs, word in ((recalled.high, "good"), (recalled.low, "bad")):
        for pair_near in pairs[:NEAR]:
            other = await memory.find(pair_near.pair)
            said = heard(request, other.scope, pair_near.question) if other else pair_near.question
            lines.append(
                f"Near {word} pair {pair_near.pair}: similarity {pair_near.similarity:.2f}, "
                f"score {pair_near.score:.2f}, “{said}”"
            )
    lines += filter(None, map(_ranked, pages(found["trace"])[:EXPLAINED]))
    if support := trace.support:
        said = ", ".join(f"{name} {value:.2f}" for name, value in support.items() if name != "prior")
        lines.append(f"Before any vote its score was {support['prior']:.2f}, from its pages ({said}).")
    if by := trace.written:
        lines.append(f"Model {by.model}, prompts {by.prompts}, temperature {by.temperature}")
    if trace.steps:
        taken = trace.steps.items()
        lines.append("Steps of the model: " + ", ".join(f"{name} {value}" for name, value in taken))
    if timings := trace.timings:
        lines.append("Milliseconds: " + ", ".join(f"{step} {spent:.0f}" for step, spent in timings.items()))
    elif trace.ms is not None:
        lines.append(f"Milliseconds: {trace.ms:.0f}")
    return lines


async def dialogue(app: Application, call: Call) -> None:
    """Explain in chat, to the asker and to admins; an asker is told in the language of the answer.

    Raises UsageError for anybody else.
    """
    from bot.commands.slash.texts import ELSEWHERE, NOT_KEPT, NOT_YOURS
    from bot.privacy.visibility import may_hear, stay_within
    from core.errors import UsageError
    from core.languages import _, speaking
    from core.text.markup import inert

    answer_id = await _meant(app, call)
    given = app.engine.answer_log
    try:
        who = await given.asked_by(answer_id)
        own = app.engine.is_same(who.asker, call.person.id)
        with speaking(await given.language_of(answer_id) if own else ""):
            found, quoted = await given.why(answer_id), _("“{question}”")
    except KeyError:
        raise UsageError(_(NOT_KEPT).format(answer=answer_id)) from None
    stay_within(call.person.id, [who.asker])
    if not (own or call.is_admin):
        raise UsageError(_(NOT_YOURS))
    hears: dict[str, Any] = {"hears": call.scope.key}
    if not own and not may_hear(hears, who.scope):
        raise UsageError(_(ELSEWHERE))
    lines = [f"- {sentence}" for sentence in found["sentences"]]
    if call.is_admin:
        told = await for_admins(app.memory, found, hears)
        lines += ["", f"Answer `{answer_id}`, for admins:", *(f"- {line}" for line in told)]
    await call.tell("\n".join([quoted.format(question=inert(found["question"])), *lines]))


async def _meant(app: Application, call: Call) -> str:
    """Return the id of the answer that is meant; raises UsageError where there is none."""
    from bot.commands.slash.texts import NO_ANSWER, NO_ANSWERED, NONE_HERE
    from core.errors import UsageError
    from core.languages import _

    said, conversations = call.given.get("answer", ""), app.conversations
    if not said:
        last = await conversations.last_claim(call.where.conversation) if call.where.thread else None
        last = last or await conversations.last_in(call.where.channel_key)
        if last is None:
            raise UsageError(_(NONE_HERE))
        return last.answer_id
    if _ID.fullmatch(said):
        return said
    link = _LINK.search(said)
    ref = await call.chat.linked(link[0]) if link and call.chat else None
    if ref is None:
        raise UsageError(_(NO_ANSWER).format(said=said))
    claim = await conversations.claimed(ref.key)
    answer_id = await conversations.answer_of(ref.key) or (claim.answer_id if claim else "")
    if not answer_id:
        raise UsageError(_(NO_ANSWERED))
    return answer_id


ANSWER_ID = Option("answer-id", "What `ask --json` calls answer_id", required=True, where="terminal")
COMMAND = Command(
    "why",
    "look",
    "explain an answer: release, route, memory, pages",
    run,
    text,
    (
        Option(
            "answer",
            "An answer's id or the link to its message; the last one here when left out",
            where="chat",
        ),
        ANSWER_ID,
    ),
    who="everybody",
    help_in_chat="explain an answer: the last one here, or one by its id or link",
    dialogue=dialogue,
    rank=14,
    further="members see their own answers; admins see all, with searches, similar answers, scores of pages, "
    "model and times",
)

MEMORY_WHY = at_terminal(
    "memory why",
    "admin",
    "explain an answer: release, route, memory, pages",
    run,
    text,
    (ANSWER_ID,),
    rank=44,
)
"""The same, for the person who looks for it there."""
