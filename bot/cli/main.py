"""The command line. Only the standard library is imported until a command needs more."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from bot.cli.arguments import parser
from bot.cli.request import FAILED, carry_out

if TYPE_CHECKING:
    from core.settings import Settings

DONE, WRONG_USE = 0, 2


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run a command and end the process with 0 done, 1 failed or 2 wrong use."""
    os.umask(0o077)  # whatever writes a file here, nobody else on the machine reads it
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


def _run(options: argparse.Namespace) -> int:
    from core.settings import load_settings

    if options.command == "init":
        from bot.cli.setup.wizard import run

        return run(options)
    settings = load_settings(
        home=options.home,
        config=options.config,
        port=getattr(options, "port", None),
        log_level="DEBUG" if options.debug else None,
    )
    from bot.app.logs import set_up

    serves = options.command == "serve"
    set_up(settings, settings.log_level if serves or options.debug else "ERROR", in_home=serves)
    if options.command == "serve":
        from bot.app.serve import serve

        return asyncio.run(serve(settings))
    if options.command == "doctor":
        from bot.cli.doctor import examination as doctor

        print("Looking; the first time takes a minute or two …", file=sys.stderr)
        found = asyncio.run(doctor.examine(settings))
        print(doctor.told(found))
        return FAILED if any(finding.state == "bad" for finding in found) else DONE
    if options.command == "chat":
        from bot.cli.terminal_chat import chat

        return asyncio.run(chat(settings))
    if options.command == "simulate":
        from evaluation.commands.simulate import run_simulation

        return asyncio.run(run_simulation(settings, options))
    if options.command == "calibrate":
        from evaluation.commands.calibrate import run_calibration

        return asyncio.run(run_calibration(settings, options))
    if options.command == "ask" and (options.batch or options.out):
        return _batch(settings, options)
    if options.command == "ask" and not options.question:
        return _wrong('write the question: threadlore ask "How do I …?"')
    if options.command == "evaluate":
        alone = options.promoted or bool(options.unasked)
        measured = bool(options.gold) + bool(options.followups) + options.promoted + bool(options.unasked)
        if measured != 1 or bool(options.report) == alone:
            return _wrong(
                "name GOLD.jsonl or --followups PATH with --report DIR, or --promoted or --unasked FILE alone"
            )
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
    from bot.privacy.exports import note
    from core.system.private_files import private

    settings.home.mkdir(parents=True, exist_ok=True)
    note(settings.home, options.out)  # remembered answers of the community may be in it
    with open(options.out, "w", encoding="utf-8", opener=private) as out:
        return asyncio.run(carry_out(settings, {"command": "batch", "lines": lines}, out))


def _exchange(settings: Settings, options: argparse.Namespace) -> int:
    request: dict[str, Any] = {"command": "memory", "action": options.action}
    is_standard = str(options.file) == "-"
    if options.action == "import":
        raw = sys.stdin.buffer.read() if is_standard else options.file.read_bytes()
        request |= {"text": raw.decode("utf-8-sig", "replace"), "name": options.file.name}
    if options.action == "import" or is_standard:
        return asyncio.run(carry_out(settings, request, sys.stdout))
    from bot.privacy.exports import note
    from core.system.private_files import private, private_folder

    note(private_folder(settings.home), options.file)
    # what was said in private channels is in it
    with open(options.file, "w", encoding="utf-8", opener=private) as out:
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


def _wrong(sentence: str) -> int:
    print(f"threadlore: {sentence} (see `threadlore --help`)", file=sys.stderr)
    return WRONG_USE
