"""What is said when a person is asked: to that person, to the asker, and in the thread."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from bot.ports.chat import Choice, Field, Form
from core.domain import Answer, Scope, Trace, sources
from core.generation.quotes.titles import headings
from core.languages import N_, _
from core.ports.escalations import Ticket
from core.text.markup import inert, link
from core.text.words import cut_at_word, one_line

QUESTION = 600
"""Characters of a question that the people asked read."""
ANSWER = 240
"""Characters of the bot's answer that they read: about two lines."""
PAGES = 3
"""Nearest pages that they read."""
LABEL, NAMES = 70, 80
"""Characters of a menu's line, and of names in a question above one, that every platform shows."""
SHOW_QUESTION, SHOW_NOTHING = "question", "nothing"
"""What the asker lets people see of a question that was not asked in public."""

ASK = N_("Ask a person")
NOBODY = N_("Nobody is set up to help here. An admin can add people in `[ask]` of `corpora.toml`.")
NOT_YOURS = N_("Only the asker, a helper or an admin can ask a person.")
NOT_THEIRS = N_("This was asked in private, so only the asker can pass it to a person.")
YOURSELF = N_("You are the only person I could ask here.")
UNREACHABLE = N_("I could not reach anybody: the message was not delivered. Please ask an admin.")
TOO_MANY_OPEN = N_(
    "You are already waiting for answers to {count} questions. Please wait until one is resolved."
)
TOO_MANY = N_("That is a lot of questions for people in one day. Please ask again tomorrow.")
TOO_BUSY = N_("Many people ask for help right now. Please try again in an hour.")
ASKED = N_("I have asked {names}. The answer comes in the thread; put ✅ on it when it helps.")
ASKED_DIRECTLY = N_("I have asked {names}, who will write to you. Nothing of this is remembered.")
ALREADY = N_("I have asked {names} already.")
RESOLVED = N_("This is resolved already, by {name}.")
REMEMBERED_LATER = N_(
    "Thank you, this is resolved. I do not remember the answer, because its author was not asked. "
    "If a helper puts ✅ on it, I remember it."
)
NO_NAME = N_("a person")
THOSE_WHO_HELP = N_("the people who help here")
NOTICE = N_("I have asked {names} for help. Put ✅ on the answer that helps, and I remember it.")
NOTICE_DIRECT = N_("I have asked {names} to write to you. Put ✅ on this message when it is settled.")
UNDER_MINE = N_(
    "If this answers what you were asked, write it in the thread of my message about it, or reply to that "
    "message: then I pass it on. If you are asking me, please end with a question mark."
)
PASSED_ON = N_("Thank you. I have passed it on to the asker.")
PASSED_ON_AT = N_("Thank you. I have passed it on to the asker, [here]({link}).")
ANSWERS = N_("{name} answers:")
NOTICE_RESOLVED = N_("✅ Resolved by {name}.")
TAKEN_BACK = "The question was deleted, so there is nothing left to do here."
ARCHIVED = "The channel of this question was archived, so there is nothing left to do here."
WORDS_GONE = (
    "Somebody would like help here. What this said was in the words of a person who asked to be forgotten; "
    "please look in the thread."
)
RESOLVED_LINE = "✅ **Resolved by {name}.**"


@dataclass(frozen=True, slots=True)
class Case:
    """What a ticket is about: product and release, who asked, who asks for help, and where it stands."""

    product: str
    release: str
    asker: str
    by: str
    question: str
    link: str
    answer: Answer | None = None


def told(case: Case, scope: Scope, shown: bool) -> str:
    """Return what people read in their direct messages of a question that was asked in that scope.

    `shown` says whether the asker of a question that is not public lets them read it.
    """
    if scope.kind == "public":
        return whole(case)
    if scope.kind == "direct":
        return in_direct_messages(case, shown)
    return question_alone(case) if shown else call_for_help(case)


def whole(case: Case) -> str:
    """Tell people who may see it all: the question, what I said, the nearest pages, how to resolve it."""
    parts = [_heading(case), f"> {short(case.question, QUESTION)}"]
    if case.answer is not None:
        said = case.answer.text.split("\n\n")[0] if case.answer.route == "abstain" else case.answer.text
        parts.append(f"I said: {short(said, ANSWER)}")
        if pages := _pages(case.answer):
            parts.append("\n".join(["Nearest pages:", *(f"- {page}" for page in pages)]))
    return "\n\n".join([*parts, _how(case.link)])


def question_alone(case: Case) -> str:
    """Tell a person no more than the question, which its asker lets them see."""
    return "\n\n".join([_heading(case), f"> {short(case.question, QUESTION)}", _how(case.link)])


