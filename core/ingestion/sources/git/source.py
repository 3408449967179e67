"""Documents in a git repository, at a branch, a tag or a commit, which is checked out beside the home."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import threading
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, cast
from urllib.parse import urlsplit

from pydantic import AfterValidator

from core.catalogue import SourceOptions, SourceSpec, without_password
from core.domain import RawDocument, content_hash
from core.errors import SourceAway
from core.ingestion.sources._archive import discard
from core.ingestion.sources._files import FileReader
from core.ingestion.sources._public import NotPublic, public_addresses
from core.ports import Workers
from core.settings import Settings
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


def check_out(repository: str, ref: str, place: Path, more: Sequence[str] = ()) -> None:
    """Bring `place` to the newest commit of a ref (branch, tag or whole commit id; empty for HEAD).

    A checkout that a killed process left half done is remade. `more` are settings of git. Raises GitError.
    """
    if (place / ".git").is_dir():
        try:
            _update(repository, ref, place, more)
            return
        except GitError:
            if not _reachable(repository, more):
                raise
            discard(place)
    if not place.is_dir() or (place / ".git").exists():
        clear(place)  # something else than a checkout is in the way
    private_folder(place)
    _git(place, "init", "--quiet")
    try:
        _update(repository, ref, place, more)
    except GitError:
        discard(place)
        raise


def refs(repository: str, more: Sequence[str] = ()) -> list[str]:
    """Return the names of branches and tags."""
    listed = _git(Path.cwd(), *more, "ls-remote", "--heads", "--tags", "--refs", "--", repository)
    return [line.split("refs/", 1)[1].partition("/")[2] for line in listed.splitlines() if "refs/" in line]


def names(repository: str, seconds: float, more: Sequence[str] = ()) -> list[str]:
    """Return the names of branches and tags, as `refs` does, within so many seconds.

    Raises GitAway where the repository does not answer by then or cannot be reached, else GitError.
    """
    command, environment = _command(*more, "ls-remote", "--heads", "--tags", "--refs", "--", repository)
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


def public_only(repository: str) -> tuple[str, ...]:
    """Return the settings by which git speaks to the addresses that were checked, and to no others.

    Git would resolve the name once more, follow redirects and use a proxy. Raises GitError.
    """
    parts = urlsplit(repository)
    host, port = parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)
    try:
        found = public_addresses(host, port)
    except OSError:
        raise GitAway(f"could not resolve host {host}") from None
    except NotPublic:
        raise GitError(f"{host} is no public address") from None
    pinned = ",".join(f"[{one}]" if ":" in one else one for one in found)
    settings = (
        f"http.curloptResolve={host}:{port}:{pinned}",
        "http.followRedirects=false",
        "http.proxy=",
        "protocol.allow=never",
        f"protocol.{parts.scheme}.allow=always",
    )
    return tuple(part for setting in settings for part in ("-c", setting))


def _update(repository: str, ref: str, place: Path, more: Sequence[str]) -> None:
    _git(
        place, *more, "fetch", "--quiet", "--depth=1", "--no-tags", "--force", "--no-write-commit-graph",
        "--", repository, ref or "HEAD",
    )  # fmt: skip
    _git(place, "checkout", "--quiet", "--force", "--detach", "FETCH_HEAD")
    _git(place, "clean", "--quiet", "-ffdx")


def _reachable(repository: str, more: Sequence[str]) -> bool:
    try:
        _git(Path.cwd(), *more, "ls-remote", "--quiet", "--exit-code", "--", repository, "HEAD")
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


_ONE_AT_A_TIME = threading.Lock()
"""Two sources may read the same checkout; git would find the other one's lock."""

_REMOTE = re.compile(r"(?:https?|ssh|git|file)://\S+|(?:[\w.-]+@)?[\w.-]{2,}:[^:/\\\s][^\s]*")
_HOSTED = re.compile(
    r"(?:https://|ssh://git@|git@)(github\.com|gitlab\.com|codeberg\.org)[/:](.+?)(?:\.git)?/?"
)
_VIEWS = {
    "github.com": "https://github.com/{0}/blob/{1}/{2}{{path}}",
    "gitlab.com": "https://gitlab.com/{0}/-/blob/{1}/{2}{{path}}",
    "codeberg.org": "https://codeberg.org/{0}/src/{1}/{2}{{path}}",
}


def _repository(value: str) -> str:
    helper = "::" in value or ("://" in value and not _REMOTE.fullmatch(value))  # ext::, another scheme
    if not value.strip() or value.startswith("-") or helper:
        raise ValueError("a URL (https, ssh, git, file), user@host:path, or a folder")
    return value


