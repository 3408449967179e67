"""What the command line takes; only the standard library is imported for it."""

from __future__ import annotations

import argparse
from pathlib import Path

from bot.cli.setup.arguments import add_init
from bot.commands.serving_arguments import add_serving
from evaluation.commands.arguments import add_calibrate, add_simulate


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    common = argparse.ArgumentParser(add_help=False, argument_default=argparse.SUPPRESS)
    common.add_argument(
        "--home", type=Path, metavar="DIR", help="home folder (THREADLORE_HOME, ~/.threadlore)"
    )
    common.add_argument(
        "--config", type=Path, metavar="FILE", help="the corpora.toml to use (THREADLORE_CONFIG)"
    )
    common.add_argument("--debug", action="store_true", help="show tracebacks and debug messages")
    root = argparse.ArgumentParser(
        prog="threadlore",
        parents=[common],
        description="Answers a community's questions from its documentation, for the release they use.",
    )
    commands = root.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def command(name: str, text: str) -> argparse.ArgumentParser:
        return commands.add_parser(name, parents=[common], help=text, description=text)

    serve = command("serve", "Serve the playground, and Slack and Discord where their tokens are set.")
    serve.add_argument("--port", type=int, help="port of the playground (THREADLORE_PORT, 8080)")
    index = command("index", "Read the sources and bring the corpora up to date.")
    index.add_argument("--release", help="only this release")
    index.add_argument("--dry-run", action="store_true", help="only say what would change")
    index.add_argument("--rebuild", action="store_true", help="embed anew after EMBEDDING_MODEL was changed")
    command("verify", "Check corpora, indexes, pairs and memory; exit status 1 where something is wrong.")
    ask = command("ask", "Ask one question, or a file of them.")
    ask.add_argument("question", nargs="?", help="the question")
    ask.add_argument("--release", help="answer for this release")
    ask.add_argument("--channel", help="ask as if in this channel, such as slack:C0123")
    ask.add_argument("--user", default="cli", help="ask as this person, such as slack:U1")
    ask.add_argument("--json", action="store_true", help="print everything that is known of the answer")
    ask.add_argument(
        "--batch", type=Path, metavar="IN.jsonl", help="answer a file of questions, one JSON a line"
    )
    ask.add_argument("--out", type=Path, metavar="OUT.jsonl", help="where the answers of --batch go")
    vote = command("vote", "Vote on an answer.")
    vote.add_argument("answer_id", help="what `ask --json` calls answer_id")
    vote.add_argument("vote", choices=["up", "down", "none"], help="none takes the vote back")
    vote.add_argument("--user", default="cli", help="who votes, such as slack:U1")
    status = command("status", "Say how releases, memory and models are, and what is wrong.")
    status.add_argument("--json", action="store_true", help="print it as JSON")
    why = command("why", "Explain an answer: release, route, memory, pages.")
    why.add_argument("answer_id", help="what `ask --json` calls answer_id")
    add_serving(command)
    forget = command("forget", "Forget a person: questions, answers to them, votes, and what came of them.")
    forget.add_argument("--user", required=True, help="whom, such as slack:U1; linked accounts go with it")
    my_data = command("my-data", "Tell everything that is held of a person.")
    my_data.add_argument("--json", action="store_true", help="all of it as JSON, to be handed to them")
    opt_out = command("opt-out", "Keep nothing of a person from now on, and forget them.")
    opt_in = command("opt-in", "Keep what a person asks and votes again.")
    for parser_ in (my_data, opt_out, opt_in):
        parser_.add_argument("--user", required=True, help="whom, such as slack:U1; with all linked accounts")
    retention = command("retention", "Remove what is older than RETENTION_…_DAYS allows, as happens daily.")
    retention.add_argument("--dry-run", action="store_true", help="only say how much there is")
    _memory_parser(command("memory", "Look after community memory."), common)
    _glossary_parser(command("glossary", "Look after the product's own words."), common)
    made = command("pregenerate", "Make questions and answers of the documents; go on where it stopped.")
    made.add_argument("--release", help="only for this release")
    made.add_argument(
        "--by", choices=["model", "rules"], help="who makes them; the model unless --sample stands alone"
    )
    made.add_argument("--most", type=int, metavar="N", help="documents of a release at most")
    made.add_argument("--sample", type=Path, metavar="OUT.jsonl", help="write some of them, for review")
    made.add_argument(
        "--reviewed", type=Path, metavar="IN.jsonl", help="refuse those whose Keep is false in such a file"
    )
    evaluate = command("evaluate", "Measure retrieval and answers on labelled questions.")
    evaluate.add_argument(
        "gold", nargs="?", type=Path, metavar="GOLD.jsonl", help="labelled questions; see docs/evaluation.md"
    )
    evaluate.add_argument(
        "--promoted", action="store_true", help="ask again what was voted good; status 1 if any differs"
    )
    evaluate.add_argument(
        "--followups",
        nargs="+",
        type=lambda path: str(Path(path).absolute()),
        metavar="PATH",
        help="measure how follow-ups are completed, on files or folders in the formats of CAsT or CANARD",
    )
    evaluate.add_argument(
        "--unasked",
        nargs="+",
        type=lambda path: str(Path(path).absolute()),
        metavar="FILE",
        help="measure when the bot speaks in a channel of mode `questions`, on posts; see docs/evaluation.md",
    )
    evaluate.add_argument("--report", type=Path, metavar="DIR", help="where the report goes")
    evaluate.add_argument("--half", choices=["tune", "report", "all"], default="all", help="which questions")
    evaluate.add_argument("--only", nargs="+", metavar="NAME", help="only these configurations")
    evaluate.add_argument(
        "--recipe", nargs="+", metavar="NAME", help="compare whole recipes side by side: names, or `all`"
    )
    evaluate.add_argument("--no-answers", action="store_true", help="measure retrieval alone")
    evaluate.add_argument(
        "--judge", nargs="+", metavar="NAME", help="have the model judge these configurations"
    )
    tune = command("tune", "Learn the ranking of pages from labelled questions.")
    tune.add_argument(
        "gold", nargs="?", type=Path, metavar="GOLD.jsonl", help="labelled questions; see docs/evaluation.md"
    )
    tune.add_argument("--reset", action="store_true", help="go back to the shipped ranking")
    add_simulate(command)
    add_calibrate(command)
    gaps = command("gaps", "List what was asked in public and not answered, or not well.")
    gaps.add_argument("--days", type=int, default=30, help="of the last days (30)")
    shape = gaps.add_mutually_exclusive_group()
    shape.add_argument(
        "--markdown",
        nargs="?",
        const="-",
        type=lambda path: path if path == "-" else str(Path(path).absolute()),
        metavar="FILE",
        help="write a page for those who document, to a file or to the terminal",
    )
    shape.add_argument("--json", action="store_true", help="print it as JSON")
    command("chat", "A channel in the terminal.")
    add_init(command)
    command("doctor", "Look at everything a working bot needs, and say what to do.")
    return root


