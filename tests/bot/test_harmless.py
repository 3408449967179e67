"""What is said acts on no platform: links lead where they seem to, and nothing but links acts at all."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings

from bot.platforms.discord.markdown import messages
from bot.platforms.slack.text.format import Composer, cut, without_tags
from bot.platforms.slack.text.mrkdwn import defuse, to_mrkdwn
from bot.rendering.harmless import harmless
from bot.rendering.splitting import broken
from core.text.markup import literal
from tests.effort import examples
from tests.lookalikes import CALLS, EVIL, LOOKS, hostile_texts, least_seconds
from tests.readers import Read, commonmark, discord, slack, words

many = settings(max_examples=examples(250), deadline=None)


def block_of(markdown: str) -> str:
    """Return what the `markdown` block says."""
    return defuse(broken(without_tags(harmless(markdown))))


def read_everywhere(markdown: str) -> list[Read]:
    """Return what the readers of Slack and Discord make of a text."""
    return [
        commonmark(block_of(markdown)),
        *(slack(to_mrkdwn(part)) for part in cut(markdown)),
        *(discord(message) for message in messages(markdown)),
    ]


# --- words of documents ---------------------------------------------------------------------------


@pytest.mark.parametrize("text", [*LOOKS, *CALLS])
def test_text_of_a_document_acts_nowhere(text: str) -> None:
    for read in read_everywhere(f"> {literal(text)} [1]\n\n**Sources**\n[1] [Page](https://docs.example/p)"):
        assert not read.acts
        assert [link for link in read.masked if link[1] != "https://docs.example/p"] == []


@many
@given(hostile_texts)
def test_no_text_of_a_document_acts_however_it_is_put_together(text: str) -> None:
    for read in read_everywhere(literal(text)):
        assert not read.acts and not read.masked


@pytest.mark.parametrize(
    "text",
    [
        f"Write [Log in]({EVIL}) to make a link",
        "Use <name> or <https://docs.example/a|b> there",
        "Call <@U123>, <!channel>, @everyone and ||nobody||",
        "An entity is &lt; or &#65;, and C:\\.venv a path",
        "List<int> and a < b",
    ],
)
def test_people_read_what_a_document_says(text: str) -> None:
    for read in read_everywhere(literal(text)):
        assert words(read.seen) == words(text)


# --- links ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("markdown", "said"),
    [
        ("[the docs](https://docs.example/a)", "[the docs](https://docs.example/a)"),
        ("[me@docs.example](mailto:me@docs.example)", "[me@docs.example](mailto:me@docs.example)"),
        ("[docs.example](https://docs.example/a)", "[docs.example](https://docs.example/a)"),
        ("[www.docs.example](https://docs.example/a)", "[www.docs.example](https://docs.example/a)"),
        ("[app.py](https://docs.example/a)", "[app.py](https://docs.example/a)"),
        ("[Answer by @hal](https://chat.example/7)", "[Answer by @hal](https://chat.example/7)"),
        ("<https://docs.example/a>", "<https://docs.example/a>"),
        # the text is another address: where it leads is shown
        ("[https://bank.example](https://evil.example/x)", "<https://evil.example/x>"),
        ("[**bank.com**](https://evil.example/x)", "<https://evil.example/x>"),
        ("[see https://bank.example now](https://evil.example/x)", "<https://evil.example/x>"),
        ("[https://bank.example@evil.io](https://evil.example/x)", "<https://evil.example/x>"),
        ("[boss@bank.example](mailto:thief@evil.example)", "<mailto:thief@evil.example>"),
        ("[www.bank.example](https://evil.example/x)", "<https://evil.example/x>"),
        # what opens no page and no letter is no link
        ("[x](javascript:alert(1))", "x"),
        ("[x](data:text/html;base64,eA==)", "x"),
        ("[x](//evil.example)", "x"),
        ("[x](https:evil.example)", "x"),
        ("[x](slack://open)", "x"),
        ("<javascript:alert(1)>", "\\<javascript:alert(1)>"),
        # pictures are links to themselves, and load nothing
        ("![a chart](https://t.example/p.png)", "[a chart](https://t.example/p.png)"),
        ("![](https://t.example/p.png)", "[image](https://t.example/p.png)"),
        ("[![badge](https://t.example/p.svg)](https://docs.example)", "[badge](https://docs.example)"),
        # entities and escapes hide no target
        ("[bank.com](https&#58;//evil.example)", "<https://evil.example>"),
        ("[x](https\\://docs.example)", "[x](https://docs.example)"),
        # of references nothing is left that could act
        ("[Log in][a]\n\n[a]: https://evil.example", "[Log in][a]\n\n[a]\\: https://evil.example"),
    ],
)
def test_a_link_leads_where_it_seems_to(markdown: str, said: str) -> None:
    assert harmless(markdown) == said
    assert harmless(said) == said


@many
@given(hostile_texts)
@example("> ```py\ncode\n```\n</ban:123456>")  # an empty block of code
def test_what_people_write_calls_nobody_and_opens_nothing_but_pages(text: str) -> None:
    for read in read_everywhere(text):
        assert not read.acts
        assert all(target.startswith(("https://", "http://", "mailto:")) for _, target in read.links)


@pytest.mark.parametrize("platform", ["block", "mrkdwn", "discord"])
def test_real_links_are_links(platform: str) -> None:
    said = (
        "See [the guide](https://docs.example/a_(b)) and https://docs.example/c. [1]\n\n"
        "**Sources**\n[1] [One › Two](https://docs.example/1#x)\n[2] [Three (3)](https://docs.example/3)"
    )
    reads = {
        "block": [commonmark(block_of(said))],
        "mrkdwn": [slack(to_mrkdwn(part)) for part in cut(said)],
        "discord": [discord(message) for message in messages(said)],
    }[platform]
    assert [link for read in reads for link in read.masked] == [
        ("the guide", "https://docs.example/a_(b)"),
        ("One › Two", "https://docs.example/1#x"),
        ("Three (3)", "https://docs.example/3"),
    ]


# --- code -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "markdown",
    [
        f"`[Log in]({EVIL})` and ``a ` [Log in]({EVIL})``",
        f"```md\n[Log in]({EVIL})\n<@U123>\n```",
        f"- ```\n  [Log in]({EVIL})\n  ```\n- b",
        f"> ```\n> [Log in]({EVIL})\n> ```",
        f"````\n```\n[Log in]({EVIL})\n```\n````",
        f"~~~ ` `\n[Log in]({EVIL})\n~~~",
        f"an open [ bracket, then `]({EVIL})` and ```x](y)[z]({EVIL})```",
        "`" + "x" * 700 + f"[Log in]({EVIL})`",
        f"https://docs.example/a`[Log in]({EVIL})`",
        f"| a |\n|---|\n| `[Log in]({EVIL})` |",
    ],
)
def test_code_is_code_everywhere(markdown: str) -> None:
    for read in read_everywhere(f"[1] {markdown} [2]" if "\n" not in markdown else markdown):
        assert not read.masked
        assert "@U123" not in read.acts


async def test_a_tag_in_code_is_shown_as_it_is_and_in_text_too() -> None:
    payloads = []

    async def send(payload: dict) -> None:
        payloads.append(payload)

    await Composer().send("Write `<b> | <i>`, not <b>:\n```html\n<b>x</b>\n```", (), send)
    shown = payloads[0]["blocks"][0]["text"]
    assert "`<b> | <i>`, not &lt;b>" in shown and "<b>x</b>" in shown


@pytest.mark.parametrize(
    "part", ['[a](https://x "', "[", "`a", "[a]", "](", "\\`", "`` a ` ", "a.b.", "> ", "| a "]
)
def test_hostile_text_takes_time_in_proportion(part: str) -> None:
    short, long = (least_seconds(harmless, part * times) for times in (2_000, 8_000))
    assert long < 16 * max(short, 0.01)
