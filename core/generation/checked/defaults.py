"""Defaults, as an answer tells them and as its evidence does."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from core.generation.checked.material import DEFAULT, QUOTED, SPAN, Material, names_in
from core.generation.quotes.tables import table_of
from core.text.words import cut_at_word, last_of, sentences, whole_word, words

LITERAL = re.compile(
    r"(?<![\w.])(True|False|None|true|false|null|none|\d[\d_.]*|\"[^\"\s]{1,60}+\"|'[^'\s]{1,60}+')(?!\w)"
)
"""A value in a sentence."""
_WORD_VALUE = re.compile(
    r"(?:\b(?:is|are|was|to|ist|auf|es)|[:=])\s`([^`\s]{1,60})`(?!\s(?:is|are|was|to|defaults|ist|auf)\b)",
    re.IGNORECASE,
)
"""A word in code that a clause about a default gives as its value: `skip`."""
RELEASED = re.compile(r"\b(?:in|since|from|until|with|version|release)\s{1,3}v?\d[\d.]{0,20}+", re.IGNORECASE)
"""A release in a sentence, which is no value."""
_WORD = re.compile(r"[\w.]+")
_IS_DEFAULT = re.compile(
    r"\bvalue\sof\s[\w`.]{2,60}\s(?:is|was)\b"
    r"|\bdefaults?\s(?:to|is|are|was|of|value)\b|\bdefault(?:\s[\w`.-]{1,40}){1,3}\s(?:is|are|was)\b|\bby\sdefault\b"
    r"|\(default\b|\bdefault\s?[:=]|\b(?:im\s)?standard(?:wert|m[aä](?:ß|ss)ig)?\s(?:ist|sind|von|auf|:)"
    r"|\b(?:is|are)\sthe\sdefaults?\b"
    r"|\bstandard(?:wert|m[aä](?:ß|ss)ig)|voreingestellt|predetermin|por defecto|默认|預設",
    re.IGNORECASE,
)
"""What says that something is a default, or its value; "the default provider" says it of nothing."""
_UNSET = re.compile(
    r"\bunless\s(?:(?:you|it|they|this|that)\s)?(?:(?:is|are|was|has\sbeen)\s)?"
    r"(?:change[sd]?|sets?|given?|overrid(?:es?|den)|specif(?:y|ied)|configured?|told)\b(?:\s(?:it|otherwise)\b)?"
    r"|\b(?:if|when|where)\s(?:you\s|nothing\s|it\s)?(?:(?:set|say|give)\snothing"
    r"|(?:(?:is|are|do|does)\s)?(?:not|n['’]t)\s(?:set|given?|specif(?:y|ied)|configured?|passed|say)|is\sset|unset|omitted"
    r"|left\s(?:out|unset)|leave\sit\s(?:out|unset))\b"
    r"|\bout\sof\sthe\sbox\b|\binitially\b|\bstarts?\s(?:out\s)?as\b|\bwithout\s(?:a|any)\s(?:setting|configuration)\b",
    re.IGNORECASE,
)
"""What says the same in other words; a page may say so, too, without calling it a default."""
_OF_THE_LAST = re.compile(
    r"\A\W*(?:by\sdefault\W+|standardm[aä](?:ß|ss)ig\W+)?"
    r"(?:its?|this|that|the\sdefault(?:\svalue)?|defaults?|which|der\s(?:standardwert|wert)|er|es|sie)\b",
    re.IGNORECASE,
)
"""How a sentence begins that tells more of what the last one was about."""
_LEADS = re.compile(r"\W*(?:by\sdefault|standardm[aä](?:ß|ss)ig|por\sdefecto)\W*", re.IGNORECASE)
_CONDITION = re.compile(r"\b(?:when(?:ever)?|if|unless|until|wenn|falls|cuando|si)\b", re.IGNORECASE)
_FORMER = re.compile(r"\b(?:instead\sof|rather\sthan|anstelle\svon|statt)\s[`\"']?[\w.]+", re.IGNORECASE)
"""What a page says of a value that holds no more."""
_CLAUSE = re.compile(r"[;,]\s|\s(?=\()|\s(?:and|but|while|und|aber|y|pero)\s")
_GOES_ON = re.compile(
    r"`[^`\n]{1,80}+`\s(?:to|is|auf|ist)\s|(?:of|von|for|für)\s`?[\w.]{3,60}`?\s(?:is\s|ist\s)?\W{0,2}\d"
)
"""A clause that leaves out that it says a default: "and `B` to `False`", "and of `B` 300"."""
_GIVEN = re.compile(r"\A[\"']?([A-Za-z_][\w.]{0,80}+)\s?=\s?(?=[^\s=])")
"""A name with its value in a span of code: `strict_slashes=True`."""
_STATE = re.compile(
    r"(?<!not )(?<!n't )(?<!n’t )\b(?:(?P<on>enabled|activated|(?:turned\s|switched\s)?on)"
    r"|(?P<off>disabled|deactivated|(?:turned\s|switched\s)?off))\sby\sdefault\b",
    re.IGNORECASE,
)
_ON = re.compile(
    r"\btrue\b|(?<!not )\benabled\sby\b|\bon\sby\sdefault|\bdefault\W{1,6}(?:on|enabled)\b", re.IGNORECASE
)
_OFF = re.compile(
    r"\bfalse\b|\bdisabled\sby\b|\boff\sby\sdefault|\bdefault\W{1,6}(?:off|disabled)\b|\bnot\senabled\sby\b",
    re.IGNORECASE,
)
_VALUE = re.compile(
    r"\b(?:True|False|None|true|false|null)\b|[\"'][^\"'\s]{1,60}+[\"']|\b\d|default[^`\n]{0,12}`|\s=\s"
    r"|\b(?:en|dis)abled\b|\bo(?:n|ff)\sby\b",
    re.IGNORECASE,
)
"""What a sentence about a default has where it gives one."""
MAY_GIVE_DEFAULT = re.compile(rf"{DEFAULT.pattern}|\bvalue\sof\b|{_UNSET.pattern}", re.IGNORECASE)
"""What a text has that `wrong_defaults` has something to say of."""


def wrong_defaults(prose: str, material: Material, before: str = "") -> Iterator[str]:
    """Check defaults that the clauses of a sentence, or the rows of a table, give to names.

    "It", "The default" and their like speak of the one name in the sentence `before`.
    """
    yield from _of_rows(prose, material)
    if not (_IS_DEFAULT.search(prose) or _UNSET.search(prose)):
        return
    last = list(dict.fromkeys(_named(before))) if _OF_THE_LAST.match(prose) else []
    names = last = last if len(last) == 1 else []
    led = unset = False
    so_far = names
    for clause in _CLAUSE.split(RELEASED.sub(" ", prose)):
        own = _named(clause)
        earlier = so_far if _OF_THE_LAST.match(clause) else names  # "its default" is of any of them
        subject = _named(_WORD_VALUE.sub(" ", clause)) or ([] if earlier is last else earlier)
        names = own or earlier
        so_far = [*so_far, *own] if own else so_far
        values = _values(clause, material)
        bare = not _CONDITION.search(_UNSET.sub("", clause))
        if values and (
            _IS_DEFAULT.search(clause) or _GOES_ON.match(clause) or (led and (own or names) and bare)
        ):
            yield from _of_names(names, values, material, names is last)
        elif values and own and bare and (unset or _UNSET.search(clause)):
            yield from _of_unset(own, values, material)
        if len(own) == 1 and (state := _STATE.search(clause)):
            yield from _of_state(own[0], state, material)
        if bare:
            yield from _of_words(subject, _words_given(clause, led), material)
        led = bool(_LEADS.fullmatch(clause))
        unset = not values and bool(_UNSET.search(clause))


def _given_default(name: str, texts: Sequence[str]) -> str:
    """Return the sentence that gives a name's default, of what `defaults` found; empty where none does."""
    key = last_of(name).lower()
    for text in texts:
        is_own = key not in _last_words(text) or words(text[:200])[:1] == [key]
        for one in sentences(text):
            is_given = (" = " in one or DEFAULT.search(one)) and _VALUE.search(one)
            if is_given and (is_own or key in _last_words(one)):
                return cut_at_word(one.lstrip("-* "), QUOTED)
    return ""


