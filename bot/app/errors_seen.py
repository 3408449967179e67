"""Errors of this process as the dashboard shows them: how many an hour, in which part, and of which kind."""

from __future__ import annotations

import logging
import time
from collections import Counter, deque
from collections.abc import Callable
from typing import Any

HOURS = 24
"""Hours that are counted."""
LAST = 8
"""Errors that are told one by one."""
_HOUR = 3600.0


class ErrorsSeen(logging.Handler):
    """Counts what is logged as an error; keeps no word of what was logged, which may be people's."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        super().__init__(logging.ERROR)
        self._clock = clock
        self._by_hour: Counter[int] = Counter()
        self._total = 0
        self._last: deque[dict[str, Any]] = deque(maxlen=LAST)

    def emit(self, record: logging.LogRecord) -> None:
        """Count one error."""
        now = self._clock()
        hour = int(now // _HOUR)
        self._by_hour[hour] += 1
        for old in [known for known in self._by_hour if known <= hour - HOURS]:
            del self._by_hour[old]
        part = ".".join(record.name.split(".")[:3])
        self._total += 1
        kind = record.exc_info[0].__name__ if record.exc_info and record.exc_info[0] else ""
        self._last.appendleft({"at": now, "part": part, "kind": kind})

    def shown(self) -> dict[str, Any]:
        """Return errors of the last 24 hours by hour, oldest first, and the last ones."""
        hour = int(self._clock() // _HOUR)
        hours = [self._by_hour[hour - back] for back in range(HOURS - 1, -1, -1)]
        return {"hours": hours, "total": self._total, "last": list(self._last)}
