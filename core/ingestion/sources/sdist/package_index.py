"""Fetching source distributions from a package index, without running anything of theirs."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar
from urllib.parse import unquote, urlsplit, urlunsplit

from pypi_simple import (
    DigestMismatchError,
    DistributionPackage,
    NoSuchProjectError,
    ProjectPage,
    PyPISimple,
    UnsupportedContentTypeError,
    UnsupportedRepoVersionError,
)

from core.errors import SourceAway, SourceError
from core.text.version_order import normalised, version_key

MAX_DOWNLOAD_BYTES = 250_000_000
"""Bytes of one archive; PyPI's own default limit for a file is 100 MB."""
TIMEOUT = (10.0, 60.0)
"""Seconds to connect, and between two pieces of an answer."""
RETRY_DELAYS = (0.5, 2.0)
"""Seconds before the second and the third try, where the network was in the way."""

_Result = TypeVar("_Result")
_REASONS = tuple(
    map(re.compile, (r"Failed to resolve '[^']+'", r"Name or service not known", r"Connection refused"))
)
"""What an error says of why an index cannot be reached."""
_NOT_FINAL = frozenset({408, 429, 500, 502, 503, 504})


class PackageIndex:
    """A simple repository (PEP 503 in HTML, PEP 691 in JSON); use it as a context manager."""

    def __init__(
        self,
        url: str,
        retry_delays: Sequence[float] = RETRY_DELAYS,
        max_bytes: int = MAX_DOWNLOAD_BYTES,
        timeout: tuple[float, float] = TIMEOUT,
    ) -> None:
        self._url, auth = _without_password(url)
        self._client = PyPISimple(self._url, auth=auth)
        # requests reads REQUESTS_CA_BUNDLE by itself, but not what OpenSSL and Python go by
        self._client.s.verify = os.environ.get("SSL_CERT_FILE") or True
        self._retry_delays = retry_delays
        self._max_bytes = max_bytes
        self._timeout = timeout

    def __enter__(self) -> PackageIndex:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._client.s.close()

    def download(self, package: str, version: str, folder: Path) -> Path:
        """Fetch the sdist of exactly that version to a folder, checked against the index's digest.

        Raises SourceError; a disk that is full stays an OSError.
        """
        found = self._find(self._page(package), package, version)
        file = folder / Path(found.filename).name
        if found.size is not None and found.size > self._max_bytes:
            raise _TooLarge(found.filename, self._max_bytes)

        def fetch() -> None:
            self._client.download_package(
                found,
                file,
                verify=bool(found.digests),
                progress=lambda length: _Limit(found.filename, self._max_bytes),
                timeout=self._timeout,
            )

        try:
            self._tried(fetch, found.filename)
        except DigestMismatchError:
            raise SourceError(
                f"What the package index gave as {found.filename} has another digest than it says;"
                " do not trust it, and try another PACKAGE_INDEX"
            ) from None
        return file

    def look_for(self, package: str, version: str) -> None:
        """Ask whether there is an sdist of exactly that version; raises SourceAway and SourceError."""
        self._find(self._page(package), package, version)

    def _page(self, package: str) -> ProjectPage:
        try:
            return self._tried(lambda: self._client.get_project_page(package, timeout=self._timeout), package)
        except NoSuchProjectError:
            raise SourceError(
                f"There is no package {package!r} on {self._url}; correct `package`, or set PACKAGE_INDEX"
            ) from None
        except (UnsupportedContentTypeError, UnsupportedRepoVersionError):
            raise self._no_index() from None

    def _find(self, page: ProjectPage, package: str, version: str) -> DistributionPackage:
        same = [p for p in page.packages if p.version is not None and _same(p.version, version)]
        archives = [p for p in same if p.package_type == "sdist"]
        if archives:
            return min(archives, key=lambda p: not p.filename.endswith(".tar.gz"))
        versions = {p.version for p in page.packages if p.package_type == "sdist" and p.version}
        near = ", ".join(_nearest(version, versions))
        if not near:
            raise SourceError(
                f"{package} has no source distribution on the package index;"
                ' take its documentation from its repository, with kind = "git"'
            )
        if same:
            raise SourceError(
                f"{package} {version} is on the package index as wheels alone; versions with a source"
                f" distribution near it: {near}"
            )
        raise SourceError(f"There is no {package} {version} on the package index; versions near it: {near}")

    def _tried(self, work: Callable[[], _Result], what: str) -> _Result:
        for delay in (*self._retry_delays, None):
            try:
                return work()
            except DigestMismatchError:
                raise
            except ValueError:  # a URL that is none, or JSON that is none
                raise self._no_index() from None
            except OSError as error:  # what requests raises is one
                if error.errno is not None and not isinstance(error, ConnectionError | TimeoutError):
                    raise  # the disk's: those of requests carry no number
                status = getattr(getattr(error, "response", None), "status_code", None)
                if delay is not None and (status is None or status in _NOT_FINAL):
                    time.sleep(delay)
                    continue
                kind = SourceAway if status is None or status in _NOT_FINAL else SourceError
                raise kind(self._unreachable(error, status, what)) from None
        raise AssertionError("the last try returns or raises")

    def _no_index(self) -> SourceError:
        return SourceError(
            f"{self._url} does not answer as a package index; set PACKAGE_INDEX to one, such as"
            " https://pypi.org/simple/"
        )

    def _unreachable(self, error: OSError, status: int | None, what: str) -> str:
        advice = "check the network, or set PACKAGE_INDEX to an index that this machine can reach"
        if status in (401, 403):
            advice = "put user and password into PACKAGE_INDEX: https://user:password@host/simple/"
        reason = f"it answers with status {status}" if status else _reason(error)
        return f"The package index {self._url} does not give {what}: {reason}; {advice}"


