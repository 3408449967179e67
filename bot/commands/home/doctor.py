"""`doctor`: look at everything a working bot needs."""

from __future__ import annotations

import asyncio
import sys
from argparse import Namespace
from typing import TYPE_CHECKING

from bot.commands.command import Command

if TYPE_CHECKING:
    from core.settings import Settings


def here(settings: Settings, options: Namespace) -> int:
    """Look, and say what to do; return 1 where something is wrong."""
    from bot.cli.doctor import examination

    print("Looking; the first time takes a minute or two …", file=sys.stderr)
    found = asyncio.run(examination.examine(settings))
    print(examination.told(found))
    return 1 if any(finding.state == "bad" for finding in found) else 0


COMMAND = Command(
    "doctor",
    "home",
    "look at everything a working bot needs, and say what to do",
    who="owner",
    where="terminal",
    here=here,
    rank=81,
)
