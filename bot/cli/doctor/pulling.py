"""`threadlore doctor --fix` has Ollama download the models that are set and not there, if you agree."""

from __future__ import annotations

import shutil
import signal
import sys
import time
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import dataclass

from bot.rendering.progress import CLEARED, LINE_SECONDS
from core.errors import ConfigurationError, ModelError
from core.models.address import Address, addresses
from core.models.embedding.prefixes import BY_OLLAMA
from core.models.ollama.pulling import Pulled, is_missing, pull
from core.settings import Settings

Ask = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Wanted:
    """A model that a server of Ollama is to have, and the setting that names it."""

    host: str
    model: str
    setting: str


async def pull_missing(settings: Settings, ask: Ask | None, agreed: bool) -> None:
    """Have each server pull what it lacks of what is set; say how far it is, and what went wrong.

    It is pulled where `agreed`, or where the answer to `ask` is yes; None stands for nobody to ask.
    """
    if ask is None and not agreed:
        return
    wanted = models_of(settings)
    for one in wanted:
        try:
            if not await is_missing(one.host, one.model):
                continue
            url = Address.parse(one.host).url
        except ConfigurationError:  # told by an examination
            continue
        at = f" at {url}" if len({wished.host for wished in wanted}) > 1 else ""
        question = f"{one.model} is not on the model server{at}. Pull it now (it may be several GB)? [y/N] "
        if not agreed and not _agrees(ask, question):
            continue
        try:
            await _pull(one)
        except ModelError as error:
            print(error, file=sys.stderr)
        else:
            print(f"Fixed: {one.model} is on the model server at {url}.", flush=True)


def models_of(settings: Settings) -> list[Wanted]:
    """Return the models that Ollama is to have: the one that embeds, and the one that writes."""
    hosts = addresses(settings.ollama_host)
    found: list[Wanted] = []
    if hosts and settings.embedding_model.startswith(BY_OLLAMA):
        model = settings.embedding_model.removeprefix(BY_OLLAMA).strip()
        found.append(Wanted(hosts[0], model, "EMBEDDING_MODEL"))
    if not settings.llm and not settings.model_server:
        found += [Wanted(host, settings.ollama_model, "OLLAMA_MODEL") for host in hosts]
    return [one for one in found if one.model]


def _agrees(ask: Ask | None, question: str) -> bool:
    """Ask, and nothing runs meanwhile: in a thread, Ctrl-C would count only after the next Enter."""
    if ask is None:
        return False
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return ask(question).strip().lower() in ("y", "yes")
    except EOFError:
        return False
    finally:
        signal.signal(signal.SIGINT, before)


async def _pull(one: Wanted) -> None:
    """Pull a model: one line that is rewritten at a terminal, else a line every few seconds."""
    line, shown = "", 0.0
    is_terminal = sys.stderr.isatty()
    try:
        async with aclosing(pull(one.host, one.model, one.setting)) as lines:
            async for pulled in lines:
                now, before = time.monotonic(), line
                line = line_of(one.model, pulled)
                if is_terminal and line != before:
                    width = shutil.get_terminal_size().columns - 1
                    print(f"{CLEARED}{line[:width]}", end="", file=sys.stderr, flush=True)
                elif not is_terminal and now - shown >= LINE_SECONDS:
                    print(line, file=sys.stderr, flush=True)
                    shown = now
    finally:
        if is_terminal and line:
            print(file=sys.stderr)
        elif line:
            print(line, file=sys.stderr, flush=True)


def line_of(model: str, pulled: Pulled) -> str:
    """Return how far a pull is, in a line."""
    if not pulled.total or not pulled.doing.startswith("pulling"):
        return f"Pulling {model}: {pulled.doing}"
    size = f"{pulled.total / 1e9:.1f} GB" if pulled.total >= 1e9 else f"{pulled.total / 1e6:.0f} MB"
    return f"Pulling {model}: {100 * pulled.done / pulled.total:.0f}% of {size}"
