"""What is said of a document that takes more than one may; `sources` and `status` put it first."""

from __future__ import annotations

import signal

from core.errors import TooCostly

_OVER, _ENDED = "over the limit of one document: ", "its parser crashed: "
_ADVICE = "; split or simplify it, or leave it out of the source"


def over(what: str, memory: bool = False) -> TooCostly:
    """Return the error for a document that takes more than `what` it may have."""
    return TooCostly(f"{_OVER}{what}{_ADVICE}", memory)


def crashed(status: int | None) -> TooCostly:
    """Return the error for a document that ended its process with a status (of `subprocess`)."""
    if status is None:
        told = "its process ended"
    elif status < 0:
        told = f"signal {-status} ({signal.Signals(-status).name})"
    else:
        told = f"status {status}"
    return TooCostly(f"{_ENDED}{told}{_ADVICE}")


def is_too_costly(reason: str) -> bool:
    """Return True if the reason for passing a document over is that it takes more than one may."""
    return reason.startswith((_OVER, _ENDED))
