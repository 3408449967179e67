"""The command line. Only the standard library is imported until a command needs more."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from bot.measuring_arguments import add_calibrate, add_simulate

if TYPE_CHECKING:
    from core.settings import Settings

DONE, FAILED, WRONG_USE = 0, 1, 2
STARTING_SECONDS = 30.0
"""How long a command waits for a process that has the home but does not listen yet."""


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run a command and end the process with 0 done, 1 failed or 2 wrong use."""
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ.setdefault(
            variable, "1"
        )  # before numpy: two threads are slower than one beside other work
    unset = argparse.Namespace(home=None, config=None, debug=False)
    options = parser().parse_args(arguments, unset)
    from core.errors import ThreadloreError

    try:
        code = _run(options)
    except ThreadloreError as error:
        if options.debug:
            raise
        print(f"threadlore: {error}", file=sys.stderr)
        code = error.exit_code
    except KeyboardInterrupt:
        code = FAILED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = FAILED
    except OSError as error:
        if options.debug:
            raise
        print(f"threadlore: {error.strerror or error} ({error.filename or 'input/output'})", file=sys.stderr)
        code = FAILED
    except Exception as error:  # a traceback helps nobody who did not ask for it
        if options.debug:
            raise
        print(
            f"threadlore: {type(error).__name__}: {error}. This is a mistake of ours: give the command again "
            f"with --debug and report what it shows.",
            file=sys.stderr,
        )
        code = FAILED
    sys.exit(code)


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
    forget = command("forget", "Forget a person: questions, answers to them, votes, and what came of them.")
    forget.add_argument("--user", required=True, help="whom, such as slack:U1; linked accounts go with it")
    _memory_parser(command("memory", "Look after community memory."), common)
    _glossary_parser(command("glossary", "Look after the product's own words."), common)
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
    evaluate.add_argument("--report", type=Path, metavar="DIR", help="where the report goes")
    evaluate.add_argument("--half", choices=["tune", "report", "all"], default="all", help="which questions")
    evaluate.add_argument("--only", nargs="+", metavar="NAME", help="only these configurations")
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
    shape.add_argument("--markdown", action="store_true", help="write a page for those who document")
    shape.add_argument("--json", action="store_true", help="print it as JSON")
    command("chat", "A channel in the terminal.")
    init = command("init", "Ask what there is to know, and write corpora.toml and .env here.")
    init.add_argument("--force", action="store_true", help="write them anew where they are there already")
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
    retire = action("retire", "Take a pair out of memory for good.")
    for parser_ in (shown, retire, renew):
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


def _run(options: argparse.Namespace) -> int:
    from core.settings import load_settings

    if options.command == "init":
        from bot.init_command import init

        print(init(Path.cwd(), options.force))
        return DONE
    settings = load_settings(
        home=options.home,
        config=options.config,
        port=getattr(options, "port", None),
        log_level="DEBUG" if options.debug else None,
    )
    _log_to_stderr(settings.log_level if options.command == "serve" or options.debug else "ERROR")
    if options.command == "serve":
        from bot.serve import serve

        return asyncio.run(serve(settings))
    if options.command == "doctor":
        from bot import doctor

        found = asyncio.run(doctor.examine(settings))
        print(doctor.told(found))
        return FAILED if any(finding.state == "bad" for finding in found) else DONE
    if options.command == "chat":
        from bot.terminal import chat

        return asyncio.run(chat(settings))
    if options.command == "simulate":
        from bot.simulate_command import run_simulation

        return asyncio.run(run_simulation(settings, options))
    if options.command == "calibrate":
        from bot.calibrate_command import run_calibration

        return asyncio.run(run_calibration(settings, options))
    if options.command == "ask" and (options.batch or options.out):
        return _batch(settings, options)
    if options.command == "ask" and not options.question:
        return _wrong('write the question: threadlore ask "How do I …?"')
    if options.command == "evaluate":
        measured = bool(options.gold) + bool(options.followups) + options.promoted
        if measured != 1 or bool(options.report) == options.promoted:
            return _wrong("name GOLD.jsonl or --followups PATH with --report DIR, or --promoted alone")
    if options.command == "memory" and options.action in ("import", "export"):
        return _exchange(settings, options)
    request = {
        key: str(value.absolute()) if isinstance(value, Path) else value
        for key, value in vars(options).items()
        if key not in ("home", "config", "debug", "port")
    }
    return asyncio.run(carry_out(settings, request, sys.stdout))


