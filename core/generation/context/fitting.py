"""A request to the model, cut to what its context holds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from core import prompts
from core.domain import Evidence, QAPair, Turn
from core.errors import ModelRefused
from core.generation.citations import uncited
from core.generation.context.by_rule import laid_out, shorten
from core.generation.quotes.quote import without_introduction
from core.generation.quotes.titles import headings
from core.languages import _
from core.ports import LanguageModel, Prompt
from core.retrieval.release_notes.notes import version_of
from core.text.markup import GAP

ANSWER_TOKENS = 700
"""Room for the answer; ours: long answers in chat go unread, and code needs about 300."""
_LEAST_ANSWER_TOKENS = 200
_TEMPLATE_TOKENS = 32
"""What a chat template adds around two messages, amply."""
_LEAST_EVIDENCE_TOKENS = 400
"""Less than this of a chunk loses its sense, and what decides; better one chunk fewer. Ours."""
_PAIR_TOKENS = 160
_PAIRS = 3
_TURN_TOKENS = 150
_TURNS = 8
_SIDE_SHARE = 0.15
"""Share of the room for each of thread and bad pairs, as long as evidence needs the rest."""


@dataclass(frozen=True, slots=True)
class Request:
    """What an answer is written from.

    `question` is the Base query. `texts` is what context reduction left of a chunk, by number; the
    chunk's whole text is used where it says nothing. Evidence comes best first.
    """

    question: str
    product: str
    releases: tuple[str, ...]
    evidence: Sequence[Evidence]
    low: Sequence[QAPair] = ()
    history: Sequence[Turn] = ()
    parts: tuple[str, ...] = ()
    texts: Mapping[int, str] = field(default_factory=dict)
    temperature: float = 0.7
    max_tokens: int = ANSWER_TOKENS
    calculator: bool = False
    language: str = ""
    """The English name of the language to write in; empty for that of the question."""
    original: str = ""
    """The question in the asker's own words, where `question` is its translation."""
    code: str = ""
    """The language to write in, as `de`; empty where nobody knows it."""
    documented: str = ""
    """The language of the evidence, as `en`."""
    speaks: Callable[[str], str] | None = None
    """Tells the language of a text, as `de`, empty where its words do not tell."""
    rejected: Mapping[str, str] = field(default_factory=dict)
    """What people said of the bad pairs, by their ids."""
    faults: tuple[str, ...] = ()
    """What was wrong with an answer that was written before."""
    previous: str = ""
    """That answer, in which `prompts.wrong` marks what is wrong."""
    answered: str = ""
    """An answer from other evidence whose last sentence, which says what is lacking, is to be written."""


def renumbered(request: Request) -> Request:
    """Return a request whose evidence is numbered from 1 without gaps, and without what is said twice."""
    laid = laid_out(request.evidence)
    kept = [item for item in request.evidence if item.number in laid]
    if [item.number for item in kept] == list(range(1, len(request.evidence) + 1)):
        return request
    evidence = tuple(replace(item, number=n) for n, item in enumerate(kept, 1))
    texts = {n: request.texts[item.number] for n, item in enumerate(kept, 1) if item.number in request.texts}
    return replace(request, evidence=evidence, texts=texts)


@dataclass(frozen=True, slots=True)
class Fitted:
    """Prompts that fit, the evidence that is in them, and the room that is left for the answer."""

    prompts: tuple[Prompt, ...]
    evidence: tuple[Evidence, ...]
    max_tokens: int


