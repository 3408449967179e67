"""The command line. Nothing heavy is imported until a command needs it."""

from __future__ import annotations

import asyncio
import logging
import os
import sys
from argparse import Namespace
from collections.abc import Coroutine
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from bot.cli.arguments import Parsed, parsed
from bot.commands.command import Command, Sent

if TYPE_CHECKING:
    from core.settings import Settings

DONE, FAILED = 0, 1
ASKED_OF_A_HOME = frozenset({"ask", "look", "admin"})
"""Groups of commands that have something to say only where there is a home."""
FILLING = frozenset({"index", "memory import"})
"""Those among them that make one."""


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run a command and end the process with 0 done, 1 failed or 2 wrong use."""
    os.umask(0o077)  # whatever writes a file here, nobody else on the machine reads it
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ.setdefault(
            variable, "1"
        )  # before numpy: two threads are slower than one beside other work
    os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")  # ours say what is going on
    options = parsed(arguments)
    from core.errors import ThreadloreError

    try:
        code = _run(options)
    except ThreadloreError as error:
        if options.debug:
            raise
        print(f"threadlore: {error}", file=sys.stderr)
        code = error.exit_code
    except (KeyboardInterrupt, asyncio.CancelledError):  # SIGINT, SIGTERM
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
            f"threadlore: {type(error).__name__}: {error}. This is a bug: run the command again "
            f"with --debug and report what it shows.",
            file=sys.stderr,
        )
        code = FAILED
    sys.exit(code)


def _run(given: Parsed) -> int:
    command, options = given.command, given.options
    if not command.needs_settings:
        return _program(command, None, options)
    from core.errors import HomeError
    from core.settings import load_settings

    settings = load_settings(
        home=given.home,
        config=given.config,
        port=getattr(options, "port", None),
        log_level="DEBUG" if given.debug else None,
    )
    from bot.home.logs import FOLDER, is_watched, set_up

    serves = command.name == "serve"
    if serves and is_watched(settings):
        print(f"Threadlore is starting; its log is in {settings.home / FOLDER}.", flush=True)
    set_up(settings, settings.log_level if serves or given.debug else "ERROR", in_home=serves)
    if serves:
        logging.getLogger("bot.cli.main").info("starting: loading the program; the embedder comes next")
    if command.group in ASKED_OF_A_HOME and command.name not in FILLING and not settings.home.exists():
        raise HomeError(
            f"There is no home at {settings.home} yet: `threadlore serve` and `threadlore index` make it; "
            f"`threadlore init` sets up a bot of your own. Another folder is named by --home."
        )
    if command.program:
        return _program(command, settings, options)
    done = command.here(settings, options) if command.here is not None else None
    if isinstance(done, int) or (done is None and command.run is None):
        return done or DONE
    return _sent(settings, done or Sent(given.request))


def _program(command: Command, settings: Settings | None, options: Namespace) -> int:
    """Load and run what runs in a command's place; the command itself knows only where it is."""
    module, _, function = command.program.partition(":")
    done = getattr(import_module(module), function)(settings, options)
    return int(asyncio.run(done) if isinstance(done, Coroutine) else done)


def _sent(settings: Settings, sent: Sent) -> int:
    """Have a request carried out, and its lines printed or written to its file."""
    from bot.cli.request import FAILED, carry_out
    from core.system.private_files import private

    if sent.file is None:
        return asyncio.run(carry_out(settings, sent.request, sys.stdout))
    place = Path(sent.file)
    if place.exists() and not place.is_file():  # a device, or a pipe
        with place.open("w", encoding="utf-8") as out:
            return asyncio.run(carry_out(settings, sent.request, out))
    made = place.with_name(f"{place.name}.part")  # what fails at once leaves the file as it was
    code = FAILED
    try:
        with open(made, "w", encoding="utf-8", opener=private) as out:
            code = asyncio.run(carry_out(settings, sent.request, out))
    finally:
        if code == 0 or made.stat().st_size:
            made.replace(place)
        else:
            made.unlink()
    return code
