import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.platforms.slack.text.mrkdwn import GAP, defuse, from_slack, to_mrkdwn


@pytest.mark.parametrize(
    ("markdown", "slack"),
    [
        ("plain", "plain"),
        ("a **bold** word", "a *bold* word"),
        ("__loud__ no, __very loud__ yes", "__loud__ no, *very loud* yes"),
        ("an *italic* and _another_", "an _italic_ and _another_"),
        ("***both***", "*_both_*"),
        ("~~gone~~", "~gone~"),
        ("**bold**s", f"*bold*{GAP}s"),
        ("`SECRET_KEY` and `<a & b>`", "`SECRET_KEY` and `&lt;a &amp; b&gt;`"),
        ("``a `tick` b``", "`a ˋtickˋ b`"),
        ("snake_case_name and 2*3*4 and __init__", "snake_case_name and 2*3*4 and __init__"),
        ("*args, **kwargs", "*args, **kwargs"),
        (r"\*not\* \_emphasis\_", "*not* _emphasis_"),
        ("[docs](https://a.b/c?x=1&y=2)", "<https://a.b/c?x=1&amp;y=2|docs>"),
        ('[docs](https://a.b/c_(d) "title")', "<https://a.b/c_(d)|docs>"),
        ("[**a | b**](https://a.b/x|y)", "<https://a.b/x%7Cy|a ¦ b>"),
        ("![logo](https://a.b/l.png)", "<https://a.b/l.png|logo>"),
        ("[here](relative/page)", "here"),
        ("[x](javascript:alert)", "x"),
        ("[1] [ref][2]", "[1] [ref][2]"),
        ("<https://a.b> (https://a.b/_x_y_).", "<https://a.b> (<https://a.b/_x_y>_)."),
        ("see https://a.b/c.", "see <https://a.b/c>."),
        ("x < y && y > z &amp; &lt;", "x &lt; y &amp;&amp; y &gt; z &amp; &lt;"),
        ("## Title with **bold** ##", "*Title with bold*"),
        ("- one\n  - two\n* [x] three", "• one\n  • two\n☑ three"),
        ("1. one\n2. two", "1. one\n2. two"),
        ("> quoted **text**", "> quoted *text*"),
        ("***", "─" * 12),
        ("```python\nif a < b:\n    **x**\n```\nafter", "```\nif a &lt; b:\n    **x**\n```\nafter"),
        ("- item\n  ```\n  code\n    more\n  ```", "• item\n```\ncode\n  more\n```"),
        ("````\n```\n````", f"```\n``{GAP}`\n```"),
        ("```\nopen", "```\nopen\n```"),
        (
            "| a | bb |\n|---|:-:|\n| `x` | 1 < 2 |\n| long cell |",
            "```\na          bb\n─────────  ─────\nx          1 &lt; 2\nlong cell\n```",
        ),
    ],
)
def test_markdown_reads_the_same_in_slack(markdown: str, slack: str) -> None:
    assert to_mrkdwn(markdown) == slack


@pytest.mark.parametrize(
    ("slack", "markdown"),
    [
        ("a &lt; b &amp;&amp; c &gt; d &amp;lt;", "a < b && c > d &lt;"),
        ("<@U1> and <@U2|bob>", "@U1 and @bob"),
        ("in <#C1|general> or <#C2> or <#C3|>", "in #general or #C2 or #C3"),
        ("<!here> <!channel> <!everyone>", "@here @channel @everyone"),
        ("<!subteam^S1|@team> <!subteam^S2>", "@team @subteam^S2"),
        ("<!date^1392734382^{date}|18 Feb>", "18 Feb"),
        ("<https://a.b/c?x=1&amp;y=2|docs>", "[docs](https://a.b/c?x=1&y=2)"),
        ("<https://a.b>", "https://a.b"),
        ("use <http://app.run|app.run> now", "use app.run now"),
        ("<mailto:a@b.c|a@b.c> <tel:123|123>", "a@b.c 123"),
        ("*bold* _it_ ~gone~", "**bold** _it_ ~~gone~~"),
        ("*args and **kwargs, 2*3*4, a ~ b ~ c", "*args and **kwargs, 2*3*4, a ~ b ~ c"),
        ("`*x* &lt;T&gt; <http://a.b>`", "`*x* <T> http://a.b`"),
        ("try\n```\nx = *a*\n&lt;b&gt;\n```\nok", "try\n```\nx = *a*\n<b>\n```\nok"),
        ("try ```x = 1``` ok", "try \n```\nx = 1\n```\n ok"),
        ("• one\n    ◦ two", "- one\n    - two"),
        ("&gt; quoted", "> quoted"),
        ("  spaces  ", "spaces"),
        ("<>", "<>"),
        ("", ""),
    ],
)
def test_what_people_type_in_slack_becomes_markdown(slack: str, markdown: str) -> None:
    assert from_slack(slack) == markdown


FRAMES = [
    "{}",
    "**{}**",
    "`{}`",
    "```\n{}\n```",
    "[{}](https://a.b)",
    "[a](https://a.b/{})",
    "# {}",
    "> {}",
    "- {}",
]
FRAMES += ["| {} |\n|---|\n| {} |", "&lt;{}&gt;", "*{}"]
PINGS = ["<!here>", "<!channel>", "<@U123>", "<@U123|bob>", "<!subteam^S1>", "@here", "@channel", "@everyone"]


@pytest.mark.parametrize("ping", PINGS)
@pytest.mark.parametrize("frame", FRAMES)
def test_no_answer_can_notify_anybody(frame: str, ping: str) -> None:
    said = frame.replace("{}", ping)
    for text in (to_mrkdwn(said), defuse(said)):
        assert not re.search(r"<[!@#]", text)
        assert not re.search(r"@(here|channel|everyone)\b", text) or "a.b/@" in text


def test_escaped_mentions_do_not_come_alive_in_the_markdown_block() -> None:
    assert "&lt;!here" not in defuse("&lt;!here&gt; &#60;!channel>")
    assert defuse("<!DOCTYPE html> List<String> a@b.c") == "<!DOCTYPE html> List<String> a@b.c"


@given(
    st.text(alphabet=st.sampled_from("ab <>@!#&|`*_~[]()\n\\-:/.1\u200b;"), max_size=80),
    st.sampled_from(PINGS),
)
def test_angle_brackets_are_links_only(noise: str, ping: str) -> None:
    half = len(noise) // 2
    text = to_mrkdwn(noise[:half] + ping + noise[half:])
    assert not re.search(r"<(?!https?://|mailto:)", text)
    assert not re.search(r"&(?!amp;|lt;|gt;)", text)


@given(st.text(max_size=60))
def test_plain_words_survive_the_way_there_and_back(text: str) -> None:
    words = " ".join(re.findall(r"[^\W_]+", text))
    assert from_slack(to_mrkdwn(words)) == words


def test_long_hostile_lines_take_no_time() -> None:
    for hostile in ("**a " * 1500, "[" * 4000, "`" * 4001, "*a_" * 2000, "[a](" * 1500, "\\`" * 3000):
        assert to_mrkdwn(hostile)
        assert from_slack(hostile) is not None
