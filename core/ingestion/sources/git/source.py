"""Documents in a git repository, at a branch, a tag or a commit."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, cast

from pydantic import AfterValidator

from core.catalogue import SourceOptions, SourceSpec
from core.domain import RawDocument, content_hash
from core.errors import SourceAway
from core.ingestion.sources._files import FileReader
from core.ingestion.sources.git.checkout import GitAway, GitError, check_out, names, refs, without_password
from core.ports import Workers
from core.settings import Settings

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


class GitSource:
    """Keep a shallow checkout of one ref up to date, and read documents from it."""

    def __init__(self, spec: SourceSpec, home: Path, workers: Workers) -> None:
        options = cast(Options, spec.options)
        self._spec = spec
        self._ref = options.ref
        self._path = options.path.strip("/")
        remote = _REMOTE.fullmatch(options.repository) is not None
        self._repository = options.repository if remote else str(spec.resolve(options.repository))
        shown = without_password(options.repository)
        at = f"@{self._ref}" if self._ref else ""
        below = f"/{self._path}" if self._path else ""
        self.name = f"git:{shown}{at}{below}{spec.suffix}"
        self._shown = shown
        slug = re.sub(r"[^\w.-]+", "-", shown.rstrip("/").removesuffix(".git").rpartition("/")[2])[:40]
        self._checkout = home / "sources" / "git" / f"{slug}-{content_hash(self._repository, self._ref)[:16]}"
        self.url = spec.url or _view(options.repository, self._ref, self._path)
        self._workers = workers
        self.skipped: list[tuple[str, str]] = []

    def documents(self) -> Iterator[RawDocument]:
        """Yield each document of the newest commit of the ref; raises SourceError."""
        self.skipped = []
        with _ONE_AT_A_TIME:
            try:
                check_out(self._repository, self._ref, self._checkout)
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
            known = names(self._repository, seconds)
        except GitAway as error:
            later = "look at the network; what was read before goes on answering"
            raise self._spec.error(f"{self._shown}: {error}; {later}", SourceAway) from None
        except GitError as error:
            raise self._spec.error(f"{error}; correct `repository`, or look at its permissions") from None
        if self._ref and self._ref not in known and not re.fullmatch(r"[0-9a-f]{40,64}", self._ref):
            raise self._spec.error(self._no_ref(known))

    def _no_ref(self, known: Sequence[str]) -> str:
        near = get_close_matches(self._ref, known, n=5, cutoff=0.4) or known[:5]
        return (
            f"There is no branch, tag or whole commit id {self._ref!r} in {self._shown}; near it:"
            f" {', '.join(near) or 'nothing'}"
        )

    def _explained(self, error: GitError) -> str:
        if "remote ref" in str(error) and self._ref:
            return self._no_ref(refs(self._repository))
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
