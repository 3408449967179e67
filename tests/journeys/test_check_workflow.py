"""The GitHub workflow of docs/evaluation.md: its own steps, run in a repository with a pull request."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from pathlib import Path
from typing import Any

import yaml

from tests.forked import program
from tests.patience import PATIENCE

ROOT = Path(__file__).parents[2]
GUIDE = ROOT / "docs" / "evaluation.md"
BASE = "${{ github.event.pull_request.base.sha }}"
WORKSPACE = "${{ github.workspace }}"
CORPORA = """[product]
name = "Kettle"

[[release]]
name = "3.1"
latest = true
[[release.source]]
kind = "folder"
path = "docs"
url = "https://kettle.example/{page}"
"""
PAGE = "# Dashboard\n\nThe dashboard listens on port {} by default.\n"
PAIR = (
    '{"question": "Which port does the dashboard listen on?", "release": "3.1", '
    '"answer": "The dashboard listens on port 9090 by default.", "url": "https://kettle.example/dashboard"}\n'
)


def workflow() -> dict[str, Any]:
    """Return the documented file, as GitHub reads it."""
    (text,) = re.findall(r"```yaml\n(# \.github/workflows.*?)```", GUIDE.read_text("utf-8"), re.DOTALL)
    return dict(yaml.safe_load(text))


class Repository:
    """A project with documentation, and a runner's machine around it."""

    def __init__(self, folder: Path, encoder_cache: Path) -> None:
        self.top, self.bin, self.home = folder / "project", folder / "bin", folder / "home"
        self.summary = folder / "summary.md"
        for made in (self.top / "docs", self.bin, self.home):
            made.mkdir(parents=True)
        (self.home / "models").symlink_to(encoder_cache)
        command = self.bin / "threadlore"
        command.write_text(f'#!/bin/sh\nexec {shlex.join(program())} "$@"\n')
        command.chmod(0o755)
        (self.top / "corpora.toml").write_text(CORPORA)
        (self.top / "pairs.jsonl").write_text(PAIR)
        (self.top / "docs" / "index.md").write_text("# Kettle\n\nA queue of jobs.\n")
        self.git("init", "-q")
        self.base = self.commit(9090)

    def git(self, *words: str) -> str:
        who = ("-c", "user.name=ann", "-c", "user.email=ann@example.org")
        done = subprocess.run(
            ("git", *who, *words), cwd=self.top, capture_output=True, check=True, timeout=PATIENCE
        )
        return done.stdout.decode().strip()

    def commit(self, port: int) -> str:
        """Commit the page with that port; return the commit."""
        (self.top / "docs" / "dashboard.md").write_text(PAGE.format(port))
        self.git("add", ".")
        self.git("commit", "-qm", f"port {port}")
        return self.git("rev-parse", "HEAD")

    def run(self, said: str, given: dict[str, str]) -> subprocess.CompletedProcess[str]:
        """Run a step as GitHub does: `bash -e` in the checkout, with the job's variables."""
        script = said.replace(BASE, self.base).replace(WORKSPACE, str(self.top))
        assert "${{" not in script
        variables = {
            "PATH": f"{self.bin}:{os.environ['PATH']}",
            "PYTHONPATH": os.environ["PYTHONPATH"],
            "HF_HUB_OFFLINE": "1",
        }
        variables |= {name: value.replace(WORKSPACE, str(self.top)) for name, value in given.items()}
        return subprocess.run(
            ("bash", "-e", "-c", script),
            cwd=self.top,
            env=variables | {"HOME": str(self.top.parent), "GITHUB_STEP_SUMMARY": str(self.summary)},
            capture_output=True,
            text=True,
            timeout=3 * PATIENCE,
        )


def test_its_steps_tell_what_a_pull_request_breaks(tmp_path: Path, encoder_cache: Path) -> None:
    there = Repository(tmp_path, encoder_cache)
    (there.top / "docs" / "index.md").write_text("# Kettle\n\nA queue of small jobs.\n")
    job = workflow()["jobs"]["check"]
    install, index, compare = (step["run"] for step in job["steps"] if "run" in step)
    assert install == 'pip install "threadlore @ $THREADLORE"'
    done = there.run(index, job["env"])
    assert done.returncode == 0, done.stderr
    for port, breaks, said in ((9191, True, "## 1 answer would break"), (9090, False, "## No")):
        there.commit(port)
        done = there.run(compare, job["env"])
        assert (done.returncode != 0) == breaks, done.stdout + done.stderr
        assert done.stdout.startswith(said) and there.summary.read_text() == done.stdout
        assert ("Which port does the dashboard listen on?" in done.stdout) == breaks
        there.summary.unlink()


def test_it_runs_where_the_documentation_changes_and_may_only_read() -> None:
    found = workflow()
    asked = found[True]  # YAML takes the word `on` for a truth
    assert asked == {"pull_request": {"paths": ["docs/**"]}} and found["permissions"] == {"contents": "read"}
    steps = found["jobs"]["check"]["steps"]
    assert steps[0]["with"]["fetch-depth"] == 0, "the commit that is compared with is there"
    assert all(re.fullmatch(r"actions/[\w-]+@v\d+", step["uses"]) for step in steps if "uses" in step)
