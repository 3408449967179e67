"""Texts that look like what platforms act upon: links, pictures, calls, tags, code that ends early."""

from __future__ import annotations

import time
from collections.abc import Callable

from hypothesis import strategies as st

EVIL = "https://evil.example"
LOOKS = [
    f"[Log in]({EVIL})",
    f"![x]({EVIL}/p.png)",
    f"[Log in][1] and [Log in]\n\n[1]: {EVIL}",
    f"[Log in]: {EVIL} 'title'",
    f"[a [b [c]]]({EVIL})",
    f"[a]( <{EVIL}> )",
    f"[a\n]({EVIL})",
    f"\\[Log in]({EVIL})",
    f"[Log in\\]({EVIL})",
    f"<{EVIL}|text>",
    "<javascript:alert(1)> <data:text/html,x> <tel:1>",
    f"a ` [Log in]({EVIL})",
    f"`` ` [Log in]({EVIL}) `",
    f"| ` | [Log in]({EVIL}) ` |\n|--|--|",
    f"~~~ [Log in]({EVIL})",
    f"``` [Log in]({EVIL})",
    f"```\n\n```py\n[Log in]({EVIL})\n```\n[Log in]({EVIL})",
    f"\\`[Log in]({EVIL})\\`",
    f"<https://x/`>[Log in]({EVIL})`",
    f"&#91;Log in&#93;({EVIL})",
]
CALLS = [
    "<@U123>",
    "<@123456>",
    "<@&123456>",
    "<#C123|general>",
    "<!channel>",
    "<!subteam^S1>",
    "<!date^1392734382^{date}^https://evil.example|now>",
    "@everyone",
    "@here",
    "\\@channel",
    "&#64;everyone",
    "</ban:123456>",
    "<:smile:123456>",
    "<t:1618953630:R>",
    "<id:customize>",
    "||a spoiler||",
    "<img src=http://tracker.example/p.png>",
    '<a href="https://evil.example">Log in</a>',
    "<script>alert(1)</script>",
]
PIECES = """`|``|```|~~~|> |- |1. |  |**|*|~~|_|[|](|(|]|!|# ||
https://docs.example/x|<https://docs.example/y>|`code`|`` a ` b ``|word |&lt;|\\""".replace("\n", "|").split(
    "|"
)
PIECES += ["|", "||", "\n", "\n\n", "| a |\n|--|\n| b |", "```py\ncode\n```", "~~~\ncode\n~~~"]

hostile_texts = st.lists(st.sampled_from([*LOOKS, *CALLS, *PIECES, *PIECES]), min_size=1, max_size=9).map(
    "".join
)


def least_seconds(work: Callable[[str], object], text: str) -> float:
    """Return the processor time that some work takes on a text, at its best of three."""
    spent = []
    for _ in range(3):
        start = time.process_time()
        work(text)
        spent.append(time.process_time() - start)
    return min(spent)