def _memory_parser(memory: argparse.ArgumentParser, common: argparse.ArgumentParser) -> None:
    actions = memory.add_subparsers(dest="action", required=True, metavar="ACTION")

    def action(name: str, text: str) -> argparse.ArgumentParser:
        return actions.add_parser(name, parents=[common], help=text, description=text)

    listed = action("list", "List what people voted on or brought, a line a pair.")
    listed.add_argument("--release", help="only this release; * for pairs that hold for all of them")
    listed.add_argument("--store", choices=["high", "low", "retired", "evicted"], help="only this store")
    shown = action("show", "Show one pair: question, answer, pages, votes.")
    stale = action("stale", "List remembered answers whose pages changed, and what would be answered now.")
    stale.add_argument("--check", action="store_true", help="look at those first that nobody looked at yet")
    renew = action("renew", "Let a stale pair be reused again.")
    renew.add_argument("--new", action="store_true", help="with what would be answered now")
    bursts = action("bursts", "List votes that came close together.")
    for parser_ in (listed, shown, stale, bursts):
        parser_.add_argument("--json", action="store_true", help="print it as JSON")
    private = action("private", "Take what was learnt in a channel along into it: it became private.")
    public = action("public", "Tell everywhere what was learnt in a private channel.")
    for parser_ in (private, public):
        parser_.add_argument("channel", help="such as slack:C0123")
    why = action("why", "Explain an answer: release, route, memory, pages.")
    why.add_argument("answer_id", help="what `ask --json` calls answer_id")
    retire = action("retire", "Take a pair out of memory: no vote brings it back.")
    restore = action("restore", "Let votes decide again on a retired pair.")
    for parser_ in (shown, retire, restore, renew):
        parser_.add_argument("id", help="the pair's id, or the one it was imported under")
    action("rebuild", "Derive every placement from the votes again.")
    action("verify", "Check memory against the votes; exit status 1 where something is wrong.")
    export = action("export", "Write all pairs to a file that `import` reads.")
    export.add_argument("file", type=Path, help="JSONL file to write; - for standard output")
    import_ = action("import", "Bring questions and answers that are known to be good.")
    import_.add_argument(
        "file",
        type=Path,
        help="JSONL or CSV: question, answer, and where known release, url, score, id; - for standard input",
    )


def _glossary_parser(glossary: argparse.ArgumentParser, common: argparse.ArgumentParser) -> None:
    actions = glossary.add_subparsers(dest="action", required=True, metavar="ACTION")
    listed = "List acronyms and synonyms that questions and pages may use for one another."
    actions.add_parser("list", parents=[common], help=listed, description=listed).add_argument(
        "--json", action="store_true", help="print it as JSON"
    )
    proposed = "Print acronyms that the documentation defines, as TOML for the glossary, to be reviewed."
    actions.add_parser("propose", parents=[common], help=proposed, description=proposed).add_argument(
        "--release", help="only from this release"
    )
