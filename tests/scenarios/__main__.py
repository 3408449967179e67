"""`make scenarios`: plays the script on every platform and prints a table.

    python -m tests.scenarios                       all of it; a process for each platform
    python -m tests.scenarios mention "ask*"        only those, by name or pattern
    python -m tests.scenarios --platform slack      only there
    python -m tests.scenarios --list                what there is

The exit status is 1 where a scenario failed.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from fnmatch import fnmatch
from pathlib import Path

from tests.journeys.house import Kettle, new_kettle
from tests.scenarios.scenario import PLATFORMS, Outcome, Scenario, outcome
from tests.scenarios.script import GROUPS, SCENARIOS

MODELS = Path(__file__).parents[2] / ".threadlore" / "models"
"""Where the exported encoder is kept between runs."""
_WIDTH = 9


def main() -> int:
    """Read the command line, play, print; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.scenarios", description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*", help="names or patterns; all where there is none")
    parser.add_argument("--platform", action="append", choices=PLATFORMS, help="only there; may be repeated")
    parser.add_argument("--list", action="store_true", help="print what there is and what is expected")
    parser.add_argument("--jobs", type=int, default=min(len(PLATFORMS), os.cpu_count() or 1))
    parser.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    chosen = [s for s in SCENARIOS if not given.names or any(fnmatch(s.name, n) for n in given.names)]
    if given.list or not chosen:
        print("\n".join(f"{scenario.name:<44} {scenario.expects}" for scenario in chosen or SCENARIOS))
        return 0 if given.list else 2
    platforms = [name for name in PLATFORMS if name in (given.platform or PLATFORMS)]
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    if given.child:
        asyncio.run(_play(chosen, platforms[0], given.child))
        return 0
    outcomes = asyncio.run(_play_everywhere(chosen, platforms, given.jobs))
    print(table(chosen, platforms, outcomes))
    return 1 if any(done.problem for done in outcomes) else 0


async def _play(chosen: Iterable[Scenario], platform: str, folder: Path) -> None:
    """Play on one platform, and print each outcome as a line of JSON."""
    kettle = Kettle(folder / "kettle", MODELS)
    for number, scenario in enumerate(chosen):
        place = folder / f"{platform}-{number}"
        done = await outcome(scenario, platform, kettle, place)
        shutil.rmtree(place, ignore_errors=True)
        print(json.dumps(asdict(done)), flush=True)


async def _play_everywhere(chosen: Sequence[Scenario], platforms: Sequence[str], jobs: int) -> list[Outcome]:
    """Index Kettle once, then play on each platform in a process of its own."""
    MODELS.mkdir(parents=True, exist_ok=True)
    turn = asyncio.Semaphore(max(1, jobs))
    with tempfile.TemporaryDirectory(prefix="threadlore-scenarios-") as name:
        await new_kettle(Path(name) / "kettle", MODELS)
        found = await asyncio.gather(
            *(_in_child(chosen, platform, Path(name), turn) for platform in platforms)
        )
    return [done for outcomes in found for done in outcomes]


async def _in_child(
    chosen: Sequence[Scenario], platform: str, folder: Path, turn: asyncio.Semaphore
) -> list[Outcome]:
    names = [scenario.name for scenario in chosen]
    given = ["-m", "tests.scenarios", "--child", str(folder), "--platform", platform, *names]
    done: list[Outcome] = []
    async with turn:
        with (folder / f"{platform}.log").open("w+b") as log:
            process = await asyncio.create_subprocess_exec(
                sys.executable, *given, stdout=asyncio.subprocess.PIPE, stderr=log
            )
            assert process.stdout is not None
            async for line in process.stdout:
                done.append(Outcome(**json.loads(line)))
                _show_progress(done[-1])
            if await process.wait():
                log.seek(0)
                sys.stderr.write(log.read().decode(errors="replace")[-4000:])
    lost = [name for name in names if name not in {outcome.name for outcome in done}]
    return done + [Outcome(name, platform, 0.0, "The process ended before it was played.") for name in lost]


def _show_progress(done: Outcome) -> None:
    mark = "✗" if done.problem else "✓"
    print(f"{mark} {done.platform} {done.name} {done.seconds:.1f} s", file=sys.stderr, flush=True)


def table(chosen: Sequence[Scenario], platforms: Sequence[str], outcomes: Iterable[Outcome]) -> str:
    """Return scenario × platform with seconds, what failed and why, and how many passed and failed."""
    found = {(done.name, done.platform): done for done in outcomes}
    wide = max(len(scenario.name) for scenario in chosen) + 2
    lines = [" " * wide + "".join(f"{platform:>{_WIDTH}}" for platform in platforms)]
    for group, members in GROUPS.items():
        shown = [scenario for scenario in members if scenario in chosen]
        lines += [f"\n{group}"] if shown else []
        for scenario in shown:
            cells = [found[scenario.name, platform] for platform in platforms]
            marks = [f"{'✗' if cell.problem else '✓'} {cell.seconds:4.1f} s" for cell in cells]
            lines.append(f"  {scenario.name:<{wide - 2}}" + "".join(f"{mark:>{_WIDTH}}" for mark in marks))
    failed = [done for done in found.values() if done.problem]
    lines += [f"\n✗ {done.platform}: {done.name}\n  {done.problem}" for done in failed]
    lines.append(f"\n{len(found) - len(failed)} passed, {len(failed)} failed")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
