"""Messages of a channel to conversations, and conversations to documents: the question and its answers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from core.domain import RawDocument
from core.ports.history import Post
from core.text.words import cut_at_word, looks_like_question, one_line

OPEN = 12
"""Conversations of a channel that a message may belong to: the latest ones."""
SILENT = 2_160.0
"""Seconds without a message after which a conversation outside of threads is over."""
ITEM = 500
"""Characters of an answer that becomes an item."""
_MENTION = 3.4
_MENTIONED = 1.2
_SAME_AUTHOR = 2.8
_TAKES_PART = 3.5
_PER_MINUTE = 0.1
_LATEST = 1.9
_NEEDED = 0.3
"""Weights of what ties a message to a conversation, and the sum needed (docs/decisions/reading.md, R-06)."""
_THANKS = re.compile(
    r"\b(?:thanks|thank you|thx|ty|works now|got it|perfect|solved"
    r"|that (?:worked|works|did it|fixed it|helps))\b",
    re.I,
)


def threads(posts: Iterable[Post]) -> list[list[Post]]:
    """Tell the conversations of one channel apart, each in the order of time.

    Threads and replies say themselves where they belong. For the rest a message goes to the open
    conversation that it fits best: whom it addresses, who spoke last, how long ago that was
    (features after Elsner and Charniak, 2008).
    """
    found: list[list[Post]] = []
    home: dict[str, list[Post]] = {}
    ordered = sorted(posts, key=lambda p: (p.at, p.id))
    replied = {post.reply_to for post in ordered}
    for post in ordered:
        told = home.get(post.thread or post.reply_to)
        # a question that people reply to by name stands for itself
        begins = post.id in replied and looks_like_question(post.text) and not post.mentions
        if told is None and not post.thread and not begins:
            told = _best(post, found)
        if told is None:
            told = []
            found.append(told)
        told.append(post)
        home[post.id] = told
        if post.thread:
            home.setdefault(post.thread, told)
    return found


def _best(post: Post, found: Sequence[list[Post]]) -> list[Post] | None:
    recent = [c for c in found[-4 * OPEN :] if not c[-1].thread and post.at - c[-1].at <= SILENT]
    recent.sort(key=lambda c: -c[-1].at)
    scored = [(_tie(post, c, rank), -rank) for rank, c in enumerate(recent[:OPEN])]
    if not scored:
        return None
    score, rank = max(scored)
    return recent[-rank] if score >= _NEEDED else None


def _tie(post: Post, conversation: Sequence[Post], rank: int) -> float:
    """Weigh what ties a message to a conversation; `rank` 0 is the one that was last spoken in."""
    last = conversation[-1]
    authors = {p.author for p in conversation}
    score = _LATEST if rank == 0 else 0.0
    score -= _PER_MINUTE * (post.at - last.at) / 60
    if post.mentions & authors:
        score += _MENTION
    elif post.mentions:
        score -= _MENTIONED
    if any(post.author in p.mentions for p in conversation[-3:]):
        score += _MENTIONED
    if last.author == post.author:
        score += _SAME_AUTHOR
    elif post.author in authors:
        score += _TAKES_PART
    return score


@dataclass(frozen=True, slots=True)
class Told:
    """A conversation as question and answers, the best answer first."""

    question: Post
    answers: tuple[Post, ...]
    settled: bool
    """Whether an answer was accepted, voted for, or thanked for."""


def told(conversation: Sequence[Post], titled: bool = False, closed: bool = False) -> Told | str:
    """Find the question and the answers of a conversation, or say why it has none.

    A thread with a title of its own need not begin with a question; a `closed` one was marked as settled.
    """
    people = [post for post in conversation if not post.bot and post.text.strip()]
    if not people:
        return "nobody but bots speaks"
    asker = people[0].author
    answered = next((at for at, post in enumerate(people) if post.author != asker), len(people))
    opening = people[:answered]
    if not titled and not any(looks_like_question(post.text) for post in opening):
        return "it does not begin with a question"
    answers = [post.judged_by(asker) for post in people if post.author != asker]
    if not answers:
        return "nobody answers"
    said = "\n\n".join(post.text for post in opening)
    question = Post(opening[0].id, asker, said, opening[0].at, opening[0].url)
    thanked = _thanked(people, asker)
    best = sorted(answers, key=lambda p: (not p.accepted, -p.votes, p.id not in thanked, p.at))
    settled = closed or best[0].accepted or best[0].votes > 0 or best[0].id in thanked
    return Told(question, tuple(best), settled)


def _thanked(people: Sequence[Post], asker: str) -> set[str]:
    """Return the answers that the asker thanks for: the last one before the thanks."""
    found = set()
    for at, post in enumerate(people):
        if post.author == asker and len(post.text) < 120 and _THANKS.search(post.text):
            before = [p for p in people[:at] if p.author != asker]
            if before:
                found.add(before[-1].id)
    return found


def document(
    path: str, conversation: Told, title: str = "", one_way: Callable[[str], str] | None = None
) -> RawDocument:
    """Write a conversation as a document: the question for its heading, then what answers it.

    Names are left out: what counts is what was worked out, and people may ask to be forgotten. By `one_way`
    its authors get the names under which they are found then.
    """
    question = conversation.question
    first = title or _headline(question.text)
    parts = [f"# {first}"]
    if question.text.strip() != first:
        parts.append(question.text.strip())
    parts += [_item(post.text.strip()) for post in conversation.answers]
    wrote = {post.author for post in (question, *conversation.answers)} - {""}
    people = tuple(sorted(filter(None, map(one_way, wrote)))) if one_way else ()
    return RawDocument(path, question.url, "\n\n".join(parts).encode(), "markdown", people=people)


def _item(text: str) -> str:
    """Write a short answer that is no whole sentence, as people type in a chat, as an item of a list: items
    are quoted as they stand.
    """
    is_whole = text[:1].isupper() and text.rstrip("*_`)\"'").endswith((".", "!", "?"))
    is_block = re.search(r"```|\n\s*\n|^\s*(?:[-*+#>|]|\d+[.)])", text, re.MULTILINE)
    return text if is_whole or is_block or len(text) > ITEM else f"- {one_line(text)}"


def _headline(text: str) -> str:
    """Return the first question of a text as one line of at most 150 characters."""
    sentences = re.split(
        r"(?<=[.!?])\s+|\n+", re.sub(r"```.*?(?:```|\Z)", " ", text, flags=re.DOTALL).strip()
    )
    asked = next((s for s in sentences if looks_like_question(s)), sentences[0] if sentences else text)
    return cut_at_word(one_line(asked).lstrip("#>-* "), 150)
