"""What people see and when: the first sign of work, the sources, the words, the end."""

from __future__ import annotations

import time
from collections import defaultdict

from bot.rendering.answers import WORKING

NAMES = ("sign", "sources", "words", "end")


class Laps:
    """Notes what a thread shows when; times in ms from the moment its first message is sent."""

    def __init__(self) -> None:
        self._began: dict[str, float] = {}
        self._found: dict[str, dict[str, float]] = defaultdict(dict)

    def asked(self, thread: str, began: float) -> None:
        """Say that the message which opened a thread was sent at that `perf_counter`."""
        self._began[thread] = began

    def shown(self, thread: str, text: str) -> None:
        """Note what a message of the bot in a thread says now."""
        names = {"sign"}
        growing = text.rstrip().endswith("…") or text.startswith("Reading the")
        if "https://" in text or not (text.startswith(WORKING) or growing):
            names.add("sources")
        if not text.startswith((WORKING, "Reading the")):
            names |= {"sources", "words"} | (set() if growing else {"end"})
        now = time.perf_counter()
        for name in names:
            self._found[thread].setdefault(name, now)

    def streamed(self, thread: str, text: str) -> None:
        """Note what stands in a message that streams: sign, pages and words, one below the other."""
        last = next((line for line in reversed(text.splitlines()) if line.strip(" _>")), "")
        names = ["sign", *(["sources"] if "https://" in text else [])]
        if "https://" in text and "](https://" not in last and "Reading the" not in last:
            names.append("words")
        now = time.perf_counter()
        for name in names:
            self._found[thread].setdefault(name, now)

    def done(self, threads: list[str]) -> bool:
        """Return True if all these threads have their whole answer."""
        return all("end" in self._found[thread] for thread in threads)

    def of(self, thread: str) -> dict[str, float]:
        """Return the times of a thread by name, in ms."""
        return {name: (at - self._began[thread]) * 1000 for name, at in self._found[thread].items()}
