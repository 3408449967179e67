"""Derive the forms of a query: without stop words or release, as memory compares it, with the glossary."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from core.domain import Product
from core.query.releases.mentions import Mention, mentions
from core.query.releases.spellings import spellings
from core.text.markup import FENCED
from core.text.words import COMMON_WORDS, STOP_WORDS, words
from core.vocabulary import words_of

_WORDS = words_of("core.query")["spellings"]
_NEWEST, _RELEASE = frozenset(" ".join(_WORDS["latest"]).split()), frozenset(_WORDS["nouns"].split())
_FRAME = _NEWEST | _RELEASE | frozenset(_WORDS["frame"].split())
"""Words that say nothing else than that the newest release is asked for."""
_EMPTY = STOP_WORDS | COMMON_WORDS
_ADDRESS = re.compile(
    r"\b(?:https?|ftp|wss?)://[^\s<>'\"`]+|(?<![\w.-])(?:(?!example\.)[\w-]++\.)*+example\.(?:com|net|org)\b"
    r"|\bFile \"[^\"\n]+\", line \d+",
    re.IGNORECASE,
)
_NO_ATTRIBUTE = re.compile(
    r"(?:\bAttributeError:\s{0,4})?(?:\b(?:type object|module)\s)?['\"‘](?P<owner>\w+)['\"’]"
    r"(?:\sobject)?\shas no attribute\s['\"‘](?P<name>\w+)['\"’]"
)
_IN_MEMORY = re.compile(r"<(?P<name>[\w.]{1,100})(?: object)? at 0x[0-9a-f]{1,16}>", re.IGNORECASE)
_EXPLAINED = 4
"""Words about its subject from which on a question explains the code that it shows; ours."""
_GREETING = re.compile(
    r"\s*+(?:(?:hi|hello|hey|hiya|howdy|greetings|good (?:morning|afternoon|evening|day)"
    r"|dear)\b(?:\s+(?:all|there|everyone|everybody|folks|guys|team|friends|y'all|threadlore|bot))?"
    r"|(?:quick|short|dumb|stupid|newbie|noob|basic)\s+question"
    r"|(?:sorry|thanks|thank you|please)(?=\s*[,.!]))[\s,.!:;–-]*",
    re.IGNORECASE,
)
_CLOSING = re.compile(
    r"(?<![\s,.;!])[\s,.;!]*"
    r"\b(?:thanks|thank you|thx|ty|cheers|please|pls|plz|tia|thanks in advance|many thanks"
    r"|any (?:help|idea|ideas|hints?)(?:\s++(?:(?:is|would be)\s*+)?(?:appreciated|welcome))?)"
    r"(?:\s++(?:a lot|so much|in advance|all|everyone))?\s*+(?P<end>[?.!:)]*+)\s*+$",
    re.IGNORECASE,
)
_STRESSED = re.compile(r"(?i)\b(?P<word>wh\w{1,4}|how)\s(?:on earth|in the world|the (?:hell|heck|fuck))\b")
_USES = re.compile(
    r"\b(?:(?:i|we)(?:['’]?m|['’]re|\s+am|\s+are)?|i['’]m|we['’]re)\s+(?:(?:still|currently|now|all|on"
    r"|use|using|run|running|have|stuck|with|at|version|release)\s+)*$",
    re.IGNORECASE,
)
_PREPOSED = re.compile(
    r"(?:\b(?:in|on|with|using|for|of|under|from|to|at|within|about)\s++)?(?:the\s++|our\s++)?"
    r"(?:version\s++|release\s++|v)?$",
    re.IGNORECASE,
)
_LONGEST_LEAD = 100
"""Characters before a release that may belong to it: a preposition, an article and the word "version"."""
_SIGNS = r"\s,(\[@=<>~:-"
_JOINED = rf"[{_SIGNS}]*+(?:(?:version|release|is|docs)\s++){{0,6}}$"
_JOINT = re.compile(rf"(?<![{_SIGNS}]){_JOINED}", re.IGNORECASE)
_AFTER_USE = re.compile(r"^\s*+(?:[,.;:!-]++|here\b)*+\s*+(?:(?:and|but|so)\b\s*+)?")


class _Named(NamedTuple):
    """Where a product is named beside what is asked: "in Flask", "Flask: …", "my Flask app", "Flask 2.3"."""

    preposed: re.Pattern[str]
    headed: re.Pattern[str]
    determined: re.Pattern[str]
    follows: re.Pattern[str]
    leads: re.Pattern[str]


@lru_cache(maxsize=16)
def named(name: str) -> _Named:
    """Prepare the patterns of a product; `name` is the pattern of its names."""
    patterns = (
        rf"(?<!\s)\s*+\b(?:in|with|using|for|of|on|within)\s++(?:{name})(?!\s+[\w-])",
        rf"^\s*+[\[(]?(?:{name})[\])]?\s*+[:,-]\s*+",
        rf"\b(?P<det>my|a|an|the|our|your|in|with)\s++(?:{name})\s++(?=[a-z])",
        rf"^[\])]?\s*+(?:(?:version|release|docs)\b|(?:{name}))?",
        rf"\b(?:in|on|with|using|for|of|under|from|to|at|within|about|since)\s++(?:the\s++|our\s++)?(?:{name})?"
        rf"{_JOINED}",
    )
    return _Named(*(re.compile(pattern, re.IGNORECASE) for pattern in patterns))


def without(text: str, found: Sequence[Mention]) -> str:
    """Cut mentions of releases out, with the preposition before them."""
    kept: list[str] = []
    last = 0
    for mention in sorted(found, key=lambda m: m.start):
        from_ = max(last, mention.start - _LONGEST_LEAD)
        lead = _PREPOSED.search(text, from_, mention.start)
        kept.append(text[last : lead.start() if lead else mention.start])
        last = mention.end
    first, *others = [*kept, text[last:]]
    return _tidy(" ".join([first.rstrip(), *map(str.strip, others[:-1]), *others[-1:]]))


def without_product(text: str, product: Product) -> str:
    """Blank the product's names."""
    return spellings(product).product.sub(" ", text)