class _TooLarge(SourceError):
    def __init__(self, name: str, limit: int) -> None:
        super().__init__(
            f"{name} is larger than {limit:,} bytes, which no documentation needs; take another source"
        )


class _Limit:
    """Follow a download, as pypi-simple's progress trackers do, and stop it when it grows too large."""

    def __init__(self, name: str, limit: int) -> None:
        self._name = name
        self._limit = limit
        self._seen = 0

    def __enter__(self) -> _Limit:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        return None

    def update(self, increment: int) -> None:
        self._seen += increment
        if self._seen > self._limit:
            raise _TooLarge(self._name, self._limit)


def _without_password(url: str) -> tuple[str, Callable[[Any], Any] | None]:
    """Take user and password out of a URL, so that they show in no error and reach no other host."""
    parts = urlsplit(url)
    if parts.username is None:
        return url, None
    host = parts.netloc.rpartition("@")[2]
    user, password = unquote(parts.username), unquote(parts.password or "")

    def authorise(request: Any) -> Any:
        if urlsplit(request.url).netloc == host:
            request.prepare_auth((user, password))
        return request

    return urlunsplit(parts._replace(netloc=host)), authorise


def _reason(error: OSError) -> str:
    text = str(error)
    for pattern in _REASONS:
        if found := pattern.search(text):
            return found[0][0].lower() + found[0][1:]
    if "CERTIFICATE_VERIFY_FAILED" in text:
        return "its certificate is not trusted (SSL_CERT_FILE names the file of those that are)"
    return re.sub(r"(?<!^)(?=[A-Z])", " ", type(error).__name__).lower()


def _same(one: str, other: str) -> bool:
    def bare(version: str) -> str:
        return (
            re.sub(r"(?:\.0{1,20}+){1,20}+(?=$|[a-z])", "", normalised(version))
            .replace("-", "")
            .replace("_", "")
        )

    return bare(one) == bare(other)


def _nearest(version: str, versions: set[str], count: int = 6) -> list[str]:
    """Return the versions around the wanted place in the order of versions."""
    ordered = sorted(versions, key=version_key)
    place = sum(version_key(other) < version_key(version) for other in ordered)
    start = max(0, min(place - count // 2, len(ordered) - count))
    return ordered[start : start + count]
