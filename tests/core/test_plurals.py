"""English words for one and for many: what people read of one page is not "1 pages"."""

from __future__ import annotations

from fractions import Fraction

import pytest

from bot.rendering.gaps import digest_text, gaps_text
from bot.rendering.status import progress_text, releases_text
from core.ingestion.reading import Progress
from core.text.plurals import counted, plural


@pytest.mark.parametrize(
    ("count", "one", "many", "said"),
    [
        (0, "page", "", "0 pages"),
        (1, "page", "", "1 page"),
        (2, "page", "", "2 pages"),
        (1, "file or folder", "files and folders", "1 file or folder"),
        (3, "file or folder", "files and folders", "3 files and folders"),
    ],
)
def test_one_and_many(count: int, one: str, many: str, said: str) -> None:
    assert counted(count, one, many) == said


def test_a_part_of_one_is_many() -> None:
    assert (plural(Fraction(1, 2), "hour"), plural(Fraction(1), "hour")) == ("hours", "hour")


def test_reports_of_one() -> None:
    entry = {"name": "1.0", "latest": False, "ready": True, "documents": 1, "chunks": 1}
    assert releases_text([entry]) == "- **1.0**: 1 page, 1 passage"
    assert progress_text(Progress("1.0", "reading", "docs", 1)) == "1.0: reading docs (1 page)"
    assert "in the last 1 day was" in gaps_text([], 1)
    assert "1 remembered answer was to another question in the last 1 day," in digest_text([], "Kettle", 1, 1)
