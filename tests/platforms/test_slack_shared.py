"""Channels that another organization hears (Slack Connect): what is said there is told nowhere else."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from pathlib import Path

import pytest

from bot.platforms.slack.doctor import SCOPES
from core.catalogue import SourceSpec
from core.domain import Scope
from core.errors import SourceClosed
from core.ingestion.sources.history.source import HistorySource, Options
from core.ports.channels import Moved
from tests.fake_workers import FakeWorkers
from tests.platforms.slack_bot import Recorder, serving
from tests.platforms.slack_server import SlackServer
from tests.platforms.test_slack_history import House, talk

pytest_plugins = ["tests.platforms.slack_bot"]

INSIDE = Scope("private", "slack:C1")


@pytest.fixture
def dispatch() -> Recorder:
    return Recorder()


async def test_sharing_a_channel_changes_who_hears_it_at_once(slack: SlackServer, dispatch: Recorder) -> None:
    async with serving(slack, dispatch):
        for shared in (None, True, False):
            if shared is not None:
                slack.share("C1", shared)
            slack.say("U1", "C1", f"shared: {shared}")
            await slack.until(lambda said=f"shared: {shared}": said in [m.text for m in dispatch.messages])
            assert dispatch.messages[-1].scope == (INSIDE if shared else Scope())
    assert dispatch.private == ["slack:C1"], "what was learnt before is kept inside, once"


async def test_what_was_shared_while_the_bot_was_away_is_seen_by_the_first_event(
    slack: SlackServer, dispatch: Recorder
) -> None:
    slack.share("C1", tell=False)
    async with serving(slack, dispatch):
        slack.say("U1", "C1", "one")
        slack.say("U1", "C1", "two")
        await slack.until(lambda: len(dispatch.messages) == 2)
    assert {m.scope for m in dispatch.messages} == {INSIDE}
    assert dispatch.private == ["slack:C1"] and dispatch.looked_up == ["slack:C1", "slack:G1"]


async def test_a_command_asks_slack_whether_a_channel_is_shared(
    slack: SlackServer, dispatch: Recorder
) -> None:
    slack.share("C1", tell=False)
    async with serving(slack, dispatch):
        slack.slash("U1", "C1", "/ask", "how?")
        await slack.until(lambda: dispatch.commands)
    assert dispatch.commands[0].scope == INSIDE


async def test_another_workspace_of_ones_own_organization_changes_nothing(
    slack: SlackServer, dispatch: Recorder
) -> None:
    slack.enterprise = "E1"
    async with serving(slack, dispatch):
        slack.emit({"type": "channel_shared", "connected_team_id": "E1", "channel": "C1"})
        slack.say("U1", "C1", "hello")
        await slack.until(lambda: dispatch.messages)
    assert dispatch.messages[0].scope == Scope() and not dispatch.private


async def test_a_private_channel_that_is_shared_has_another_id_before_anything_is_heard_of_it(
    slack: SlackServer, dispatch: Recorder
) -> None:
    known: list[int] = []
    dispatch.on_message = lambda chat, message: answered(known.append, len(dispatch.moved))
    async with serving(slack, dispatch):
        await slack.until(lambda: dispatch.resumed)
        slack.move("G1", "C9")
        slack.say("U1", "C9", "<@UBOT> how?")
        await slack.until(lambda: len(known) == 2 and len(dispatch.resumed) == 2)
        await slack.settled()
    links = ("https://fake.slack.com/archives/G1/", "https://fake.slack.com/archives/C9/")
    assert dispatch.moved == [Moved("slack:G1", "slack:C9", links)] and known == [1, 1]
    assert {m.scope for m in dispatch.messages} == {Scope("private", "slack:C9")}


async def answered(note: Callable[[int], None], number: int) -> None:
    note(number)


SNIPPET = {"id": "F1", "mode": "snippet", "mimetype": "text/plain", "preview": "KeyError: 'host'"}
PICTURE = {"id": "F2", "mode": "hosted", "mimetype": "image/png"}


async def test_texts_in_a_shared_channel_are_looked_up(slack: SlackServer, dispatch: Recorder) -> None:
    slack.share("C1", tell=False)
    async with serving(slack, dispatch):
        slack.say("U1", "C1", "<@UBOT> why?", subtype="file_share", files=[PICTURE, SNIPPET])
        await slack.until(lambda: len(dispatch.messages) == 2)
    assert {m.text for m in dispatch.messages} == {"why?\n\n```\nKeyError: 'host'\n```"}


async def test_a_long_text_in_a_shared_channel_is_read_whole(slack: SlackServer, dispatch: Recorder) -> None:
    slack.share("C1", tell=False)
    slack.files["F1"] = "Traceback\nKeyError: 'host'"
    more = {
        "preview": "Traceback",
        "lines_more": 1,
        "url_private": slack.url.removesuffix("api/") + "files/F1",
    }
    async with serving(slack, dispatch):
        slack.say("U1", "C1", "<@UBOT> why?", subtype="file_share", files=[SNIPPET | more])
        await slack.until(lambda: dispatch.messages)
    assert dispatch.messages[0].text == "why?\n\n```\nTraceback\nKeyError: 'host'\n```"


@pytest.mark.parametrize("code", ["file_deleted", "missing_scope"])
async def test_a_text_that_cannot_be_looked_up_is_left_out_with_a_line_in_the_log(
    code: str, slack: SlackServer, dispatch: Recorder, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    slack.share("C1", tell=False)
    if code == "missing_scope":
        slack.scopes = ",".join(sorted(SCOPES - {"files:read"}))
    else:
        slack.fail("files.info", code)
    async with serving(slack, dispatch):
        slack.say("U1", "C1", "<@UBOT> why?", subtype="file_share", files=[SNIPPET])
        await slack.until(lambda: dispatch.messages)
    assert dispatch.messages[0].text == "why?"
    assert (
        f"a file of a shared channel cannot be read: Slack did not carry out files.info: {code}"
        in caplog.text
    )


async def test_files_between_people_in_a_shared_channel_are_not_looked_up(
    slack: SlackServer, dispatch: Recorder
) -> None:
    slack.share("C1", tell=False)
    async with serving(slack, dispatch):
        slack.say("U1", "C1", "as promised", subtype="file_share", files=[SNIPPET])
        await slack.until(lambda: dispatch.messages)
    assert dispatch.messages[0].text == "as promised" and not slack.called("files.info")


async def test_a_shared_channel_is_no_source(slack: SlackServer, tmp_path: Path) -> None:
    talk(slack)
    home = House(slack, tmp_path)
    assert await home.read()
    slack.share("C1")
    with pytest.raises(SourceClosed, match="shared with another organization"):
        await home.read()
    assert home.kept() == ""


async def test_what_others_wrote_while_it_was_shared_is_never_read(
    slack: SlackServer, tmp_path: Path
) -> None:
    asked, _ = talk(slack)
    slack.say("U2", "C1", "Their secret: distil it.", asked, user_team="T2")
    theirs = slack.say("U3", "C1", "How do we, of the other company, boil?", user_team="T2")
    slack.say("U1", "C1", "As we do.", theirs, user_team="T1")
    home = House(slack, tmp_path, answers="any")
    found = str(await home.read())
    assert "vinegar" in found and "secret" not in found and "other company" not in found
    assert "secret" not in home.kept() and "other company" not in home.kept()


def test_a_shared_channel_of_an_export_is_passed_over(tmp_path: Path) -> None:
    listed = [{"name": "own", "id": "C1"}, {"name": "connect", "id": "C2", "is_ext_shared": True}]
    (tmp_path / "channels.json").write_text(json.dumps(listed))
    days = [{"user": "U1", "ts": "1.0", "text": "How?"}, {"user": "U2", "ts": "2.0", "text": "So."}]
    for channel in ("own", "connect"):
        (tmp_path / channel).mkdir()
        (tmp_path / channel / "2025-01-01.json").write_text(json.dumps(days))
    spec = SourceSpec("history", Options(path=str(tmp_path), answers="any"), root=tmp_path, where="line 4")
    source = HistorySource(spec, FakeWorkers())
    assert [document.path for document in source.documents()] == ["own/1.0"]
    assert ("connect", "it is shared with another organization") in source.skipped
