"""What the pages of a release state about named things, as a graph, and lists that are answered from it.

A thing is known by its name. One whose name is code of its own (`SECRET_KEY`, `--debug`, `a.b`) is the same
on every page of a release; a word that may mean several things (`read`) is told apart by its page.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from core.domain import ContextChunk
from core.generation.triplets import Triplet, by_rule, plain
from core.text.words import index_terms, query_terms

Form = Literal["depends", "needs", "concerns"]
"""What depends on a thing, what a thing depends on, or what concerns a subject."""
DEPENDS = "depends on"
PART = "is part of"
STATED = 160
"""Characters of what is said of a thing in a list."""
_CODE = re.compile(r"`([^`\n]{1,80})`")
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z`])|\n\n+|\n(?=[-*|] )")
_LEANS = re.compile(
    r"\b(?:uses?|using|requires?|needs?|depends? on|depending on|rel(?:y|ies) on|falls? back (?:on|to)"
    r"|inherits? from|controlled by|configured (?:by|with)|set (?:by|through)|reads?|value of|view of|same as"
    r"|default(?:s|ing)? to|implies|only (?:if|when|with)|unless|together with)\b",
    re.IGNORECASE,
)
_DATED = re.compile(r"(?:Changed|Added|New|Deprecated|Removed) in (?:version|release)", re.IGNORECASE)
_PLACE = re.compile(r"[(\[= ].*", re.DOTALL)
_OWN = re.compile(r"--?\w[\w-]*+|\w++(?:\.\w++)++|(?=\w+?_\w)\w++|[a-z]++[A-Z]\w*+|[A-Z][a-z]++[A-Z]\w*+")
_CALL = r"\((?:[^()]|\([^()]*+\))*+\)"
_KINDS: dict[str, re.Pattern[str] | None] = {
    "setting": re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*"),
    "variable": re.compile(r"(?<!\w)[A-Z][A-Z0-9]*+(?:_[A-Z0-9]++)++"),
    "option": re.compile(r"--?\w[\w-]*|[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*|[a-z][\w-]*"),
    "flag": re.compile(r"--?\w[\w-]*"),
    "function": re.compile(rf"(?<![\w.])[\w.]++{_CALL}"),
    "method": re.compile(rf"(?<![\w.])\w++(?:\.\w++)++{_CALL}"),
    "class": re.compile(r"(?<![\w.])(?:[\w.]+\.)?[A-Z][a-z]\w*+"),
    "command": None,
    "parameter": None,
    "thing": None,
}
_SAME = {
    "configuration": "setting",
    "config": "setting",
    "key": "setting",
    "value": "setting",
    "environment": "variable",
    "switch": "flag",
    "argument": "parameter",
}
_KIND = (
    r"(?P<kind>(?:(?:config(?:uration)?|environment|command[- ]line)\s+)?(?:settings?|options?|keys|values"
    r"|variables|flags|switches|functions|methods|classes|commands|parameters|arguments|things))"
)
_CONCERNS = re.compile(
    rf"\b(?:which|what)\s+(?:are\s+)?(?:all\s+)?(?:the\s+)?{_KIND}\s+(?:are\s+there\s+)?(?:that\s+|which\s+)?"
    r"(?:(?:concern|affect|control|configure|influence|regard|mention|govern)s?"
    r"|(?:relate|apply)s?\s+to|deals?\s+with|(?:have|has)\s+to\s+do\s+with"
    r"|(?:are|is)\s+(?:there\s+)?(?:about|for|related\s+to|relevant\s+(?:to|for))|about|for)\s+"
    r"(?:the\s+|a\s+|an\s+|my\s+)?(?P<subject>[^?]+)",
    re.IGNORECASE,
)
_LISTED = re.compile(
    rf"\blist\s+(?:me\s+)?(?:all\s+)?(?:the\s+)?{_KIND}\s+(?:that\s+concern|about|for|on)\s+"
    r"(?:the\s+|a\s+|an\s+)?(?P<subject>[^?.]+)",
    re.IGNORECASE,
)
_ON = re.compile(
    r"\bwhat(?:\s+else)?\s+(?:all\s+)?(?:depends?\s+on|relies\s+on|requires|needs|uses|is\s+affected\s+by)\s+"
    r"(?:the\s+)?(?P<subject>[^?]+)",
    re.IGNORECASE,
)
_IN_RELEASE = re.compile(
    r"(?<!\s)\s++(?:in|for|of|with)\s++[^\s\d]{0,20}\s?\d{1,4}(?:\.\d{1,4}){0,3}$", re.IGNORECASE
)
"""What names the release behind a subject: "in Flask 3.1"."""
_OF = re.compile(
    r"\bwhat\s{1,3}(?:does|do|is)\s{1,3}(?:the\s{1,3})?(?P<subject>.{1,80}?)\s{1,3}(?:depend\s{1,3}on|rely\s{1,3}on|require|need|depending\s{1,3}on)\b",
    re.IGNORECASE,
)


class Asked(NamedTuple):
    """What list is asked for: form, the subject as it was written, and what kind of thing ("" for any)."""

    form: Form
    subject: str
    kind: str = ""


class Stated(NamedTuple):
    """A triplet, and the page that states it."""

    triplet: Triplet
    page: ContextChunk


class Thing(NamedTuple):
    """An entity: its name, and the path of its page where the name alone does not tell it apart."""

    name: str
    path: str = ""


def asked(question: str, release: str = "") -> Asked | None:
    """Return the list that a question asks for; None where it asks for something else."""
    if found := _CONCERNS.search(question) or _LISTED.search(question):
        return Asked("concerns", _subject(found["subject"], release), _kind(found["kind"]))
    if found := _OF.search(question):
        return Asked("needs", _subject(found["subject"], release))
    if found := _ON.search(question):
        return Asked("depends", _subject(found["subject"], release))
    return None


def thing(name: str, page: ContextChunk) -> Thing:
    """Return what a name on a page means: the same everywhere in a release, or on this page alone."""
    bare = name.casefold().removesuffix("()").lstrip(".")
    return Thing(bare) if _OWN.fullmatch(name.removesuffix("()").lstrip(".")) else Thing(bare, page.path)


@dataclass
class KnowledgeGraph:
    """The triplets of a release by the things at their ends."""

    stated: list[Stated] = field(default_factory=list)
    of_head: dict[Thing, list[int]] = field(default_factory=lambda: defaultdict(list))
    of_tail: dict[Thing, list[int]] = field(default_factory=lambda: defaultdict(list))
    things: dict[str, set[Thing]] = field(default_factory=lambda: defaultdict(set))
    """Things by the last part of their name, so that `Flask.config` is found by `config`."""
    told_of: dict[Thing, tuple[Stated, Stated]] = field(default_factory=dict)
    """What is said of each thing that anything is said of: the first of it, and what tells most."""
    by_word: dict[str, dict[Thing, None]] = field(default_factory=lambda: defaultdict(dict))
    """These things by the words of their names and of what is said of them, in the order of the pages."""

    @classmethod
    def of(cls, pages: Iterable[ContextChunk]) -> KnowledgeGraph:
        """Read the pages of one release."""
        graph = cls()
        for page in pages:
            for triplet in stated_by(page):
                graph._add(Stated(triplet, page))
        graph._note_words()
        return graph

    def __len__(self) -> int:
        return len(self.stated)

    def lists(self, wanted: Asked) -> list[Stated]:
        """Return what the list asked for holds, each thing once, in the order of the pages."""
        if wanted.form == "concerns":
            return self._concerning(wanted)
        ends = self.of_tail if wanted.form == "depends" else self.of_head
        found = [
            self.stated[at]
            for one in self._named(wanted.subject)
            for at in ends.get(one, ())
            if self.stated[at].triplet.relation == DEPENDS
        ]
        shown = 0 if wanted.form == "depends" else 2
        once: dict[str, Stated] = {}
        for entry in found:
            if shown and thing(entry.triplet.tail, entry.page) not in self.of_head:
                continue  # nothing that the pages describe
            once.setdefault(entry.triplet[shown].casefold(), entry)
        return list(once.values())

    def linked(self, text: str) -> list[Triplet]:
        """Return what any page of the release states of two things that a text names both."""
        said = text.casefold()
        return list(
            dict.fromkeys(
                entry.triplet
                for one, places in self.of_head.items()
                if not one.path and one.name in said
                for entry in (self.stated[at] for at in places)
                if entry.triplet.relation == DEPENDS and entry.triplet.tail.casefold() in said
            )
        )

    def _add(self, entry: Stated) -> None:
        at = len(self.stated)
        self.stated.append(entry)
        head, tail = thing(entry.triplet.head, entry.page), thing(entry.triplet.tail, entry.page)
        self.of_head[head].append(at)
        self.of_tail[tail].append(at)
        for one in (head, tail):
            self.things[one.name.rpartition(".")[2]].add(one)

    def _named(self, subject: str) -> list[Thing]:
        """Return the things of a name: those of exactly this name, else those whose last part it is."""
        name = plain(subject).casefold().removesuffix("()").lstrip(".")
        some = sorted(self.things.get(name.rpartition(".")[2], ()))
        return [one for one in some if one.name == name] or some

    def _concerning(self, wanted: Asked) -> list[Stated]:
        """Return the things of a kind whose name, or what is said of them, holds all words of a subject."""
        pattern = _KINDS.get(wanted.kind)
        first, *rest = sorted((self.by_word.get(w, {}) for w in query_terms(wanted.subject)), key=len) or [{}]
        named = (one for one in first if all(one in more for more in rest))
        told = (self.told_of[one] for one in named)
        return [best for head, best in told if pattern is None or pattern.fullmatch(head.triplet.head)]

    def _note_words(self) -> None:
        """Note what is said of each thing, and the words of that; once all pages are read."""
        for one, places in self.of_head.items():
            told = [
                self.stated[at] for at in places if self.stated[at].triplet.relation not in (DEPENDS, PART)
            ]
            if told:
                entry = next((e for e in told if e.triplet.relation == "is"), told[0])
                self.told_of[one] = told[0], entry
                for word in index_terms(" ".join((one.name, entry.triplet.tail))):
                    self.by_word[word][one] = None


def stated_by(page: ContextChunk) -> list[Triplet]:
    """Read what a page states by definitions, tables and options, of its heading, and what leans on what."""
    above, _, last = page.heading.rpartition(" > ")
    name = plain(last)
    bare = _PLACE.sub("", name)
    subject = name if _OWN.fullmatch(bare.removesuffix("()")) or name.endswith(")") else ""
    found = list(by_rule(page.page, page.heading))
    sentences = [one for one in _SENTENCE.split(page.page) if one.strip()]
    if subject:
        if above:
            found.append(Triplet(subject, PART, plain(above.rpartition(" > ")[2])))
        says = [plain(one) for one in sentences if len(index_terms(one)) > 2 and not _is_signature(one)]
        if says:
            found.append(Triplet(subject, "is", says[0][:STATED]))
    for sentence in sentences:
        leans = _LEANS.search(sentence)
        if leans is None or _is_signature(sentence) or _DATED.search(sentence):
            continue
        heads = [match[1] for match in _CODE.finditer(sentence, 0, leans.start())][-1:] or [subject]
        for tail in _CODE.finditer(sentence, leans.end()):
            bare = plain(tail[1]).removesuffix("()").lstrip(".")
            if heads[0] and _OWN.fullmatch(bare) and bare.casefold() != plain(heads[0]).casefold():
                found.append(Triplet(plain(heads[0]), DEPENDS, bare))
    return list(dict.fromkeys(found))


def _is_signature(text: str) -> bool:
    stripped = text.strip()
    return stripped.startswith(("`", "```", "|")) and stripped.endswith(("`", "|"))


def _subject(text: str, release: str) -> str:
    """Return a subject without what names the release, and without marks at its end."""
    text = _IN_RELEASE.sub("", text.strip(" ?.!").rstrip())
    return text.removesuffix(release).strip() if release else text


def _kind(text: str) -> str:
    """Return the kind of thing that is asked for, in the singular."""
    words = text.casefold().split()
    one = (
        words[-1].removesuffix("es") if words[-1] in ("switches", "classes") else words[-1].removesuffix("s")
    )
    if len(words) > 1 and words[0].startswith(("config", "environment")):
        return _SAME[words[0]]
    return _SAME.get(one, one)
