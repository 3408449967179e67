"""Files of pairs, as people write them."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain import Citation
from core.errors import UsageError
from core.memory.import_export import PRIOR, Bad, Entry, decoded, read, tally, written
from core.memory.scoring import Thresholds
from tests.contracts.samples import pair

GOOD = {"question": "How?", "answer": "So."}


def one(text: str, name: str = "") -> Entry | Bad:
    (found,) = read(text, name)
    return found


def test_a_line_of_json_with_everything() -> None:
    line = {
        "id": 12,
        "question": " How? ",
        "answer": "So.\n",
        "release": "2.0",
        "url": "https://x.example/a?b",
        "score": 0.4,
        "scope": "private:slack:C1",
        "more": [1],
    }
    cited = Citation(1, "x.example/a?b", "https://x.example/a?b", "2.0", "")
    expected = Entry(1, "How?", "So.", "2.0", "private:slack:C1", 0.4, "12", (cited,))
    assert one(json.dumps(line)) == expected


def test_a_line_with_what_is_needed_only() -> None:
    assert one(json.dumps(GOOD)) == Entry(1, "How?", "So.", score=PRIOR)
    assert one(json.dumps(GOOD | dict.fromkeys(("id", "release", "url", "score", "scope")))) == one(
        json.dumps(GOOD)
    )


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("{not json", "column 2"),
        ("[1]", "object"),
        ("[" * 100_000, "deep"),
        ({"question": "How?"}, '"answer"'),
        (GOOD | {"question": 3}, "text"),
        (GOOD | {"release": 2.0}, "text"),
        (GOOD | {"score": 1.5}, "0 to 1"),
        (GOOD | {"score": True}, "0 to 1"),
        (GOOD | {"score": "good"}, "0 to 1"),
        (GOOD | {"score": [1]}, "0 to 1"),
        (GOOD | {"score": float("nan")}, "0 to 1"),
        (GOOD | {"score": 10**400}, "0 to 1"),
        (GOOD | {"url": "javascript:alert(1)"}, "http"),
        (GOOD | {"id": ["x"]}, '"id"'),
        (GOOD | {"scope": "direct:slack:D1"}, "scope"),
        (GOOD | {"scope": "everybody"}, "scope"),
        (GOOD | {"citations": [{"title": "x"}]}, "citations"),
    ],
)
def test_a_bad_line_is_told_and_the_others_go_in(line: object, word: str) -> None:
    told = line if isinstance(line, str) else json.dumps(line)
    first, bad, last = read(f"{json.dumps(GOOD)}\n{told}\n\n{json.dumps(GOOD)}\n", "pairs.jsonl")
    assert isinstance(bad, Bad) and bad.line == 2 and word in bad.reason
    assert isinstance(first, Entry) and isinstance(last, Entry)
    assert (first.line, last.line) == (1, 4)


def test_tables_with_any_usual_delimiter_and_text_of_several_lines() -> None:
    for delimiter in ",;\t":
        table = f"\ufeffID{delimiter}Question{delimiter}answer\n"
        table += (
            f'1{delimiter}"a, b; ""c"""{delimiter}"two\nlines"\n\nx{delimiter}y\n3{delimiter}q{delimiter}a\n'
        )
        found = list(read(table))
        assert found[0] == Entry(2, 'a, b; "c"', "two\nlines", label="1")
        assert isinstance(found[1], Bad) and found[1].line == 5
        assert found[2] == Entry(6, "q", "a", label="3")


def test_a_table_must_name_its_columns_and_not_have_too_many_fields() -> None:
    found = one("frage,antwort\na,b\nc,d\n", "x.csv")
    assert isinstance(found, Bad) and "answer and question" in found.reason
    found = one("question,answer\nWhat, then?,a\n")
    assert isinstance(found, Bad) and found.line == 2 and "quotes" in found.reason


def test_what_no_database_holds_is_taken_out() -> None:
    found = one('{"question": "a\\u0000b\\ud800?", "answer": "x"}')
    assert isinstance(found, Entry) and found.question == "ab??"


def test_the_ends_of_the_scale_are_scores() -> None:
    assert [one(json.dumps(GOOD | {"score": score})).score for score in (0, 1)] == [0.0, 1.0]


def test_citations_keep_their_number_or_get_their_place() -> None:
    cites = [{"url": "https://x.example/a", "number": n, "title": "T"} for n in (4, 0, "2", None)]
    found = one(json.dumps(GOOD | {"release": "2.0", "citations": cites}))
    assert [(c.number, c.title, c.release) for c in found.citations] == [
        (4, "T", "2.0"),
        (2, "T", "2.0"),
        (3, "T", "2.0"),
        (4, "T", "2.0"),
    ]
    everywhere = one(json.dumps(GOOD | {"release": "*", "url": "https://x.example/a"}))
    assert [c.release for c in everywhere.citations] == [""]


@pytest.mark.parametrize(
    ("given", "store"),
    [
        ({}, "neutral"),
        ({"aside": "retired"}, "retired"),
        ({"opinions": ((1, 1.0),)}, "high"),
        ({"opinions": ((0, 2.0),)}, "low"),
    ],
)
def test_a_tally_names_votes_store_and_uses_and_no_words(given: dict[str, object], store: str) -> None:
    told = tally(pair(uses=3, **given), Thresholds())
    assert told["store"] == store and told["uses"] == 3
    assert (told["up"], told["down"]) == (int(store == "high"), int(store == "low"))
    assert set(told) == {"score", "store", "up", "down", "uses"}


def test_nothing_is_in_an_empty_file() -> None:
    assert list(read("")) == list(read(" \n\n", "x.csv")) == []


@given(st.text(), st.sampled_from(["", "x.csv", "x.jsonl"]))
def test_no_text_breaks_it(text: str, name: str) -> None:
    assert all(isinstance(found, Entry | Bad) for found in read(text, name))


def test_what_is_written_reads_back() -> None:
    cited = (
        Citation(2, "T", "https://x.example/a", "1.0", "p", "h"),
        Citation(3, "U", "https://y", "2.0", "q"),
    )
    made = pair(citations=cited, opinions=((1, 1.0), (0, 2.0)), label="l", scope="private:slack:C1")
    row = written(made, Thresholds())
    assert (row["up"], row["down"], row["store"]) == (1, 1, "low")
    found = one(json.dumps(row))
    assert isinstance(found, Entry)
    assert (found.question, found.answer, found.release, found.scope) == (
        made.question,
        made.answer,
        made.release,
        made.scope,
    )
    assert found.label == "l" and found.score == pytest.approx(0.375)
    assert [(c.number, c.title, c.url, c.release) for c in found.citations] == [
        (c.number, c.title, c.url, c.release) for c in cited
    ]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_what_a_spreadsheet_saves_as_unicode_is_read(encoding: str) -> None:
    text = "question,answer\r\nWie groß?,So groß\r\n"
    (entry,) = read(decoded(text.encode(encoding), "a.csv"), "a.csv")
    assert isinstance(entry, Entry) and (entry.question, entry.answer) == ("Wie groß?", "So groß")


def test_another_encoding_is_told_with_the_line_and_nothing_is_guessed() -> None:
    raw = "question,answer\r\nHow big?,Big\r\nWie groß?,So groß\r\n".encode("cp1252")
    with pytest.raises(UsageError, match=r"a\.csv is not UTF-8: line 3 .*Save it as CSV UTF-8"):
        decoded(raw, "a.csv")
