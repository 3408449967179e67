"""Reading files that a document includes: inside the source's root only."""

from __future__ import annotations

from pathlib import Path

from core.domain import RawDocument

MAX_INCLUDED_BYTES = 1_000_000
"""Size of one included file above which it is passed over; ours, a changelog of 20 years has 400 kB."""


def location(raw: RawDocument) -> Path | None:
    """Return where the document lies on disk, None where it came from elsewhere.

    `file` may be absolute, relative to the root, or relative to where the process runs.
    """
    if not raw.root:
        return None
    file = Path(raw.file or raw.path)
    inside = Path(raw.root) / file
    return file if not inside.exists() and file.exists() else inside


def read_within(root: str, base: Path, target: str) -> tuple[Path, str] | None:
    """Read `target` as seen from the folder `base`, None unless it is a text file inside `root`.

    A leading slash means the nearest folder above `base` (not above `root`) that has the file, as
    Sphinx's source folder does. Symbolic links are followed before the check, so none leads out.
    """
    if not root or not target or "\0" in target:
        return None
    try:
        inside = Path(root).resolve(strict=True)
        if target.startswith("/"):
            folders = [f for f in (base, *base.parents) if f.resolve().is_relative_to(inside)]
            candidates = [folder / target.lstrip("/") for folder in folders]
        else:
            candidates = [base / target]
        for candidate in candidates:
            file = candidate.resolve()
            if file.is_relative_to(inside) and file.is_file() and file.stat().st_size <= MAX_INCLUDED_BYTES:
                content = file.read_bytes()
                return None if b"\0" in content else (file, content.decode("utf-8-sig", "replace"))
    except (OSError, RuntimeError, ValueError):
        return None
    return None
