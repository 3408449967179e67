from __future__ import annotations

from pathlib import Path

import pytest

from storage.corpora.corpora import SqlCorpora
from storage.corpora.pages import SqlPassages
from storage.database.database import Database
from tests.contracts.samples import document
from tests.databases import DATABASES

pytestmark = pytest.mark.parametrize("place", DATABASES, indirect=True)


async def test_a_page_is_found_by_its_hash_in_the_live_corpus_of_its_release(
    place: str, tmp_path: Path
) -> None:
    database = await Database.open(tmp_path, place)
    corpora, passages = SqlCorpora(database), SqlPassages(database)
    old, new = document("a.rst"), document("a.rst", version="2")
    page = old.contexts[0]
    await corpora.put("1.0", old)
    assert await passages.text("1.0", page.hash) == ""
    await corpora.swap("1.0", [old.id], "e")
    assert await passages.text("1.0", page.hash) == page.page
    assert await passages.text("2.0", page.hash) == ""
    await corpora.put("1.0", new)
    await corpora.swap("1.0", [new.id], "e")
    assert await passages.text("1.0", page.hash) == ""
    await database.close()
