"""`evaluate`, `embedder try`, `check`: measure on labelled questions; `tune`: learn from them."""

from __future__ import annotations

from argparse import Namespace
from importlib import import_module
from typing import TYPE_CHECKING, Any

from bot.commands.command import Given, Option, Result, at_terminal

if TYPE_CHECKING:
    from bot.operations.application import Application
    from core.settings import Settings

HALF = ("tune", "report", "all")
GOLD = Option("gold", "Labelled questions; see docs/evaluation.md", kind="path", metavar="[GOLD.jsonl]")


async def run(app: Application, given: Given) -> Result:
    """Measure; what it says streams along. Raises ThreadloreError."""
    code = 0

    async def keep(message: dict[str, Any]) -> None:
        nonlocal code
        if "code" in message:
            code = message["code"]
        else:
            await given.along(message)

    # loaded now, for nothing that serves needs it
    await import_module("evaluation.commands").carry_out(app, given.values, keep)
    return Result(code=code)


def here(settings: Settings, options: Namespace) -> None:
    """Raise UsageError for what is not measured together."""
    from core.errors import UsageError

    alone = options.promoted or bool(options.unasked)
    measured = bool(options.gold) + bool(options.followups) + options.promoted + bool(options.unasked)
    measured += bool(options.answers) + bool(options.compare)
    if options.compare and len(options.compare) != 2:
        raise UsageError("--compare takes two folders with reports: --compare A B")
    free = options.answers or options.compare
    if (options.gold or options.followups) and measured == 1 and not options.report:
        raise UsageError("name a folder for the report, which is made: --report DIR")
    if measured != 1 or (bool(options.report) == alone and not free):
        raise UsageError(
            "name GOLD.jsonl or --followups PATH with --report DIR, --answers FILE, --compare A B, or "
            "--promoted or --unasked FILE alone (see `threadlore evaluate --help`)"
        )


COMMAND = at_terminal(
    "evaluate",
    "measure",
    "measure retrieval and answers on labelled questions",
    run,
    options=(
        GOLD,
        Option("promoted", "Ask again what was voted good; status 1 if any differs", kind="flag"),
        Option(
            "followups",
            "Measure how follow-ups are completed, on files or folders in the formats of CAsT or CANARD",
            kind="path",
            named=True,
            many=True,
            metavar="PATH ...",
        ),
        Option(
            "unasked",
            "Measure when the bot speaks in a channel of mode `questions`, on posts; see docs/evaluation.md",
            kind="path",
            named=True,
            many=True,
            metavar="FILE ...",
        ),
        Option(
            "answers",
            "Score what answers hold, on questions with what they must hold; see docs/evaluation.md",
            kind="path",
            named=True,
            metavar="FILE",
        ),
        Option(
            "compare",
            "Compare two reports question by question; with --judge which answers are better, in both orders",
            kind="path",
            named=True,
            many=True,
            metavar="A B",
        ),
        Option("details", "With --answers: what is wrong with which answer", kind="flag"),
        Option("json", "With --answers: the figures and every answer as JSON", kind="flag"),
        Option("report", "Where the report goes", kind="path", named=True, metavar="DIR"),
        Option("half", "Which questions", choices=HALF, named=True, default="all"),
        Option("only", "Only these configurations", named=True, many=True, metavar="NAME ..."),
        Option(
            "recipe",
            "Compare whole recipes side by side: names, or `all`",
            named=True,
            many=True,
            metavar="NAME ...",
        ),
        Option("no-answers", "Measure retrieval alone", kind="flag"),
        Option(
            "judge", "Have the model judge these configurations", named=True, many=True, metavar="NAME ..."
        ),
    ),
    here=here,
    has_json=False,
    rank=70,
)
TUNE = at_terminal(
    "tune",
    "measure",
    "learn the ranking of pages from labelled questions",
    run,
    options=(
        GOLD,
        Option(
            "answers",
            "Learn how sure quotes are, on questions with what they must hold; see docs/evaluation.md",
            kind="path",
            named=True,
            metavar="FILE",
        ),
        Option("reset", "Go back to what is shipped", kind="flag"),
    ),
    changes=True,
    has_json=False,
    rank=71,
)
TRY = at_terminal(
    "embedder try",
    "measure",
    "measure another embedder beside the one in use, on labelled questions; nothing is changed",
    run,
    options=(
        Option(
            "model", "As EMBEDDING_MODEL names it: ollama:nomic-embed-text", required=True, metavar="MODEL"
        ),
        Option(
            "gold",
            "Labelled questions; see docs/evaluation.md",
            required=True,
            kind="path",
            metavar="GOLD.jsonl",
        ),
    ),
    ends_with_caller=True,
    has_json=False,
    rank=74,
)
CHECK = at_terminal(
    "check",
    "measure",
    "list the upvoted answers that a documentation change breaks; exit status 1 where one does",
    run,
    options=(
        Option("release", "The release whose pages change", required=True, dashed=True),
        Option(
            "changed",
            "The changed files, as `git diff --name-only` names them; every page when left out",
            named=True,
            many=True,
            metavar="PATH ...",
        ),
        Option(
            "docs",
            "The checkout with the change, or the folder of its pages; this folder when left out",
            kind="path",
            named=True,
            metavar="DIR",
            default=".",
        ),
        Option("gold", "Also check these labelled questions", kind="path", named=True, metavar="GOLD.jsonl"),
    ),
    has_json=False,
    rank=72,
)
