from __future__ import annotations

from core.domain import ContextChunk, Dated, Evidence
from core.retrieval.release_notes.dated import entries_on, marked


def page(key: str, heading: str, text: str) -> ContextChunk:
    return ContextChunk(key, "", "Kettle", heading, "", text)


def found(*pages: ContextChunk) -> list[Evidence]:
    return [Evidence(n, one, 1.0, ("something else",)) for n, one in enumerate(pages, start=1)]


LIMIT = page("limit", "API > retry_limit", "How often a job is tried.\n\nAdded in version 1.5.")
JOB = page("job", "API > job()", "Makes a job.\n\nChanged in version 2.0: Added the `cron` argument.")
OLD = page("old", "Changes > Version 1.5.0", "- Add `retry_limit`.\n- Deprecate `kettle schedule`.")
NEW = page("new", "Changes > Version 2.0.0", "- Remove `kettle schedule`.\n- Add an upper `retry_limit`.")


def told(kind: str, *subject: str) -> list[tuple[str, tuple[str, ...]]]:
    asked = Dated(kind, subject)
    notes = [(page.id, tuple(entries_on(asked, page))) for page in (OLD, NEW) if entries_on(asked, page)]
    return [*((item.chunk.id, item.matched) for item in marked(asked, found(JOB, LIMIT))), *notes]


def test_the_line_under_the_name_comes_before_notes() -> None:
    assert told("added", "retry_limit") == [
        ("limit", ("Added in version 1.5.",)),
        ("old", ("- Add `retry_limit`.",)),
        ("new", ("- Add an upper `retry_limit`.",)),
    ]


def test_a_change_of_a_part_tells_of_that_part_only() -> None:
    assert told("added", "cron") == [("job", ("Changed in version 2.0: Added the `cron` argument.",))]
    assert told("added", "job") == []


def test_only_the_asked_kind_of_change_is_told() -> None:
    assert told("removed", "schedule") == [("new", ("- Remove `kettle schedule`.",))]
    assert told("deprecated", "schedule") == [("old", ("- Deprecate `kettle schedule`.",))]


def test_a_name_is_no_part_of_another_one() -> None:
    assert told("added", "kettle.limit") == []
