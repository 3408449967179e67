"""What notes and marks tell of releases is said first: what is gone, what came with which version, and no."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.journeys.fake_stage import FakeStage
from tests.journeys.house import Kettle, house, new_folder, opened
from tests.journeys.stage import EVERYWHERE, ask, open_stage
from tests.ollama_server import OllamaServer

_NOTES = {
    "1.0": "## [1.0.0] - 2021-01-01\n\n- First release of the queue.\n",
    "1.5": """\
## [1.5.0] - 2023-02-01

### Features

- Introduced `JobKey`, a typed key of jobs.

### Removed

- Dropped Python 3.7 support.

  #7336

### Fixed

- Fix `drain_all`, which would not remove files marked as read-only.
""",
    "2.0": """\
## [2.0.0] - 2024-04-30

### Fixed

- Fix a race of two workers, and add what it support for locks lacked.

  *Related issues and pull requests on GitHub:* #12.

### Features

- Growing pauses between retries.

  *Related issues and pull requests on GitHub:* #34.
""",
}
_OLD = """\
# Deprecations and removals

## The --dry command-line option

Deprecated since version 1.5.

Removed in version 2.0.

The `--dry` option did nothing. Use `--wet`.
"""
_KEYS = "# Keys\n\n## JobKey\n\nA `JobKey` names a job. Make one with `JobKey('tea')`.\n"
_LOCK = "# Locks\n\n## LockTimeout\n\nA `LockTimeout` says how long a worker waits for a lock.\n"
_DRAIN = "# API\n\n## drain_all()\n\n`drain_all` removes the jobs of every queue that has no worker.\n"


async def _indexed(folder: Path, encoder_cache: Path) -> Kettle:
    kettle = new_folder(folder, encoder_cache)
    for release in _NOTES:
        known = [text for name, text in reversed(_NOTES.items()) if name <= release]
        pages = folder / "docs" / release
        (pages / "changes.md").write_text("\n".join(["# Changelog\n", *known]))
        (pages / "drain.md").write_text(_DRAIN)
        if release != "1.0":
            (pages / "keys.md").write_text(_KEYS)
        if release == "2.0":
            (pages / "deprecations.md").write_text(_OLD)
            (pages / "locks.md").write_text(_LOCK)
    async with opened(kettle) as app:
        await app.corpus_manager.reindex("")
    return kettle


@pytest.fixture(scope="module")
def noted(tmp_path_factory: pytest.TempPathFactory, encoder_cache: Path) -> Kettle:
    """Kettle with notes in sections, a page of what is gone, and a name that came with 1.5."""
    return asyncio.run(_indexed(tmp_path_factory.mktemp("facts") / "kettle", encoder_cache))


@EVERYWHERE
async def test_what_pages_mark_as_removed_is_said_to_be_removed(
    platform: str, noted: Kettle, tmp_path: Path
) -> None:
    async with house(noted.copy(tmp_path / "kettle")) as bot, open_stage(platform, bot) as stage:
        text = (await ask(stage, "Is --dry still there in 2?")).text
        assert text.startswith("`--dry` was deprecated in 1.5 [1] and removed in 2.0 [1].")
        assert "Removed in version 2.0." in text


async def test_what_removes_something_was_not_removed(noted: Kettle, tmp_path: Path) -> None:
    async with house(noted.copy(tmp_path / "kettle")) as bot:
        text = (await ask(FakeStage(bot), "Was drain_all removed?")).text
        assert "`drain_all` was removed" not in text and "drain#drain_all" in text


@pytest.mark.parametrize("asked", ["Since when is there JobKey?", "Which version has JobKey?"])
async def test_with_which_version_something_came_is_said_first(
    asked: str, noted: Kettle, tmp_path: Path
) -> None:
    async with house(noted.copy(tmp_path / "kettle")) as bot:
        text = (await ask(FakeStage(bot), asked)).text
        assert text.startswith("`JobKey` came with 1.5 [1].\n"), text
        assert "Introduced `JobKey`" in text and "A `JobKey` names a job." in text


async def test_what_a_release_lacks_is_looked_up_in_later_ones(noted: Kettle, tmp_path: Path) -> None:
    async with house(noted.copy(tmp_path / "kettle")) as bot:
        asked = "module 'kettle' has no attribute 'JobKey'. I'm on 1.0, which version do I need?"
        text = (await ask(FakeStage(bot), asked)).text
        assert text.startswith("`JobKey` came with 1.5 [1]. Kettle 1.0 does not have it.\n"), text


@EVERYWHERE
async def test_a_name_that_only_another_release_has_is_told_from_there(
    platform: str, noted: Kettle, tmp_path: Path
) -> None:
    """No notes tell of it: its pages do not say it, and another release has its entry."""
    async with house(noted.copy(tmp_path / "kettle")) as bot, open_stage(platform, bot) as stage:
        text = (await ask(stage, "what are the arguments of LockTimeout in 1.5")).text
        told = "The documentation of Kettle 1.5 does not mention LockTimeout. That of 2.0 does:"
        assert text.replace("`", "").startswith(told), text
        assert "LockTimeout (Kettle 2.0)" in text and "how long a worker waits" in text
        text = (await ask(stage, "what are the arguments of LockTimeout in 2.0")).text
        assert "does not mention" not in text and "how long a worker waits" in text


async def test_what_the_model_writes_from_another_release_comes_after_that_is_said(
    noted: Kettle, tmp_path: Path, ollama: OllamaServer
) -> None:
    told = "The documentation of Kettle 1.5 does not mention `LockTimeout`. That of 2.0 does:\n\n"
    async with house(noted.copy(tmp_path / "kettle"), ollama_host=ollama.url) as bot:
        stage = FakeStage(bot)
        ollama.say("A `LockTimeout` says how long a worker waits for a lock [1].")
        text = (await ask(stage, "what does LockTimeout do in 1.5")).text
        assert text.startswith(f"{told}A `LockTimeout` says how long a worker waits for a lock [1].")
        assert "(Kettle 2.0)" in text, "the source says which release it is of"
        ollama.say("I don't know.")
        text = (await ask(stage, "why would LockTimeout in 1.5 be ignored")).text
        assert text.startswith(told) and "how long a worker waits" in text


async def test_a_version_that_was_dropped_is_answered_with_no(noted: Kettle, tmp_path: Path) -> None:
    async with house(noted.copy(tmp_path / "kettle")) as bot:
        stage = FakeStage(bot)
        text = (await ask(stage, "Can I still use Python 3.7 with Kettle 2.0?")).text
        assert text.startswith("No: 1.5 dropped Python 3.7 [1].\n") and "#7336" not in text
        for other in ("Python 3.8 with Kettle 2.0", "Python 3.7 with Kettle 1.0", "Python 3.7 with 9.9"):
            assert "No: " not in (await ask(stage, f"Can I still use {other}?")).text


@pytest.mark.parametrize(
    "asked",
    [
        "Which version was the first that wont run on python 3.7 anymore?",
        "In which release did you drop Python 3.7?",
        "When was support for Python 3.7 dropped?",
        "what was the last version that supports python 3.7",
    ],
)
async def test_the_version_that_dropped_another_software_is_told(
    asked: str, noted: Kettle, tmp_path: Path
) -> None:
    async with house(noted.copy(tmp_path / "kettle")) as bot:
        text = (await ask(FakeStage(bot), asked)).text
        assert text.startswith("1.5 dropped Python 3.7 [1].\n"), text


async def test_what_is_new_comes_before_what_was_mended(noted: Kettle, tmp_path: Path) -> None:
    async with house(noted.copy(tmp_path / "kettle")) as bot:
        stage = FakeStage(bot)
        text = (await ask(stage, "What's new in 2.0?")).text
        assert text.index("Growing pauses") < text.index("race of two workers")
        assert "Related issues" not in text and "#34" not in text
        text = (await ask(stage, "New features in 2.0?")).text
        assert "Growing pauses" in text and "race of two" not in text
        assert "race of two" in (await ask(stage, "Which bugs were fixed in 2.0?")).text
