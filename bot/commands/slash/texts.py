"""What commands for everybody say in chat, marked for the catalogues: commands load no languages."""

from __future__ import annotations

from core.languages import N_

HELP = N_("list these commands and what they do")
EVERYBODYS = (
    N_("list the releases"),
    N_("show your questions, votes and default release, or set that"),
    N_("explain an answer: the last one here, or one by its id or link"),
    N_("show what I store about you; only you see it"),
    N_(
        "permanently delete what you asked and voted (`forget me`); admins can name others: "
        "`forget @somebody`"
    ),
    N_("the same as `forget me`"),
    N_("store nothing about me, and delete what there is"),
    N_("store my questions and votes again"),
    HELP,
)
"""What the commands for everybody do, as their `help_in_chat` says it; those for admins are in English."""
NONE_HERE = N_("There is no answer here yet. Name one: `/threadlore why ID`, or the link to its message.")
NOT_YOURS = N_(
    "You can look into answers to your own questions. For others, use the button Why? under the answer, or "
    "ask an admin."
)
ELSEWHERE = N_("That answer was given in a private channel or in direct messages: ask for it there.")
NOT_KEPT = N_("There is no answer {answer} any more.")
NO_ANSWER = N_("`{said}` is neither an answer's id nor a link to a message that I know.")
NO_ANSWERED = N_("That message is neither an answer of mine nor a question I answered.")
