"""Conversations with follow-ups that a person rewrote: readers for the formats of CAsT and CANARD.

CAsT (TREC 2021 and 2022): a list of topics with `turn`s, each an utterance, its manual rewrite and the
passage that answered it. CANARD (Elgohary et al. 2019): a list of questions with their history, of which
the first two entries are the title and the section of the page that the talk is about. Files of other
formats are left out, as are turns without an answer: there is nothing to be found for them.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from core.domain import Turn
from core.errors import UsageError

Half = Literal["tune", "report", "all"]


@dataclass(frozen=True, slots=True)
class Passage:
    """An answer of a conversation, as a passage to be found; `title` is that of its page, where known."""

    id: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class FollowUp:
    """A message of a conversation, what was said before it, and how a person rewrote it.

    `passage` is the id of the passage that answers it. `conversation` names what is kept in one half.
    """

    id: str
    conversation: str
    history: tuple[Turn, ...]
    text: str
    person: str
    passage: str

    @property
    def rewritten(self) -> bool:
        """Return True if the person changed a word; what they left stands alone."""
        return _words(self.text) != _words(self.person)

    @property
    def half(self) -> Half:
        """Return the half of its conversation, drawn by a hash of the conversation's name."""
        return "tune" if hashlib.sha256(self.conversation.encode()).digest()[0] % 2 else "report"


@dataclass(frozen=True, slots=True)
class Conversations:
    """The later messages of all conversations, and the passages of all of them together."""

    name: str
    followups: tuple[FollowUp, ...]
    passages: tuple[Passage, ...]

    def of(self, half: Half) -> tuple[FollowUp, ...]:
        """Return the messages of one half, or all; the passages to search are always all."""
        return tuple(f for f in self.followups if half in ("all", f.half))


def read_conversations(path: Path) -> Conversations:
    """Read a file, or every file of a folder that is in a known format.

    Raises UsageError where there is none.
    """
    if not path.exists():
        raise UsageError(f"There is no {path}; name a file or folder with conversations.")
    files = sorted(path.iterdir()) if path.is_dir() else [path]
    passages: dict[str, Passage] = {}
    found: dict[tuple[Any, ...], FollowUp] = {}
    for file in files:
        for followup in _read(file, passages):
            # flattened trees of turns hold the same beginnings several times
            found.setdefault((followup.history, followup.text), followup)
    if not found:
        raise UsageError(
            f"{path} has no conversations in the format of CAsT or CANARD; docs/evaluation.md describes them."
        )
    return Conversations(path.name.split(".")[0], tuple(found.values()), tuple(passages.values()))


def _read(file: Path, passages: dict[str, Passage]) -> Iterator[FollowUp]:
    if not file.name.endswith((".json", ".json.gz")):
        return
    try:
        raw = file.read_bytes()
        rows = json.loads(gzip.decompress(raw) if file.suffix == ".gz" else raw)
    except (ValueError, OSError, EOFError, zlib.error) as error:
        raise UsageError(f"{file.name} is not JSON: {error}") from None
    except RecursionError:
        raise UsageError(f"{file.name} is not JSON that can be read: it is nested too deep.") from None
    if not isinstance(rows, list) or not rows or not isinstance(rows[0], dict):
        return
    try:
        if "turn" in rows[0]:
            yield from _cast(rows, file.name.split(".")[0], passages)
        elif "Rewrite" in rows[0]:
            yield from _canard(rows, passages)
    except KeyError as error:
        raise UsageError(f"{file.name} has an entry without {error}; docs/evaluation.md says more.") from None
    except (TypeError, ValueError, AttributeError) as error:
        raise UsageError(f"{file.name} has an entry that cannot be read: {error}") from None


def _cast(topics: Sequence[Mapping[str, Any]], name: str, passages: dict[str, Passage]) -> Iterator[FollowUp]:
    year = name.partition("_")[0]
    for place, topic in enumerate(topics):
        history: tuple[Turn, ...] = ()
        for turn in topic["turn"]:
            said = turn.get("raw_utterance") or turn.get("utterance") or ""
            answer = turn.get("passage") or turn.get("response") or ""
            key = f"{year}/{topic['number']}/{turn['number']}"
            if answer:
                # the same answer given twice is one passage
                passage = Passage(hashlib.sha256(answer.encode()).hexdigest()[:16], "", answer)
                passages.setdefault(passage.id, passage)
                if history:
                    yield FollowUp(
                        f"{key}/{place}",
                        f"{year}/{topic['number']}",
                        history,
                        said,
                        turn["manual_rewritten_utterance"],
                        passage.id,
                    )
            history = (*history, Turn("user", said), *([Turn("assistant", answer)] if answer else ()))


def _canard(rows: Sequence[Mapping[str, Any]], passages: dict[str, Passage]) -> Iterator[FollowUp]:
    asked = {(row["QuAC_dialog_id"], int(row["Question_no"])): row for row in rows}
    for (dialog, number), row in asked.items():
        later = asked.get((dialog, number + 1))
        title = ": ".join(row["History"][:2])
        if later is None:  # its answer stands only in the history of the question after it
            continue
        passage = Passage(f"{dialog}/{number}", title, later["History"][-1])
        passages[passage.id] = passage
        said = [title, *row["History"][2:]]
        # the page's title opens the conversation, as the name of a thread does
        roles = ("user", *(("user", "assistant")[at % 2] for at in range(len(said) - 1)))
        history = tuple(Turn(role, text) for role, text in zip(roles, said, strict=True))  # type: ignore[arg-type]
        if number > 1:
            yield FollowUp(passage.id, dialog, history, row["Question"], row["Rewrite"], passage.id)


def _words(text: str) -> list[str]:
    return "".join(letter if letter.isalnum() else " " for letter in text.lower()).split()