def _last_words(text: str) -> set[str]:
    return {word.rstrip(".").rpartition(".")[2].lower() for word in _WORD.findall(text)}


def _named(clause: str) -> list[str]:
    given = [found[1] for span in SPAN.findall(clause) if (found := _GIVEN.match(span))]
    return [name for name in (*names_in(clause), *given) if not LITERAL.fullmatch(name)]


def _values(clause: str, material: Material) -> list[str]:
    found = (value.strip("\"'").rstrip(".") for value in LITERAL.findall(clause))
    given = material.asked.names | material.multiples
    return [value for value in found if value not in given]


def _of_names(
    names: Sequence[str], values: Sequence[str], material: Material, unsaid: bool = False
) -> Iterator[str]:
    """Check values against the defaults of names, and against all defaults where the names are `unsaid`."""
    told = {name: texts for name in names if (texts := material.defaults(name))}
    for value in values:
        if (unsaid or not names) and not material.any_default(value):
            yield f"The evidence does not say that {value} is a default."
        elif told and not any(_says(text, value) for texts in told.values() for text in texts):
            yield _fault(value, *next(iter(told.items())))


def _of_words(names: Sequence[str], given: Sequence[str], material: Material) -> Iterator[str]:
    """Check words in code against the sentences that give the names' defaults: a list of values has all."""
    told = {name: texts for name in names if (texts := material.defaults(name))}
    every = [one for texts in told.values() for text in texts for one in _giving(text)]
    for word in given if every else ():
        if not any(_says(one, word) for one in every):
            yield _fault(word, *next(iter(told.items())))


