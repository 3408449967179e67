"""What the loopback Ollama answers by itself: text with true citations, and filled schemas."""

from __future__ import annotations

import re
import time
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Recorded:
    """A request as it came."""

    path: str
    body: dict[str, Any]
    at: float = field(default_factory=time.monotonic)

    @property
    def messages(self) -> list[dict[str, str]]:
        return list(self.body.get("messages", []))

    @property
    def prompt(self) -> str:
        """All messages in one text."""
        return "\n\n".join(message["content"] for message in self.messages)

    @property
    def system(self) -> str:
        return "\n\n".join(m["content"] for m in self.messages if m["role"] == "system")


def pieces_of(text: str) -> list[str]:
    """Cut a text as a tokenizer roughly does: a word with the space before it."""
    return re.findall(r"\s*\w{1,6}|\s*[^\w\s]|\s+", text)


def tokens_of(text: str) -> int:
    """Count tokens as this server's models do."""
    return len(pieces_of(text))


def embedded(text: str, dimensions: int = 256) -> list[float]:
    """Return a vector, not of unit length, that counts the words of a text."""
    vector = [0.0] * dimensions
    for word in re.findall(r"\w+|[^\w\s]", text.lower()):
        vector[zlib.crc32(word.encode()) % dimensions] += 1.0
    return vector


_EVIDENCE = re.compile(r'<evidence number="(\d+)"([^>]*)>\n(.*?)\n</evidence>', re.DOTALL)
_QUESTION = re.compile(r"<question>\n(.*?)\n</question>", re.DOTALL)


def question_of(recorded: Recorded) -> str:
    """Return the question in a prompt."""
    found = _QUESTION.findall(recorded.messages[-1]["content"])
    return str(found[-1]) if found else recorded.messages[-1]["content"]


def evidence_of(recorded: Recorded) -> dict[int, str]:
    """Return the numbered evidence in a prompt."""
    return {int(number): text for number, _, text in _EVIDENCE.findall(recorded.prompt)}


def cited_answer(recorded: Recorded) -> str:
    """Answer with the sentences of the evidence that share most words with the question, cited."""
    asked = _words(question_of(recorded))
    told: list[tuple[int, int, str]] = []
    for number, text in evidence_of(recorded).items():
        plain = re.sub(r"```.*?(?:```|\Z)", " ", text, flags=re.DOTALL)
        for sentence in re.split(r"(?<=[.!?])\s+|\n+", plain):
            shared = len(asked & _words(sentence))
            if shared and len(sentence) > 20:
                told.append((-shared, number, sentence.strip()))
    if not told:
        return "I don't know."
    return " ".join(f"{sentence.rstrip('.')} [{number}]." for _, number, sentence in sorted(told)[:2])


def filled(recorded: Recorded, schema: Mapping[str, Any], name: str = "") -> Any:
    """Fill a schema: the question where one is asked for, the cited answer, else what fits."""
    if "enum" in schema:
        return schema["enum"][0]
    match schema.get("type"):
        case "object":
            properties = schema.get("properties", {})
            return {key: filled(recorded, value, key) for key, value in properties.items()}
        case "array" if name == "parts":
            return [question_of(recorded)]
        case "array" if name == "keep":
            return re.findall(r'<unit label="([\d.]+)"', recorded.messages[-1]["content"])
        case "array" if name == "ranking":
            return [int(n) for n in re.findall(r'<passage number="(\d+)"', recorded.messages[-1]["content"])]
        case "array":
            return [filled(recorded, schema.get("items", {}))] * schema.get("minItems", 0)
        case "boolean":
            return name == "answerable"
        case "integer" | "number":
            return schema.get("minimum", 0)
        case "null":
            return None
    if name in ("base", "question"):
        return question_of(recorded)
    if name == "filtered":
        return " ".join(sorted(_words(question_of(recorded))))
    if name == "answer":
        return cited_answer(recorded)
    return "" if name in ("release", "versionless") else "Because the evidence says so."


_COMMON = frozenset({"and", "are", "can", "does", "for", "from", "how", "not", "that", "the", "this", "use"})


def _words(text: str) -> set[str]:
    return {w for w in re.findall(r"\w{3,}", text.lower()) if w not in _COMMON}