def asks_newest(text: str, product: Product) -> bool:
    """Return True if nothing but the newest release is asked for: "what is the latest version?"."""
    found = mentions(text, product)
    rest = content(without_product(without(text, found), product))
    said = {*rest, *(word for mention in found for word in words(mention.spelled))}
    names_one = bool(found) or not said.isdisjoint(_RELEASE)
    return names_one and not said.isdisjoint(_NEWEST) and _FRAME.issuperset(rest)


def without_addresses(text: str) -> str:
    """Take out the addresses, example hosts and places in files that come with what somebody pasted."""
    return _ADDRESS.sub(" ", text)


def names_in_errors(text: str) -> str:
    """Return a text in which what Python says of a missing attribute is only its names."""
    return _NO_ATTRIBUTE.sub(r"\g<owner> \g<name>", text)


def _tidy(text: str) -> str:
    text = re.sub(r"\(\s*\)|\[\s*\]|[=~<>!]=(?=\s|$)", " ", text)
    text = re.sub(r"(?<!\s)\s+([?!,;]|[.:](?!\w))", r"\1", text)  # not of `.py`
    text = re.sub(r"\s{2,}", " ", text).rstrip(" ,;:-–")
    return re.sub(r"^(?:[\s,;:–]|-{1,3}(?!\S))+", "", text)  # `--reload` keeps its hyphens


def filtered(text: str) -> str:
    """Return a text's words without stop words and common ones, as they were written.

    Of what is asked about code, only the prose; of an object that is shown, only its name.
    """
    text = names_in_errors(_IN_MEMORY.sub(r"\g<name>", _STRESSED.sub(r"\g<word>", text)))
    prose = FENCED.sub(" ", text)
    text = prose if len(content(prose)) >= _EXPLAINED else text
    kept = [w.strip("`*\"'()[]{},;:!?") for w in re.split(r"\s+", text)]
    kept = [w.rstrip(".") for w in kept]
    quiet = not text.isupper()  # GET is a word of its own unless everything is shouted
    return " ".join(
        w for w in kept if w and ((quiet and w.isupper() and len(w) > 1) or not says_nothing(w.lower()))
    )


