"""Words that people say after an answer and that ask for nothing."""

from __future__ import annotations

import re

from core.text import looks_like_question

_WORDS = frozenset(
    """a again ah alright all amazing and appreciated awesome big bot brilliant cheers cool danke did do
    everyone exactly excellent fine fixed folks for god good got gracias great guys haha help helped helpful
    helps hey hm i i'll indeed it just kudos lol lot lots love lovely man many mate merci much my neat nice
    no nope np now of oh ok okay perfect please point really right see sir so solved super sure sweet team
    thank thanks that that's the there this thx to too tried try ty tysm understood very was wonderful
    wow work worked working works yay yeah yep yes you you're your is
    beaucoup dank genial grazie lieben mil muchas obrigada obrigado parfait perfecto perfekt passt tausend
    vale vielen спасибо 谢谢 多谢 感谢 好的 明白了 谢谢你 谢谢了 非常感谢 太好了 ありがとう""".split()  # noqa: SIM905
)
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_SMILEY = re.compile(r":[\w+-]+:|[:;]-?[)D(P]|\+1\b")


def is_pleasantry(text: str) -> bool:
    """Tell whether a text only thanks, agrees or laughs: no word of it asks or tells anything."""
    plain = _SMILEY.sub(" ", text).lower().replace("’", "'")
    words = _WORD.findall(plain)
    return all(word in _WORDS for word in words) and not (words and looks_like_question(plain))
