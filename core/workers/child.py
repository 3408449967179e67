"""What runs in a worker: it takes work, does it within its limits, and ends with its parent.

    python -m core.workers.child CONNECTION PARENT MEGABYTES IDLE_SECONDS

It begins with little but Python's own library; what work needs, work imports.
"""

from __future__ import annotations

import ctypes
import math
import os
import pickle  # nosec B403 # between processes of ours
import resource
import selectors
import signal
import socket
import sys
import threading
import time
import traceback
from contextlib import suppress
from pathlib import Path
from typing import Any

from core.workers.process import BEGUN, DONE, FAILED, MEMORY_OVER, Wire

SPENT_SHARE = 0.5
"""Share of its memory that a worker may still have when it has done its work; one with more ends."""
BEHIND = 10
"""How far work with limits stands behind the process that answers people, in steps of `nice`."""
_PR_SET_PDEATHSIG = 1
_LOOK_SECONDS = 1.0
"""How often it is looked whether the parent is there, where the system does not tell."""
_NOT_CARRIED = 70


def main(arguments: list[str]) -> None:
    """Work until the connection ends, or there is none for a while; 0 stands for no limit."""
    connection, parent, megabytes, idle = map(int, arguments)
    _end_with(parent)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    memory = megabytes * 1_000_000
    if memory:
        os.nice(BEHIND)
        with suppress(ValueError, OSError):  # some systems have no such limit
            resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    wire = Wire(socket.socket(fileno=connection))
    asked = selectors.DefaultSelector()  # `select.select` knows no descriptor above 1,023
    asked.register(connection, selectors.EVENT_READ)
    while asked.select(idle or None):
        try:
            seconds, work, given = wire.receive()
        except (EOFError, OSError):
            return
        except MemoryError:
            os._exit(MEMORY_OVER)
        wire.send(BEGUN)
        answer = _done(seconds, work, given)
        try:
            wire.send(answer)
        except MemoryError:
            os._exit(MEMORY_OVER)
        except (pickle.PicklingError, TypeError, AttributeError):
            traceback.print_exc()
            os._exit(_NOT_CARRIED)
        del answer, work, given
        if memory and _size() > memory * SPENT_SHARE:
            return


def _done(seconds: float, work: Any, given: Any) -> tuple[str, Any]:
    """Do the work; the system ends the process after so many seconds of processor time."""
    _, most = resource.getrlimit(resource.RLIMIT_CPU)
    until = math.ceil(time.process_time() + seconds)
    resource.setrlimit(
        resource.RLIMIT_CPU, (until if most == resource.RLIM_INFINITY else min(until, most), most)
    )
    try:
        return DONE, work(*given)
    except MemoryError:
        os._exit(MEMORY_OVER)
    except Exception as error:  # noqa: BLE001  it is raised again where the work was asked for
        return FAILED, _portable(error)
    finally:
        resource.setrlimit(resource.RLIMIT_CPU, (most, most))


def _portable(error: Exception) -> Exception:
    """Return an error as it can be raised again in a process that has nothing of the work's libraries."""
    told = traceback.format_exc()
    home = type(error).__module__.partition(".")[0]
    with suppress(Exception):  # what an error holds may fail in any way
        if home == "core" or home in sys.stdlib_module_names:
            same = pickle.loads(pickle.dumps(error))  # nosec B301 # made here
            if isinstance(same, type(error)) and str(same) == str(error):
                if home != "core" or error.__cause__ is not None:  # else it says all there is to say
                    same.add_note(told)
                return same
    other = RuntimeError(f"{type(error).__name__}: {error}")
    other.add_note(told)
    return other


def _size() -> int:
    """Return the bytes that this process has taken of its limit; 0 where the system does not tell."""
    with suppress(OSError, ValueError):
        return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    return 0


def _end_with(parent: int) -> None:
    """End when the parent does, however that ends and whatever is done here then."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    else:
        threading.Thread(target=_watch, args=(parent,), daemon=True).start()
    if os.getppid() != parent:  # it ended before it was asked
        os._exit(0)


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_LOOK_SECONDS)
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1:])
