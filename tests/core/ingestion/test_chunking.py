import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.domain import Document, Section
from core.ingestion.blocks import fitting, is_question, join, pieces
from core.ingestion.chunking import chunk
from tests.effort import examples


def count(text: str) -> int:
    """Count words and signs, and two special tokens, as an encoder does."""
    return len(re.findall(r"\w{1,8}|[^\w\s]", text)) + 2


def document(*sections, title="Guide"):
    return Document("guide.rst", title, "https://docs.example/guide/", sections)


def chunked(*sections, max_tokens=64, **settings_):
    given = {"release": "3.1", "source": "sdist:x", "count_tokens": count, "max_tokens": max_tokens}
    return chunk(document(*sections), **{**given, **settings_})


def sentences(number, word="Word"):
    return [f"{word} {i} says something of its own here." for i in range(number)]


def test_a_page_is_a_section_with_its_anchor_and_headings():
    made = chunked(
        Section(("Guide",), "guide", "Welcome to all who read."),
        Section(("Guide", "Values", "SECRET_KEY"), "SECRET_KEY", "`SECRET_KEY`\n\nSigns.\n\nDefault: `None`"),
    )
    first, second = made.contexts
    assert (second.heading, second.url) == (
        "Guide > Values > SECRET_KEY",
        "https://docs.example/guide/#SECRET_KEY",
    )
    assert second.page == "`SECRET_KEY`\n\nSigns.\n\nDefault: `None`"
    assert (second.title, second.release, second.path) == ("Guide", "3.1", "guide.rst")
    assert first.before == second.after == ""
    assert [s.embedded for s in made.searches if s.context_id == second.id] == [
        "Guide > Values > SECRET_KEY\n`SECRET_KEY`\n\nSigns.\n\nDefault: `None`"
    ]


def test_neighbours_are_quoted_under_their_own_heading():
    made = chunked(
        Section(("A",), "a", " ".join(sentences(40, "First"))),
        Section(("B",), "b", " ".join(sentences(3, "Second"))),
        Section(("B",), "b", "And more of it, long enough to be quoted in a context."),
    )
    page = next(c for c in made.contexts if c.heading == "B")
    assert page.before.startswith("### A\n\nFirst ")
    assert page.before.endswith("First 39 says something of its own here.")
    assert 400 < len(page.before) - len("### A\n\n") <= 500
    assert page.after == "And more of it, long enough to be quoted in a context."
    assert page.text == f"{page.before}\n\n{page.page}\n\n{page.after}"


def test_a_page_that_goes_on_with_an_entry_is_told_which():
    paragraphs = "\n\n".join(f"  {' '.join(sentences(8, f'Rule{n}'))}" for n in range(24))
    head = "- safe.directory: Folders that are trusted although somebody else owns them,"
    entry = f"{head} whoever asks.\n\n{paragraphs}"
    text = f"- other.setting: Nothing much.\n\n{entry}\n\nThe end of it all.\n\n{paragraphs}"
    made = chunked(Section(("A",), "a", text))
    end = next(n for n, page in enumerate(made.contexts) if "The end of it all." in page.page)
    goes_on = [page for page in made.contexts[: end + 1] if page.page.startswith("  Rule")]
    assert len(goes_on) > 1
    assert all(page.before.startswith(f"{head} […]\n\n  Rule") for page in goes_on[1:])
    assert all(head in page.before and len(page.before) <= 500 for page in goes_on)
    assert not any(head in page.before for page in made.contexts[end + 1 :]), "the entry has ended"


def test_ids_depend_on_content_release_source_and_path_alone():
    section = Section(("A",), "a", " ".join(sentences(30)))
    made = chunked(section)
    assert made == chunked(section)
    assert len({s.id for s in made.searches}) == len(made.searches)
    assert {s.context_id for s in made.searches} == {c.id for c in made.contexts}
    for other in (
        chunked(section, release="3.0"),
        chunked(section, source="folder:y"),
        chunked(Section(("A",), "a", section.text + " More.")),
    ):
        assert other.id != made.id
        assert not {c.id for c in other.contexts} & {c.id for c in made.contexts}
        assert not {s.id for s in other.searches} & {s.id for s in made.searches}


def test_k_search_chunks_per_page_and_more_where_they_would_not_fit():
    text = " ".join(sentences(12))
    tokens = count(text)
    assert len(chunked(Section(("A",), "a", text), max_tokens=tokens + 20).searches) == 2
    assert len(chunked(Section(("A",), "a", text), max_tokens=tokens * 3).searches) == 1
    small = chunked(Section(("A",), "a", text), max_tokens=48)
    assert len(small.searches) > 2
    assert len(small.contexts) == 1
    assert all(count(s.embedded) <= 48 for s in small.searches)
    assert all(s.text.endswith(".") for s in small.searches)


def test_a_question_stays_with_its_answer():
    text = "One here. Two here. What is a blueprint? It is a set of operations. It is registered. Last here."
    made = chunked(Section((), "", text), max_tokens=30)
    assert any("What is a blueprint? It is a set of operations." in s.text for s in made.searches)


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("How do I?", True),
        ("Where it goes", True),
        ("**Is it** so", True),
        ("It works.", False),
        ("Wherever.", False),
    ],
)
def test_question_like(sentence, expected):
    assert is_question(sentence) is expected


