"""The command line. Nothing heavy is imported until a command needs it."""

from __future__ import annotations

import asyncio
import os
import sys
from typing import NoReturn

from bot.cli.arguments import Parsed, parsed

DONE, FAILED = 0, 1


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run a command and end the process with 0 done, 1 failed or 2 wrong use."""
    os.umask(0o077)  # whatever writes a file here, nobody else on the machine reads it
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ.setdefault(
            variable, "1"
        )  # before numpy: two threads are slower than one beside other work
    options = parsed(arguments)
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


def _run(given: Parsed) -> int:
    command, options = given.command, given.options
    if not command.needs_settings:
        assert command.here is not None
        return command.here(None, options) or DONE
    from core.settings import load_settings

    settings = load_settings(
        home=given.home,
        config=given.config,
        port=getattr(options, "port", None),
        log_level="DEBUG" if given.debug else None,
    )
    from bot.app.logs import set_up

    serves = command.name == "serve"
    set_up(settings, settings.log_level if serves or given.debug else "ERROR", in_home=serves)
    done = command.here(settings, options) if command.here is not None else None
    if done is not None or command.run is None:
        return done or DONE
    from bot.cli.request import carry_out

    return asyncio.run(carry_out(settings, given.request, sys.stdout))
