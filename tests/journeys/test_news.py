"""What a release brings is answered from its own release notes, with a model and without."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.journeys.fake_stage import FakeStage
from tests.journeys.house import Kettle, house, new_folder, opened
from tests.journeys.stage import EVERYWHERE, answer, ask, open_stage
from tests.ollama_server import OllamaServer

_NOTES = {
    "2.0": """\
## [2.0.1] - 2024-05-02

- Fix a race of two workers for one job.

## [2.0.0] - 2024-04-30

- Remove the command `kettle schedule`; use the argument `cron` of the decorator.
- Add growing pauses between retries.
- Remove what was deprecated:
  - The `kettle.clear_all` function. Use `kettle.drain` instead.
""",
    "1.5": """\
## [1.5.0] - 2023-02-01

- Add passwords for the dashboard.
- The dashboard moves to port 7171.
- `clear_all` is deprecated.

## [1.2.0] - 2022-06-01

- Remove the XML format of queues.
""",
    "1.0": """\
## [1.0.0] - 2021-01-01

- First release of the queue.
""",
}
REUSED = "from community memory"
LINK = "https://kettle.example/{}/changes"


async def _indexed(folder: Path, encoder_cache: Path) -> Kettle:
    kettle = new_folder(folder, encoder_cache)
    for release in _NOTES:
        known = [text for name, text in _NOTES.items() if name <= release]
        pages = folder / "docs" / release
        (pages / "changes.md").write_text("\n".join(["# Changelog\n", *known]))
    async with opened(kettle) as app:
        await app.corpus_manager.reindex("")
    return kettle


@pytest.fixture(scope="module")
def noted(tmp_path_factory: pytest.TempPathFactory, encoder_cache: Path) -> Kettle:
    """Kettle whose releases have a changelog each, which tells of the older ones, too."""
    return asyncio.run(_indexed(tmp_path_factory.mktemp("noted") / "kettle", encoder_cache))


@EVERYWHERE
async def test_what_changed_is_told_by_the_notes_of_that_release(
    platform: str, noted: Kettle, tmp_path: Path
) -> None:
    async with house(noted.copy(tmp_path / "kettle")) as bot, open_stage(platform, bot) as stage:
        said = await stage.say("ann", "What changed in 2.0?", to="bot")
        text = (await answer(stage, said)).text
        assert text.index("growing pauses") < text.index("race of two workers")
        assert LINK.format("2.0") in text and "passwords" not in text and "First release" not in text
        await stage.say("ann", "and in 1.5?", under=said, to="bot")
        text = (await answer(stage, said, 2)).text
        assert "Add passwords" in text and LINK.format("1.5") in text
        assert "growing pauses" not in text and "XML" not in text


async def test_of_removals_only_the_entries_that_tell_of_them_are_listed(
    noted: Kettle, tmp_path: Path
) -> None:
    async with house(noted.copy(tmp_path / "kettle")) as bot:
        text = (await ask(FakeStage(bot), "Which things were removed in 2.0?")).text
        assert "kettle schedule" in text and "pauses" not in text and "race" not in text


async def test_a_release_without_pages_is_told_by_the_next_newer_one_that_has_its_notes(
    noted: Kettle, tmp_path: Path
) -> None:
    async with house(noted.copy(tmp_path / "kettle")) as bot:
        stage = FakeStage(bot)
        text = (await ask(stage, "What was removed in Kettle 1.2?")).text
        assert "XML" in text and LINK.format("1.5") in text and "kettle schedule" not in text
        assert "I have no docs for Kettle 3.0" in (await ask(stage, "What's new in Kettle 3.0?")).text


@pytest.mark.parametrize("given", ["is clear_all gone?", "module 'kettle' has no attribute 'clear_all'"])
async def test_what_became_of_a_name_is_told_by_the_notes_of_all_releases(
    given: str, noted: Kettle, tmp_path: Path
) -> None:
    async with house(noted.copy(tmp_path / "kettle")) as bot:
        stage = FakeStage(bot)
        bot.app.searcher.learning.add("2.0")  # what notes tell of a name needs no sentences
        text = (await ask(stage, given)).text
        assert text.startswith("`clear_all` was deprecated in 1.5 [2] and removed in 2.0 [1].")
        assert "> - The `kettle.clear_all` function. Use `kettle.drain` instead. [1]" in text
        assert LINK.format("2.0") in text and LINK.format("1.5") not in text
        text = (await ask(stage, f"{given} (I use Kettle 1.0)")).text
        assert text.startswith("`clear_all` was deprecated in 1.5") and "Kettle 1.0 still has it." in text


async def test_notes_of_a_release_that_corpora_toml_has_no_more_say_nothing(
    noted: Kettle, tmp_path: Path
) -> None:
    kettle = noted.copy(tmp_path / "kettle")
    kept = [part for part in kettle.config.read_text().split("[[release]]\n") if '"2.0"\n' not in part]
    kettle.config.write_text("[[release]]\n".join(kept))
    async with house(kettle) as bot:
        stage = FakeStage(bot)
        text = (await ask(stage, "is clear_all gone?")).text
        assert text.startswith("`clear_all` was deprecated in 1.5") and "2.0" not in text
        assert LINK.format("2.0") not in (await ask(stage, "What's new in Kettle 2.0?")).text


async def test_between_two_releases_all_versions_after_the_first_are_told(
    noted: Kettle, tmp_path: Path
) -> None:
    async with house(noted.copy(tmp_path / "kettle")) as bot:
        text = (await ask(FakeStage(bot), "What changed from 1.0 to 2.0?")).text
        told = [text.index(part) for part in ("growing pauses", "Add passwords", "XML", "race of two")]
        assert told == sorted(told) and "First release" not in text


async def test_the_model_reads_those_notes_and_no_others(
    noted: Kettle, tmp_path: Path, ollama: OllamaServer
) -> None:
    kettle = noted.copy(tmp_path / "kettle")
    async with house(kettle, ollama_host=ollama.url) as bot:
        ollama.say("Passwords protect the dashboard [1].")
        text = (await ask(FakeStage(bot), "What's new in 1.5?")).text
        assert "Passwords protect" in text and LINK.format("1.5") in text
        read = str(ollama.chats[-1].messages)
        assert "Add passwords" in read
        assert not any(other in read for other in ("growing pauses", "XML", "First release"))


async def test_answers_on_two_versions_of_one_release_are_not_taken_for_each_other(
    noted: Kettle, tmp_path: Path
) -> None:
    async with house(noted.copy(tmp_path / "kettle")) as bot:
        stage = FakeStage(bot)
        await stage.react("ann", await ask(stage, "What changed in 2.0.1?"), "👍")
        assert REUSED in (await ask(stage, "What changed in 2.0.1?", who="bob")).text
        text = (await ask(stage, "What changed in 2.0.0?", who="bob")).text
        assert "growing pauses" in text and "race of two" not in text and REUSED not in text


async def test_when_something_went_is_told_by_the_notes_that_tell_of_it(
    noted: Kettle, tmp_path: Path
) -> None:
    async with house(noted.copy(tmp_path / "kettle")) as bot:
        text = (await ask(FakeStage(bot), "When was kettle schedule removed?")).text
        assert text.index("Remove the command") < text.index(LINK.format("2.0"))
        assert "2.0.0" in text and "pauses" not in text


@EVERYWHERE
async def test_a_question_that_takes_a_removed_name_for_there_is_corrected_first(
    platform: str, noted: Kettle, tmp_path: Path
) -> None:
    async with house(noted.copy(tmp_path / "kettle")) as bot, open_stage(platform, bot) as stage:
        text = (await ask(stage, "How do I use clear_all in 2.0?")).text
        ended = "`clear_all` was deprecated in 1.5 [2] and removed in 2.0 [1]. Kettle 2.0 does not have it."
        assert text.startswith(f"{ended} Use `kettle.drain` instead [1].")
        assert LINK.format("2.0") in text
        for true in ("How do I use clear_all in 1.0?", "How do I use retry_limit in 2.0?"):
            assert "does not have it" not in (await ask(stage, true)).text


async def test_what_the_model_writes_to_a_false_premise_comes_after_the_correction(
    noted: Kettle, tmp_path: Path, ollama: OllamaServer
) -> None:
    async with house(noted.copy(tmp_path / "kettle"), ollama_host=ollama.url) as bot:
        stage = FakeStage(bot)
        ollama.say("The `kettle.clear_all` function was removed; use `kettle.drain` [1].")
        text = (await ask(stage, "Why does clear_all forget a job in 2.0?")).text
        assert text.startswith("`clear_all` was deprecated in 1.5 [2] and removed in 2.0 [1].")
        _said, _, rest = text.partition("\n\n")
        assert rest.startswith("The `kettle.clear_all` function was removed; use `kettle.drain` [1].")
        assert text.count("[1] [") == 1, "both lean on the same page, which is one source"
        ollama.say("I don't know.")
        text = (await ask(stage, "Since when does clear_all keep jobs in 2.0?")).text
        assert text.startswith("`clear_all` was deprecated in 1.5"), (
            "what notes tell is known whatever it says"
        )
