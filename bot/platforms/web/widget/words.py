"""What the widget says by itself, in the language of the page that shows it."""

from __future__ import annotations

from bot.conversation.readers import Serving
from core.languages import N_, _, available, plain, speaking

WORDS = {
    "label": N_("Ask a question"),
    "title": N_("Ask about {product}"),
    "intro": N_("I answer from the {product} documentation and cite the pages."),
    "question": N_("Your question"),
    "send": N_("Send"),
    "close": N_("Close"),
    "again": N_("Start again"),
    "release": N_("Release"),
    "latest": N_("{release} (latest)"),
    "privacy": N_("Your question is stored without your name. Answers can be wrong: check their sources."),
    "up": N_("This helped"),
    "down": N_("This did not help"),
    "thanks": N_("Thank you. Your vote is counted."),
    "working": N_("Looking it up …"),
    "ready": N_("The answer is here."),
    "away": N_("The bot is unreachable. Try again in a moment."),
    "retry": N_("Try again"),
    "fresh": N_("Your earlier conversation has ended, so this begins a new one."),
    "you": N_("You asked"),
    "bot": N_("Answer"),
}
UNREAD = N_("The documentation is still being read. Ask again in a few minutes.")
BUSY = N_("Many people are asking just now. Ask again in a few seconds.")
WAITS = N_("Your last question is still being answered. Wait for its answer, or start again.")
LONG = N_("A question has at most {most} characters; yours has {count}.")
STOPPED = N_("The bot is restarting. Ask again in a moment.")
GONE = N_("This conversation has ended. Ask again to begin a new one.")


def language_of(given: object, default: str) -> str:
    """Return the language of a page, `de` for `de-AT`, where the bot speaks it; else the default."""
    found = plain(given[:35]) if isinstance(given, str) else ""
    return found if found in available() else default


def words(language: str, product: str) -> dict[str, str]:
    """Return what the widget says, by the name of the place where it says it."""
    with speaking(language):
        return {name: _(word).replace("{product}", product) for name, word in WORDS.items()}


def told(serving: Serving, product: str, latest: str) -> str:
    """Say which release answers are for, and why it is not the page's where it is not."""
    named = f"{product} {serving.release}".strip()
    if serving.origin == "none":
        return _(UNREAD)
    if serving.unknown:
        said = _("I have no docs for {unknown}. Answers are for {release}.")
        return said.format(unknown=serving.unknown[:40], release=named)
    if serving.origin == "default" and serving.release == latest:
        return _("Answers are for {release}, the latest release.").format(release=named)
    return _("Answers are for {release}.").format(release=named)
