"""What the bot is built of: the lock, licences, advisories, the bill of materials, bandit."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
import zipfile
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement

from tests.supply.audit import CONSTRAINTS, KEPT, ROOT, findings, is_affected, pinned, plain, refreshed
from tests.supply.licences import is_allowed, listed

LOCK = ROOT / "requirements.lock"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
ELSEWHERE = {"torch"}
"""What the image takes from an index of its own."""
OF_PYTHON = {"setuptools"}
"""What a virtual environment has by itself, in any version."""


def ended(*words: str) -> subprocess.CompletedProcess[str]:
    """Run a program in the repository to its end."""
    return subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)


def locked() -> dict[str, tuple[str, list[str]]]:
    """Return version and hashes of each package in the lock."""
    blocks = re.split(r"^(?=[A-Za-z0-9])", LOCK.read_text("utf-8"), flags=re.MULTILINE)
    found = (re.match(r"([\w.-]+)(?:\[[\w,-]+\])?==(\S+)", block) for block in blocks)
    return {
        plain(match[1]): (match[2], re.findall(r"--hash=(sha256:[0-9a-f]{64})", match.string))
        for match in found
        if match
    }


def test_the_lock_has_the_tested_versions_with_their_hashes() -> None:
    pins, held = pinned(), locked()
    assert len(held) > 150 and all(hashes for _, hashes in held.values())
    assert {n: version for n, (version, _) in held.items() if n not in OF_PYTHON}.items() <= pins.items()
    needed = {plain(Requirement(one).name) for one in PROJECT["dependencies"]}
    assert needed - ELSEWHERE <= held.keys(), "make lock"
    assert "://" not in LOCK.read_text("utf-8"), "it names no index"


def test_everything_installed_for_the_image_is_locked() -> None:
    """Follow what the installed packages need, as pip would, without extras of no one."""
    installed = {plain(one.metadata["Name"]): one for one in distributions()}
    held, seen = locked(), set[str]()
    waiting = [Requirement(one) for one in PROJECT["dependencies"]]
    while waiting:
        wanted = waiting.pop()
        name = plain(wanted.name)
        if (name, *sorted(wanted.extras)) in seen or name not in installed:
            continue
        seen.add((name, *sorted(wanted.extras)))  # type: ignore[arg-type]
        assert name in held or name in ELSEWHERE, f"{name} is not in requirements.lock: make lock"
        for line in installed[name].requires or ():
            need = Requirement(line)
            extras = [{"extra": extra} for extra in ("", *wanted.extras)]
            if need.marker is None or any(need.marker.evaluate(extra) for extra in extras):
                waiting.append(need)
    assert len(seen) > 100


def test_every_licence_is_allowed() -> None:
    found = listed(distributions())
    wrong = {name: licence for name, _, licence in found if not is_allowed(licence)}
    assert not wrong, "allow it in tests/supply/licences.py, or do without the package"
    assert not is_allowed("GPL-3.0-only") and not is_allowed("") and not is_allowed("MIT AND AGPL-3.0")


EVENTS = [{"introduced": "2.0"}, {"fixed": "2.5.1"}, {"introduced": "3.0"}]
ADVISORY: dict[str, Any] = {
    "id": "MADE-1",
    "summary": "A made one",
    "affected": [
        {
            "package": {"ecosystem": "PyPI", "name": "Ai_Ohttp"},
            "ranges": [
                {"type": "GIT", "events": [{"introduced": "0"}]},
                {
                    "type": "ECOSYSTEM",
                    "events": [{"introduced": "2.0"}, {"fixed": "2.5.1"}, {"introduced": "3.0"}],
                },
            ],
            "versions": ["1.7"],
        }
    ],
}


@pytest.mark.parametrize(
    ("version", "affected"),
    [("1.6", 0), ("1.7", 1), ("2.0", 1), ("2.5", 1), ("2.5.1", 0), ("2.9", 0), ("3.0", 1), ("4.0rc1", 1)],
)
def test_an_advisory_is_about_the_versions_that_it_names(version: str, affected: int) -> None:
    found = findings([ADVISORY], {"ai-ohttp": version, "other": "2.0"})
    assert len(found) == affected
    if found:
        assert "MADE-1 (A made one); fixed in 2.5.1." in str(found[0])


def test_last_affected_withdrawn_and_other_ecosystems() -> None:
    last = {"ranges": [{"type": "ECOSYSTEM", "events": [{"introduced": "0"}, {"last_affected": "1.2"}]}]}
    assert is_affected(last, "1.2") and is_affected(last, "0.1") and not is_affected(last, "1.2.1")
    assert not findings([ADVISORY | {"withdrawn": "2026-01-01T00:00:00Z"}], {"ai-ohttp": "2.0"})
    npm = json.loads(json.dumps(ADVISORY).replace("PyPI", "npm"))
    assert not findings([npm], {"ai-ohttp": "2.0"})


def test_the_kept_file_is_refreshed_from_what_osv_publishes_and_checked(tmp_path: Path) -> None:
    name, version = next(iter(pinned().items()))
    ours = json.loads(json.dumps(ADVISORY).replace("Ai_Ohttp", name).replace("1.7", version))
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        archive.writestr("MADE-1.json", json.dumps(ours))
        archive.writestr("MADE-2.json", json.dumps(ADVISORY))
    assert [one["id"] for one in refreshed(tmp_path / "all.zip", pinned())] == ["MADE-1"]
    given = ("--refresh", str(tmp_path / "all.zip"), "--kept", str(tmp_path / "kept.json"))
    done = ended(sys.executable, "-m", "tests.supply.audit", *given)
    assert done.returncode == 1 and f"{name} {version}: MADE-1" in done.stdout, done
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", json.loads((tmp_path / "kept.json").read_text())["date"])


def test_no_pinned_package_has_an_advisory_in_the_kept_file() -> None:
    held = json.loads(KEPT.read_text("utf-8"))
    assert held.keys() == {"date", "source", "advisories"} and bool(held["date"]) == bool(held["advisories"])
    assert not findings(held["advisories"], pinned())


def test_the_bill_of_materials_has_every_pinned_package_that_is_installed(tmp_path: Path) -> None:
    program = Path(sys.executable).with_name("cyclonedx-py")
    made = [
        str(program),
        "environment",
        "--output-reproducible",
        "--of",
        "JSON",
        "-o",
        str(tmp_path / "bill.json"),
    ]
    subprocess.run([*made, sys.executable], check=True, capture_output=True)
    bill = json.loads((tmp_path / "bill.json").read_text("utf-8"))
    assert bill["bomFormat"] == "CycloneDX"
    listed_there = {plain(one["name"]) for one in bill["components"]}
    installed = {plain(one.metadata["Name"]) for one in distributions()}
    assert pinned().keys() & installed <= listed_there


def test_bandit_finds_nothing_and_what_is_let_pass_says_why() -> None:
    program = Path(sys.executable).with_name("bandit")
    rooms = ("bot", "core", "storage", "evaluation")
    done = ended(str(program), "-q", "-r", "-c", "pyproject.toml", *rooms)
    assert done.returncode == 0, done.stdout
    marks = [
        line
        for room in rooms
        for file in (ROOT / room).rglob("*.py")
        for line in file.read_text("utf-8").splitlines()
        if "nosec" in line
    ]
    assert marks and all(re.search(r"# nosec B\d{3} # \w+", line) for line in marks), marks


def test_constraints_are_exact() -> None:
    lines = [
        line for line in CONSTRAINTS.read_text("utf-8").splitlines() if line and not line.startswith("#")
    ]
    assert all(re.fullmatch(r"[\w.-]+==[\w.+!-]+", line) for line in lines) and len(lines) == len(pinned())
