"""Long Markdown is cut so that every part reads on its own and nothing is lost."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bot.rendering.splitting import pieces, split
from tests.effort import examples
from tests.processor import at_most

FENCE = re.compile(r"^[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?(`{3,8})(?=[^`]*$)(.*)$")
FAMILY = "👨‍👩‍👧‍👦"
CLUSTERS = [FAMILY, "👍🏽", "🇩🇪", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "e\u0301\u0323", "1️⃣", "각", "ü"]


def utf8(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def squeezed(text: str) -> str:
    return "".join(text.split())


def open_fence(part: str) -> str:
    """Return the marker of a fence that a part leaves open."""
    mark = ""
    for line in part.split("\n"):
        if mark:
            if re.fullmatch(rf"[ \t>]*{mark}`*[ \t]*", line):
                mark = ""
        elif found := FENCE.match(line):
            mark = found.group(1)
    return mark


# --- properties -------------------------------------------------------------------------------

words = st.text(st.sampled_from("abcdefgh ijkl.!?, `*_[]()|#>-\t"), max_size=80)
prose = st.one_of(words, st.text(max_size=60), st.lists(st.sampled_from(CLUSTERS), max_size=20).map("".join))
code = st.builds(
    lambda lead, mark, lang, body: "\n".join(
        [lead + mark + lang, *(lead + line for line in body), lead + mark]
    ),
    st.sampled_from(["", "  ", "> "]),
    st.sampled_from(["```", "````"]),
    st.sampled_from(["", "python", "text title=x"]),
    st.lists(st.text(st.sampled_from("abc =()\t"), max_size=70), max_size=12),
)
table = st.builds(
    lambda rows: "\n".join(["| name | value |", "|---|:-:|", *(f"| {a} | {b} |" for a, b in rows)]),
    st.lists(st.tuples(*[st.text(st.sampled_from("xyz 012"), max_size=30)] * 2), max_size=8),
)
link = st.builds(
    lambda t, u: f"see [{t}](https://example.org/{u}) there", words, st.text("ab/#(", max_size=30)
)
listing = st.lists(words, min_size=1, max_size=6).map(lambda items: "\n".join(f"- {i}" for i in items))
heading = words.map(lambda t: "## " + t)
documents = st.lists(st.one_of(prose, code, table, link, listing, heading), max_size=8).map("\n\n".join)
limits = st.integers(50, 400)


@settings(max_examples=examples(250), deadline=None)
@given(documents, limits, st.sampled_from([len, utf8]))
@example("", 50, len)
@example(" \n ", 50, len)
@example("a\n" + " " * 200 + "b", 50, len)
@example("```\n" + "\n" * 300 + "```", 50, len)
@example("x" * 120 + FAMILY * 20, 50, utf8)
@example("```" + "y" * 300 + "\ncode\n```\nafter", 50, len)
@example("z" + "\u0301" * 200, 50, utf8)
def test_every_part_is_within_the_limit_and_nothing_is_lost(text, limit, measure):
    cut = pieces(text, limit, measure)
    assert split(text, limit, measure) == [str(piece) for piece in cut]
    assert all(measure(str(piece)) <= limit for piece in cut)
    assert squeezed("".join(piece.body for piece in cut)) == squeezed(text)
    if text.strip():
        assert all(str(piece).strip() for piece in cut)
    else:
        assert split(text, limit, measure) == [""]


@settings(max_examples=examples(150), deadline=None)
@given(
    st.lists(st.one_of(code, listing, heading, words.map(lambda t: t.replace("`", "'"))), max_size=8), limits
)
def test_no_part_leaves_a_fence_open(blocks, limit):
    for part in split("\n\n".join(blocks), limit):
        assert open_fence(part) == "", part


@settings(max_examples=examples(100), deadline=None)
@given(st.lists(st.sampled_from([*CLUSTERS, "a", " ", "\n"]), max_size=120), limits)
def test_no_character_that_people_see_as_one_is_torn(clusters, limit):
    alone = re.compile(r"^[\u200d\ufe0f\u0301\u0323\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f\u1160-\u11ff]")
    for part in split("".join(clusters), limit):
        assert not alone.search(part) and not part.endswith("\u200d")
        assert len(re.findall("[\U0001f1e6-\U0001f1ff]", part)) % 2 == 0


# --- examples ---------------------------------------------------------------------------------


def test_what_fits_stays_as_it_is():
    text = "# Title\n\nOne *two* [three](https://x.y).\n\n```py\nx = 1\n```"
    assert split(text, 500) == [text]


def test_blank_text_is_one_empty_part():
    assert split("", 100) == [""]
    assert split(" \n\t\n", 100) == [""]


def test_a_limit_without_room_is_refused():
    with pytest.raises(ValueError, match="at least 50"):
        split("text", 49)


def test_paragraphs_are_preferred_to_lines_and_lines_to_sentences():
    paragraphs = ["alpha " * 10, "beta one.\nbeta two. " * 3, "gamma " * 8]
    assert split("\n\n".join(p.strip() for p in paragraphs), 80) == [p.strip() for p in paragraphs]
    lines = "\n".join(["first line. It has more.", "second line. It has more.", "third one"])
    assert split(lines, 55)[0] == "first line. It has more.\nsecond line. It has more."
    sentences = "Here is one sentence. Here is another sentence. And this is the last one of them."
    assert split(sentences, 60) == [
        "Here is one sentence. Here is another sentence.",
        "And this is the last one of them.",
    ]


def test_a_cut_fence_is_closed_and_opened_again_with_its_language():
    code = "\n".join(f"    value_{n} = call({n})" for n in range(30))
    parts = split(f"Do this:\n\n```python\n{code}\n```\n\nDone.", 200)
    assert len(parts) > 3
    for part in parts[1:-1]:
        assert part.startswith("```python\n    value_") and part.endswith(")\n```")
    assert parts[-1].endswith("```\n\nDone.")
    body = "".join(piece.body for piece in pieces(f"```python\n{code}\n```", 200))
    assert code in body  # indentation and order survive, line by line


def test_indented_quoted_and_longer_fences_are_opened_as_they_were():
    body = [f"line {n} of the code" for n in range(12)]
    for lead, inner, mark in (("  ", "  ", "```"), ("> ", "> ", "```"), ("- ", "  ", "````")):
        text = "\n".join([f"{lead}{mark}js", *(inner + line for line in body), inner + mark])
        parts = split(text, 120)
        assert len(parts) > 2
        assert all(part.startswith(f"{inner}{mark}js\n") for part in parts[1:])
        assert all(part.endswith(f"\n{inner}{mark}") for part in parts)


def test_backticks_inside_a_longer_fence_do_not_end_it():
    text = "````md\n" + "```\ninner\n```\n" * 20 + "````"
    assert all(part.startswith("````md\n") and part.endswith("\n````") for part in split(text, 100))


def test_a_fence_that_fits_into_one_part_is_not_cut():
    text = "Some words first.\n\n" + "```py\n" + "x = 1\n" * 15 + "```\n\nand after"
    parts = split(text, 110)
    assert parts[0] == "Some words first."
    assert parts[1].startswith("```py\n") and parts[1].count("x = 1") == 15


def test_an_unfinished_fence_is_closed():
    assert split("Look:\n```py\nx = 1", 100) == ["Look:\n```py\nx = 1\n```"]


def test_table_rows_stay_whole_under_a_repeated_header():
    rows = [f"| option_{n} | what it does, number {n} |" for n in range(12)]
    head = "| name | meaning |\n|------|---------|"
    parts = split("\n".join([head, *rows]), 180)
    assert len(parts) > 2
    assert all(part.startswith(head + "\n| option_") for part in parts)
    assert [line for part in parts for line in part.split("\n")[2:]] == rows


def test_a_row_that_is_longer_than_a_part_loses_nothing():
    text = "| a | b |\n|---|---|\n| x | " + "word " * 60 + "|\n| y | z |"
    parts = split(text, 80)
    assert all(len(part) <= 80 for part in parts)
    assert "".join(parts).count("word") == 60


def test_links_images_and_code_are_never_torn():
    link = "[the config guide (new)](https://example.org/docs/config_(v2)/#secret-key)"
    image = "![a picture of it](https://example.org/a.png)"
    text = " ".join([link, "then `app.run(debug = True)` and", image, "or **quite bold words here**,"] * 12)
    parts = split(text, 130)
    for whole in (link, image, "`app.run(debug = True)`", "**quite bold words here**"):
        assert sum(part.count(whole) for part in parts) == 12


def test_a_link_over_two_lines_is_not_torn_at_the_line():
    text = ("filler words here\n" * 3) + "a [long\nlabel](https://example.org/page) " + "tail " * 10
    assert any("[long\nlabel](https://example.org/page)" in part for part in split(text, 70))


def test_an_address_longer_than_a_part_is_cut_but_complete():
    url = "https://example.org/" + "a1b2" * 60
    assert "".join(split(url, 60)) == url


def test_headings_and_list_markers_stay_with_what_follows():
    text = "intro " * 12 + "\n\n## Install\n\n" + "step " * 12 + "\n\n1. " + "do " * 15 + "\n2. " + "go " * 15
    parts = split(text, 90)
    assert not any(re.search(r"(^|\n)(## Install|\d\.)$", part) for part in parts)


def test_a_quote_goes_on_as_a_quote():
    parts = split("> " + "quoted words " * 20, 80)
    assert len(parts) > 2 and all(part.startswith("> quoted") for part in parts)


def test_bytes_are_measured_where_bytes_count():
    text = "Ünïcödé wörds ünd möre " * 20
    assert all(utf8(part) <= 100 for part in split(text, 100, utf8))
    assert squeezed("".join(split(text, 100, utf8))) == squeezed(text)


def test_lone_surrogates_are_cut_between_pairs():
    text = "\ud83d\udc4d" * 60
    assert all(len(part) % 2 == 0 for part in split(text, 51))


@pytest.mark.parametrize("unit", ["[](", "`` ` ", "![[", "**", "| ", "> ", "1. ", "a\n", "<"])
def test_odd_text_takes_no_odd_time(unit):
    with at_most(2.0):
        split(unit * 6000, 2000)


def test_a_fence_is_not_cut_in_its_first_line():
    text = "\n\n".join(["## >>>>>>>>>>>", "## >>>>>>>>>>>>>", "  ```python\n  ```"])
    parts = split(text, 50)
    assert all(open_fence(part) == "" for part in parts)
    assert "".join("".join(parts).split()).count("```python") == 1
