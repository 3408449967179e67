"""Inject faults one after the other, and print what was lost and how long it took to serve again.

python -m tests.faults [--only kill "full disk" …] [--markdown FILE]
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
import time
from pathlib import Path

from tests.faults import around, machine
from tests.faults.row import FAULTS, Row
from tests.faults.world import CannotBeInjected
from tests.journeys.house import Kettle, new_kettle

assert around and machine  # they list their faults


async def injected(name: str, kettle: Kettle) -> Row:
    """Inject a fault of that name into a home."""
    what, inject = FAULTS[name]
    try:
        row = await inject(kettle)
    except CannotBeInjected as error:
        return Row(what, not_here=str(error))
    except AssertionError as error:
        return Row(what, (f"it does not serve again: {str(error)[-300:]}",))
    return Row(what, row.lost, row.seconds, row.note)


def line(row: Row) -> str:
    """Return a row of the table."""
    if row.not_here:
        return f"| {row.fault} | not injected: {row.not_here} | | |"
    return f"| {row.fault} | {', '.join(row.lost) or 'nothing'} | {row.seconds:.1f} s | {row.note} |"


HEAD = "| Fault | Lost | Serves again after | |\n|---|---|---:|---|"


async def table(names: list[str], models: Path) -> list[Row]:
    """Inject the named faults, each into a home of its own."""
    rows = []
    with tempfile.TemporaryDirectory() as made:
        kettle = await new_kettle(Path(made) / "kettle", models)
        print(HEAD, flush=True)
        for number, name in enumerate(names):
            rows.append(await injected(name, kettle.copy(Path(made) / f"home{number}")))
            print(line(rows[-1]), flush=True)
    return rows


def main() -> None:
    """Run as the command line says; exit status 1 where something was lost."""
    options = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    options.add_argument("--only", nargs="+", choices=list(FAULTS), default=list(FAULTS))
    options.add_argument("--models", type=Path, default=Path(".threadlore/models"))
    options.add_argument("--markdown", type=Path, help="file that the table is written to, too")
    given = options.parse_args()
    given.models.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    rows = asyncio.run(table(given.only, given.models.absolute()))
    if given.markdown:
        given.markdown.write_text("\n".join([HEAD, *map(line, rows)]) + "\n", "utf-8")
    print(f"{len(rows)} faults, {(time.monotonic() - began) / 60:.1f} min")
    sys.exit(1 if any(row.lost for row in rows) else 0)


if __name__ == "__main__":
    main()
