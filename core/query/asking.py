"""Whether a post that nobody addressed to the bot asks for something that documentation could answer.

Many posts with a question mark do not: people ask each other ("who is going to the meetup?"), ask for
opinions, ask nobody ("who needs an ORM, right?"), announce ("Want to speak? Write to me."), or paste code.
Rules only, and rather a question missed than a word too much: what is missed can still be asked by a mention.
"""

from __future__ import annotations

import re

from core.text.words import ruled, sentences

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


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE)


_SOMEBODY = r"(?:(?:any|some)(?:one|body)|you(?: guys)?)"
_PEOPLE = r"(?:(?:any|some|every|no)(?:one|body)|no one)"
_INDIRECT = _any(
    rf"^(?:(?:does|do|would|could|can) )?{_SOMEBODY}(?: here| happen to)* (?:knows?|remember|tell me|explain|"
    r"show me|point me to|have an? (?:idea|hint|clue|example)|have any (?:idea|hint|clue|example)s?)\b",
    r"^(?:any|some) (?:idea|hint|clue|pointer|advice)s?\b(?: on| about)?",
    rf"^(?:can|could|would|will) {_SOMEBODY} (?:please |maybe |kindly )?(?:tell|explain|show|help|point)\b"
    r"(?: me| us)?(?: with| to| understand| figure out)*",
)
"""People are asked whether they know, and what is meant is the thing itself."""
_ASKING = _any(
    r"(?:how|what|why|where|when|which)'s",
    r"(?:how|what|why|where|when|which)\s(?:\S+\s){0,3}?(?:do|does|did|is|are|was|were|can|could|should|would|"
    r"will|has|have|to|must|might)\b",
    r"(?:how|what|why|where|when|which)\s(?:\w+\s){0,3}?(?:runs?|lets?|gets?|sets?|happens?|makes?|works?|"
    r"means?|causes|controls|decides)\b",
    r"(?:is|are|was|can|could|does|do|did|should|would|will|has|have|must|may)\s+\S+",
    r"(?:in|on|at|from|to|with|by|for)\s(?:which|what)\b",
)
"""How a question begins where no mark ends it: a question word and a verb, or a verb and its subject."""
_ANNOUNCES = _any(
    r"^(?:want|ready|interested|curious|need|questions?|thoughts|feedback|looking|tired|survey|poll|psa|fyi)\b",
    r"^(?:reminder|heads.?up|news?|new|announcement|i'?m hiring|we'?re hiring|meetup|workshop|remember)\b",
)
_TO_PEOPLE = _any(
    r"^(?:who|whose)\b",
    r"\bwho (?:else|here|maintains|wants|uses|is going|needs|knows|reads|would)\b",
    r"\b(?:do|did|have|are|were|would|will|can|could|may|should|shall|might) "
    r"(?:you|people|folks|we all|y'?all)\b",
    rf"\b(?:is|has|does|did|are|was|were|can|could|would|will|may) {_PEOPLE}\b",
    rf"^{_PEOPLE}\b",
    r"\b(?:what|how|which)(?:'s| is| are| was| were) (?:your|every(?:one|body))",
    r"\bwhat(?:'s| is) up\b",
    r"\bhow (?:are|was|were) (?:you|things|every|your|it going)",
    r"\bthis (?:channel|community|workspace|server|group|bot)\b",
    r"\bthe bot\b",
    r"\b(?:right|wrong|correct) (?:channel|place|room|forum)\b",
    r"\b(?:roadmap|next release|have i missed|give me a hand|my boss)\b",
    r"\bis it (?:lunch|time)\b",
    r"\b(?:my|our|the) (?:pull request|pr|homework|talk|resume|cv)\b",
    r"\b(?:are|should|shall|can|could|do|may) we\b"
    r"(?! (?:use|set|configure|call|have to|need to|still|access|get))",
    r"\b(?:may|shall) i\b",
)
_GENERIC_YOU = _any(
    r"\b(?:how|where|why|what|when) (?:do|can|would|could|should) you (?!all|guys|folks|think)"
)
_OPINION = _any(
    r"\b(?:favou?rite|recommend\w*|opinions?|thoughts|better than|salary|any benchmarks|versus|vs\.?)\b",
    r"\bworth (?:it|the|a|reading|learning)\b",
    r"\b(?:would you|you think|you (?:all )?(?:prefer|choose|like|use))\b",
    r"\b(?:cheapest|fastest|nicest|weirdest)\b",
    r"\bgood (?:books?|courses?|tutorials?|reads?)\b",
    r"\bfor a new project\b",
)
_ASKS_NOBODY = _any(
    r"^(?:(?:is|are|was|were|do|does|did|has|have|wo|ca|could|would|should)n'?t|ai n'?t|ain't)\b",
    r",\s*(?:right|huh|eh|no|isn't it|aren't they|don't you think|or what|amirite)\s*\?",
    r"\b(?:really|seriously|honestly|possibly|on earth|the hell|the heck|wtf|lol|oh why|these days)\b",
    r"\bhow (?:hard|difficult) can (?:it|that) be\b",
    r"\b(?:how many times|what could|why bother|would have thought|did i just|who knew|remember when)\b",
    r"\b(?:am i the only|is it just me|is there anything better|how is it possible|why does everything)\b",
    r"\bwhy (?:do i|does it) always\b",
    r"\b(?:ever live without|a single person)\b",
    r"\bwhat(?:'s| is) it with\b",
    r"\bhow (?:lovely|nice|great|cool|small)\b",
    r"\?!|!\?|😂|🤣|🙄",
)
_ANSWERED = re.compile(r"^(?:yes|yep|yeah|no|nope|nah|exactly|of course)\b", re.IGNORECASE)
LEAST_WORDS = 4
"""Words below which a question says too little to be answered by somebody who was not asked."""


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
