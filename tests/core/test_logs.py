"""Lines of a log as people paste them."""

from __future__ import annotations

import pytest

from core.domain import Question
from core.query.releases.resolve import resolve
from core.query.understand import queries
from core.text.logs import message_in, without_stamps
from tests.core.query.products import PRODUCTS


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("[2026-11-29 10:12:44 +0000] [1] [CRITICAL] LID OFF (pid:27)", "[CRITICAL] LID OFF"),
        ("2026-11-29T10:12:44.123Z ERROR lid: off", "ERROR lid: off"),
        ("2026-11-29 10:12:44,123 - lid - WARNING - off", "lid - WARNING - off"),
        ("Nov 29 10:12:44 kitchen lid[312]: off", "kitchen lid: off"),
        ("10:12:44.123 [main] lid off", "[main] lid off"),
        ("> 10:12:44 lid off", "> lid off"),
        ("why did it say 2026-11-29 10:12:44 and not UTC", "why did it say 2026-11-29 10:12:44 and not UTC"),
        ("10:12 in the morning it boiled", "10:12 in the morning it boiled"),
        ("[2026-11-29 10:12:44]", "[2026-11-29 10:12:44]"),
        ("lids[1] is off", "lids[1] is off"),
        ("10:12:44 ERROR pot[2]: answered (413)", "ERROR pot: answered (413)"),
        ("10:12:44 [7] IndexError in lids[0] (5)", "IndexError in lids[0] (5)"),
    ],
)
def test_time_and_process_are_taken_out_where_a_line_begins_with_them(line: str, told: str) -> None:
    assert without_stamps(line) == told
    assert without_stamps(f"look:\n{line}\nwhat now (pid:3)") == f"look:\n{told}\nwhat now (pid:3)"


def test_what_is_searched_for_has_no_time_and_the_question_stands_alone_as_before() -> None:
    product = PRODUCTS["flask"]
    asked = Question("[2026-11-29 10:12:44 +0000] [1] [CRITICAL] LID OFF (pid:27)\n\nhow do i stop that")
    found = queries(asked, product, resolve(asked, product))
    assert found.base == "[CRITICAL] LID OFF\n\nhow do i stop that" and not found.rewritten
    assert "2026" not in found.filtered and "27" not in found.filtered.split()


@pytest.mark.parametrize(
    ("question", "message"),
    [
        ("peewee.OperationalError: database is locked", "database is locked"),
        ("LidError: no such file '/tmp/x' in /var/lid 3", "no such file   in    "),
        ("why is it an OperationalError?", ""),
        ("error: it fails", ""),
    ],
)
def test_the_message_of_a_pasted_error_is_read_without_what_is_the_askers_own(question, message) -> None:
    assert message_in(question).split() == message.split()