def call_for_help(case: Case) -> str:
    """Tell people only that somebody needs help, and where: what was asked is not for them to read here."""
    return f"{_who(case)} would like help with a question about {case.product}.\n\n{_how(case.link)}"


def in_direct_messages(case: Case, shown: bool) -> str:
    """Tell a person of a question that was asked where nobody else can look."""
    question = f"> {short(case.question, QUESTION)}\n\n" if shown else ""
    return (
        f"{_heading(case)}\n\n{question}It was asked in direct messages with me, which nobody else can read: "
        "please write to them yourself. Put ✅ on this message when it is settled. Nothing of it is kept in "
        "memory."
    )


def with_resolution(said: str, resolver: str, link: str) -> str:
    """Return what the people asked read once it is resolved, without the last words: how to resolve it."""
    answer = f" [The answer]({link})" if link else ""
    asked = said.rpartition("\n\n")[0]
    return f"{RESOLVED_LINE.format(name=named(resolver))}{answer}\n\n{asked}"


def form(answer_id: str, question: str, names: str) -> Form:
    """Return the form in which an asker decides what others may see."""
    shown = _("My question: “{question}”").format(question=short(question, LABEL - 20))
    choices = (
        Choice(SHOW_QUESTION, shown),
        Choice(SHOW_NOTHING, _("Only that I would like help")),
    )
    shown_to = names if len(names) <= NAMES else _(THOSE_WHO_HELP)
    label = _("This was not asked in public. What may {names} see?").format(names=shown_to)
    return Form("person", _(ASK), answer_id, (Field("show", label, choices, required=True),))


def listed(tickets: Sequence[Ticket], now: float) -> str:
    """List what is open, for admins: age, question where it was public, and who was asked."""
    if not tickets:
        return "No question waits for a person."
    lines = []
    for ticket in tickets:
        hours = (now - ticket.at) / 3600
        age = f"{hours / 24:.0f} d" if hours >= 48 else f"{hours:.0f} h" if hours >= 1 else "< 1 h"
        what = (
            f"“{short(ticket.question, 120)}”" if ticket.scope == "public" else "a question asked in private"
        )
        asked = ", ".join(ticket.people) or "a channel"
        where = "direct messages" if ticket.scope.startswith("direct") else ticket.channel
        lines.append(f"- {age}: {what} in {where}; asked: {asked}")
    return f"{len(tickets)} open:\n" + "\n".join(lines)


def named(name: str) -> str:
    """Return a name without what Markdown or a platform would read in it."""
    return re.sub(r"[\[\]()<>*_`~|\\#@!]", "", one_line(name))[:60].strip() or _(NO_NAME)


def short(text: str, limit: int) -> str:
    """Return a text in one line, cut at a word where it is too long; no link of it is one here."""
    return inert(cut_at_word(one_line(re.sub(r"```\w*", " ", text)), limit - 1))


def _heading(case: Case) -> str:
    about = f"{case.product} {case.release.replace('+', ' and ')}".strip()
    return f"**{_who(case)} would like help** · {about}"


def _who(case: Case) -> str:
    return named(case.asker) if case.by == case.asker else f"{named(case.by)}, for {named(case.asker)},"


def _how(link: str) -> str:
    place = f"[in the thread]({link})" if link else "in the thread"
    return (
        f"Please answer {place}. ✅ on the answer there resolves this, and I remember it; "
        "✅ on this message resolves it without an answer."
    )


def _pages(answer: Answer) -> list[str]:
    found = [(citation.title, citation.url) for citation in sources(answer.citations)]
    found += [
        (headings(*page.title.partition(": ")[::2]), page.url) for page in Trace.of(answer.trace).evidence
    ]
    pages = [(re.sub(r"[\[\]]", "", title), url) for title, url in dict.fromkeys(found) if title]
    return [link(title, url) for title, url in pages[:PAGES]]


def reworded(kept: str, before: str, after: str) -> str:
    """Return what somebody said with one message in place of the last that said `before`, else at the end."""
    whole = f"\n\n{kept}\n\n"
    at = whole.rfind(f"\n\n{before}\n\n") if before else len(whole)
    if at < 0:
        return kept
    said = f"{whole[:at]}\n\n{after}{whole[at + 2 + len(before) :]}"
    return re.sub(r"\n{3,}", "\n\n", said).strip()


def quoted(said: str) -> str:
    """Return what a person said as a quotation that calls nobody."""
    return "\n".join(f"> {line}" for line in inert(said).split("\n"))