def says_nothing(word: str) -> bool:
    """Return True if a lower-case word says nothing about the subject."""
    return word.replace("’", "'") in _EMPTY or re.split("['’]", word)[0] in STOP_WORDS


def topic(base: str, product: Product, found: Sequence[Mention] | None = None) -> str:
    """Return a question without greeting, release and product name, still a sentence.

    Memory compares this form. Releases that are compared stay, for they are what is asked; the
    product's name stays where the sentence needs it ("install Flask").
    """
    found = mentions(base, product) if found is None else found
    known = named(spellings(product).product.pattern)
    out = base
    if len(found) == 1:
        out = _without_one(out, found[0], product)
    begin = 0
    while greeting := _GREETING.match(out, begin):
        begin = greeting.end()
    out = out[begin:]
    out = _CLOSING.sub(lambda m: "" if out[: m.start()].endswith(("?", "!", ".")) else m["end"], out)
    if len(found) < 2:
        out = known.headed.sub("", known.preposed.sub("", out))
        out = known.determined.sub(r"\g<det> ", out)
    out = _tidy(out)
    if len(content(out)) < 1:
        return base
    return out if out[:1] == base[:1] or not base[:1].isupper() else out[:1].upper() + out[1:]


def _without_one(text: str, mention: Mention, product: Product) -> str:
    """Cut the one release a question names, with what belongs to it; a subject becomes the product's name."""
    known = named(spellings(product).product.pattern)
    before = text[: mention.start]
    after = known.follows.sub("", text[mention.end :])
    if uses := _USES.search(before):
        after = _AFTER_USE.sub("", after)
        return _tidy(f"{before[: uses.start()]} {after}")
    if re.search(r"\b(?:does|is|did|will|can|has|do|was|should|would|could)\s+$", before, re.IGNORECASE):
        return _tidy(f"{before}{product.name} {after.lstrip()}")
    preposed = known.leads.sub("", before)
    if preposed == before:
        preposed = _JOINT.sub("", before)
    return _tidy(f"{preposed.rstrip()} {after.lstrip()}")


def content(text: str) -> list[str]:
    """Return the words of a text that say something about its subject, in lower case."""
    return [w for w in words(text) if not says_nothing(w) and (w[0].isalnum() or w[0] in "_-@")]


_DEFINED = re.compile(r"(?<![\w-])((?:[A-Za-z][\w-]*+\s++){1,7})\(([A-Z][A-Za-z0-9]{0,20}[A-Z0-9])(s?)\)")
_AFTER = re.compile(r"\b([A-Z][A-Z0-9]{1,7})\s+\(((?:[A-Za-z][\w-]*\s+){0,6}[A-Za-z][\w-]*)\)")
_STANDS = re.compile(
    r"\b([A-Z][A-Z0-9]{1,7}),?\s+(?:which\s+)?(?:stands\s+for|is\s+short\s+for|short\s+for)\s+"
    r"[\"“']?((?:[A-Za-z][\w-]*\s+){0,7}[A-Za-z][\w-]*)"
)
_MARKS = re.compile(r"[*`_]{1,3}(?=\w)|(?<=\w)[*`]{1,3}")
_LINK = re.compile(r"\[([^\]]{1,300}+)\]\([^)]{0,1000}+\)")
_SMALL = frozenset(["a", "an", "and", "for", "in", "of", "on", "the", "to", "with"])


@lru_cache(maxsize=4096)
def _pattern(term: str) -> re.Pattern[str]:
    # a short acronym in capitals is not the same word in small letters: PM, pm; IT, it
    flags = 0 if term.isupper() and len(term) <= 3 else re.IGNORECASE
    spaced = r"[\s-]+".join(map(re.escape, term.split()))
    return re.compile(rf"(?<![\w.]){spaced}(?:s|es)?(?!\w)", flags)