def _batch(settings: Settings, options: argparse.Namespace) -> int:
    if not (options.batch and options.out) or options.question:
        return _wrong("--batch and --out go together, without a question")
    lines = options.batch.read_text(encoding="utf-8-sig", errors="replace").split("\n")
    for place, line in enumerate(lines):
        if (options.release or options.channel) and line.strip():
            lines[place] = _with_defaults(line, options)
    with options.out.open("w", encoding="utf-8") as out:
        return asyncio.run(carry_out(settings, {"command": "batch", "lines": lines}, out))


def _exchange(settings: Settings, options: argparse.Namespace) -> int:
    request: dict[str, Any] = {"command": "memory", "action": options.action}
    is_standard = str(options.file) == "-"
    if options.action == "import":
        raw = sys.stdin.buffer.read() if is_standard else options.file.read_bytes()
        request |= {"text": raw.decode("utf-8-sig", "replace"), "name": options.file.name}
    if options.action == "import" or is_standard:
        return asyncio.run(carry_out(settings, request, sys.stdout))
    from bot.exports import note

    settings.home.mkdir(parents=True, exist_ok=True)
    note(settings.home, options.file)
    # what was said in private channels is in it
    with open(
        options.file, "w", encoding="utf-8", opener=lambda path, flags: os.open(path, flags, 0o600)
    ) as out:
        return asyncio.run(carry_out(settings, request, out))


def _with_defaults(line: str, options: argparse.Namespace) -> str:
    try:
        entry = json.loads(line)
    except ValueError:
        return line
    if not isinstance(entry, dict):
        return line
    given = {"release": options.release, "channel": options.channel}
    return json.dumps({key: value for key, value in given.items() if value} | entry)


async def carry_out(settings: Settings, request: dict[str, Any], out: Any) -> int:
    """Have a request carried out by the serving process, or by this one where none serves."""
    from bot.control import call
    from bot.progress import Bars

    code = FAILED
    with Bars() as bars:

        async def show(message: dict[str, Any]) -> None:
            nonlocal code
            if "line" in message:
                print(message["line"], file=out, flush=True)
            if "progress" in message:
                bars.show(message["progress"])
            if "note" in message or "error" in message:
                print(f"threadlore: {message.get('note') or message['error']}", file=sys.stderr)
            code = message.get("code", code)

        until = time.monotonic() + STARTING_SECONDS
        while True:
            try:
                async for message in call(settings.home, request):
                    await show(message)
                return code
            except ConnectionError:  # nobody listens: this process does it itself
                from bot.bootstrap import build
                from bot.commands import handle
                from core.errors import HomeBusy

                try:
                    async with build(settings, request["command"]) as app:
                        await handle(app, request, show)
                    return code
                except HomeBusy:  # somebody is just starting to serve
                    if time.monotonic() > until:
                        raise
                    await asyncio.sleep(0.1)


def _wrong(sentence: str) -> int:
    print(f"threadlore: {sentence} (see `threadlore --help`)", file=sys.stderr)
    return WRONG_USE


def _log_to_stderr(level: str) -> None:
    import logging

    logging.basicConfig(
        level=level, stream=sys.stderr, format="%(asctime)s %(levelname)s %(name)s: %(message)s"
    )
    for noisy in ("httpx", "chromadb", "alembic", "apscheduler", "discord", "slack_bolt", "aiohttp.access"):
        logging.getLogger(noisy).setLevel(max(logging.WARNING, logging.getLogger().level))
