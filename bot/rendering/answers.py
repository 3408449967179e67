"""An answer as Markdown: text, sources, the line that names its release; its buttons, form and emoji."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Literal

from bot.ports.chat import ACCEPT, DOWN, OBJECT, UP, Choice, Control, Field, Form, Reply
from core.domain import Answer, Citation, Evidence, NearPair, Trace, sources
from core.generation.phrases import both
from core.generation.quotes.titles import headings_of
from core.languages import N_, _, ngettext, translations_of
from core.prompts.dont_know import DONT_KNOW
from core.text.code_language import labelled
from core.text.markup import inert, link
from core.text.words import shortened, stem, words

_ORIGIN = {
    "reuse": N_("from community memory, up-voted before"),
    "reference": N_("written from the documentation and community memory"),
    "avoid": N_("a new answer, because one was voted down"),
    "documents": N_("written from the documentation"),
    "quote": N_("quoted from the documentation"),
    "calculation": "",
    "abstain": "",
}
_PERSON = N_("from community memory, answered by a person")
WORKING = N_("Looking it up …")
READING = N_("Reading the {product} documentation …")
_ONE_MESSAGE = 1_900
"""Characters up to which an answer tells what stands in further sections: Discord takes 2,000 a message."""
_SHOWN = 300
"""Characters of a remembered question that are shown under its answer."""
_QUIET = frozenset({"a", "an", "the", "am", "is", "are", "be", "do", "does", "did", "please"})
ABOUT = N_("I answer from the {product} documentation: ask me how to do something with {product}.")
SOURCES = N_("Sources")
"""The line above the numbered sources; what follows it is no part of what was said."""


def compose(answer: Answer, product: str) -> Reply:
    """Return the finished reply of an answer."""
    parts = [labelled(answer.text.strip())]
    if is_out_of_scope(answer):
        parts.append(_(ABOUT).format(product=product))
    if answer.citations:
        cited = sources(answer.citations)
        # a comparison cites each page once for each release, under the same title
        releases = {one.release for one in cited if one.release}
        several = product if len(releases) > 1 or releases - {*answer.release.split("+")} else ""
        parts.append(f"**{_(SOURCES)}**\n" + "\n".join(source(one, several) for one in cited))
    below = [_unreasoned(answer), footer(answer, product)]
    if other := remembered_question(answer):
        asked = inert(shortened(other, _SHOWN))
        below.insert(0, _("This was an answer to: “{question}”").format(question=asked))

    def with_pages(is_told: bool) -> str:
        further = _see_also(Trace.of(answer.trace).further or (), is_told)
        return "\n\n".join(part for part in (*parts, further, *below) if part)

    text = with_pages(is_told=True)
    if len(text) > _ONE_MESSAGE:
        text = with_pages(is_told=False)
    return Reply(text, release=answer.release, answer_id=answer.id, remembered=remembered(answer))


def _see_also(pages: Sequence[Mapping[str, str]], is_told: bool) -> str:
    """Return further sections as Markdown: on one line, or in a list where a sentence of one `is_told`."""
    if not pages:
        return ""
    said = _("See also:")
    above = f"*{said}*"
    links = [link(page["title"], page["url"]) for page in pages]
    told = [page.get("text", "") for page in pages]
    if not (is_told and any(told)):
        return f"{above} {' · '.join(links)}"
    lines = (f"- {to}: {text}" if text else f"- {to}" for to, text in zip(links, told, strict=True))
    return "\n".join([above, *lines])


_NO_MODEL = N_("There is no language model to reason now, so this is the answer alone.")
_UNSUPPORTED = N_("The pages do not support the model's reasoning, so I show the answer alone.")


def _unreasoned(answer: Answer) -> str:
    """Return why no reasoning is shown that was asked for; empty where none was, or there is some."""
    trace = Trace.of(answer.trace)
    if not trace.why or trace.reasoning or answer.route == "abstain":
        return ""
    return f"*{_(_UNSUPPORTED if trace.written and not trace.model_error else _NO_MODEL)}*"


def reasoning(answer: Answer) -> str:
    """Return the reasoning of an answer as Markdown under its heading; empty where it has none to show."""
    trace = Trace.of(answer.trace)
    heading = _("Reasoning")
    return f"**{heading}**\n\n{trace.reasoning}" if trace.why and trace.reasoning else ""


THINK = "think"
"""The control that asks the same question for the model's reasoning."""