def expansions(text: str, glossary: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """Return what the glossary adds to a query: meanings of its terms, and terms of its meanings."""
    added: list[str] = []
    for spelled in ((term, *meanings) for term, meanings in glossary.items()):
        present = [word for word in spelled if _pattern(word).search(text)]
        if present:
            added += [word for word in spelled if word not in present]
    return tuple(dict.fromkeys(added))


@dataclass(frozen=True, slots=True)
class Proposal:
    """An acronym as texts define it: its meaning, how often it says so, and on which pages, in order."""

    acronym: str
    meaning: str
    count: int
    pages: tuple[str, ...]


def propose(texts: Iterable[tuple[str, str]]) -> tuple[Proposal, ...]:
    """Find acronyms that pages define, "Performance Monitoring (PM)" or "PM (performance monitoring)".

    `texts` are (Markdown, page) pairs. Returns them by acronym, the most frequent meaning first; for a
    person to review.
    """
    found: dict[tuple[str, str], list[str]] = {}
    for text, page in texts:
        for acronym, meaning in _definitions(_MARKS.sub("", _LINK.sub(r"\1", text))):
            found.setdefault((acronym, meaning), []).append(page)
    proposals = [
        Proposal(acronym, meaning, len(pages), tuple(dict.fromkeys(pages)))
        for (acronym, meaning), pages in found.items()
    ]
    return tuple(sorted(proposals, key=lambda p: (p.acronym, -p.count, p.meaning)))


def _definitions(text: str) -> Iterator[tuple[str, str]]:
    for match in _DEFINED.finditer(text):
        meaning = _long_form(match[1].split(), match[2])
        if meaning:
            yield match[2], (_singular(meaning) if match[3] else meaning).lower()
    for pattern in (_AFTER, _STANDS):
        for match in pattern.finditer(text):
            words = match[2].split()
            # what follows "stands for" runs on to the end of the sentence
            runs = [words] if pattern is _AFTER else [words[:n] for n in range(len(words), 0, -1)]
            if meaning := next((m for run in runs if (m := _long_form(run, match[1]))), ""):
                yield match[1], meaning.lower()


def _singular(text: str) -> str:
    return text[:-1] if text.endswith("s") and not text.endswith("ss") else text


def toml(proposals: Sequence[Proposal], known: Mapping[str, Sequence[str]]) -> str:
    """Write proposals as the `[acronyms]` of a glossary, each under the pages that it comes from.

    What the glossary has already is left out; two meanings of one acronym make a list.
    """
    new: dict[str, list[Proposal]] = {}
    for proposal in proposals:
        if proposal.meaning not in [meaning.lower() for meaning in known.get(proposal.acronym, ())]:
            new.setdefault(proposal.acronym, []).append(proposal)
    lines = ["[acronyms]"]
    for acronym, some in new.items():
        for proposal in some:
            more = f" and {len(proposal.pages) - 1} more" if len(proposal.pages) > 1 else ""
            lines.append(f"# {proposal.meaning}: {proposal.pages[0]}{more}")
        told = ", ".join(f'"{proposal.meaning}"' for proposal in some)
        lines.append(f"{acronym} = {told if len(some) == 1 else f'[{told}]'}")
    return "\n".join(lines) if new else ""


def _long_form(words: Sequence[str], acronym: str) -> str:
    """Return the shortest run of last words that spell the acronym, "" where none does."""
    runs = (words[start:] for start in range(len(words) - 1, -1, -1))
    found = (run for run in runs if run[0].lower() not in _SMALL and _spells(_pieces(run), acronym.lower()))
    return " ".join(next(found, []))


def _pieces(words: Sequence[str]) -> tuple[str, ...]:
    return tuple(piece.lower() for word in words for piece in word.split("-") if piece)


@lru_cache(maxsize=4096)
def _spells(words: tuple[str, ...], letters: str) -> bool:
    """Return True if letters are those of the words in order, with the first of each word.

    Small words may give none, and a word may give further letters of its own ("hypertext": HT).
    """
    if not words or not letters:
        return not words and not letters
    word, rest = words[0], words[1:]
    if word in _SMALL and _spells(rest, letters):
        return True
    crossed = letters[0] == "x" and (word == "cross" or word.startswith("ex"))
    if word[0] != letters[0] and not crossed:
        return False
    given, at = 1, 1
    while True:
        if _spells(rest, letters[given:]):
            return True
        at = word.find(letters[given], at) + 1 if given < len(letters) else 0
        if not at:
            return False
        given += 1