def _ref(value: str) -> str:
    if not re.fullmatch(r"(?!-)[^\s~^:?*\[\\+]*", value) or ".." in value:
        raise ValueError('a branch, a tag or a whole commit id, "v3.1"')
    return value


class Options(SourceOptions):
    """`repository` is a URL or a folder; `path` a folder in it, all of it without one."""

    repository: Annotated[str, AfterValidator(_repository)]
    ref: Annotated[str, AfterValidator(_ref)] = ""
    path: str = ""

    @property
    def called(self) -> str:
        """Return repository, ref and folder."""
        at, below = f"@{self.ref}" if self.ref else "", self.path.strip("/")
        return f"{without_password(self.repository)}{at}{f'/{below}' if below else ''}"


class GitSource:
    """Keep a shallow checkout of one ref up to date, and read documents from it."""

    def __init__(self, spec: SourceSpec, home: Path, workers: Workers) -> None:
        options = cast(Options, spec.options)
        self._spec, self._workers, self._ref, self._path = spec, workers, options.ref, options.path.strip("/")
        remote = _REMOTE.fullmatch(options.repository) is not None
        self._repository = options.repository if remote else str(spec.resolve(options.repository))
        self.name = f"git:{options.called}{spec.suffix}"
        self._shown = shown = without_password(options.repository)
        slug = re.sub(r"[^\w.-]+", "-", shown.rstrip("/").removesuffix(".git").rpartition("/")[2])[:40]
        self._checkout = home / "sources" / "git" / f"{slug}-{content_hash(self._repository, self._ref)[:16]}"
        self.url = spec.url or _view(options.repository, self._ref, self._path)
        self.skipped: list[tuple[str, str]] = []

    def documents(self) -> Iterator[RawDocument]:
        """Yield each document of the newest commit of the ref; raises SourceError."""
        self.skipped = []
        with _ONE_AT_A_TIME:
            try:
                check_out(self._repository, self._ref, self._checkout, self._settings())
            except GitError as error:
                raise self._spec.error(self._explained(error)) from None
            except OSError as error:
                raise self._spec.error(
                    f"{self._checkout} cannot be written: {error.strerror}; make room, or choose another"
                    " THREADLORE_HOME"
                ) from None
        folder = (self._checkout / self._path).resolve()
        if not folder.is_relative_to(self._checkout.resolve()) or not folder.is_dir():
            names = sorted(p.name for p in self._checkout.iterdir() if p.is_dir() and p.name[0] != ".")
            raise self._spec.error(
                f"There is no folder {self._path!r} in {self._shown};"
                f" folders in it: {', '.join(names) or 'none'}"
            )
        given = (self._spec, self._checkout, folder, self.url, self.skipped, self._workers)
        yield from FileReader(*given).documents()

    def reach(self, seconds: float) -> None:
        """Ask the repository for its branches and tags; raises SourceAway and SourceError."""
        try:
            known = names(self._repository, seconds, self._settings())
        except GitAway as error:
            later = "check the network; what was read before keeps answering"
            raise self._spec.error(f"{self._shown}: {error}; {later}", SourceAway) from None
        except GitError as error:
            raise self._spec.error(f"{error}; correct `repository`, or look at its permissions") from None
        if self._ref and self._ref not in known and not re.fullmatch(r"[0-9a-f]{40,64}", self._ref):
            raise self._spec.error(self._no_ref(known))

    def _settings(self) -> tuple[str, ...]:
        """Return how git is kept to public addresses, where an admin added the source; raises GitError."""
        return public_only(self._repository) if self._spec.by_admin else ()

    def _no_ref(self, known: Sequence[str]) -> str:
        near = get_close_matches(self._ref, known, n=5, cutoff=0.4) or known[:5]
        return (
            f"There is no branch, tag or whole commit id {self._ref!r} in {self._shown}; near it:"
            f" {', '.join(near) or 'nothing'}"
        )

    def _explained(self, error: GitError) -> str:
        if "remote ref" in str(error) and self._ref:
            return self._no_ref(refs(self._repository, self._settings()))
        return (
            f"git cannot fetch {self._shown}: {error}; correct `repository`, or check network and permissions"
        )


def _view(repository: str, ref: str, path: str) -> str:
    """Return the page of a file on the hosts that are known, for sources without a `url`."""
    found = _HOSTED.fullmatch(repository)
    return _VIEWS[found[1]].format(found[2], ref or "HEAD", f"{path}/" if path else "") if found else ""


def open_source(spec: SourceSpec, settings: Settings, workers: Workers) -> GitSource:
    """Build the source of a git repository."""
    return GitSource(spec, settings.home, workers)
