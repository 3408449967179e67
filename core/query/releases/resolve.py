"""Find the release that a question is about, and tell one about what a release brings (QAMR; by rule).

First that applies: given by the caller, named in the question, named earlier in the thread, the
channel's own, the latest.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from core.domain import Dated, News, Product, Question, Resolution, Span, begins
from core.query.forms import content, without, without_product
from core.query.releases.mentions import Mention, mentions
from core.query.releases.spellings import NUMBER, plain, spellings
from core.vocabulary import word_list
from core.vocabulary.changes import kind_of

_COMPARES = re.compile(
    r"\b(?:differ\w*|compar\w+|versus|vs|same|alike|both|either|neither|unlike|faster|slower|better"
    r"|(?:any|what|which|list|all)\s+(?:\w+\s+){0,3}?(?:is\s+|are\s+|was\s+|were\s+|has\s+|have\s+)?"
    r"(?:been\s+)?(?:chang\w+|new|newly|added|remov\w+|gone|dropped|deprecat\w+|break|breaks|broke"
    r"|incompatib\w+)"
    r"|new\s+since|incompatibilit\w+|between|have\s+to\s+change|must\s+(?:i|we)\s+change|that\s+\w+\s+cannot"
    r"|behaves?\s+like|migration|upgrad\w+\s+(?:steps|guide))\b",
    re.IGNORECASE,
)
"""What asks for the difference of releases."""
_SYMPTOM = re.compile(
    r"\b(?:no longer|any ?more|stopped|broke|broken|fail(?:s|ed|ing|ure)?|errors?|exceptions?|raises?"
    r"|crash\w*|ignored|gone|missing|returns?|says|complains?|is down|i get|we get|i see|we see"
    r"|(?:does|do|is|are|did|can|could|was|were)(?:n['’]?t|\s+not)|cannot)\b",
    re.IGNORECASE,
)
_MOVED = re.compile(
    r"\b(?:went|moved|upgraded|updated|switched|migrated|jumped|bumped|came|changed|rolled|downgraded)\b",
    re.IGNORECASE,
)
_MOVES = re.compile(
    r"\b(?:going|moving|upgrad(?:e|ing)|updat(?:e|ing)|switch(?:ing)?|migrat(?:e|ing|ion)|jump(?:ing)?|bump(?:ing)?"
    r"|downgrad(?:e|ing))\b",
    re.IGNORECASE,
)
_AFTER = re.compile(
    r"\b(?:after|since|when|while|upon)\s+(?:\w+\s+){0,2}(?:upgrad|updat|mov|switch|migrat|jump|bump|go)\w*\s+from\s+$",
    re.IGNORECASE,
)
_BEFORE = re.compile(r"\b(?:before|prior\s+to)\s+(?:\w+\s+)?$", re.IGNORECASE)
_TO = re.compile(r"\s*(?:(?:back\s+|up\s+|over\s+)?to|(?:we|i)\s+\w+\s+to)\s+(?:the\s+)?", re.IGNORECASE)
_WORKED = re.compile(
    r"\b(?:worked|used\s+to|there\s+(?:was|were)|(?:was|were)\s+(?:\w+\s+)?(?:fine|ok|okay|good|possible)"
    r"|ran|had|(?:i|we)\s+(?:used|needed)|did(?:n['’]?t|\s+not)\s+(?:show|have|raise|fail|complain|do|need))\b",
    re.IGNORECASE,
)
"""What tells of a release in which all was well, so that it is another one that is asked about."""
_CLAUSE = re.compile(
    r"[.;!?:](?=\s|$)|,\s|\n|\s[-–—]+\s|\s(?:but|so|yet|while|whereas|although|though|that)\s", re.IGNORECASE
)
_ASKS = re.compile(
    r"\W*(?:(?:and|but|or|so|now)\s+)?(?:how|what|why|which|where|when|who|is|are|do|does|did|can|could|should"
    r"|would|will|has|have)\b",
    re.IGNORECASE,
)

Origin = Literal["given", "question", "thread", "channel", "latest"]


def lookup(spelled: str, product: Product) -> str:
    """Return the name of the release that a spelling stands for, or "" where there is none."""
    text = spelled.strip()
    if not product.releases or product.release(text):
        return text if product.releases else ""
    known = spellings(product)
    text = known.product.sub("", known.glued.sub("", text)).strip(" :-@=~><")
    if plain(text) in known.literals:
        return known.literals[plain(text)]
    if text.lower() in known.words:
        return known.words[text.lower()]
    if match := NUMBER.fullmatch(text):
        return known.numbered(match["number"])
    if match := known.relative.fullmatch(text):
        return known.relation(match[0], product.latest.name, product.latest.name)
    return ""


def resolve(question: Question, product: Product, default_release: str = "") -> Resolution:
    """Return the release a question is about, every release it names, and what it names in vain.

    `default_release` is the channel's. The release is always a known one (empty only where the
    product has none); a caller refuses to answer where `unknown` is not empty. Of several releases
    it is the one the asker uses, else the newest.
    """
    if not product.releases:
        return Resolution("", "latest")
    fallback, origin = _fallback(question, product, default_release)
    found = mentions(question.text, product, fallback)
    spans = tuple((m.start, m.end) for m in found)
    named, unknown = _named(_meant(question.text, found), product, bool(_COMPARES.search(question.text)))
    if question.release:
        given = lookup(question.release, product)
        missing = () if given else (question.release,)
        return Resolution(given or fallback, "given", named, missing, spans, len(named) > 1)
    comparison = len(named) + len(unknown) > 1
    if not named:
        return Resolution(fallback, origin, (), unknown, spans, comparison)
    return Resolution(_chosen(found, named, product), "question", named, unknown, spans, comparison)


def _meant(text: str, found: tuple[Mention, ...]) -> tuple[Mention, ...]:
    """Leave out the releases that a question only tells of; all are meant where it asks for a difference."""
    if len({m.release for m in found}) > 1 and _COMPARES.search(text):
        return found
    found = tuple(replace(m, bound="") if m.bound == "until" and _is_told(text, m) else m for m in found)
    told = [m for m in found if _is_left(text, m, found) or _is_past(text, m)]
    rest = tuple(m for m in found if m not in told)
    if len({m.release for m in rest}) < 2:
        return rest
    asked = tuple(m for m in rest if _ASKS.match(_clause(text, m)))
    if len({m.release for m in asked}) == 1:
        return asked
    return tuple(m for m in rest if m.own) or rest


def _is_left(text: str, mention: Mention, found: tuple[Mention, ...]) -> bool:
    """Return True if somebody moved on from a release: "went from 2.0 to 3.1 and …"."""
    following = next((m for m in found if m.start >= mention.end), None)
    if following is None or not _TO.fullmatch(text[mention.end : following.start]):
        return False
    before = text[: mention.start]
    is_told = _MOVED.search(text) or _AFTER.search(before)
    return bool(is_told or (_MOVES.search(before) and _SYMPTOM.search(text)))


def _is_past(text: str, mention: Mention) -> bool:
    """Return True if all was well in a release: "in 2.0 it worked"; "before 3.1 it worked" tells of 3.1."""
    return not _BEFORE.search(text, 0, mention.start) and _is_told(text, mention)


def _is_told(text: str, mention: Mention) -> bool:
    """Return True if somebody tells how it was in a release."""
    clause = _clause(text, mention)
    return bool(_WORKED.search(clause)) and not _ASKS.match(clause)


def _clause(text: str, mention: Mention) -> str:
    """Return the part of a sentence that a release stands in."""
    begin = max((m.end() for m in _CLAUSE.finditer(text, 0, mention.start)), default=0)
    end = next((m.start() for m in _CLAUSE.finditer(text, mention.end)), len(text))
    return text[begin:end]


def _named(
    found: tuple[Mention, ...], product: Product, compares: bool = True
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    meant = [m for m in found if not m.denied] or list(found)
    named = list(dict.fromkeys(m.release for m in meant if m.release))
    unknown = tuple(dict.fromkeys(re.sub(r"^\w+\s+(?=\d)", "", m.spelled) for m in meant if not m.release))
    if len(named) == 1 and not unknown:
        # an open range ends at the latest release, or begins before the one it excludes
        bound = next((m.bound for m in meant if m.bound and (compares or not m.moment)), "")
        other = {"from": product.latest.name, "until": spellings(product).neighbour(named[0], -1)}.get(
            bound, ""
        )
        if other and other != named[0]:
            named.append(other)
    return tuple(named), unknown


def _chosen(found: tuple[Mention, ...], named: tuple[str, ...], product: Product) -> str:
    own = next((m.release for m in found if m.own and m.release in named), "")
    return own or spellings(product).newest(set(named))


def _fallback(question: Question, product: Product, default_release: str) -> tuple[str, Origin]:
    for turn in reversed(question.history):
        if turn.release and (release := lookup(turn.release, product)):
            return release, "thread"
        if turn.role == "user":
            found = mentions(turn.text, product)
            named, _ = _named(found, product)
            if named:
                return _chosen(found, named, product), "thread"
    if default_release and (release := lookup(default_release, product)):
        return release, "channel"
    return product.latest.name, "latest"


Numbers = tuple[int, ...]

_NEWS = re.compile(
    r"\bnew\b|\bnews\b|\bnovelt|\bchang(?:e|es|ed|ing)\b|\bchange-?logs?\b|\brelease[\s-]+notes?\b|\bdiffer"
    r"|\badd(?:s|ed|itions?)\b|\bremov(?:e|es|ed|al|als)\b|\bdeprecat|\bdropp?(?:s|ed)\b|\bfix(?:es|ed)\b|\bbugfix"
    r"|\bbreak(?:s|ing)?\b|\bwhat\s+(?:broke|happened)\b|\bdisappear|\bincompatib|\bfeatures?\b|\bimprove[ds]?\b|\bimprovements?\b|\bintroduce[ds]?\b"
    r"|\bbr(?:ings?|ought)\b|\bhighlights?\b",
    re.IGNORECASE,
)
_NOTES = re.compile(r"\bchange-?logs?\b|\brelease[\s-]+notes?\b", re.IGNORECASE)
_OTHER = re.compile(
    r"\b(?:when\s+(?:is|are|was|were|did|does|will)"
    r"|why|where|who|should|(?:can|could|may)\s+(?:i|we)"
    r"|(?:is|are)\s+there\s+(?:a|any)\s+new(?:er)?\s+(?:versions?|releases?))\b",
    re.IGNORECASE,
)
"""Questions with such words ask for something else, unless they name the notes."""
_HOW = re.compile(r"\bhow\s+(?:do|can|to|should|would|could)\b", re.IGNORECASE)
"""The same, unless something about a difference follows: "how does it differ"."""
_DIFFERS = re.compile(r"\bdiffer", re.IGNORECASE)
_OF_ITSELF = re.compile(r"^\W*(?:is|are|was|were)\s+(?:the\s+)?(?:version\s+|release\s+)?$", re.IGNORECASE)
"""What stands before a release that is asked about itself: "is 2.0 deprecated?"."""
_POSSESSIVE = re.compile(r"(?<!\w)['’]s\b")
_RANGE = re.compile(
    r"\b(?:between|from|since|vs|versus|compar\w+|differ\w*|to|until|till|through|upgrad\w+|updat\w+|migrat\w+"
    r"|mov(?:e|ing)|than|over)\b|[→⇒–—]|[-=]>|\d\s*-\s*v?\d",
    re.IGNORECASE,
)
_FRAME = frozenset(
    word_list(
        """new news newly novelty novelties change changes changed changing changelog changelogs change-log
        release releases released notes note version versions difference differences different
        differ differs added add adds addition additions removed remove removes removal removals
        deprecated deprecate deprecates deprecation deprecations dropped drop drops fixed fix fixes
        bugfix bugfixes bug bugs breaking break breaks broke broken incompatible incompatibility
        incompatibilities backward backwards backwards-incompatible feature features functionality
        functionalities improved improve improves improvement improvements introduced introduce
        introduces bring brings brought highlight highlights since anything everything nothing list
        summary summarise summarize summarised overview main major minor important notable big
        biggest key interesting cool come comes came happen happened happens mean meant give given
        show compared compare comparison versus vs update updates updated updating upgrade upgrades
        upgrading upgraded migrate migrating migration move moving go going gone api apis function
        functions functionally across within full complete entire recent recently latest newest last
        current stable software product quick quickly short briefly brief exactly included include
        includes worth knowing know ship ships shipped got gotten announcement announced -> deleted
        delete patch patches disappear disappears disappeared expect folks guys team friends find read"""
    )
)
"""Words that say nothing else than that notes are asked for."""

_WHEN = re.compile(
    r"^\W*(?:(?:since|in|with|from)\s+)?(?:when\s+(?:was|were|is|are|did|does)\b"
    r"|(?:which|what)\s+(?:versions?|releases?)\s+(?:\w+\s+)?\w+)",
    re.IGNORECASE,
)
_SINCE = re.compile(r"^\W*since\s+(?:when|which|what)\b", re.IGNORECASE)
_CAME = re.compile(
    r"\b(?:add(?:s|ed)?|introduc\w+|remov\w+|delet\w+|dropp?(?:s|ed)?|deprecat\w+)\b", re.IGNORECASE
)
_NAMED = frozenset(
    word_list(
        "available parameter parameters argument arguments option options config setting settings support get"
    )
)
"""Words that say of what kind the subject is."""
_SHORT = 14
"""Words of a question for a version at most; a longer one tells a story."""


def news(base: str, question: Question, product: Product, resolution: Resolution) -> News | None:
    """Return which release notes a question asks for; None where it asks for something else, too.

    `base` is the question as it stands alone. Without a release in it, it must name the product or its
    changelog, or follow a question of this kind.
    """
    found = mentions(base, product, resolution.release)
    if not _asks(base, found, product):
        return None
    if not found:
        known = resolution.origin == "given" or _NOTES.search(base) or spellings(product).product.search(base)
        if not (known or _follows(question, product)):
            return None
        own = _numbers_of(resolution.release, product)
        return News((Span(resolution.release, own),), kind_of(base)) if own else None
    spans = _spans(base, found, product, resolution)
    return News(spans, kind_of(base)) if spans else None


def dated(base: str, product: Product) -> Dated | None:
    """Return what a question asks the version of: "when was X added?"; None where it asks something else."""
    kind = kind_of(base) or ("added" if _SINCE.match(base) else "")
    came = _CAME.search(base) or _SINCE.match(base)
    if not came or not _WHEN.match(base) or len(base.split()) > _SHORT:
        return None
    subject = [word for word in content(without_product(base, product)) if word not in _FRAME | _NAMED]
    return Dated(kind, tuple(subject)) if subject else None


def is_whole(asked: News, product: Product) -> bool:
    """Return True if all notes of one release are asked for, so that its name says which."""
    first = asked.spans[0]
    return len(asked.spans) == 1 and not first.after and first.until == _numbers_of(first.release, product)


def _asks(text: str, found: Sequence[Mention], product: Product) -> bool:
    if not _NEWS.search(text) or (_asks_otherwise(text) and not _NOTES.search(text)):
        return False
    if found and _OF_ITSELF.match(without_product(text[: found[0].start], product)):
        return False
    rest = _POSSESSIVE.sub(" ", without_product(without(text, found), product))
    return all(word in _FRAME for word in content(rest))


def _asks_otherwise(text: str) -> bool:
    differs = max((found.end() for found in _DIFFERS.finditer(text)), default=0)
    return bool(_OTHER.search(text) or _HOW.search(text, differs))


def _follows(question: Question, product: Product) -> bool:
    """Return True if the question before was of this kind: "what was removed?" after "what's new in 3.1?"."""
    before = [turn.text for turn in question.history if turn.role == "user"][-1:]
    return any(_asks(text, mentions(text, product), product) for text in before)


def _spans(text: str, found: Sequence[Mention], product: Product, resolution: Resolution) -> tuple[Span, ...]:
    given = resolution.release if resolution.origin == "given" else ""
    if len(found) == 1 and found[0].release and not re.search(r"\d", found[0].spelled):
        # "the previous release" was counted from the thread's or the channel's
        own = _numbers_of(resolution.release, product)
        return (Span(resolution.release, own),) if own else ()
    ends = [(_numbers(mention, product), given or mention.release) for mention in found if not mention.denied]
    if not ends or not all(numbers for numbers, _ in ends) or any(m.bound == "until" for m in found):
        return ()
    ends = list(dict.fromkeys(ends))
    if len(ends) == 1 and found[0].bound == "from":
        latest = product.latest.name
        ends.append((_numbers_of(latest, product), given or latest))
    if len(ends) > 1 and (_RANGE.search(text) or found[0].bound == "from"):
        (after, _), *_between, (until, release) = sorted(ends)
        return (Span(release, until, after),) if until and until != after else ()
    return tuple(Span(release, numbers) for numbers, release in ends)


def _numbers(mention: Mention, product: Product) -> Numbers:
    """Return the version that a mention spells; that of its release where it has none of its own."""
    own = _numbers_of(mention.release, product)
    spelled = re.search(r"\d+(?:\.\d+)*", mention.spelled)
    if spelled is None:
        return own
    numbers = tuple(map(int, spelled[0].split(".")))
    # 17.20 may be how people write 17.2
    return numbers if not own or begins(numbers, own) or begins(own, numbers) else own


def _numbers_of(release: str, product: Product) -> Numbers:
    """Return the numbers in a release's name, or else in another name that it has; none in a code name's."""
    known = product.release(release)
    for name in (release, *(known.aliases if known else ())):
        if found := re.search(r"\d+(?:\.\d+)*", name):
            return tuple(map(int, found[0].split(".")))
    return ()
