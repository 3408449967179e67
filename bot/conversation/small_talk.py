"""Recognise small talk: thanks, laughter, greetings, questions about the bot itself."""

from __future__ import annotations

import re

from core.text.words import looks_like_question, one_line, ruled

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
_GREETINGS = frozenset(
    """hello hi hey hiya howdy greetings morning afternoon evening test ping hallo moin servus tag morgen
    abend hola buenas buenos días bonjour salut ciao olá привет 你好 您好 嗨 こんにちは 안녕하세요""".split()  # noqa: SIM905
)
_BESIDE = frozenset({"guten", "zusammen", "todos", "a", "tous", "threadlore"})
"""What stands beside a greeting."""
_ABOUT_ITSELF = re.compile(
    r"(?:so |and |but |please )?(?:who|what) (?:exactly )?are you|what(?:'s| is) your name"
    r"|what (?:all )?(?:can|could|do) you (?:do|help(?: me)? with|know|answer)"
    r"|what (?:can|could|may|should) i ask(?: you)?"
    r"|how (?:do|can|should) i (?:use|ask) you|how do you work|how does this bot work"
    r"|(?:can|could|will) you help(?: me)?|(?:i need )?help(?: me)?"
    r"|wer bist du|was (?:bist|kannst|weißt) du(?: alles)?|wie funktionierst du|kannst du (?:mir )?helfen"
    r"|hilfe|qui[eé]n eres|qu[eé] puedes hacer|ayuda|你是谁|你能做什么|你会什么|帮助|帮帮我"
)
_CLAUSE = re.compile(r"[,.!?;:¿¡，。！？\n]+|\b(?:and|und|y)\b")
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_SMILEY = re.compile(r":[\w+-]+:|[:;]-?[)D(P]|\+1\b")


def is_pleasantry(text: str) -> bool:
    """Return True if a text only thanks, agrees or laughs: no word of it asks or tells anything."""
    plain = _SMILEY.sub(" ", ruled(text)).lower().replace("’", "'")
    words = _WORD.findall(plain)
    return all(word in _WORDS for word in words) and not (words and looks_like_question(plain))


def is_greeting(text: str) -> bool:
    """Return True if a text only greets the bot, or asks who it is, what it can do, or just for help."""
    plain = one_line(_SMILEY.sub(" ", ruled(text)).lower().replace("’", "'").replace("please", " "))
    clauses = [clause.strip() for clause in _CLAUSE.split(plain) if clause.strip()]
    asks = [bool(_ABOUT_ITSELF.fullmatch(clause)) for clause in clauses]
    greets = [_greets(clause) for clause in clauses]
    idle = [is_pleasantry(clause) for clause in clauses]
    return any(asks + greets) and all(map(any, zip(asks, greets, idle, strict=True)))


def _greets(clause: str) -> bool:
    words = _WORD.findall(clause)
    known = all(word in _GREETINGS | _WORDS | _BESIDE for word in words)
    return known and any(word in _GREETINGS for word in words)
