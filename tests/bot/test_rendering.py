"""One Markdown answer on each platform: within its limits, complete, no fence torn, nobody called.

Documents are made of all that answers are made of; each word that counts is there once, so that what is lost
or out of order shows.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from io import StringIO
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from bot.platforms.discord.markdown import LIMIT, messages, units, without_previews
from bot.platforms.slack.text.format import TEXT_BYTES, Composer, cut
from bot.ports.chat import Choice, Control
from bot.rendering.progress import say
from bot.rendering.splitting import broken
from tests.effort import examples
from tests.platforms.slack_blocks import SlackError, check_blocks

WORD = "§"
"""Stands for a word of its own in what is generated."""
PINGS = [
    "@here",
    "@everyone",
    "@channel",
    "<!here>",
    "<!channel>",
    "<!everyone>",
    "<!here|here>",
    "<@U1>",
    "<@W1|ann>",
    "<@&5>",
    "<@!7>",
    "<#C1>",
    "<!subteam^S1>",
    "&lt;!here>",
    "&#60;@U1>",
]
CONTROLS = (
    Control("up", "👍", "a" * 32),
    Control("down", "👎", "a" * 32),
    Control(
        "release", "Another release", "a" * 32, tuple(Choice(f"{'a' * 32} {n}", str(n)) for n in range(25))
    ),
)

# --- documents --------------------------------------------------------------------------------

filler = st.sampled_from(
    [
        "and",
        "a < b & c > d",
        "ünïcödé",
        "😀👍🏽",
        "漢字かな",
        "*bold*",
        "**strong**",
        "`code`",
        "snake_case_name",
        "[1]",
        "[2][3]",
        "2*3*4",
        "~~gone~~",
        "100 %",
        "C:\\dir",
        "x|y",
        "https://a.b/c_(d)?e=f#g",
        "word " * 40,
    ]
)
link = st.builds(lambda n: f"[{WORD} page](https://docs.example/{n}#x_y)", st.integers(0, 9))
piece = st.one_of(st.just(WORD), st.just(WORD), filler, link, st.sampled_from(PINGS))
line = st.lists(piece, min_size=1, max_size=12).map(" ".join)
paragraph = st.lists(line, min_size=1, max_size=6).map("\n".join)
heading = st.builds(lambda n, t: f"{'#' * n} {t}", st.integers(1, 6), line)
listing = st.builds(
    lambda mark, items: "\n".join(f"{mark} {item}" for item in items),
    st.sampled_from(["-", "*", "1.", "  -"]),
    st.lists(line, min_size=1, max_size=8),
)
quote = st.lists(line, min_size=1, max_size=4).map(lambda lines: "\n".join(f"> {one}" for one in lines))
code_line = st.builds(
    lambda indent, words: "    " * indent + " ".join(words),
    st.integers(0, 3),
    st.lists(st.sampled_from([WORD, "if a < b:", "x = '<@U1>'", "# @here", "y & z", "|"]), max_size=6),
)
code = st.builds(
    lambda mark, language, lines: "\n".join([mark + language, *lines, mark]),
    st.sampled_from(["```", "~~~", "````"]),
    st.sampled_from(["", "python", "text"]),
    st.lists(code_line, max_size=60),
)
cell = st.lists(
    st.one_of(st.just(WORD), st.sampled_from(["1 < 2", "`x`", "**b**", "a\\|b", "@here", "漢字"])), max_size=4
)


@st.composite
def tables(draw: st.DrawFn) -> str:
    width = draw(st.integers(1, 5))
    row = st.lists(cell.map(" ".join), min_size=width, max_size=width)
    rows = draw(st.lists(row, min_size=2, max_size=30))
    drawn = [f"| {' | '.join(one)} |" for one in rows]
    return "\n".join([drawn[0], "|" + "---|" * width, *drawn[1:]])


block = st.one_of(
    paragraph, paragraph, heading, listing, quote, code, tables(), st.just("x" * 2_500), st.just("---")
)


def numbered(markdown: str) -> str:
    """Give every word that counts a number of its own."""
    count = itertools.count()
    return re.sub(WORD, lambda _: f"w{next(count)}w", markdown)


footer = st.sampled_from(["", f"\n\n*{WORD} 2.0 · {WORD} · @here <@U1>*"])
body = st.lists(block, min_size=1, max_size=14).map("\n\n".join)
documents = st.builds("{}{}".format, body, footer).map(numbered)
many = settings(max_examples=examples(40), deadline=None, suppress_health_check=[HealthCheck.too_slow])


# --- platforms --------------------------------------------------------------------------------


@dataclass
class Sent:
    """One message as it goes to the platform: what is shown, and the texts that could call somebody."""

    shown: str
    texts: list[str]
    markdown: str = ""


async def slack_blocks(markdown: str) -> list[Sent]:
    """Return the messages that Slack gets, with `markdown` blocks; raises SlackError."""
    return await _slack(markdown, False)


async def slack_sections(markdown: str) -> list[Sent]:
    """Return the messages that a Slack gets that refuses the `markdown` block; raises SlackError."""
    return await _slack(markdown, True)


async def _slack(markdown: str, sections: bool) -> list[Sent]:
    composer = Composer()
    composer.markdown_block = not sections
    sent: list[Sent] = []

    async def send(payload: dict[str, Any]) -> None:
        check_blocks(payload["blocks"], refuses_markdown=sections)
        assert len(payload["text"].encode()) <= TEXT_BYTES and len(payload["text"]) <= TEXT_BYTES
        written = [b["text"] for b in payload["blocks"] if b["type"] in ("markdown", "section")]
        written += [e for b in payload["blocks"] if b["type"] == "context" for e in b["elements"]]
        texts = [text if isinstance(text, str) else text["text"] for text in written]
        markdown = "\n".join(b["text"] for b in payload["blocks"] if b["type"] == "markdown")
        sent.append(Sent("\n".join(texts), [*texts, payload["text"]], markdown))

    parts = cut(markdown)
    for part in parts:
        await composer.send(part, CONTROLS if part is parts[-1] else (), send)
    return sent


async def discord(markdown: str) -> list[Sent]:
    """Return the messages that Discord gets."""
    sent = messages(markdown)
    for text in sent:
        assert 0 < units(text) <= LIMIT and len(text) <= LIMIT
    return [Sent(text, [text]) for text in sent]


PLATFORMS = [slack_blocks, slack_sections, discord]
each = pytest.mark.parametrize("platform", PLATFORMS, ids=lambda one: one.__name__)
Platform = Callable[[str], Any]


def words(text: str) -> list[str]:
    """Return the words that count, each where it is said first."""
    return list(dict.fromkeys(re.findall(r"w\d+w", text)))


def left_open(text: str) -> str:
    """Return the fence that a message leaves open."""
    mark = ""
    for one in text.split("\n"):
        if mark:
            mark = "" if re.fullmatch(rf"[ \t>]*{re.escape(mark)}{re.escape(mark[0])}*[ \t]*", one) else mark
        elif found := re.match(r"[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?(`{3,}(?=[^`]*$)|~{3,})", one):
            mark = found[1]
    return mark


@each
@many
@given(markdown=documents)
async def test_every_word_is_said_once_and_in_order_within_the_limits(
    platform: Platform, markdown: str
) -> None:
    sent = await platform(markdown)
    assert words(" ".join(one.shown for one in sent)) == words(markdown)
    assert all(one.shown.strip() for one in sent)


@each
@many
@given(markdown=documents)
async def test_no_message_leaves_a_fence_open(platform: Platform, markdown: str) -> None:
    for one in await platform(markdown):
        for text in one.texts:
            assert not left_open(text), text


CALL = re.compile(r"<(?:!(?:here|channel|everyone|group|subteam)|[@#][A-Z0-9])", re.IGNORECASE)


@many
@given(markdown=documents)
@example(markdown="&lt;!here&gt; &#0060;@U1> <<!channel> <@U1|ann>")
async def test_no_message_on_slack_calls_anybody(markdown: str) -> None:
    for one in await slack_blocks(markdown):
        # whether the markdown block reads entities is not documented, so none may be one half of a call
        assert not CALL.search(re.sub(r"&(?:lt|#0*60);?", "<", one.markdown)), one.markdown
    for sent in (await slack_blocks(markdown), await slack_sections(markdown)):
        for text in (text for one in sent for text in one.texts):
            assert not CALL.search(text), text
            assert not re.search(r"@(?:here|channel|everyone)\b", text, re.IGNORECASE), text


@many
@given(markdown=documents)
async def test_links_on_discord_show_nothing_of_what_is_behind_them(markdown: str) -> None:
    """What is sent to one person alone cannot suppress embeds, so its links stand in angle brackets."""
    for text in messages(without_previews(markdown)):
        outside = re.sub(r"```.*?```|`[^`\n]+`", "", text, flags=re.DOTALL)
        bare = [m for m in re.finditer(r"https?://\S+", outside) if outside[m.start() - 1 : m.start()] != "<"]
        assert not bare, text


@each
async def test_the_cells_of_a_wide_table_are_all_there_and_say_which_column_they_are_of(
    platform: Platform,
) -> None:
    rows = [[f"w{row * 6 + column}w" + " long" * 8 for column in range(6)] for row in range(30)]
    drawn = [f"| {' | '.join(row)} |" for row in rows]
    sent = await platform("\n".join([drawn[0], "|---" * 6 + "|", *drawn[1:]]))
    assert len(sent) > 1
    assert words("".join(one.shown for one in sent)) == [f"w{number}w" for number in range(180)]
    for one in sent:
        assert "w1w" in one.shown, "each message says what its columns are"


@each
async def test_numbers_of_citations_stay_numbers(platform: Platform) -> None:
    said = "Set it [1][2]. Then call it. [3]\n\n**Sources**\n[1] [One (a)](https://a.b/1)\n[2] [Two](https://a.b/2)"
    [one] = await platform(said)
    assert re.findall(r"\[(\d)\]", one.shown) == ["1", "2", "3", "1", "2"]


async def test_what_an_answer_says_of_itself_is_small_print() -> None:
    sources = "**Sources**\n[1] [One](https://a.b/1)\n[2] [Two](https://a.b/2)"
    said = f"Set it [1].\n\n{sources}\n\n*Kettle 2.0 · quoted*"
    payloads: list[dict[str, Any]] = []

    async def send(payload: dict[str, Any]) -> None:
        payloads.append(payload)

    await Composer().send(said, (), send)
    [shown, small] = payloads[0]["blocks"]
    assert shown["text"].endswith("**Sources**  \n[1] [One](https://a.b/1)  \n[2] [Two](https://a.b/2)")
    assert small == {"type": "context", "elements": [{"type": "mrkdwn", "text": "Kettle 2.0 · quoted"}]}
    assert payloads[0]["text"].endswith("_Kettle 2.0 · quoted_")
    assert messages(said)[0].endswith("\n\n-# Kettle 2.0 · quoted")
    assert messages("*all of it*") == ["-# all of it"]
    assert messages("not\n*this*") == ["not\n*this*"]


@many
@given(markdown=documents)
def test_hard_line_ends_change_nothing_but_white_space(markdown: str) -> None:
    hard = broken(markdown)
    assert hard.replace("  \n", "\n") == markdown.replace("  \n", "\n")
    assert broken(hard) == hard


def test_the_server_of_these_tests_does_refuse() -> None:
    with pytest.raises(SlackError):
        check_blocks(json.loads(json.dumps([{"type": "section", "text": {"type": "mrkdwn", "text": ""}}])))


# --- a terminal -----------------------------------------------------------------------------------


class Terminal(StringIO):
    """Somebody's terminal, or a pipe."""

    def __init__(self, is_terminal: bool) -> None:
        super().__init__()
        self.isatty = lambda: is_terminal  # type: ignore[method-assign]


def test_markdown_is_rendered_and_wrapped_at_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setenv("NO_COLOR", "1")
    said = "**Start** it with `kettle dashboard`, then open the page in a browser.\n\n[1] one\n[2] two"
    seen, piped = Terminal(True), Terminal(False)
    for out in (seen, piped):
        say(said, out)
    plain = re.sub(r"\x1b\[[0-9;]*m", "", seen.getvalue())
    assert "**" not in plain and max(map(len, plain.splitlines())) <= 40
    assert [line.strip() for line in plain.splitlines()[-2:]] == ["[1] one", "[2] two"]
    assert piped.getvalue() == f"{said}\n"
