"""What a model puts around an answer and is no part of it."""

from __future__ import annotations

import re

# An answer may tell of the tag itself: then it stands in quotation marks or has its opening one.
_LEAKED = re.compile(r"\A(?:(?!<think>).)*(?<![`\"'“])</think>(?![`\"'”])", re.DOTALL)
_LABEL = re.compile(r"\A\s*(?:\*\*)?(?:answer|response|reply)\s*:\s*(?:\*\*)?\s*", re.IGNORECASE)
_TAGGED = re.compile(r"</?evidence\s+number=[\"']?(\d{1,2})[\"']?[^<>]*>", re.IGNORECASE)
_TAGS = re.compile(
    r"</?(?:evidence|question|answer|response|conversation|remembered|rejected)\b[^<>]*>", re.I
)


def plain(raw: str) -> str:
    """Take away thinking, labels and tags that are no part of an answer."""
    text = _LABEL.sub("", _LEAKED.sub("", raw)).strip()
    if "<" in text:
        text = _TAGS.sub("", _TAGGED.sub(r"[\1]", text)).strip()
    fenced = re.fullmatch(r"```(?:markdown|md)\n(.*?)\n?```", text, re.DOTALL)
    return fenced.group(1).strip() if fenced and "```" not in fenced.group(1) else text
