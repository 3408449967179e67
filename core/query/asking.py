"""Whether a post that nobody addressed to the bot asks for something that documentation could answer.

Many posts with a question mark do not: people ask each other ("who is going to the meetup?"), ask for
opinions, ask nobody ("who needs an ORM, right?"), announce ("Want to speak? Write to me."), or paste code.
Rules only, and rather a question missed than a word too much: what is missed can still be asked by a mention.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from itertools import dropwhile

from core.text.words import looks_like_question, ruled, sentences
from core.vocabulary import words_of

_WORDS = words_of("core.query")["asking"]

_FENCE = re.compile(r"^[ \t]*(`{3,}+|~{3,}+).*?(?:^[ \t]*\1[`~]*[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_INLINE = re.compile(r"`[^`\n]+`")
_QUOTED_LINE = re.compile(r"^[ \t]*>.*$", re.MULTILINE)
_CALL = re.compile(r"\w\([^)]*+(\)\s*+(?:#|//|;|$))?")
"""What is called in a line; of code where the line ends behind it, or a comment follows."""
_URL = re.compile(r"<?\b(?:https?://|www\.)\S+", re.IGNORECASE)
_QUOTED = re.compile(r"[\"“”«»][^\"“”«»?\n]*+\?[^\"“”«»\n]*+[\"“”«»]")
_MARK = re.compile(r"(?<=[\w)\]\"'”`*])\s?\?+(?=[\s)\"'!]|$)")
_LINE_END = re.compile(r"\n+")
_AFTER_MARK = re.compile(r"(?<=\?)\s+")
_OPENERS = re.compile(
    r"^(?:(?:hi|hey|hello|hallo|good (?:morning|evening|day)|morning|dear)\b[^,.!?:\n]{0,20}[,.!:]\s*"
    r"|(?:so|and|but|also|well|ok|okay|now|then|please|actually|basically|quick question|question|quick one|"
    r"another question|newbie question|just wondering|wondering|sorry)\b[,.:;]?\s+|[^\w`]+)+",
    re.IGNORECASE,
)


def _any(key: str) -> re.Pattern[str]:
    pattern = "|".join(_WORDS[key])
    for whom in ("somebody", "people"):
        pattern = pattern.replace(f"<{whom}>", _WORDS[whom])
    return re.compile(pattern, re.IGNORECASE)


_INDIRECT = _any("indirect")
"""People are asked whether they know, and what is meant is the thing itself."""
_ASKING = _any("asking")
"""How a question begins where no mark ends it: a question word and a verb, or a verb and its subject."""
_ANNOUNCES = _any("announces")
_TO_PEOPLE = _any("to_people")
_GENERIC_YOU = _any("generic_you")
_OPINION = _any("opinion")
_MOMENT = _any("moment")
_OWN_MOMENT = _any("own_moment")
_COUNTS = re.compile(r"\bhow (?:many|much)\b", re.IGNORECASE)
_ASKS_NOBODY = _any("asks_nobody")
_DEFAULT = _any("default")
_PRICE = _any("price")
_VERSUS = re.compile(
    "|".join(_WORDS["versus"])
    .replace("<the>", _WORDS["article"])
    .replace("<thing>", _WORDS["thing"])
    .replace("<end>", _WORDS["thing_ends"]),
    re.IGNORECASE | re.MULTILINE,
)
_MONEY = re.compile(r"[$€£¥]\s?\d|\d\s?[€£¥]|\d\s?(?:USD|EUR|GBP|dollars?|euros?|pounds?)\b", re.IGNORECASE)
_ANSWERED = re.compile(r"^(?:yes|yep|yeah|no|nope|nah|exactly|of course)\b", re.IGNORECASE)
LEAST_WORDS = 4
"""Words below which a question says too little to be answered by somebody who was not asked."""


def is_of_the_moment(text: str) -> bool:
    """Return True if a post has words of what is so just now, or was so lately, and not with its author."""
    said = _prose(ruled(text))
    return _MOMENT.search(said if _COUNTS.search(said) else _OWN_MOMENT.sub(" ", said)) is not None


def asks_default(text: str) -> bool:
    """Return True if what something is where nobody set it is asked for."""
    return _DEFAULT.search(_prose(ruled(text))) is not None


def versus(text: str) -> tuple[str, str] | None:
    """Return the two things that a question asks the difference of; None where it asks for none."""
    found = _VERSUS.search(_FENCE.sub("\n", ruled(text)))
    if found is None:
        return None
    one, other = (said for said in found.groups() if said is not None)
    return one, other


def asks_price(text: str, pages: Iterable[str]) -> bool:
    """Return True if a price is asked for, and none of these pages tells one."""
    return _PRICE.search(_prose(ruled(text))) is not None and not any(map(_MONEY.search, pages))


_ASIDES = words_of("core.query")["asides"]
_FILLER = frozenset(_ASIDES["filler"].split())
_PLAN_WORDS = frozenset(_ASIDES["plan"].split()) | _FILLER
_PLAN = re.compile("|".join(_ASIDES["plans"]))
_PHRASE = re.compile("|".join(_ASIDES["phrases"]))
_CLAUSES = re.compile(r"[,.;:!…()¡\n]+|\s[-–—]+\s")
_SMILEY = re.compile(r":[\w+-]+:|[:;=]-?[)D(P]|[\U0001f000-\U0001faff☀-➿\ufe0f\u200d]|¯\S*")
_SHORTENED = [(re.compile(pattern), whole) for pattern, whole in _ASIDES["shortened"]]
_OF_CODE = re.compile(r"[`<>=_{}\[\]\\/@#$|*?¿]")
_WILL_DO = re.compile(r"^\s*will (?!(?:i|we|you|he|she|it|that|this|these|they|the|there|my|a)\b)")
"""What begins like a question and tells a plan: "will try tomorrow"."""
LONGEST_ASIDE = 25
"""Words of what asks nothing, at most: who says more tells something."""


def is_aside(text: str) -> bool:
    """Return True if what somebody says in a thread asks nothing: what they are going to do, or think of it.

    Each clause has to be known, so that a detail or a symptom ("with blueprints", "still 404") asks.
    """
    plain = _SMILEY.sub(" ", ruled(text)).casefold().replace("’", "'")
    asks = looks_like_question(_WILL_DO.sub("", plain))
    if asks or _OF_CODE.search(plain) or len(plain.split()) > LONGEST_ASIDE:
        return False
    plain = "".join(c for c in unicodedata.normalize("NFKD", plain) if not unicodedata.combining(c))
    for shortened, whole in _SHORTENED:
        plain = shortened.sub(whole, plain)
    clauses = [clause.replace("'", " ").replace("-", " ").split() for clause in _CLAUSES.split(plain)]
    return any(clauses) and all(_asks_nothing(words) for words in clauses if words)


def _asks_nothing(words: list[str]) -> bool:
    """Return True if a clause has nothing but filler, is a plan, or a known phrase with filler around it."""
    whole, bare = " ".join(words), " ".join(_bare(_bare(words)))
    if not bare or _PHRASE.fullmatch(whole) or _PHRASE.fullmatch(bare):
        return True
    plans = _PLAN.search(whole) or _PLAN.search(bare)
    return bool(plans) and all(word in _PLAN_WORDS or word.isdigit() for word in words)


def _bare(words: list[str]) -> list[str]:
    """Return words without the filler before them, in the opposite order."""
    return list(dropwhile(_FILLER.__contains__, words))[::-1]


def asks_for_help(text: str) -> bool:
    """Return True if any sentence of a post asks what a manual could say; code, links and quotes aside."""
    asked = _asked(_prose(ruled(text)))
    return any(_is_for_help(sentence) for sentence in asked)


def _prose(text: str) -> str:
    """Return what somebody says in a post: without code blocks, quoted lines, quoted questions and links."""
    text = _QUOTED_LINE.sub("\n", _FENCE.sub("\n", text))
    text = _URL.sub("\n", "\n".join("" if _is_code(line) else line for line in text.split("\n")))
    return _QUOTED.sub(" ", text.replace("’", "'")).strip()


def _is_code(line: str) -> bool:
    """Return True if a line looks like code: it opens or ends like it, or only calls something."""
    plain = line.strip()
    opens = plain.startswith(("{", "[", "<")) or plain.endswith(("{", "}", ";"))
    return opens or any(called[1] is not None for called in _CALL.finditer(line))


def _asked(prose: str) -> list[str]:
    """Return the sentences that ask; one that its own author answers does not."""
    found: list[str] = []
    for line in _LINE_END.split(prose):
        parts = [part for whole in sentences(line) for part in _AFTER_MARK.split(whole)]
        for place, part in enumerate(parts):
            if place + 1 < len(parts) and _ANSWERED.match(parts[place + 1]):
                continue
            plain = _OPENERS.sub("", part.strip())
            has_mark = bool(_MARK.search(part))
            if has_mark or _ASKING.match(plain) or _INDIRECT.match(plain):
                found.append(plain)
    return found


def _is_for_help(sentence: str) -> bool:
    """Return True if a sentence that asks is meant for those who know, not for people about themselves."""
    if _ASKS_NOBODY.search(sentence) or _OPINION.search(sentence) or _ANNOUNCES.match(sentence):
        return False
    about = _INDIRECT.sub("", sentence, count=1)
    if len(re.findall(r"\w+", _INLINE.sub(" code ", about))) < LEAST_WORDS:
        return False
    return not _TO_PEOPLE.search(_GENERIC_YOU.sub(" ", about))
