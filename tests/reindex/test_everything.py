"""The short form of `make sources-home`: a few made-up pages in every kind of source."""

from __future__ import annotations

import bz2
import gzip
import json
from pathlib import Path

import pytest
from reportlab.pdfgen.canvas import Canvas

from tests.reindex.everything import run

PARTS = {
    "sources": "The lantern burns oil type {n}. Fill the lantern with oil every evening.",
    "html": "The compass needs calibration turn {n}. Calibrate the compass away from iron.",
    "crag": "The harbour master of port {n} collects the mooring fee at noon.",
    "manual": "The anchor chain has {n} links. Rinse the anchor chain after every voyage.",
}
CHAT = (
    ("Ada", "How do I mend a torn sail in version {n}?"),
    ("Bo", "&lt;@Ada&gt; use the waxed thread number {n} and a sail needle"),
    ("Ada", "thanks, that worked"),
)


def write(data: Path, release: str, n: int) -> None:
    """Write the data of one release."""
    docs = data / "sources" / release / "docs"
    docs.mkdir(parents=True)
    (docs / "lantern.md").write_text(f"# Lantern\n\n{PARTS['sources'].format(n=n)}\n")
    (data / "html" / release).mkdir(parents=True)
    text = PARTS["html"].format(n=n)
    (data / "html" / release / "compass.html").write_text(
        f"<title>Compass</title><main><h1>Compass</h1><p>{text}</p></main>"
    )
    canvas = Canvas(str(data / f"manual-{release}.pdf"))
    canvas.drawString(72, 720, PARTS["manual"].format(n=n))
    canvas.save()
    messages = "".join(
        f"<message conversation_id='1'><ts>2019-01-0{n}T10:0{at}:00.000{at}00</ts><user>{user}</user>"
        f"<text>{said.format(n=n)}</text></message>"
        for at, (user, said) in enumerate(CHAT)
    )
    with gzip.open(data / f"slack-{release}.xml.gz", "wt") as file:
        file.write(
            f"<slack><team_domain>ship</team_domain><channel_name>deck</channel_name>{messages}</slack>"
        )


async def test_every_kind_of_source_answers_with_its_link(
    tmp_path: Path, encoder_cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for n, release in enumerate(("1.0", "2.0"), start=1):
        write(tmp_path, release, n)
    with bz2.open(tmp_path / "crag.jsonl.bz2", "wt") as file:
        for n in (1, 2):
            text = PARTS["crag"].format(n=n)
            page = (
                f"<title>Harbour</title><link rel='canonical' href='https://elsewhere.example/'><p>{text}</p>"
            )
            file.write(json.dumps({"url": f"https://elsewhere.example/{n}", "html": page}) + "\n")
    asked = [
        ("What oil does the lantern burn?", "git.example/{release}/lantern"),
        ("How do I calibrate the compass?", "/{release}/html/compass.html"),
        ("When does the harbour master collect the mooring fee?", "/{release}/pages/"),
        ("How many links has the anchor chain?", "manual-{release}.pdf"),
        ("How do I mend a torn sail?", "ship.slack.com"),
    ]
    questions = tmp_path / "questions.jsonl"
    questions.write_text(
        "\n".join(
            json.dumps(
                {"kind": "", "release": release, "question": text, "link": link.format(release=release)}
            )
            for release in ("1.0", "2.0")
            for text, link in asked
        )
    )
    right, all_ = await run(tmp_path, encoder_cache, 100, questions, port=0)
    told = capsys.readouterr().out
    assert (right, all_) == (10, 10), told
    assert ", 0 links of another release" in told and "failed" not in told, told
