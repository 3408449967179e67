"""Reading what a small model writes instead of the JSON that it was asked for.

Models put fences and prose around it, name the keys in their own way, leave keys out, or are cut off in the
middle of a pair. Each pair that is whole is taken; the rest is theirs to say again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

_KEYS = {
    "page": ("page", "page_number", "pagenumber", "number"),
    "question": ("question", "q", "query"),
    "answer": ("answer", "a", "short_answer", "shortanswer"),
    "full_answer": ("full_answer", "fullanswer", "long_answer", "longanswer", "detailed_answer", "details"),
    "summary": ("summary", "gist"),
}
_NUMBER = re.compile(r"\d+")


def pairs_in(text: str) -> list[dict[str, Any]]:
    """Return the pairs in a text that is no JSON as it was asked for, in the form that was asked for."""
    return [pair for value in _objects(text) if (pair := as_asked(value))]


def as_asked(value: Mapping[str, Any]) -> dict[str, Any]:
    """Return a pair under the keys that were asked for; empty where it has no question or no answer."""
    plain = {
        str(key).strip().lower().replace(" ", "_").replace("-", "_"): said for key, said in value.items()
    }
    found = {key: next((plain[name] for name in names if name in plain), "") for key, names in _KEYS.items()}
    if not all(isinstance(found[key], str) and found[key].strip() for key in ("question", "answer")):
        return {}
    texts = {key: said if isinstance(said, str) else "" for key, said in found.items() if key != "page"}
    number = _NUMBER.search(str(found["page"]))
    return {"page": int(number[0]) if number else 1, **texts}


def _objects(text: str) -> Iterator[dict[str, Any]]:
    """Yield the innermost objects of a text that are whole JSON."""
    decoder, at = json.JSONDecoder(strict=False), 0
    while (at := text.find("{", at)) >= 0:
        try:
            value, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            at += 1
            continue
        lists = [inner for inner in value.values() if isinstance(inner, list)]
        nested = [one for inner in lists for one in inner if isinstance(one, dict)]
        yield from nested or [value]
        at = end