def _words_given(clause: str, led: bool) -> list[str]:
    """Return the words in code that the sentences of a clause give as a default; `led` tells that all do."""
    told = [one for one in sentences(clause) if led or _IS_DEFAULT.search(one)]
    return [word for one in told for word in _WORD_VALUE.findall(one) if not LITERAL.fullmatch(word)]


def _giving(text: str) -> list[str]:
    """Return the sentences of a text that give a default; the text itself where it only may."""
    return [one for one in sentences(text) if " = " in one or (DEFAULT.search(one) and "`" in one)] or [text]


def _of_unset(names: Sequence[str], values: Sequence[str], material: Material) -> Iterator[str]:
    for value in values:
        told = {name: texts for name in names if (texts := material.defaults(name))}
        said = any(_says(text, value) for texts in told.values() for text in texts)
        if told and not said and not any(_is_near(name, value, material) for name in names):
            yield _fault(value, *next(iter(told.items())))


def _is_near(name: str, value: str, material: Material) -> bool:
    name, value = last_of(name).lower(), value.lower()
    return any(value in block.words for block in material.blocks if name in block.words | block.under)


def _of_state(name: str, state: re.Match[str], material: Material) -> Iterator[str]:
    """Check "enabled by default" against sentences that give the name's default, if they say on or off."""
    told = material.defaults(name)
    given = [one for text in told for one in sentences(text) if " = " in one or DEFAULT.search(one)]
    is_on, is_off = (any(map(pattern.search, given)) for pattern in (_ON, _OFF))
    if is_off and not is_on if state["on"] else is_on and not is_off:
        yield _fault(state["on"] or state["off"], name, told)


def _of_rows(prose: str, material: Material) -> Iterator[str]:
    """Check the cells of a column of defaults, each against what its row is about."""
    table = table_of(prose) if "|" in prose else None
    columns = [at for at, name in enumerate(table.names) if DEFAULT.search(name)] if table else []
    if table is None or len(columns) != 1 or columns == [0]:
        return
    for _, cells in table.rows:
        if len(cells) > columns[0]:
            yield from _of_names(_named(cells[0]), _values(cells[columns[0]], material), material)


def _fault(value: str, name: str, texts: Sequence[str]) -> str:
    proof = _given_default(name, texts)
    said = f", which the evidence gives: {proof}" if proof else " in the evidence."
    return f"{value} is not the default of `{name}`{said}"


def _says(text: str, value: str) -> bool:
    plain = _FORMER.sub("", text.replace("_", "") if value.isdigit() else text)
    if value.replace("_", "").replace(".", "").isalnum():
        return value.lower() in {word.rstrip(".").lower() for word in _WORD.findall(plain)}
    return whole_word(value.lower()).search(plain.lower()) is not None  # such as `request-id`
