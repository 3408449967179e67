"""What a text says, sentence by sentence and line by line."""

from __future__ import annotations

import pytest

from core.text.said import Said, Sayings, statements


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Set `LIMIT`. The *default* is 16.", ["set limit", "the default is 16"]),
        ("> **Note:** Set it.\n> - One\n>   more [1]\n\n2. Two", ["note: set it", "one more", "two"]),
        ("See [the guide](https://d.example/3.1/guide.html) and [it]\\(x).", ["see the guide and it"]),
        ("```python\nlimit = 16\n\n)\n```\nAfter.", ["limit = 16", "after"]),
        ("| a | b |\n| --- | --- |\n| 1 | 2 |", ["a b", "1 2"]),
        ("```\nnever closed", ["never closed"]),
        ("read(-1) != read(1)", ["read(-1) != read(1)"]),
        ("", []),
    ],
)
def test_sentences_and_lines_of_code_are_told_without_their_markup(text: str, told: list[str]) -> None:
    assert statements(text) == told


def test_versions_of_the_product_and_figures_that_a_program_printed_are_left_out() -> None:
    assert statements("Install Tool==3.1 on Python 3.9.", "Tool") == ["install tool on python 3.9"]
    assert statements("Install Tool==3.1.") == ["install tool==3.1"]
    old, new = (
        f"```console\n$ tool --limit {limit}\n=== start ===\nlinux -- Python 3.x, tool-{n}.x, plug-1.{n}\n"
        f"{n} passed in 0.{n}s\n```"
        for n, limit in ((6, 5), (8, 5))
    )
    assert statements(old) == statements(new)
    assert statements(new.replace("--limit 5", "--limit 6")) != statements(new)
    assert statements("```\nlimit = 6\n```") != statements("```\nlimit = 8\n```"), "nobody typed that"


def test_a_release_lacks_what_none_of_its_passages_says() -> None:
    said = Said.of(["One is here. Two is there.", "```\ncall(3)\n```"])
    told = statements("Two is there. Three is new.\n\n```\ncall(3)\ncall(4)\n```")
    assert said.lacking(told) == ["three is new", "call(4)"]
    assert Said.nothing().lacking(told) == told
    assert Said.of([]).lacking(told) == told


class Live:
    """What is live of a release."""

    def __init__(self, **texts: str) -> None:
        self.text_of = texts


async def test_what_a_release_says_is_read_once_and_anew_when_something_else_is_live() -> None:
    live = {"1.0": Live(a="The lid is red."), "2.0": Live(a="The lid is blue.")}
    sayings = Sayings(live.get, "Kettle")
    lid = statements("The lid is red.", "Kettle")
    first = await sayings.of("1.0")
    assert first.lacking(lid) == [] and (await sayings.of("2.0")).lacking(lid) == lid
    assert await sayings.of("1.0") is first
    live["1.0"] = live["2.0"]
    assert (await sayings.of("1.0")).lacking(lid) == lid
    live["2.0"] = Live(a="The lid is red.")
    await sayings.renew()
    assert (await sayings.of("2.0")).lacking(lid) == [] and sayings._read["2.0"][0] is live["2.0"]
    del live["1.0"]
    await sayings.renew()
    assert (await sayings.of("1.0")).lacking(lid) == lid and list(sayings._read) == ["2.0"]