def fit(model: LanguageModel, request: Request, extra: str = "") -> Fitted:
    """Build the prompts; what is least useful is cut or left out until they fit.

    `extra` is appended to the system text. Raises ModelRefused where even the question is too long.
    """
    count = model.count_tokens
    system = (
        prompts.answer_system(
            request.product,
            request.releases,
            calculator=request.calculator,
            language=request.language,
            labelled=_is_labelled(request),
            notes=_has_notes(request),
            community=_("Community") if _has_remembered(request) else "",
        )
        + extra
    )

    def asked(blocks: Sequence[str]) -> str:
        return prompts.answer_user(
            request.question,
            request.parts,
            blocks,
            original=request.original,
            language=request.language,
            faults=request.faults,
            previous=request.previous,
            answered=request.answered,
        )

    bare = asked([])
    fixed = count(system) + count(bare) + _TEMPLATE_TOKENS
    room = model.context_tokens - fixed
    answer = min(request.max_tokens, max(_LEAST_ANSWER_TOKENS, room // 2))
    left = room - answer
    if left < 0:
        raise ModelRefused(
            f"The question is too long for a context of {model.context_tokens} tokens."
            " Shorten it, or raise OLLAMA_NUM_CTX."
        )
    blocks: list[str] = []
    side = int(left * _SIDE_SHARE)
    for block in (_thread(request, side, count), _bad(request, side, count)):
        blocks.append(block)
        left -= count(block) if block else 0
    shown, evidence = _evidence(request, left, count)
    blocks = [shown, blocks[1], blocks[0]]
    user = asked(blocks)
    return Fitted((Prompt("system", system), Prompt("user", user)), evidence, answer)


def _evidence(request: Request, room: int, count: Callable[[str], int]) -> tuple[str, tuple[Evidence, ...]]:
    """Write as many pieces as have room; the longest are shortened first, the last dropped."""
    labels = _is_labelled(request)

    def written(item: Evidence, text: str) -> str:
        title = headings(item.chunk.title, item.chunk.heading, whole=True)
        release = item.chunk.release or "every release" if labels else ""
        return prompts.evidence(item.number, title, release, text)

    laid = laid_out(request.evidence)
    given = _each_release_first([item for item in request.evidence if item.number in laid])
    texts = [request.texts.get(item.number, laid[item.number].whole) for item in given]
    frames = [count(written(item, "")) + 1 for item in given]
    sizes = [count(text) for text in texts]
    kept = len(texts)
    while kept > 1 and _shortest(sizes[:kept], room - sum(frames[:kept])) < _LEAST_EVIDENCE_TOKENS:
        kept -= 1
    limit = _shortest(sizes[:kept], room - sum(frames[:kept]))
    parts: list[str] = []
    used: list[Evidence] = []
    for item, text, size in zip(given, texts, sizes[:kept], strict=False):
        if size > limit and item.number not in request.texts:  # neighbours go first
            text = laid[item.number].own
            size = count(text)
        if size > limit:
            text = shorten(text, item.matched, int(limit), count) if limit > 0 else ""
        if _tells(text):
            parts.append(written(item, text))
            used.append(item)
    return "\n".join(parts), tuple(used)


def _tells(text: str) -> bool:
    """Return True if more is left of a piece than its heading and a mark for what was left out."""
    lines = (line.strip() for line in text.split("\n"))
    return any(line and line != GAP and not line.startswith("#") for line in lines)


def _is_labelled(request: Request) -> bool:
    """Return True if the evidence has to name its releases: they are not all the one that is asked for."""
    releases = ("", *request.releases)
    return len(request.releases) > 1 or any(item.chunk.release not in releases for item in request.evidence)


def _has_notes(request: Request) -> bool:
    """Return True if release notes are among the evidence, and other pages or notes on another version."""
    headings = (f"{item.chunk.title} > {item.chunk.heading}" for item in request.evidence if item.chunk.path)
    return len({version_of(one) for one in headings}) > 1


def _has_remembered(request: Request) -> bool:
    """Return True if a remembered answer is among the evidence; it is of no page, and titled as such."""
    said = _("Community")
    return any(not item.chunk.path and item.chunk.title.startswith(said) for item in request.evidence)


def _each_release_first(evidence: Sequence[Evidence]) -> list[Evidence]:
    """Put the best piece of every release before the rest, so that none is left out where room is short."""
    first = {item.chunk.release: item.number for item in reversed(evidence)}
    return sorted(evidence, key=lambda item: first[item.chunk.release] != item.number)


def _shortest(sizes: Sequence[int], room: int) -> float:
    """Return the length that the longest pieces must be cut to, infinity where all of them fit."""
    left, pieces = room, len(sizes)
    for size in sorted(sizes):
        if size * pieces > left:
            return left / pieces
        left -= size
        pieces -= 1
    return float("inf")


def _thread(request: Request, room: int, count: Callable[[str], int]) -> str:
    """Keep the latest turns that have room."""
    told: list[tuple[str, str]] = []
    several = len({*request.releases, *(turn.release for turn in request.history if turn.release)}) > 1
    speakers = list(dict.fromkeys(turn.author for turn in request.history if turn.role == "user"))
    for turn in reversed(request.history[-_TURNS:]):
        text = uncited(turn.text) if turn.role == "assistant" else turn.text
        text = shorten(text, (), _TURN_TOKENS, count)
        if turn.role == "assistant":
            # a comparison's release is written `2.0+3.1`
            who = f"you, on {turn.release.replace('+', ' and ')}" if turn.release and several else "you"
        else:
            who = f"person {speakers.index(turn.author) + 1}" if len(speakers) > 1 else "the asker"
        room -= count(text) + 6
        if room < 0:
            break
        if text.strip():
            told.append((who, text))
    return prompts.conversation(told[::-1])


def _bad(request: Request, room: int, count: Callable[[str], int]) -> str:
    told = _pairs(request.low, room, count)
    notes = [shorten(request.rejected.get(pair.id, ""), (), _PAIR_TOKENS, count) for pair in request.low]
    return prompts.rejected([(*pair, note) for pair, note in zip(told, notes, strict=False)])


def _pairs(pairs: Sequence[QAPair], room: int, count: Callable[[str], int]) -> list[tuple[str, str]]:
    told: list[tuple[str, str]] = []
    for pair in pairs[:_PAIRS]:
        question = shorten(pair.question, (), _PAIR_TOKENS // 2, count)
        # Numbers of another answer's evidence would be taken for this one's.
        answer = shorten(uncited(without_introduction(pair.answer)), (), _PAIR_TOKENS, count)
        room -= count(question) + count(answer) + 8
        if room < 0:
            break
        told.append((question, answer))
    return told
