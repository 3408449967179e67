"""`make sources-home DATA=folder`: one home of every kind of source, for two releases each.

The folder, which is never part of the repository, holds for each release R (two of them, any names):

    sources/R/        a program's sources with `docs/`; they become the refs of one git repository
    html/R/           a built HTML documentation, served on loopback
    crag.jsonl.bz2    CRAG's pages, every second one for either release, on the same loopback server
    manual-R.pdf      a manual
    slack-R.xml.gz    a channel in the form of the Disentangled Slack Chats

It makes `DATA/made`, brings the home in it up to date, tells its status, and asks the questions of
`questions.jsonl`, which were written before any was asked, for the data that docs/sources.md names; `link`
is a part of the right link.
"""

from __future__ import annotations

import argparse
import asyncio
import functools
import http.server
import json
import os
import re
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bot.app.bootstrap import build
from bot.commands.command_line import handle
from bot.operations.application import Application
from core.domain import Question
from core.settings import load_settings
from evaluation.cleaning import pages
from tests.reindex.slack_export import convert
from tests.shared_processes import SHARED
from tests.shared_vectors import one_for_all

PORT = 8931
QUESTIONS = Path(__file__).with_name("questions.jsonl")
_ELSEWHERE = re.compile(r"<(?:link[^>]*\bcanonical\b|base\b)[^>]*>", re.IGNORECASE)
"""What sends a reader of a copied page to the original site."""


def prepare(data: Path, work: Path, messages: int, port: int) -> list[str]:
    """Make repository, site and exports of the data; return the releases, the latest last."""
    releases = sorted(folder.name for folder in (data / "sources").iterdir())
    repository = work / "repository"
    repository.mkdir(parents=True)
    _git(repository, "init", "--quiet", "--initial-branch", "main")
    copied = list(pages(data / "crag.jsonl.bz2"))
    for place, release in enumerate(releases):
        for old in repository.iterdir():
            if old.name != ".git":
                shutil.rmtree(old) if old.is_dir() else old.unlink()
        shutil.copytree(data / "sources" / release, repository, dirs_exist_ok=True, symlinks=True)
        # copies keep their times: without this git takes a page of the same length for the old one
        (repository / ".git" / "index").unlink(missing_ok=True)
        _git(repository, "add", "--all")
        _git(repository, "commit", "--quiet", "--message", release)
        _git(repository, "tag", f"v{release}")
        site = work / "site" / release
        shutil.copytree(data / "html" / release, site / "html")
        (site / "pages").mkdir()
        names = [
            f"html/{file.relative_to(site / 'html')}" for file in sorted((site / "html").rglob("*.html"))
        ]
        for number, (_, html) in list(enumerate(copied))[place :: len(releases)]:
            names.append(f"pages/{number}.html")
            (site / names[-1]).write_text(_ELSEWHERE.sub("", html), encoding="utf-8")
        links = "".join(f'<li><a href="{name}">{name}</a></li>' for name in names)
        (site / "index.html").write_text(f"<title>Contents</title><ul>{links}</ul>", encoding="utf-8")
        (work / "manuals").mkdir(exist_ok=True)
        shutil.copy(data / f"manual-{release}.pdf", work / "manuals")
    spaces = {r: convert(data / f"slack-{r}.xml.gz", work / f"slack-{r}", messages) for r in releases}
    (work / "corpora.toml").write_text(_catalogue(releases, spaces, port), encoding="utf-8")
    return releases


def _catalogue(releases: list[str], spaces: dict[str, str], port: int) -> str:
    parts = [_release(release, releases[-1], spaces[release], port) for release in releases]
    return '[product]\nname = "Workshop"\n' + "".join(parts)


def _release(release: str, latest: str, workspace: str, port: int) -> str:
    return f"""
[[release]]
name = "{release}"
latest = {str(release == latest).lower()}
[[release.source]]
kind = "git"
repository = "repository"
ref = "v{release}"
path = "docs"
url = "https://git.example/{release}/{{page}}"
[[release.source]]
kind = "website"
start = ["http://127.0.0.1:{port}/{release}/index.html"]
private = true
delay = 0
[[release.source]]
kind = "pdf"
path = "manuals/manual-{release}.pdf"
url = "https://manuals.example/{{path}}"
[[release.source]]
kind = "history"
path = "slack-{release}"
workspace = "{workspace}"
"""


