from __future__ import annotations

import logging

from bot.app.overview import HOURS, LAST, ErrorsSeen


class Clock:
    now = 1_000_000_000.0

    def __call__(self) -> float:
        return self.now


def logged(
    level: int = logging.ERROR, name: str = "bot.platforms.slack.platform.events", **more: object
) -> logging.LogRecord:
    return logging.makeLogRecord(
        {"name": name, "levelno": level, "msg": "the secret is %s", "args": ("x",), **more}
    )


def test_errors_are_counted_by_hour_and_part_without_their_words():
    clock = Clock()
    seen = ErrorsSeen(clock)
    seen.handle(logged())
    clock.now += 3600
    error = ValueError("zebra")
    seen.handle(logged(name="core", exc_info=(ValueError, error, None)))
    seen.handle(logged(name="core"))
    shown = seen.shown()
    assert shown["hours"][-2:] == [1, 2] and len(shown["hours"]) == HOURS and shown["total"] == 3
    assert [(one["part"], one["kind"]) for one in shown["last"]] == [
        ("core", ""),
        ("core", "ValueError"),
        ("bot.platforms.slack", ""),
    ]
    assert "secret" not in str(shown) and "zebra" not in str(shown)


def test_warnings_do_not_count():
    seen = ErrorsSeen()
    logger = logging.Logger("bot")
    logger.addHandler(seen)
    logger.warning("hm")
    assert seen.shown()["total"] == 0
    logger.error("oh")
    assert seen.shown()["total"] == 1


def test_what_is_older_than_a_day_is_let_go_and_only_the_last_are_told():
    clock = Clock()
    seen = ErrorsSeen(clock)
    seen.handle(logged())
    clock.now += HOURS * 3600
    assert sum(seen.shown()["hours"]) == 0
    for _ in range(LAST + 3):
        seen.handle(logged())
    shown = seen.shown()
    assert sum(shown["hours"]) == LAST + 3 and len(shown["last"]) == LAST and shown["total"] == LAST + 4
