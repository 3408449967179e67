"""`threadlore chat`: a conversation in the terminal, with votes, corrections and other releases."""

from __future__ import annotations

import pytest

from tests.journeys.child import run, serving
from tests.journeys.house import Kettle
from tests.journeys.kettle import PORTS
from tests.ollama_server import OllamaServer

PORT = "Which port does the dashboard listen on?"
REWORDED = "On which port is the dashboard listening?"


@pytest.mark.parametrize("helper", [True, False])
async def test_what_was_wrong_and_another_release(kettle: Kettle, helper: bool) -> None:
    lines = ["/up", PORT, "/down", "2", "It is 4711.", "/in 1.5", "/in", "/in 9", "/what", "/new", REWORDED]
    variables = {"THREADLORE_PLAYGROUND": "true", "THREADLORE_PORT": "0"}
    variables |= {"THREADLORE_HELPERS": "terminal"} if helper else {}
    async with serving(kettle, **variables) as child:
        typed = await run(kettle, "chat", given="\n".join(lines).encode())
        assert typed.code == 0
        assert await child.stop() == 0
    first, _, rest = typed.out.partition("Counted: down by terminal")
    assert "Ask something first." in first and PORTS["2.0"] in first
    assert "2  It is wrong" in rest and PORTS["1.5"] in rest and "Name the release" in rest
    assert "There is no release '9'; there is: 1.0, 1.5, 2.0." in typed.err
    assert "/quit" in rest.partition("Name the release")[2], "help for what is no command"
    assert ("Remembered:" in rest) == helper
    again = rest.rpartition("you> ")[0].rpartition("you> ")[2]
    assert ("It is 4711." in again) == helper and ("Answer by terminal" in again) == helper


async def test_a_slip_at_the_number_leaves_the_vote(kettle: Kettle) -> None:
    async with serving(kettle, THREADLORE_PLAYGROUND="true", THREADLORE_PORT="0"):
        typed = await run(kettle, "chat", given=f"{PORT}\n/down\n7\n/down\n\n/why\n/quit\n".encode())
    assert "That is not a number from 1 to 4" in typed.out and not typed.err
    assert "Remembered" not in typed.out and "Noted" not in typed.out


async def test_a_missing_model_is_told_once(kettle: Kettle) -> None:
    lines = [PORT, "How often is a failed job tried again?", "How do I run a job every night?", "/quit"]
    async with OllamaServer(model="other:1b") as server:
        typed = await run(kettle, "chat", given="\n".join(lines).encode(), OLLAMA_HOST=server.url)
    assert typed.out.count("Sources") == 3 and typed.code == 0
    assert typed.err.count("ollama pull qwen3:8b") == 1, typed.err