def _git(folder: Path, *arguments: str) -> None:
    who = {f"GIT_{r}_{w}": "workshop@example.org" for r in ("AUTHOR", "COMMITTER") for w in ("NAME", "EMAIL")}
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), **who}
    subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True, env=environment)


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def served(folder: Path, port: int) -> Iterator[int]:
    """Serve a folder on loopback; yield the port (a free one for 0)."""
    handler = functools.partial(_Quiet, directory=str(folder))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", port), handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


async def ask(app: Application, questions: list[dict[str, Any]]) -> tuple[list[str], int, int]:
    """Ask all; return a table, how many were answered with the right link, and links of other releases."""
    lines = ["| kind | release | question | route | first link | right |", "|---|---|---|---|---|---|"]
    right = foreign = 0
    for entry in questions:
        answer = await app.engine.answer(Question(entry["question"], release=entry["release"]))
        links = [citation.url for citation in answer.citations]
        foreign += sum(citation.release != entry["release"] for citation in answer.citations)
        first = links[0] if links else "none"
        wanted = [entry[key] for key in ("link", "or") if key in entry]
        place = next((at for at, link in enumerate(links, 1) if any(part in link for part in wanted)), 0)
        right += place > 0
        told = "first" if place == 1 else f"number {place}" if place else f"no, {entry['link']}"
        lines.append(
            f"| {entry['kind']} | {entry['release']} | {entry['question']} | {answer.route} | {first} "
            f"| {told} |"
        )
    return lines, right, foreign


async def run(data: Path, models: Path, messages: int, asked: Path, port: int = PORT) -> tuple[int, int]:
    """Build the home and ask; return how many questions got the right link, and how many there are."""
    work = data / "made"
    for made in [work / "repository", work / "site", work / "manuals", *work.glob("slack-*")]:
        shutil.rmtree(made, ignore_errors=True)
    home = work / "home"
    home.mkdir(parents=True, exist_ok=True)
    questions = [json.loads(line) for line in asked.read_text(encoding="utf-8").splitlines()]
    with served(work / "site", port) as its_port:
        releases = prepare(data, work, messages, its_port)
        if not (home / "models").exists():
            (home / "models").symlink_to(models)
        settings = load_settings(home=home, config=work / "corpora.toml", ollama_host="off")
        async with build(settings, "index", one_for_all, SHARED) as app:
            for release in releases:
                began = time.monotonic()
                (done,) = await app.corpus_manager.reindex(release)
                print(
                    f"{release}: {done.corpus.documents} documents, {done.corpus.chunks} passages, "
                    f"{len(done.reading.skipped)} passed over, {time.monotonic() - began:.0f} s"
                )
                for source, error in done.reading.failed:
                    print(f"  {source} failed: {error}")
            for command in ("status", "sources"):
                await handle(app, {"command": command}, _told)
            lines, right, foreign = await ask(app, questions)
    print("\n".join(lines))
    print(f"{right} of {len(questions)} with the right link, {foreign} links of another release")
    return right, len(questions)


async def _told(message: dict[str, Any]) -> None:
    if "line" in message:
        print(message["line"])


def main() -> None:
    """Run as the command line says; exit status 1 where a link is wrong."""
    options = argparse.ArgumentParser(prog="python -m tests.reindex.everything", description=__doc__)
    options.add_argument("data", type=Path)
    options.add_argument("--models", type=Path, default=Path(".threadlore/models"))
    options.add_argument("--questions", type=Path, default=QUESTIONS)
    options.add_argument("--messages", type=int, default=3000, help="messages of each channel")
    given = options.parse_args()
    given.models.mkdir(parents=True, exist_ok=True)
    data, models = given.data.absolute(), given.models.absolute()
    right, all_ = asyncio.run(run(data, models, given.messages, given.questions))
    sys.exit(0 if right == all_ else 1)


if __name__ == "__main__":
    main()
