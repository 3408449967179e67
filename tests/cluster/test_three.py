"""Three processes on one PostgreSQL: one is killed, one is stopped for 20 s; nothing is lost or twice."""

from __future__ import annotations

from pathlib import Path

from tests.cluster.play import Play
from tests.cluster.world import world
from tests.databases import postgres_schema


async def test_nothing_is_lost_and_nothing_is_said_twice(tmp_path: Path, encoder_cache: Path) -> None:
    with postgres_schema() as url:
        async with world(tmp_path, encoder_cache, url) as three:
            await three.start()
            await three.indexed()
            three.keep()
            play = Play(three, questions=40, votes=60, rate=3.0, seed=1)
            done = await play.run(Play.kill_who_leads, Play.freeze)
            assert not done.wrong, done
            assert done.led_after < 30 and max(done.taken_over_after, default=0.0) < 30
