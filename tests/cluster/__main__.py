"""Run a cluster at the loopback Slack while its processes are killed, stopped and upgraded; prints a table.

    THREADLORE_TEST_POSTGRES=postgresql://user@127.0.0.1/db python -m tests.cluster --questions 1000

Exit status 1 where something was lost, said twice, or placed otherwise than a rebuild places it.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import sys
import tempfile
from pathlib import Path

from core.models.embedding.encoder import PACKAGED, load_encoder
from tests.cluster.play import Figures, Play
from tests.cluster.throughput import MODELS, as_table, measured
from tests.cluster.world import world
from tests.databases import postgres_schema

SIZE = 3


async def faults(
    folder: Path, questions: int, votes: int, rate: float, seed: int, logs: Path | None = None
) -> Figures:
    """Ask and vote while one of three is killed, one is stopped, and all are upgraded; keep their logs."""
    with postgres_schema() as url:
        async with world(folder, MODELS, url) as three:
            await three.start()
            await three.indexed()
            three.keep()
            play = Play(three, questions, votes, rate, seed)
            try:
                return await play.run(Play.kill_who_leads, Play.freeze, Play.upgrade)
            finally:
                for number, node in enumerate(three.nodes if logs else ()):
                    assert logs is not None
                    logs.mkdir(parents=True, exist_ok=True)
                    (logs / f"{number}.log").write_text(node.log, "utf-8")


def main() -> None:
    """Run as the command line says."""
    options = argparse.ArgumentParser(prog="python -m tests.cluster", description=__doc__)
    options.add_argument("--questions", type=int, default=1000)
    options.add_argument("--votes", type=int, default=3000)
    options.add_argument("--rate", type=float, default=4.0, help="questions that people ask in a second")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument(
        "--capacity",
        type=float,
        default=0.0,
        help="ask at this share of what three answer with as many votes, which is measured",
    )
    options.add_argument("--logs", type=Path, help="keep what the processes wrote in this folder")
    given = options.parse_args()
    MODELS.mkdir(parents=True, exist_ok=True)
    load_encoder(PACKAGED, MODELS).close()
    if given.capacity:
        votes = round(given.votes / given.questions)
        found = measured([SIZE], 1, 120, votes)
        given.rate = given.capacity * found[SIZE][0].rate
        print(f"{as_table(found, 120, votes)}\n\nAsked at {given.rate:.1f} questions a second:\n", flush=True)
    with tempfile.TemporaryDirectory() as made:
        asked = given.questions, given.votes, given.rate, given.seed, given.logs
        done = asyncio.run(faults(Path(made), *asked))
    print(f"| questions | {done.questions} |")
    print(f"| votes (put, or changed) | {done.votes} |")
    print(f"| questions lost | {len(done.lost)} |")
    print(f"| given up with a word, as two processes ended at them | {len(done.given_up)} |")
    print(f"| told to ask again, as the line was too long | {len(done.told)} |")
    print(f"| answered twice | {len(done.twice)} |")
    print(f"| votes lost or counted otherwise | {len(done.votes_lost)} |")
    print(f"| pairs placed otherwise than by a rebuild | {len(done.misplaced)} |")
    print(f"| invariants of memory broken | {len(done.broken)} |")
    print(f"| another process leads after | {done.led_after:.1f} s |")
    print(
        f"| what a dead process had open is answered after | {max(done.taken_over_after, default=0):.1f} s |"
    )
    print(f"| from question to the first sign, median | {statistics.median(done.signs):.1f} s |")
    print(f"| from question to the first sign, longest | {done.signs[-1]:.1f} s |")
    print(f"| from question to answer, median | {statistics.median(done.waits):.1f} s |")
    print(f"| from question to answer, longest | {done.waits[-1]:.1f} s |")
    print(f"| all of it | {done.seconds:.0f} s |")
    for line in (*done.lost, *done.twice, *done.votes_lost, *done.traced, *done.misplaced, *done.broken)[:20]:
        print(line)
    sys.exit(1 if done.wrong else 0)


if __name__ == "__main__":
    main()
