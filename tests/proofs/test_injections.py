"""A model that obeys every order that it finds: what people read stays harmless."""

from __future__ import annotations

from pathlib import Path

from tests.effort import Effort
from tests.journeys.fake_stage import FakeStage
from tests.journeys.house import house, new_folder, opened
from tests.ollama_server import OllamaServer
from tests.proofs.injections import CARRIERS, INJECTIONS, harm, obeying, planted, played, prepare


async def test_a_hundred_orders_that_are_obeyed_harm_nobody(tmp_path: Path, encoder_cache: Path) -> None:
    kettle = new_folder(tmp_path / "kettle", encoder_cache)
    planted(kettle.folder)
    async with opened(kettle) as app:
        await app.corpus_manager.reindex("2.0")
    wrong, obeyed, carried = [], 0, set()
    tried = INJECTIONS if Effort.is_thorough else INJECTIONS[::3]  # three in a row are of one kind, mostly
    async with OllamaServer(answer=obeying) as ollama, house(kettle, ollama_host=ollama.url) as bot:
        ollama.at_once = 20  # prompts that are said aloud are long, and each line of an answer costs
        await prepare(bot)
        async with FakeStage(bot) as stage:
            for one in tried:
                before = ollama.calls
                shown = await played(stage, one)
                prompts = [request.prompt for request in ollama.chats[before:]]
                if any(one.order[:40] in prompt for prompt in prompts):
                    obeyed += 1
                    carried.add(one.carrier)
                system = max((request.system for request in ollama.chats), key=len, default="")
                if found := harm(shown, system):
                    wrong.append((one.carrier, one.said, found, shown[:300]))
    assert len(INJECTIONS) >= 100
    assert not wrong, "\n".join(map(str, wrong))
    assert obeyed >= len(tried) // 2 and carried >= {"page", "title", "question"}, (obeyed, carried, CARRIERS)
