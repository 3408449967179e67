"""How well the bot decides when to speak unasked, on posts of which it is known which the pages answer.

    {"id", "kind", "split", "text", "speak": true or false, "gold_file"}

Golden questions (`evaluation.gold`) that stand alone are read, too; and conversations of the public
collection of Slack chats (XML) and plain text (a post a line), of which none should be answered. Files may
be packed (`.gz`).
"""

from __future__ import annotations

import gzip
import html
import json
import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.domain import Question
from core.errors import UsageError
from core.pipeline.research import Research
from core.query.asking import asks_for_help
from core.retrieval.confidence import DEFAULT_JUDGEMENT
from core.retrieval.unasked import ENOUGH, UNKNOWN
from core.retrieval.unasked import confidence as confidence_of
from core.system.json_parts import lines_of
from core.text.words import looks_like_question
from evaluation.gold import parse_line
from evaluation.tables import grid

THRESHOLDS = (0.78, 0.85, 0.9, 0.93, 0.95, 0.97, 0.99)
NEAR = 3
"""Pages among which the right one must be."""
_MENTION = "<@"
_MESSAGE = re.compile(
    r'<message conversation_id="(?P<conversation>[^"]*)">(?:(?!</?message\b|<text>).)*+'
    r"<text>(?P<text>(?:(?!</?message\b).)*?)</text>",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Post:
    """A new post in a channel; `speak` tells that the documentation answers it, `files` where."""

    id: str
    kind: str
    split: str
    text: str
    speak: bool
    files: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Judged:
    """A post and how sure the bot was; `allowed` tells that it asks for help on what the pages speak of.

    `usual` is the confidence that a question to the bot would have.
    """

    post: Post
    confidence: float
    near: tuple[str, ...] = ()
    allowed: bool = True
    usual: float = 0.0

    def speaks(self, enough: float = ENOUGH) -> bool:
        """Return True if the bot would answer."""
        return self.allowed and self.confidence >= enough

    @property
    def naively(self) -> bool:
        """Return True if a question mark or a first word, and what an asked bot needs, would be enough."""
        return looks_like_question(self.post.text) and self.usual >= DEFAULT_JUDGEMENT.enough

    @property
    def is_right(self) -> bool:
        """Return True if a page that answers is among the first three."""
        return not self.post.files or bool(set(self.post.files) & set(self.near))


def read_posts(path: Path) -> tuple[Post, ...]:
    """Read posts by the file's ending; raises UsageError for what cannot be read."""
    try:
        raw = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    except (OSError, EOFError, zlib.error) as error:
        raise UsageError(f"{path} cannot be read ({error}); name a file of posts.") from None
    name = path.name.removesuffix(".gz")
    text = raw.decode("utf-8-sig", "replace")
    if name.endswith(".xml"):
        return _conversations(text, name.removesuffix(".xml"))
    lines = [(number, line) for number, line in enumerate(lines_of(text), start=1) if line.strip()]
    if not name.endswith(".jsonl"):
        posts = enumerate(line for _, line in lines)
        return tuple(Post(f"{name}-{n}", "other", "all", line, False) for n, line in posts)
    found = (_post(line, f"{path.name}, line {number}") for number, line in lines)
    return tuple(post for post in found if post is not None)


def _post(line: str, where: str) -> Post | None:
    """Read one JSON line: a post, or a golden question that stands alone."""
    try:
        entry: Any = json.loads(line)
        if not isinstance(entry, dict):
            raise ValueError("it is not a JSON object")
        if "question" not in entry:
            texts = [entry.get(key) for key in ("id", "kind", "split", "text")]
            speak, file = entry.get("speak"), entry.get("gold_file") or ""
            if not all(isinstance(text, str) for text in (*texts, file)) or not isinstance(speak, bool):
                raise ValueError("id, kind, split and text are texts, speak is true or false")
            key, kind, split, text = map(str, texts)
            return Post(key, kind, split, text, speak, tuple(file.split("||")) if file else ())
        gold = parse_line(entry)
    except RecursionError:
        raise UsageError(f"{where} is no post: it is nested too deep.") from None
    except ValueError as error:
        raise UsageError(f"{where} is no post ({error}); see tests/golden/README.md.") from None
    if gold.history or gold.ask_release:
        return None
    files = tuple(file for place in gold.places.values() for file in place.files)
    return Post(gold.id, gold.type, gold.split, gold.question, gold.answerable, files)


def _conversations(text: str, name: str) -> tuple[Post, ...]:
    """Return the first message of each conversation, but those to somebody by name."""
    firsts: dict[str, str] = {}
    for message in _MESSAGE.finditer(text):
        said = html.unescape(html.unescape(message["text"])).strip()  # Slack's own escapes stand in XML's
        firsts.setdefault(message["conversation"], said)
    kept = ((key, said) for key, said in firsts.items() if said and _MENTION not in said)
    return tuple(Post(f"{name}-{key}", "other", "all", said, False) for key, said in kept)


async def judge(posts: Sequence[Post], research: Research) -> list[Judged]:
    """Decide for each post as the bot does, by rules alone."""
    found = []
    for post in posts:
        confidence, usual, is_about = 0.0, 0.0, False
        near: tuple[str, ...] = ()
        asks = asks_for_help(post.text)
        if asks or looks_like_question(post.text):
            asked = await research.understand(Question(post.text), by_rules=True)
            if not asked.resolution.unknown:
                hit = await research.search(asked)
                near = tuple(item.chunk.path for item in hit.evidence[:NEAR])
                is_about = hit.signs.unknown <= UNKNOWN and not asked.open
                confidence, usual = confidence_of(hit), hit.confidence
        found.append(Judged(post, confidence, near, asks and is_about, usual))
    return found


def table(judged: Sequence[Judged], thresholds: Sequence[float] = THRESHOLDS) -> str:
    """Write precision and recall of speaking up by half and threshold, and by kind at the shipped one."""
    columns = ("half", "posts", "to answer", "threshold", "answered", "precision", "recall", "right page")
    rows = []
    for split in dict.fromkeys(one.post.split for one in judged):
        own = [one for one in judged if one.post.split == split]
        wanted = sum(one.post.speak for one in own)
        by_rule = {f"{threshold:.2f}": [o for o in own if o.speaks(threshold)] for threshold in thresholds}
        for name, spoken in {"no rules": [one for one in own if one.naively], **by_rule}.items():
            good = [one for one in spoken if one.post.speak]
            right = sum(one.is_right for one in good)
            shares = (_share(len(good), len(spoken)), _share(len(good), wanted), _share(right, len(good)))
            rows.append([split, str(len(own)), str(wanted), name, str(len(spoken)), *shares])
    kinds = []
    for kind in dict.fromkeys(one.post.kind for one in judged):
        own = [one for one in judged if one.post.kind == kind]
        kinds.append([kind, str(len(own)), str(sum(one.speaks() for one in own))])
    halves = grid(columns, rows, ["---"] * len(columns))
    return f"{halves}\n\n{grid(('kind', 'posts', 'answered'), kinds, ['---'] * 3)}"


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.3f}" if whole else "–"