def is_unreasoned(answer: Answer) -> bool:
    """Return True if the model could reason about an answer and was not asked to."""
    return answer.route not in ("abstain", "calculation") and not Trace.of(answer.trace).why


def think_button(answer_id: str) -> Control:
    """Return the button that asks the same question for the model's reasoning."""
    return Control(THINK, _("Think it through"), answer_id)


def is_out_of_scope(answer: Answer) -> bool:
    """Return True if an answer says that it does not know, and not even pages are near."""
    return answer.route == "abstain" and answer.text.strip() in translations_of(DONT_KNOW)


def said(text: str) -> str:
    """Return what a message of an answer said, without its sources and the line under them, in any tongue."""
    return _below().sub("", text)


@cache
def _below() -> re.Pattern[str]:
    heading = "|".join(map(re.escape, translations_of(SOURCES)))
    return re.compile(rf"(?:\A|(?<!\n)\n+)\*\*(?:{heading})\*\*\n.*", re.DOTALL)


def remembered(answer: Answer) -> str:
    """Return the line that marks an answer from memory: who found it good, and how fast it came.

    Empty for any other answer.
    """
    trace, near = Trace.of(answer.trace), _given_again(answer)
    if answer.route != "reuse":
        return ""
    voices = near.voices if near else 0
    good = ngettext("found good by {count} person", "found good by {count} people", voices)
    said = (
        _("Remembered"),
        _("answered by a person") if trace.origin == "person" else "",
        good.format(count=voices) if voices else "",
        "" if trace.calls else _("no model"),
        f"{max(trace.ms, 1):.0f} ms" if trace.ms else "",
    )
    return " · ".join(part for part in said if part)


def _given_again(answer: Answer) -> NearPair | None:
    """Return the remembered pair whose answer is given again; None for any other answer."""
    recalled = Trace.of(answer.trace).recalled
    if answer.route != "reuse" or recalled is None:
        return None
    return next((near for near in recalled.high if near.pair == answer.pair_id), None)


def remembered_question(answer: Answer) -> str:
    """Return the question whose remembered answer is given again, where the one asked has other words.

    Empty for any other answer, and where order, endings or articles alone are different.
    """
    near = _given_again(answer)
    if near is None:
        return ""
    queries = Trace.of(answer.trace).queries
    asked = queries.topic or queries.base
    return "" if _wording(asked) == _wording(near.topic or near.question) else near.question


def _wording(question: str) -> set[str]:
    """Return the stems of a question's words, whose order and whose articles do not matter."""
    return {stem(word) for word in words(question) if word not in _QUIET}


def source(citation: Citation, product: str = "") -> str:
    """Return one numbered source with its link, and its release where a product is named."""
    of = f" ({product} {citation.release})" if product and citation.release else ""
    return f"[{citation.number}] {link(f'{citation.title}{of}', citation.url)}"


def footer(answer: Answer, product: str) -> str:
    """Return the line that says which release an answer speaks for and where it comes from."""
    if not answer.release:
        return ""
    origin = _PERSON if Trace.of(answer.trace).origin == "person" else _ORIGIN[answer.route]
    offers = _("different in {releases}").format(releases=", ".join(answer.offers)) if answer.offers else ""
    unwritten = Trace.of(answer.trace).unwritten if answer.route == "quote" else None
    said = (f"{product} {both(answer.release)}", _(origin), _(unwritten) if unwritten else "", offers)
    return f"*{' · '.join(part for part in said if part)}*"


def growing(text: str, product: str, release: str, evidence: Sequence[Evidence], before: int = 0) -> Reply:
    """Return a reply that is still being written: the text so far, or the pages being read.

    `before` are questions that the model answers first.
    """
    if text:
        return Reply(f"{text.rstrip()} …", final=False, release=release, grows=True)
    pages = dict.fromkeys(_page(item) for item in evidence[:3])
    reading = _(READING).format(product=f"{product} {both(release)}".strip())
    line = ngettext(
        "About {count} question is before yours.", "About {count} questions are before yours.", before
    )
    waiting = [line.format(count=before)] if before else []
    return Reply(f"{reading}\n" + "\n".join([*waiting, *pages]), final=False, release=release)


def is_sign_of_work(text: str) -> bool:
    """Return True if a message of the bot says no more than that it works, in any language."""
    reading = (said.partition("{product}")[0] for said in translations_of(READING))
    begins = tuple(filter(None, (*translations_of(WORKING), *reading)))
    return text.strip().startswith(begins)


