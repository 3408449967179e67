"""Progress of a reindex: bars in a terminal, lines elsewhere, one message that names every release."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

from bot.commands.progress import progress_dict
from bot.commands.slash.reindexing import EDIT_SECONDS, MOST_SECONDS, Board, pause_after
from core.ingestion.reading import Progress

ROOT = Path(__file__).parents[2]
WATCHED = """
import json, logging, sys
from pathlib import Path
from bot.home.logs import set_up
from bot.rendering.progress import Bars
from core.settings import load_settings
settings = load_settings(home=Path(sys.argv[2]))
set_up(settings, "INFO", in_home=True)
log = logging.getLogger("bot.app.serve")
log.info("nobody has to see this")
with Bars(log, "Kettle") as bars:
    for progress in json.loads(sys.argv[1]):
        bars.show(progress)
        log.warning("the model is %s", "away")
    bars.say("Kettle 1.5 is ready", last=True)
    bars.show(json.loads(sys.argv[1])[1])
log.error("the disk is full")
log.error("the disk is full")
"""
SHOWN = """
import json, sys
from bot.rendering.progress import Bars
with Bars() as bars:
    for progress in json.loads(sys.argv[1]):
        bars.show(progress)
"""


def run_of_two() -> list[dict[str, object]]:
    """Return what is told of a run in which the first release fails and the second one goes well."""
    first, second, told = Progress("2.0"), Progress("1.5"), []
    first.done = 3
    told.append(progress_dict(first))
    first.enter("embedding", 200)
    first.done = 128
    told.append(progress_dict(first))
    first.fail("The disk is full.")
    told.append(progress_dict(first))
    second.enter("embedding", 50)
    second.done = 50
    told.append(progress_dict(second))
    second.finish(50)
    return [*told, progress_dict(second)]


def at_a_terminal(script: str, *arguments: str, **variables: str) -> list[str]:
    """Run a script whose errors go to a terminal, and return the lines that stand there in the end."""
    ours, theirs = pty.openpty()
    width = {"COLUMNS": "100", "TERM": "xterm-256color"}
    command = [sys.executable, "-c", script, *arguments]
    done = subprocess.Popen(command, stderr=theirs, cwd=ROOT, env=os.environ | width | variables)
    os.close(theirs)
    written = b""
    try:
        while block := os.read(ours, 65536):
            written += block
    except OSError:  # how Linux says that the other end is closed
        pass
    assert done.wait(60) == 0
    os.close(ours)
    text = re.sub(r"[^\n]*\r\x1b\[2K", "", written.decode().replace("\r\n", "\n"))
    lines = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text).replace("\r", "\n").split("\n")
    return [line.strip() for line in lines if line.strip()]


def test_a_terminal_has_a_bar_for_every_release_and_the_one_that_failed_stands() -> None:
    last = at_a_terminal(SHOWN, json.dumps(run_of_two()))[-2:]
    assert last[0].startswith("2.0 failed") and "128/200" in last[0] and "━" in last[0]
    assert last[1].startswith("1.5 done") and "50/50" in last[1]


def test_who_watches_the_bot_start_has_a_line_a_stage_and_each_warning_once(tmp_path: Path) -> None:
    lines = at_a_terminal(WATCHED, json.dumps(run_of_two()), str(tmp_path))
    plain = [re.sub(r"^[\d: -]{19} ", "", line) for line in lines]
    assert plain == [
        "WARNING bot.app.serve: the model is away",
        "Kettle 2.0: reading, 3 pages",
        "Kettle 2.0: indexing, 128 of 200 passages",
        "Kettle 1.5: indexing, 50 of 50 passages",
        "Kettle 1.5 is ready",
        "ERROR bot.app.serve: the disk is full",
        "ERROR bot.app.serve: the disk is full",
    ]
    (file,) = (tmp_path / "logs").iterdir()
    logged = file.read_text()
    assert "nobody has to see this" in logged and logged.count("the model is away") == 5


def test_who_says_what_to_log_sees_that_at_the_terminal(tmp_path: Path) -> None:
    lines = at_a_terminal(WATCHED, json.dumps(run_of_two()), str(tmp_path), LOG_LEVEL="INFO")
    assert "nobody has to see this" in lines[0] and sum("the model is away" in line for line in lines) == 5


def test_where_there_is_no_terminal_there_are_lines() -> None:
    script = [sys.executable, "-c", SHOWN, json.dumps(run_of_two())]
    done = subprocess.run(script, stderr=subprocess.PIPE, text=True, check=True, cwd=ROOT)
    lines = done.stderr.splitlines()
    assert lines[0] == "2.0: reading, 3 pages"
    assert "2.0 failed" in lines and lines[-1] == "1.5: done, 50 of 50 passages"
    assert "/s" not in done.stderr, "a rate of no time at all tells nothing"
    assert "\x1b" not in done.stderr


def test_the_second_round_says_what_it_is_and_that_the_release_answers() -> None:
    later = Progress("1.5", "sentences")
    later.enter("sentences", 500)
    later.done, later.started = 100, later.started - 10
    script = [sys.executable, "-c", SHOWN, json.dumps([progress_dict(later)])]
    done = subprocess.run(script, stderr=subprocess.PIPE, text=True, check=True, cwd=ROOT)
    said = "1.5: learning its sentences (it answers already), 100 of 500 sentences, 40 s left\n"
    assert done.stderr == said


def test_a_message_names_every_release_of_the_run() -> None:
    board = Board()
    first, second = Progress("2.0"), Progress("1.5", "waiting")
    first.fail("The disk is full.")
    board.take(first)
    board.take(second)
    assert board.text() == "2.0: failed: The disk is full.\n1.5: waiting"
    second.enter("embedding", 50)
    second.done = 10
    board.take(second)
    assert board.text().splitlines()[1].startswith("1.5: indexing, 10 of 50 passages")


def test_the_longer_a_run_takes_the_less_often_its_message_is_edited() -> None:
    assert pause_after(1) == EDIT_SECONDS and pause_after(3600) == MOST_SECONDS
    edits = elapsed = 0.0
    while elapsed < 3600:
        elapsed += pause_after(elapsed)
        edits += 1
    assert edits < 410, "Slack takes 50 a minute of all messages"
