"""Markdown that every reader takes alike: no link that no writer made, and code where it is to everybody."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.text.markup import address, code, inert, link, literal, settled
from tests.lookalikes import EVIL, LOOKS, least_seconds
from tests.readers import commonmark

signs = st.text(alphabet=st.sampled_from("a [](){}`\\<>|!&;:#\n-*~_\"'."), max_size=30)
texts = st.lists(
    st.one_of(signs, st.sampled_from([*LOOKS, "```\n", "~~~\n", "`x`", "\n\n"])), max_size=6
).map("".join)


@pytest.mark.parametrize("text", LOOKS)
def test_what_only_looks_like_a_link_is_none(text: str) -> None:
    for said in (literal(text), inert(text)):
        read = commonmark(said)
        assert not read.masked and not read.acts


@pytest.mark.parametrize(
    "text",
    [
        f"[Log in]({EVIL}) and `[Log in]({EVIL})`",
        "a list[int]: b, (see [1]) [2](3)",
        "&lt;b&gt; &amp;lt; &nbsp; &#65; &copy",
        r"C:\.venv\Scripts, \[x\] \\server\share \(1\)",
        "a < b > c, <https://docs.example/a> and <me@docs.example>",
        "[a]: b",
    ],
)
def test_literal_text_is_read_as_it_was_written(text: str) -> None:
    plain = re.sub(r"<(https|me@)([^<>]*)>", r"\1\2", text.replace("`", ""))
    assert commonmark(literal(text)).seen.strip() == plain


@pytest.mark.parametrize(
    "text",
    [
        "Call `f(x)[0](y)` or ``a ` b``.",
        "```py\nx = [a](b)  # \\[ &lt;\n```\n\nThen `[x](y)`.",
        "- one\n  ```\n  [a](b)\n  ```\n- `two`",
        "| `a` | [1] |\n|---|---|\n| `x \\| y` | 2 |",
        "**bold** *it* a_b_c __init__ 2 * 3, see https://docs.example/a_(b).",
        "a | b and [1] [2][3], f(x) [a] (b)",
        "As `set()` does [1]: set it, see [2]:\n> and [the note]: too",
    ],
)
def test_what_the_writers_write_stays_as_it_is(text: str) -> None:
    assert literal(text) == text and inert(text) == text


@given(texts)
def test_no_text_has_a_link_that_hides_its_target(text: str) -> None:
    for said in (inert(text), literal(text)):
        assert not commonmark(said).masked
        assert inert(said) == said


@given(texts)
def test_settled_code_is_code_to_everybody(text: str) -> None:
    said = settled(text)
    assert settled(said) == said
    for start, end in code(said):
        if "\n" in said[start:end]:
            assert said[start - 1 : start] in ("", "\n"), "a block begins its line"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("- ```py\n  a\n  ```", "-\n  ```py\n  a\n  ```"),
        ("One:\n- ```py\n  a\n  ```", "One:\n\n-\n  ```py\n  a\n  ```"),
        ("> ```\n> a\n> ```\nb", "```\na\n```\nb"),
        ("> ```\n> a\nb", "```\na\n```\nb"),
        ("        ```\n        a\n        ```", "```\na\n```"),
        ("1. a\n   - b\n\n     ```\n     c\n     ```", "1. a\n   - b\n\n     ```\n     c\n     ```"),
        ("1. Do:\n   ```sh\na\n   ```", "1. Do:\n   ```sh\n   a\n   ```"),
        ("```\n> ```\n```\na", "````\n> ```\n````\na"),
        ("```\nnever closed", "```\nnever closed"),
    ],
)
def test_blocks_of_code_stand_where_every_reader_finds_them(before: str, after: str) -> None:
    if before == "```\n> ```\n```\na":
        before = "````\n> ```\n````\na"
    assert settled(before) == after


def test_a_title_is_the_text_of_its_link() -> None:
    said = link("[Log in](https://evil.example) `x` \\", "https://docs.example/a) [b](https://evil.example")
    read = commonmark(said)
    assert [target for _, target in read.links] == [
        "https://docs.example/a%29%20%5Bb%5D%28https://evil.example"
    ]
    assert link("A", "") == "A" and address("https://a.example/x_(y)") == "https://a.example/x_(y)"


@pytest.mark.parametrize(
    "part",
    ["[a]", "[", "`a", "``", " [\\[", "<http:", "> ", "- ", "&#1", "|`", "](", "```\n", "~~~\n> ", "<a`b` "],
)
def test_hostile_text_takes_time_in_proportion(part: str) -> None:
    for work in (literal, settled):
        short, long = (least_seconds(work, part * times) for times in (4_000, 16_000))
        assert long < 16 * max(short, 0.01)
