from __future__ import annotations

import gzip
import io
import struct
import tarfile
import zipfile
from pathlib import Path

import pytest

from core.ingestion.sources._archive import ArchiveError, only_folder, unpack
from tests.core.ingestion_sources.index_server import tar_of, zip_of


def unpacked(tmp_path: Path, content: bytes, **limits: int) -> dict[str, bytes]:
    archive, target = tmp_path / "archive", tmp_path / "tree"
    archive.write_bytes(content)
    target.mkdir(exist_ok=True)
    unpack(archive, target, **limits)
    return {p.relative_to(target).as_posix(): p.read_bytes() for p in target.rglob("*") if p.is_file()}


def link(kind: bytes, to: str) -> tarfile.TarInfo:
    info = tarfile.TarInfo()
    info.type = kind
    info.linkname = to
    return info


@pytest.mark.parametrize("mode", ["w:", "w:gz", "w:bz2", "w:xz"])
def test_every_compression(tmp_path, mode):
    files = {"p/a.txt": b"a", "p/b/c.txt": b"", f"p/{'long' * 40}.txt": b"l" * 200_000}
    assert unpacked(tmp_path, tar_of(files, mode)) == files
    assert only_folder(tmp_path / "tree") == tmp_path / "tree/p"


def test_zip(tmp_path):
    files = {"a.txt": b"a", "b/c.txt": b"c" * 100_000}
    assert unpacked(tmp_path, zip_of(files)) == files
    assert only_folder(tmp_path / "tree") == tmp_path / "tree"


@pytest.mark.parametrize("name", ["../out.txt", "/out.txt", "a/../../out.txt", "a\\..\\..\\out.txt"])
@pytest.mark.parametrize("pack", [tar_of, zip_of])
def test_nothing_lands_outside(tmp_path, pack, name):
    with pytest.raises(ArchiveError, match="leads outside"):
        unpacked(tmp_path, pack({name: b"x"}))
    assert not (tmp_path / "out.txt").exists()


def test_links_become_copies_and_never_lead_out(tmp_path):
    (tmp_path / "secret").write_text("secret")
    content = tar_of(
        {
            "p/CHANGES": b"changes",
            "p/docs/soft": link(tarfile.SYMTYPE, "../CHANGES"),
            "p/docs/hard": link(tarfile.LNKTYPE, "p/CHANGES"),
            "p/docs/out": link(tarfile.SYMTYPE, "../../../secret"),
            "p/docs/absolute": link(tarfile.SYMTYPE, str(tmp_path / "secret")),
            "p/pipe": link(tarfile.FIFOTYPE, ""),
            "p/device": link(tarfile.CHRTYPE, ""),
        }
    )
    assert unpacked(tmp_path, content) == {
        "p/CHANGES": b"changes",
        "p/docs/soft": b"changes",
        "p/docs/hard": b"changes",
    }


def test_links_in_a_circle(tmp_path):
    with pytest.raises(ArchiveError, match="broken"):
        unpacked(tmp_path, tar_of({"a": link(tarfile.SYMTYPE, "b"), "b": link(tarfile.SYMTYPE, "a")}))


@pytest.mark.parametrize("pack", [tar_of, zip_of])
def test_a_bomb_is_refused_before_it_is_written(tmp_path, pack):
    with pytest.raises(ArchiveError, match="unpacks to more than 1,000,000 bytes"):
        unpacked(tmp_path, pack({"a": b"\0" * 1_000_001}), max_bytes=1_000_000)
    assert not (tmp_path / "tree/a").exists()


@pytest.mark.parametrize("pack", [tar_of, zip_of])
def test_too_many_files(tmp_path, pack):
    with pytest.raises(ArchiveError, match="more than 10 files"):
        unpacked(tmp_path, pack({str(n): b"" for n in range(11)}), max_files=10)


def test_links_count_as_what_they_copy(tmp_path):
    files = {"a": b"x" * 1_000} | {f"l{n}": link(tarfile.SYMTYPE, "a") for n in range(10)}
    with pytest.raises(ArchiveError, match="unpacks to more"):
        unpacked(tmp_path, tar_of(files), max_bytes=5_000)


def test_a_forged_header_takes_no_memory(tmp_path):
    header = tarfile.TarInfo("x")
    header.type = tarfile.XHDTYPE
    header.size = 10**9
    with pytest.raises(ArchiveError, match="unpacks to more"):
        unpacked(tmp_path, gzip.compress(header.tobuf(tarfile.USTAR_FORMAT) + b"\0" * 10_000))


def _encrypted() -> bytes:
    content = bytearray(zip_of({"a": b"x"}))
    for signature, offset in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
        at = content.index(signature) + offset
        content[at : at + 2] = struct.pack("<H", 1)
    return bytes(content)


def _zip_link() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as pack:
        entry = zipfile.ZipInfo("l")
        entry.external_attr = 0o120777 << 16
        pack.writestr(entry, "../secret")
        pack.writestr("a", "x")
    return out.getvalue()


def test_links_of_a_zip_are_left_out(tmp_path):
    assert unpacked(tmp_path, _zip_link()) == {"a": b"x"}


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"plain text",
        b"\x1f\x8b broken",
        tar_of({"a": b"x" * 50_000})[:60],
        zip_of({"a": b"x" * 500})[:-4] + b"zzzz",
        _encrypted(),
    ],
    ids=["empty", "text", "gzip", "tar", "zip", "encrypted"],
)
def test_what_is_broken_is_told(tmp_path, content):
    with pytest.raises(ArchiveError):
        unpacked(tmp_path, content)
