"""What every `WordIndex` does."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.ports import WordIndex
from core.text.words import query_terms
from storage.corpora.bm25 import TantivyWords
from tests.contracts.samples import AWKWARD, UNWRITABLE
from tests.fakes import FakeWords

PAGES = [
    ("keys", "Configuration", "Set SECRET_KEY before the first request; flask.g is not for it."),
    ("debug", "Server", "Run the server with --debug while you develop. The server reloads."),
    ("new", "Changes", "In 3.1 the server reads SECRET_KEY_FALLBACKS."),
    ("old", "Changes", "In 2.3 the option was removed."),
    ("long", "Server", "The server " + "and many other words about nothing in particular " * 20),
]


@pytest.fixture(params=["fake", "tantivy"])
def index(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[WordIndex]:
    made = FakeWords() if request.param == "fake" else TantivyWords(tmp_path / "words")
    yield made
    made.close()


async def found(index: WordIndex, text: str, k: int = 10, collection: str = "corpus-a") -> list[str]:
    return [hit.chunk_id for hit in await index.search(collection, query_terms(text), k)]


async def test_nothing_is_there_at_first(index: WordIndex) -> None:
    assert await index.collections() == set()
    assert await index.ids("corpus-a") == set()
    assert await index.search("corpus-a", ["server"], 3) == []
    assert await index.rarity("corpus-a", ["server"]) == {"server": 0.0}
    await index.delete("corpus-a", ["x"])
    await index.drop("corpus-a")
    assert await index.collections() == set()


async def test_identifiers_versions_and_flags_are_found_whole(index: WordIndex) -> None:
    await index.upsert("corpus-a", PAGES)
    assert (await found(index, "SECRET_KEY"))[0] == "keys"
    assert await found(index, "3.1") == ["new"]
    assert await found(index, "2.3") == ["old"]
    assert await found(index, "--debug") == ["debug"]
    assert (await found(index, "flask.g"))[0] == "keys"
    assert await found(index, "unheard") == []
    assert await index.search("corpus-a", [], 5) == []


async def test_better_matches_come_first_and_at_most_k(index: WordIndex) -> None:
    await index.upsert("corpus-a", PAGES)
    hits = await index.search("corpus-a", query_terms("servers"), 10)
    assert [hit.chunk_id for hit in hits] == ["debug", "new", "long"]
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert all(hit.score > 0 for hit in hits)
    assert await found(index, "server", k=1) == ["debug"]
    assert await found(index, "configuration") == ["keys"], "a title alone is found"


async def test_rarity_is_the_inverse_document_frequency(index: WordIndex) -> None:
    await index.upsert("corpus-a", PAGES)
    (server,) = query_terms("server")
    rarity = await index.rarity("corpus-a", [server, "2.3", "unheard"])
    assert rarity == pytest.approx(
        {
            server: math.log(1 + 2.5 / 3.5),
            "2.3": math.log(1 + 4.5 / 1.5),
            "unheard": math.log(1 + 5.5 / 0.5),
        },
        rel=1e-5,
    )
    assert await index.rarity("corpus-a", []) == {}


async def test_several_queries_at_once_find_what_each_finds(index: WordIndex) -> None:
    assert await index.find("corpus-a", [["server"], []], 3) == ([[], []], {"server": 0.0})
    await index.upsert("corpus-a", PAGES)
    queries = [query_terms("the server of flask.g"), query_terms("2.3"), []]
    lists, rarity = await index.find("corpus-a", queries, 3)
    assert lists == [await index.search("corpus-a", terms, 3) for terms in queries]
    assert rarity == await index.rarity("corpus-a", [*queries[0], *queries[1]])
    assert await index.find("corpus-a", [], 3) == ([], {})


async def test_what_has_every_term_is_held_by_title_or_text(index: WordIndex) -> None:
    assert await index.holding("corpus-a", ["server"], 9) == []
    await index.upsert("corpus-a", PAGES)
    assert set(await index.holding("corpus-a", query_terms("server"), 9)) == {"debug", "new", "long"}
    assert len(await index.holding("corpus-a", query_terms("server"), 2)) == 2
    assert await index.holding("corpus-a", query_terms("SECRET_KEY configuration"), 9) == ["keys"]
    assert await index.holding("corpus-a", ["server", "unheard"], 9) == []
    assert await index.holding("corpus-a", [], 9) == []


async def test_an_entry_put_again_is_replaced(index: WordIndex) -> None:
    await index.upsert("corpus-a", PAGES)
    await index.upsert("corpus-a", [])
    await index.upsert("corpus-a", PAGES)
    await index.upsert("corpus-a", [("old", "Changes", "This is about cookies.")])
    assert await index.ids("corpus-a") == {key for key, _, _ in PAGES}
    assert await found(index, "2.3") == []
    assert await found(index, "cookies") == ["old"]


async def test_deleted_entries_are_not_found(index: WordIndex) -> None:
    await index.upsert("corpus-a", PAGES)
    await index.delete("corpus-a", ["debug", "unknown"])
    await index.delete("corpus-a", [])
    assert await found(index, "server") == ["new", "long"]
    assert await index.ids("corpus-a") == {"keys", "new", "old", "long"}


async def test_many_entries_in_one_call(index: WordIndex) -> None:
    await index.upsert("corpus-a", [(f"e{n}", "", f"common 7.{n}") for n in range(1500)])
    assert len(await index.ids("corpus-a")) == 1500
    assert len(await index.search("corpus-a", ["common"], 700)) == 700
    assert await found(index, "7.1234") == ["e1234"]
    await index.delete("corpus-a", [f"e{n}" for n in range(1499)])
    assert await index.ids("corpus-a") == {"e1499"}


async def test_collections_know_nothing_of_each_other(index: WordIndex) -> None:
    await index.upsert("corpus-a", [("x", "", "server")])
    await index.upsert("corpus-b", [("y", "", "server")])
    assert await index.collections() == {"corpus-a", "corpus-b"}
    assert await found(index, "server") == ["x"]
    await index.drop("corpus-a")
    assert await index.collections() == {"corpus-b"}
    assert await found(index, "server") == []
    await index.upsert("corpus-a", [("z", "", "server")])
    assert await found(index, "server") == ["z"]


async def test_any_text_can_be_kept_and_asked_for(index: WordIndex) -> None:
    texts = {"awkward": AWKWARD, "odd": UNWRITABLE, "empty": "", "quoted": 'AND OR (x:y) "unclosed^2'}
    await index.upsert("corpus-a", [(key, text, text) for key, text in texts.items()])
    assert await index.ids("corpus-a") == set(texts)
    assert await found(index, "日本語") == ["awkward"]
    assert await found(index, "unclosed") == ["quoted"]
    for text in texts.values():
        await found(index, text)


async def test_searches_go_on_while_a_collection_is_dropped_and_built(index: WordIndex) -> None:
    done = False

    async def build() -> None:
        nonlocal done
        for _ in range(4):
            await index.upsert("corpus-a", PAGES)
            await index.drop("corpus-a")
        await index.upsert("corpus-a", PAGES)
        done = True

    async def search() -> None:
        while not done:
            assert set(await found(index, "server")) <= {"debug", "new", "long"}
            await asyncio.sleep(0)

    await asyncio.gather(build(), search(), search())
    assert await found(index, "server") == ["debug", "new", "long"]


async def test_what_was_put_is_there_after_reopening(tmp_path: Path) -> None:
    index = TantivyWords(tmp_path)
    await index.upsert("corpus-a", PAGES)
    index.close()
    again = TantivyWords(tmp_path)
    assert await found(again, "2.3") == ["old"]
    again.close()


async def test_a_torn_collection_is_begun_anew(tmp_path: Path) -> None:
    index = TantivyWords(tmp_path)
    await index.upsert("corpus-a", PAGES)
    index.close()
    next(tmp_path.glob("*/corpus-a/meta.json")).write_text('{"segments": [')
    again = TantivyWords(tmp_path)
    assert await again.ids("corpus-a") == set()
    await again.upsert("corpus-a", PAGES)
    assert await found(again, "2.3") == ["old"]
    again.close()


async def test_what_is_in_the_way_of_the_index_is_set_aside(tmp_path: Path) -> None:
    first = TantivyWords(tmp_path / "words")
    place = first._folder
    first.close()
    place.rmdir()
    place.write_text("a file")
    index = TantivyWords(tmp_path / "words")
    await index.upsert("corpus-a", [("1", "Ports", "the port is 8080")])
    assert await found(index, "port") == ["1"]
    assert (tmp_path / "words.broken" / place.name).read_text() == "a file"
    index.close()


async def test_what_is_replaced_is_found_no_more_and_weighs_nothing(index: WordIndex) -> None:
    await index.upsert("corpus-a", PAGES)
    assert not await index.has_remains("corpus-a")
    await index.delete("corpus-a", ["old"])
    assert await index.has_remains("corpus-a") == isinstance(index, TantivyWords)
    await index.replace("corpus-a", [entry for entry in PAGES if entry[0] != "old"])
    fresh = await index.rarity("corpus-a", ["unheard"])
    assert not await index.has_remains("corpus-a") and not await index.has_remains("nowhere")
    assert await index.rarity("corpus-a", ["remov"]) == {"remov": fresh["unheard"]}, "no trace of the word"
    assert await index.ids("corpus-a") == {"keys", "debug", "new", "long"}
    assert await found(index, "3.1") == ["new"]
    await index.replace("corpus-a", [])
    assert await index.ids("corpus-a") == set()
    await index.replace("corpus-b", [])
    assert "corpus-b" not in await index.collections()


async def test_where_two_words_meet_nothing_is_missing(index: WordIndex) -> None:
    await index.upsert("corpus-a", [("one", "配置", "修改默认值。"), ("two", "任务", "失败后重试。")])
    rarity = await index.rarity("corpus-a", query_terms("修改重试失误"))
    assert rarity["改重"] == 0.0 and rarity["修改"] > 0.0
    assert rarity["失误"] > rarity["重试"]