def _page(item: Evidence) -> str:
    return f"- {link(headings_of(item.chunk), item.chunk.url)}"


RELEASES = 25
"""Lines of a menu that every platform shows."""
LONGEST_VALUE = 80
"""Characters of a control's value; with its name it has to fit into 90."""
WRONG = {
    "release": N_("It is for the wrong release"),
    "wrong": N_("It is wrong"),
    "outdated": N_("It is outdated"),
    "other": N_("It is not what I asked"),
}
"""What can be wrong with an answer: how it is kept, and how the form says it."""
ASK_WHAT_WAS_WRONG = N_("Your 👎 counts. What was wrong with the answer?")
Votes = Literal["buttons", "reactions", "both"]
"""How people vote under an answer: one row of controls, or emoji that the bot puts there itself."""
_MARKS: dict[str, Literal["accept", "object"]] = {
    "white_check_mark": "accept",
    ACCEPT: "accept",
    "x": "object",
    OBJECT: "object",
}


def controls(answer: Answer, ready: Sequence[str], to_person: bool = False) -> tuple[Control, ...]:
    """Return the buttons and the menu of a finished answer.

    `ready` names the releases that answer now; `to_person` says whether there is a person to ask.
    """
    given = [
        Control("up", UP, answer.id),
        Control("down", DOWN, answer.id),
        Control("why", _("Why?"), answer.id),
        *((Control("reasoning", _("Reasoning"), answer.id),) if reasoning(answer) else ()),
        *((Control("apart", _("Not my question"), answer.id),) if remembered_question(answer) else ()),
        *((Control("person", _("Ask a person"), answer.id),) if to_person else ()),
        Control("delete", _("Delete"), answer.id),
    ]
    others = _others(answer, ready)
    if others:
        given.append(Control("release", _("Another release"), answer.id, others))
    return tuple(given)


def _others(answer: Answer, ready: Sequence[str]) -> tuple[Choice, ...]:
    """Offer other releases, those with a different answer first; none under a comparison, nor where no
    release would know more.
    """
    if (
        is_out_of_scope(answer)
        or answer.route == "calculation"
        or (answer.resolution is not None and answer.resolution.comparison)
    ):
        return ()
    different = [name for name in answer.offers if name in ready]
    names = dict.fromkeys([*different, *ready])
    choices = [
        Choice(
            f"{answer.id} {name}",
            _("{release}: says something else").format(release=name) if name in different else name,
        )
        for name in names
        if name != answer.release
    ]
    return tuple(choice for choice in choices if len(choice.value) <= LONGEST_VALUE)[:RELEASES]


def sorry(answer_id: str, to_person: bool) -> Reply:
    """Return what is said where an answer did not help: 👎, and a person where there is one to ask."""
    way = N_("Sorry. Press 👎 and say what was wrong: then it is not given again.")
    given = [Control("down", DOWN, answer_id)]
    if to_person:
        way = N_("Sorry. Press 👎 and say what was wrong, or ask a person.")
        given.append(Control("person", _("Ask a person"), answer_id))
    return Reply(_(way), controls=tuple(given))


def hung(controls: tuple[Control, ...], votes: Votes) -> tuple[Control, ...]:
    """Return the controls of a message that everybody sees: without 👍 and 👎 where these are emoji."""
    is_answer = {"up", "down"} <= {control.name for control in controls}
    if votes != "reactions" or not is_answer:
        return controls
    return tuple(control for control in controls if control.name not in ("up", "down"))


def wrong_button(answer_id: str) -> Control:
    """Return the button that opens the form on what was wrong with an answer."""
    return Control("wrong", _("What was wrong?"), answer_id)


def wrong_form(answer_id: str) -> Form:
    """Return the form on what was wrong with an answer."""
    choices = tuple(Choice(value, _(label)) for value, label in WRONG.items())
    return Form(
        "wrong",
        _("What was wrong?"),
        answer_id,
        (
            Field("what", _("Choose what fits best"), choices, required=True),
            Field("better", _("A better answer, if you know one")),
        ),
    )


def mark_of(emoji: str) -> Literal["accept", "object", ""]:
    """Return `accept` for ✅ and `object` for ❌, in any spelling; empty for any other emoji."""
    return _MARKS.get(emoji.strip(":").removesuffix("\ufe0f"), "")
