"""`threadlore serve` from its first moment: the process of the vector index loads beside the program.

Each takes more than a second of processor time, so that a start on two cores is shorter by the smaller one.
"""

from __future__ import annotations

import ctypes
import gc
import threading
from argparse import Namespace
from collections.abc import Coroutine
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING, Any

from core.errors import TooCostly
from core.workers.pool import PROCESSES
from core.workers.process import Unused, Worker, alone

if TYPE_CHECKING:
    from core.settings import Settings

ARENAS = 2
"""In which 20 MB lie free after minutes of questions; without a limit it is 50 MB (docs/scaling.md)."""
_ARENA_MAX = -8
GIVE_BACK_SECONDS = 120.0
"""How often the system gets back what lies free between what is held; it takes some milliseconds."""
VECTORS = "storage.vectors.ahead"
"""Module of the vector index that loads all it needs."""


def serve(settings: Settings, options: Namespace) -> Coroutine[Any, Any, int]:
    """Return what serves until a signal; the program is loaded meanwhile.

    The garbage collector is off until `bot.app.serve` sets apart what the start made: of half a million
    objects that all stay it would look through the same ones again and again, for a quarter of a second.
    """
    gc.disable()
    few_arenas()
    threading.Thread(target=_tidy, name="memory-back", daemon=True).start()
    if not settings.chroma_url and not PROCESSES.has_begun:
        _begin()
    from bot.app.serve import serve as until_stopped

    return until_stopped(settings, options)


def few_arenas() -> None:
    """Have glibc's threads share two arenas of memory; other C libraries are left as they are.

    Each of the thirty threads would get its own, up to eight for a core, and keep there what it freed.
    """
    with suppress(AttributeError, OSError):
        ctypes.CDLL(None).mallopt(_ARENA_MAX, ARENAS)


def give_back() -> bool:
    """Give the system back what glibc keeps free; return True if it did, and False where it is not glibc."""
    with suppress(AttributeError, OSError):
        return bool(ctypes.CDLL(None).malloc_trim(0))
    return False


def _tidy() -> None:
    never = threading.Event()
    while not never.wait(GIVE_BACK_SECONDS):
        give_back()


def _begin() -> None:
    """Start the process of the vector index; where that fails, whoever needs it will tell."""
    with suppress(OSError):
        worker = alone()
        PROCESSES.begin_with(worker)
        threading.Thread(target=_load, args=(worker,), name="vectors-ahead", daemon=True).start()


def _load(worker: Worker) -> None:
    with suppress(TooCostly, Unused):  # it is started again by the first that needs it
        worker.do(load, (VECTORS,), 1.0)


def load(module: str) -> None:
    """Import a module, in a process beside this one."""
    import_module(module)
