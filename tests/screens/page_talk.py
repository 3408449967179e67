"""What people say to each other and to the bot in the pictures of the playground, and what the model writes.

The model is the loopback one: it writes these words, and cites the passages that the bot found for it.
"""

from __future__ import annotations

from dataclasses import dataclass

from tests.ollama_answers import Recorded, evidence_of, question_of

UPLOADS = "How do I limit the size of uploads?"
REWORDED = "How can I limit the size of an upload?"
FOLLOW_UP = "And in 2.0, how do I show my own page for it?"
BEFORE = "What replaced `before_first_request` in Flask 2.3?"
PROXY = "How do I tell Flask that it is behind a proxy?"
ADVICE = "We had the same: count the proxies, `x_for=1` trusts just one."


@dataclass(frozen=True)
class Written:
    """An answer to questions with those words; each `{key}` is the number of a passage with it."""

    words: tuple[str, ...]
    text: str
    keys: tuple[str, ...]


ANSWERS = (
    Written(
        ("own page",),
        "Register an error handler for status 413 [{errorhandler}]:\n\n"
        "```python\n@app.errorhandler(413)\ndef too_large(error):\n"
        '    return render_template("too_large.html"), 413\n```',
        ("errorhandler",),
    ),
    Written(
        ("upload",),
        "Set `MAX_CONTENT_LENGTH` in the configuration [{MAX_CONTENT_LENGTH}]:\n\n"
        '```python\napp.config["MAX_CONTENT_LENGTH"] = 16 * 1000 * 1000\n```\n\n'
        "A larger request is refused with `RequestEntityTooLarge`, which is status 413 "
        "[{RequestEntityTooLarge}].",
        ("MAX_CONTENT_LENGTH", "RequestEntityTooLarge"),
    ),
    Written(
        ("before_first_request",),
        "Run the set-up code when the app is created, in the factory for example. `before_first_request` was "
        "removed in 2.3 [{before_first_request}].",
        ("before_first_request",),
    ),
    Written(
        ("proxy",),
        "Wrap the app in Werkzeug's `ProxyFix` and say how many proxies set each header [{ProxyFix}]:\n\n"
        "```python\nfrom werkzeug.middleware.proxy_fix import ProxyFix\n\n"
        "app.wsgi_app = ProxyFix(app.wsgi_app, x_for=1, x_proto=1, x_host=1)\n```",
        ("ProxyFix",),
    ),
)


def write(recorded: Recorded) -> str:
    """Return the answer to the question of a prompt."""
    asked, evidence = question_of(recorded).lower(), evidence_of(recorded)
    for one in ANSWERS:
        if all(word in asked for word in one.words):
            found = {key: next((n for n, text in evidence.items() if key in text), 1) for key in one.keys}
            text = one.text
            for key, number in found.items():
                text = text.replace(f"[{{{key}}}]", f"[{number}]")
            return text
    return "I don't know."
