"""The git command: a shallow checkout of one ref, with nothing in it that git would run."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from pathlib import Path

from core.ingestion.sources._archive import discard
from core.system.private_files import clear, private_folder

TIMEOUT = 900.0
"""Seconds for one git command; a first shallow fetch of a large repository takes minutes."""

_SETTINGS = (
    "protocol.ext.allow=never",  # ext:: runs a command of the URL's choice
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "submodule.recurse=false",
    "gc.auto=0",
    "advice.detachedHead=false",
)
_DEFAULTS = {
    "GIT_SSH_COMMAND": "ssh -o BatchMode=yes",
    "GIT_LFS_SKIP_SMUDGE": "1",
    "GIT_HTTP_LOW_SPEED_LIMIT": "100",
    "GIT_HTTP_LOW_SPEED_TIME": "60",
}
_FORCED = {
    "GIT_TERMINAL_PROMPT": "0",  # nobody sits there to type a password
    "GIT_ASKPASS": "true",
    "LC_ALL": "C",  # its errors are read
}
_OF_ANOTHER_REPOSITORY = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_PREFIX")


_AWAY = re.compile(
    r"resolve host|timed out|connect to|Connection (?:refused|reset|closed)|unreachable|error: 5\d\d", re.I
)
"""What git and ssh say where the network or the host is to blame."""


class GitError(Exception):
    """Say in git's words what went wrong."""


class GitAway(GitError):
    """Say that a repository does not answer now."""


def check_out(repository: str, ref: str, place: Path) -> None:
    """Bring `place` to the newest commit of a ref (branch, tag or whole commit id; empty for HEAD).

    A checkout that a killed process left half done is made anew. Raises GitError.
    """
    if (place / ".git").is_dir():
        try:
            _update(repository, ref, place)
            return
        except GitError:
            if not _reachable(repository):
                raise
            discard(place)
    if not place.is_dir() or (place / ".git").exists():
        clear(place)  # something else than a checkout is in the way
    private_folder(place)
    _git(place, "init", "--quiet")
    try:
        _update(repository, ref, place)
    except GitError:
        discard(place)
        raise


def refs(repository: str) -> list[str]:
    """Return the names of branches and tags."""
    listed = _git(Path.cwd(), "ls-remote", "--heads", "--tags", "--refs", "--", repository)
    return [line.split("refs/", 1)[1].partition("/")[2] for line in listed.splitlines() if "refs/" in line]


def names(repository: str, seconds: float) -> list[str]:
    """Return the names of branches and tags, as `refs` does, within so many seconds.

    Raises GitAway where the repository does not answer by then or cannot be reached, else GitError.
    """
    command, environment = _command("ls-remote", "--heads", "--tags", "--refs", "--", repository)
    try:
        process = subprocess.Popen(
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except FileNotFoundError:
        raise GitError("the git command is not there; install git") from None
    with process:
        try:
            listed, said = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)  # with what it started to speak to the network
            raise GitAway(f"no answer within {seconds:g} s") from None
    if process.returncode:
        told = _told(said, process.returncode)
        raise (GitAway if _AWAY.search(said.decode("utf-8", "replace")) else GitError)(told)
    lines = listed.decode("utf-8", "replace").splitlines()
    return [line.split("refs/", 1)[1].partition("/")[2] for line in lines if "refs/" in line]


def without_password(text: str) -> str:
    """Take user and password out of the URLs in a text."""
    return re.sub(r"(?<=://)[^/@\s]*@", "", text)


def _update(repository: str, ref: str, place: Path) -> None:
    _git(
        place, "fetch", "--quiet", "--depth=1", "--no-tags", "--force", "--no-write-commit-graph", "--",
        repository, ref or "HEAD",
    )  # fmt: skip
    _git(place, "checkout", "--quiet", "--force", "--detach", "FETCH_HEAD")
    _git(place, "clean", "--quiet", "-ffdx")


def _reachable(repository: str) -> bool:
    try:
        _git(Path.cwd(), "ls-remote", "--quiet", "--exit-code", "--", repository, "HEAD")
    except GitError:
        return False
    return True


def _git(place: Path, *arguments: str) -> str:
    command, environment = _command(*arguments)
    try:
        done = subprocess.run(
            command,
            cwd=place,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=TIMEOUT,
            check=False,
        )
    except FileNotFoundError:
        raise GitError("the git command is not there; install git") from None
    except subprocess.TimeoutExpired:
        raise GitError(f"it took more than {TIMEOUT:.0f} s") from None
    except OSError as error:
        raise GitError(f"git cannot be started: {error.strerror}") from None
    if done.returncode:
        raise GitError(_told(done.stderr, done.returncode))
    return done.stdout.decode("utf-8", "replace")


def _command(*arguments: str) -> tuple[list[str], dict[str, str]]:
    """Return a git command that runs nothing of a repository's, and its environment."""
    settings = [part for setting in _SETTINGS for part in ("-c", setting)]
    environment = {**_DEFAULTS, **os.environ, **_FORCED}
    for name in _OF_ANOTHER_REPOSITORY:
        environment.pop(name, None)
    return ["git", *settings, *arguments], environment


def _told(said: bytes, status: int) -> str:
    """Return git's own words for what went wrong, without passwords."""
    lines = said.decode("utf-8", "replace").strip().splitlines()
    told = next((line for line in lines if line.startswith(("fatal:", "error:"))), lines[-1] if lines else "")
    return without_password(told) or f"git ends with status {status}"