def test_cut_code_reopens_its_fence_and_cut_tables_repeat_their_header():
    code = "```python\n" + "\n".join(f"value_{i} = compute({i})" for i in range(60)) + "\n```"
    rows = "| Name | Value |\n| --- | --- |\n" + "\n".join(f"| name {i} | {i} |" for i in range(60))
    made = chunked(Section(("A",), "a", f"{code}\n\n{rows}"), page_characters=600)
    for text in (
        [s.text for s in made.searches] + [c.page for c in made.contexts] + [c.after for c in made.contexts]
    ):
        assert text.count("```") % 2 == 0
        if "value_" in text:
            assert text.count("```python") == 1
        if "| name" in text:
            assert text.count("| Name | Value |\n| --- | --- |") == 1
    lines = [line for c in made.contexts for line in c.page.splitlines()]
    assert [line for line in lines if "compute" in line] == [f"value_{i} = compute({i})" for i in range(60)]
    assert [line for line in lines if "| name" in line] == [f"| name {i} | {i} |" for i in range(60)]


def test_a_long_section_is_cut_to_even_pages_at_paragraphs():
    paragraphs = [" ".join(sentences(6, f"P{i}")) for i in range(12)]
    made = chunked(Section(("A",), "a", "\n\n".join(paragraphs)), max_tokens=256)
    assert [len(c.page) <= 2000 for c in made.contexts] == [True] * 2
    assert "\n\n".join(c.page for c in made.contexts) == "\n\n".join(paragraphs)
    assert min(len(c.page) for c in made.contexts) > 700


def test_headings_never_crowd_out_the_text():
    long = tuple(f"A heading number {i} of many words that goes on and on" for i in range(12))
    made = chunked(Section(long, "a", " ".join(sentences(10))), max_tokens=64)
    for search in made.searches:
        assert count(search.embedded) <= 64
        assert len(search.text) > 30
    assert made.contexts[0].heading == " > ".join(long)


def test_a_header_as_long_as_a_page_is_text():
    header = "| " + " | ".join(f"column {i}" for i in range(200)) + " |"
    table = f"{header}\n|{' --- |' * 200}\n| {' | '.join('v' * 200)} |"
    made = chunked(Section((), "", table), page_characters=600)
    assert len(made.searches) < 150
    assert all(count(s.embedded) <= 64 for s in made.searches)
    assert any("column 199" in context.page for context in made.contexts)


def test_words_longer_than_the_encoder_are_cut_anywhere():
    made = chunked(Section((), "", "x" * 5000), max_tokens=32)
    assert all(count(s.embedded) <= 32 for s in made.searches)
    assert "".join(s.text for s in made.searches) == "x" * 5000


WORD = st.sampled_from(
    [
        "alpha",
        "beta.",
        "Gamma?",
        "delta:",
        "`code`",
        "**b**",
        "-",
        "1.",
        "|",
        "How",
        "```",
        "x|y",
        "3.1",
        "SECRET_KEY",
        "e.g.",
        "é",
    ]
)
LINE = st.lists(WORD, min_size=1, max_size=30).map(" ".join)
BLOCK = st.one_of(
    LINE,
    st.lists(LINE, min_size=1, max_size=12).map(
        lambda ls: "```py\n" + "\n".join(x.replace("```", "") for x in ls) + "\n```"
    ),
    st.lists(LINE, min_size=1, max_size=12).map(lambda ls: "\n".join("- " + line for line in ls)),
    st.lists(LINE, min_size=1, max_size=12).map(
        lambda ls: "| h |\n| --- |\n" + "\n".join(f"| {x} |" for x in ls)
    ),
)
TEXT = st.lists(BLOCK, min_size=1, max_size=8).map("\n\n".join)


def words_of(text):
    return re.findall(r"\w+", text)


@settings(max_examples=examples(80), deadline=None)
@given(TEXT, st.integers(24, 120))
def test_nothing_is_lost_and_everything_fits(text, max_tokens):
    made = chunked(Section(("A", "B"), "b", text), max_tokens=max_tokens, page_characters=400)
    assert all(count(s.embedded) <= max_tokens for s in made.searches)
    assert all(len(c.page) <= 400 for c in made.contexts)
    for context in made.contexts:
        found = [word for s in made.searches if s.context_id == context.id for word in words_of(s.text)]
        assert set(words_of(context.page)) <= set(found)
    assert set(words_of(text)) <= {word for c in made.contexts for word in words_of(c.page)}


@settings(max_examples=examples(60), deadline=None)
@given(TEXT)
def test_pieces_join_to_what_they_were_cut_from(text):
    cut = pieces(text)
    assert words_of(join(cut)) == words_of(text)
    small = [part for piece in cut for part in fitting(piece, lambda t: len(t) <= 60)]
    assert words_of(join(small)) == words_of(text)


def test_what_an_index_lists_a_section_under_is_searched_and_never_shown():
    text = " ".join(sentences(60))
    plain = chunked(Section(("A",), "a", text), Section(("B",), "b", "Of b."), page_characters=900)
    made = chunked(
        Section(("A",), "a", text, ("loop statement", "for")),
        Section(("B",), "b", "Of b."),
        page_characters=900,
    )
    assert len(made.contexts) > 2 and [c.page for c in made.contexts] == [c.page for c in plain.contexts]
    (listed,) = [one for one in made.searches if one.text not in {other.text for other in plain.searches}]
    assert listed.embedded == "Guide > A\nloop statement, for"
    assert listed.context_id == made.contexts[0].id, "it leads to where the section begins"
    assert made.id != plain.id
    many = chunked(
        Section(("A",), "a", "Of a.", tuple(f"term number {n}" for n in range(200))), max_tokens=64
    )
    assert all(count(one.embedded) <= 64 for one in many.searches)
    assert many.searches[-1].text.startswith("term number 0, term number 1")
