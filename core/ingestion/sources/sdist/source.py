"""Documents in a source distribution of the package index, which stays as it is once it is there."""

from __future__ import annotations

import re
import tempfile
import threading
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, cast

from pydantic import AfterValidator

from core.catalogue import SourceOptions, SourceSpec
from core.domain import RawDocument
from core.errors import SourceError, TooCostly
from core.ingestion.sources._archive import ArchiveError, discard, only_folder, unpack
from core.ingestion.sources._files import FileReader
from core.ports import Workers
from core.settings import Settings
from core.system.private_files import clear, private_folder

UNPACK_PATIENCE = 5.0
"""Times as long as a document an archive may take: 500 MB in 100,000 files."""
_ONE_AT_A_TIME = threading.Lock()
"""Two sources may want the same archive; the home itself belongs to one process."""


def _package(value: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?", value):
        raise ValueError('the name of a package, "flask"')
    return value


def _version(value: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9.!+_-]*", value):
        raise ValueError('one version, "3.1.0"')
    return value


class Options(SourceOptions):
    """`path` is a folder inside of the source distribution; all of it without one."""

    package: Annotated[str, AfterValidator(_package)]
    version: Annotated[str, AfterValidator(_version)]
    path: str = ""

    @property
    def called(self) -> str:
        """Return package, version and folder."""
        below = self.path.strip("/")
        return f"{self.package}=={self.version}{f'/{below}' if below else ''}"


class SdistSource:
    """Fetch a source distribution once, and read documents from it."""

    def __init__(
        self,
        spec: SourceSpec,
        home: Path,
        package_index: str,
        workers: Workers,
        retry_delays: Sequence[float] | None = None,
    ) -> None:
        options = cast(Options, spec.options)
        self._spec = spec
        self._package = options.package
        self._version = options.version
        self._path = options.path.strip("/")
        self.name = f"sdist:{options.called}{spec.suffix}"
        self._index = package_index
        self._retry_delays = retry_delays
        self._shelf = home / "sources" / "sdist"
        self._workers = workers
        self.skipped: list[tuple[str, str]] = []

    def documents(self) -> Iterator[RawDocument]:
        """Yield each document; the network is needed the first time only. Raises SourceError."""
        self.skipped = []
        root = self._unpacked()
        folder = (root / self._path).resolve()
        if not folder.is_relative_to(root.resolve()) or not folder.is_dir():
            raise self._spec.error(self._no_folder(root))
        given = (self._spec, root, folder, self._spec.url, self.skipped, self._workers)
        yield from FileReader(*given).documents()

    def reach(self, seconds: float) -> None:
        """Look for the version on the package index, unless it is here; raises SourceAway and SourceError."""
        from core.ingestion.sources.sdist.package_index import PackageIndex

        if (self._shelf / self._name).is_dir():
            return
        try:
            with PackageIndex(self._index, (), timeout=(seconds, seconds)) as index:
                index.look_for(self._package, self._version)
        except SourceError as error:
            raise self._spec.error(str(error), type(error)) from None

    @property
    def _name(self) -> str:
        return f"{re.sub(r'[-_.]+', '-', self._package).lower()}-{self._version.lower()}"

    def _unpacked(self) -> Path:
        name = self._name
        place = self._shelf / name
        with _ONE_AT_A_TIME:
            if place.is_dir():
                return place
            try:
                clear(place)
                private_folder(self._shelf)
                for left in self._shelf.glob(f".{name}.*"):  # by a process that was killed
                    discard(left)
                work = Path(tempfile.mkdtemp(dir=self._shelf, prefix=f".{name}."))
                try:
                    self._fetch(work, place)
                finally:
                    discard(work)
            except OSError as error:
                raise self._spec.error(
                    f"{self._shelf} cannot be written: {error.strerror or error}; make room, or choose"
                    " another THREADLORE_HOME"
                ) from None
        return place

    def _fetch(self, work: Path, place: Path) -> None:
        # a quarter of a second to load, and not needed once the archive is there
        from core.ingestion.sources.sdist.package_index import RETRY_DELAYS, PackageIndex

        delays = RETRY_DELAYS if self._retry_delays is None else self._retry_delays
        try:
            with PackageIndex(self._index, delays) as index:
                archive = index.download(self._package, self._version, work)
        except SourceError as error:
            raise self._spec.error(str(error)) from None
        tree = work / "tree"
        tree.mkdir()
        try:
            self._workers.run(unpack, archive, tree, patience=UNPACK_PATIENCE)
        except (ArchiveError, TooCostly) as error:
            raise self._spec.error(
                f"{archive.name} cannot be unpacked: {error}; take another version"
            ) from None
        only_folder(tree).rename(place)

    def _no_folder(self, root: Path) -> str:
        parent = root
        for part in Path(self._path).parts:
            if part == ".." or not (parent / part).is_dir():
                break
            parent /= part
        names = sorted(entry.name for entry in parent.iterdir() if entry.is_dir() and entry.name[0] != ".")
        near = get_close_matches(Path(self._path).name, names, n=1)
        guess = f", did you mean {near[0]!r}?" if near else ";"
        below = parent.relative_to(root).as_posix()
        where = "it" if below == "." else repr(below)
        return (
            f"There is no folder {self._path!r} in {self._package} {self._version}{guess}"
            f" folders in {where}: {', '.join(names) or 'none'};"
            ' what a package leaves out may be in its repository, kind = "git"'
        )


def open_source(spec: SourceSpec, settings: Settings, workers: Workers) -> SdistSource:
    """Build the source of a source distribution."""
    return SdistSource(spec, settings.home, settings.package_index, workers)
