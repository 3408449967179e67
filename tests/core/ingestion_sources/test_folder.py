from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from core.catalogue import SourceSpec
from core.errors import SourceError
from core.ingestion.formats import format_of
from core.ingestion.parsing import parse
from core.ingestion.sources import open_source, page_url
from core.ingestion.sources._files import Patterns
from core.ingestion.sources.folder import FolderSource, Options
from core.ports import Unread
from core.settings import load_settings
from tests.fake_workers import FakeWorkers


def folder(tmp_path: Path, **keys) -> FolderSource:
    max_bytes = keys.pop("max_bytes", 1_000)
    spec = SourceSpec("folder", Options(path="docs"), root=tmp_path, where="corpora.toml, line 8", **keys)
    return FolderSource(spec, FakeWorkers(), max_bytes)


def write(tmp_path: Path, *paths: str, content: bytes = b"text") -> None:
    for path in paths:
        file = tmp_path / "docs" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)


def paths(source: FolderSource) -> list[str]:
    return [document.path for document in source.documents()]


def test_every_ending_that_can_be_read_is_read_in_order(tmp_path):
    write(
        tmp_path, "z.md", "a.markdown", "b/c.mdx", "b.rst", "c.txt", "d.html", "e.HTM", "f.png", "g", ".h.md"
    )
    write(tmp_path, ".git/x.md", "node_modules/p/README.md", "sub/.hidden/y.md")
    source = open_source(
        SourceSpec("folder", Options(path="docs"), root=tmp_path), load_settings(None), FakeWorkers()
    )
    documents = list(source.documents())
    assert [d.path for d in documents] == [
        "a.markdown",
        "b.rst",
        "b/c.mdx",
        "c.txt",
        "d.html",
        "e.HTM",
        "z.md",
    ]
    assert [d.format for d in documents] == [
        "markdown",
        "rst",
        "markdown",
        "text",
        "html",
        "html",
        "markdown",
    ]
    assert documents[0].content == b"text"
    assert documents[2].file == str(tmp_path / "docs/b/c.mdx")
    assert documents[2].root == str(tmp_path / "docs")
    assert documents[2].url == ""
    assert source.name == "folder:docs"
    assert not source.skipped


def test_include_and_exclude(tmp_path):
    write(tmp_path, "a.md", "g/b.md", "g/h/c.md", "g/h/d.rst", "_drafts/e.md", ".config/f.md", "old-1.md")
    assert paths(folder(tmp_path, include=("**/*.md",))) == [
        "_drafts/e.md",
        "a.md",
        "g/b.md",
        "g/h/c.md",
        "old-1.md",
    ]
    assert paths(folder(tmp_path, include=("*.md",))) == ["a.md", "old-1.md"]
    assert paths(folder(tmp_path, include=("g/",))) == ["g/b.md", "g/h/c.md", "g/h/d.rst"]
    assert paths(folder(tmp_path, include=("g/**/*.{md,rst}",))) == ["g/b.md", "g/h/c.md", "g/h/d.rst"]
    assert paths(folder(tmp_path, include=(".config/*",))) == [".config/f.md"]
    assert paths(folder(tmp_path, exclude=("_drafts", "g/h", "old-[0-9].md"))) == ["a.md", "g/b.md"]


@pytest.mark.parametrize(
    ("pattern", "hits", "misses"),
    [
        ("**/*.md", ["a.md", "b/a.md", "b/c/a.md"], ["a.mdx", "a.md.txt2", "amd"]),
        ("*.md", ["a.md"], ["b/a.md"]),
        ("docs", ["docs", "docs/a", "docs/b/c"], ["docs2", "a/docs"]),
        ("**/_build", ["_build/x", "a/_build/x"], ["a_build/x"]),
        ("a/**", ["a/b", "a/b/c"], ["ab"]),
        ("a/**/z.md", ["a/z.md", "a/b/c/z.md"], ["a/bz.md"]),
        ("?.md", ["a.md"], ["ab.md", ".md"]),
        ("[!a].md", ["b.md"], ["a.md", "/.md"]),
        ("[ab-].md", ["-.md", "b.md"], ["c.md"]),
        ("a+(b).md", ["a+(b).md"], ["aab.md"]),
        ("./a.md", ["a.md"], ["b.md"]),
        ("/a.md", ["a.md"], ["b/a.md"]),
        ("[", ["["], ["a"]),
        ("{a,b*}.md", ["a.md", "bcd.md"], ["c.md"]),
    ],
)
def test_patterns(pattern, hits, misses):
    assert all(map(Patterns([pattern]).match, hits))
    assert not any(map(Patterns([pattern]).match, misses))


def test_what_tools_install_from_is_no_page_unless_it_is_named(tmp_path):
    names = ("requirements.txt", "dev-requirements.txt", "CMakeLists.txt", "my_requirements.md", "guide.txt")
    write(tmp_path, *names, "lib.egg-info/SOURCES.txt")
    source = folder(tmp_path)
    assert paths(source) == ["guide.txt", "my_requirements.md"]
    assert set(dict(source.skipped).values()) == {"a file for tools, not for readers"}
    assert paths(folder(tmp_path, include=("requirements.txt",))) == ["requirements.txt"]


def test_pages_that_are_called_like_files_for_tools_are_read(tmp_path):
    page = b"=====================\nConstraints reference\n=====================\n\nA row keeps to them.\n"
    write(tmp_path, "models/constraints.txt", "requirements.txt", "robots.txt", content=page)
    pins = (
        b"# pinned\n-r base.txt\nflask[async] >= 3 ; python_version > '3.9'\ngit+https://a.example/x\n./own\n"
    )
    write(tmp_path, "api/requirements.txt", content=pins)
    write(tmp_path, "site/robots.txt", content=b"User-agent: *\nDisallow: /old\n")
    assert paths(folder(tmp_path)) == ["models/constraints.txt", "requirements.txt", "robots.txt"]


def test_texts_beside_a_conf_py_that_is_none_of_sphinx_or_that_are_asked_for_are_read(tmp_path):
    write(tmp_path, "conf.py", content=b"# Options of Markdown extensions\nPOSTS = (('posts/*.txt', 'p'),)\n")
    write(tmp_path, "guide.txt")
    assert "guide.txt" in paths(folder(tmp_path))
    write(tmp_path, "conf.py", content=b"extensions: list[str] = []\n# source_suffix = ['.rst', '.txt']\n")
    write(tmp_path, "index.rst")
    assert paths(folder(tmp_path)) == ["index.rst"]
    assert paths(folder(tmp_path, include=("*.txt",))) == ["guide.txt"]
    suffixes = b"extensions = []\nsource_suffix = {\n    # issue 12\n    '.txt': 'restructuredtext',\n}\n"
    write(tmp_path, "conf.py", content=suffixes)
    assert paths(folder(tmp_path)) == ["guide.txt", "index.rst"]


def test_texts_beside_pages_of_sphinx_are_no_pages(tmp_path):
    write(tmp_path, "source/conf.py", content=b"extensions = []\nsource_suffix = ['.rst', '.md']\n")
    write(tmp_path, "notes.txt", "source/links.txt", "source/index.rst")
    source = folder(tmp_path)
    assert paths(source) == ["notes.txt", "source/index.rst"]
    reasons = dict(source.skipped)
    assert reasons["source/links.txt"] == "a part that other pages include, for Sphinx publishes no .txt here"
    write(tmp_path, "source/conf.py", content=b"extensions = []\nsource_suffix = {\n  '.txt': 'x'}\n")
    assert "source/links.txt" in paths(folder(tmp_path))


def test_what_cannot_be_read_is_passed_over_with_the_reason(tmp_path):
    write(tmp_path, "a.md")
    write(tmp_path, "binary.md", content=b"\x89PNG\0\0")
    write(tmp_path, "large.md", content=b"x" * 1_001)
    write(tmp_path, "empty.md", content=b" \n")
    write(tmp_path, "null.md", content=b"# Null\n\n\0 ends a string. " + b"It is no letter. " * 56)
    write(tmp_path, "style.css", "LICENSE")
    os.mkfifo(tmp_path / "docs/pipe.md")
    (tmp_path / "docs/gone.md").symlink_to("nowhere.md")
    (tmp_path / "docs/loop.md").symlink_to("loop.md")
    source = folder(tmp_path, include=("**/*",))
    assert paths(source) == ["LICENSE", "a.md", "null.md"]
    reasons = dict(source.skipped)
    assert reasons["binary.md"] == "binary"
    assert reasons["large.md"] == "too large: 1,001 bytes, at most 1,000"
    assert reasons["empty.md"] == "empty"
    assert reasons["pipe.md"] == "not a plain file"
    assert "No such file" in reasons["gone.md"]
    assert "loop.md" in reasons
    assert "say `format`" in reasons["style.css"]
    assert len(reasons) == 7
    assert paths(source) == ["LICENSE", "a.md", "null.md"]
    assert len(source.skipped) == 7


def test_what_is_there_and_cannot_be_read_is_told_from_what_is_gone(tmp_path, monkeypatch):
    write(tmp_path, "a.md", "off.md", "vague.md")
    write(tmp_path, "binary.md", content=b"\x89PNG\0\0")
    write(tmp_path, "empty.md", content=b"\n")
    write(tmp_path, "shut/b.md", "open/c.md")
    (tmp_path / "docs/gone.md").symlink_to("nowhere.md")
    errors = {"off.md": errno.EACCES, "vague.md": errno.EIO, "c.md": errno.ENOENT}
    as_it_is, walk = Path.read_bytes, os.walk

    def failing(file):
        if file.name in errors:
            raise OSError(errors[file.name], os.strerror(errors[file.name]))
        return as_it_is(file)

    def walking(top, onerror):
        for where, folders, files in walk(top, onerror=onerror):
            if "shut" in folders:
                folders.remove("shut")
                onerror(PermissionError(errno.EACCES, "Permission denied", f"{where}/shut"))
            yield where, folders, files

    monkeypatch.setattr(Path, "read_bytes", failing)
    monkeypatch.setattr(os, "walk", walking)
    source = folder(tmp_path)
    assert paths(source) == ["a.md"]
    unread = {path for path, reason in source.skipped if isinstance(reason, Unread)}
    assert unread == {"off.md", "vague.md", "binary.md", "shut/"}
    assert {path for path, _ in source.skipped} - unread == {"empty.md", "gone.md", "open/c.md"}


def test_links_do_not_leave_the_folder(tmp_path):
    write(tmp_path, "a.md", "b/c.md")
    (tmp_path / "secret.md").write_text("secret")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/s.md").write_text("secret")
    (tmp_path / "docs/out.md").symlink_to("../secret.md")
    (tmp_path / "docs/in.md").symlink_to("b/c.md")
    (tmp_path / "docs/way").symlink_to("../outside")
    source = folder(tmp_path)
    assert paths(source) == ["a.md", "b/c.md", "in.md"]
    assert dict(source.skipped) == {"out.md": "a link that leaves the folder", "way": "a link to a folder"}


def test_links_and_includes_do_not_lead_to_what_tools_keep(tmp_path):
    write(tmp_path, ".git/config", content=b"[remote]\nurl = https://ada:s3cret@host/x.git\n")
    write(tmp_path, ".env.local", content=b"TOKEN=s3cret\n")
    write(tmp_path, "part.txt", content=b"Shared words.\n")
    include = ".. include:: {}\n\nWords."
    (tmp_path / "outer.txt").write_text("s3cret")
    targets = {"a": ".git/config", "b": "/.env.local", "c": "../outer.txt", "d": "/etc/passwd"}
    for name, target in targets.items():
        write(tmp_path, f"{name}.rst", content=f"Title\n=====\n\n{include.format(target)}\n".encode())
    write(tmp_path, "e.rst", content=f"Title\n=====\n\n{include.format('part.txt')}\n".encode())
    (tmp_path / "docs/f.md").symlink_to(".git/config")
    (tmp_path / "docs/g.md").symlink_to(".env.local")
    source = folder(tmp_path, exclude=("part.txt",))
    said = {d.path: " ".join(s.text for s in parse(d).sections) for d in source.documents()}
    assert said.keys() == {f"{name}.rst" for name in "abcde"}
    assert not [text for text in said.values() if "s3cret" in text or "root:" in text]
    assert "Shared words." in said["e.rst"]
    assert {source.skipped[0][1], source.skipped[1][1]} == {"a file for tools, not for readers"}


def test_a_folder_may_itself_be_a_link(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "real/a.md").write_text("x")
    (tmp_path / "docs").symlink_to("real")
    assert paths(folder(tmp_path)) == ["a.md"]


def test_a_format_that_is_said_holds_for_every_file(tmp_path):
    write(tmp_path, "a.txt", "b.inc")
    assert [d.format for d in folder(tmp_path, include=("*",), format="rst").documents()] == ["rst", "rst"]


def test_utf_16_becomes_utf_8(tmp_path):
    write(tmp_path, "a.txt", content="grüße".encode("utf-16"))
    assert next(iter(folder(tmp_path).documents())).content.decode() == "grüße"


def test_a_name_that_is_not_utf_8_is_passed_over(tmp_path):
    write(tmp_path, "a.md")
    try:
        Path(os.fsdecode(os.fsencode(tmp_path / "docs") + b"/\xff.md")).write_text("x")
    except OSError:
        pytest.skip("this file system takes UTF-8 names only")
    source = folder(tmp_path)
    assert paths(source) == ["a.md"]
    assert [reason for _, reason in source.skipped] == ["its name is not UTF-8"]


def test_nothing_to_read_is_an_error_that_says_where(tmp_path):
    with pytest.raises(SourceError, match=r"does not exist; correct `path` \(corpora\.toml, line 8\)"):
        paths(folder(tmp_path))
    (tmp_path / "docs").mkdir()
    with pytest.raises(SourceError, match=r"No file in .* ends in .*\.md .*correct `path` or `include`"):
        paths(folder(tmp_path))
    write(tmp_path, "a.md", content=b"\0")
    with pytest.raises(SourceError, match=r"a\.md is binary"):
        paths(folder(tmp_path))
    with pytest.raises(SourceError, match=r"matches \*\.rst"):
        paths(folder(tmp_path, include=("*.rst",)))


def test_a_file_is_no_folder(tmp_path):
    (tmp_path / "docs").write_text("x")
    with pytest.raises(SourceError, match="no folder"):
        paths(folder(tmp_path))


DIR = "https://x.org/en/{page}/"


@pytest.mark.parametrize(
    ("template", "path", "url"),
    [
        (DIR, "api.rst", "https://x.org/en/api/"),
        (DIR, "patterns/wtf.rst", "https://x.org/en/patterns/wtf/"),
        (DIR, "index.rst", "https://x.org/en/"),
        (DIR, "tutorial/index.md", "https://x.org/en/tutorial/"),
        (DIR, "tutorial/_index.md", "https://x.org/en/tutorial/"),
        (DIR, "myindex.md", "https://x.org/en/myindex/"),
        (DIR, "a b/ü#(1)?.md", "https://x.org/en/a%20b/%C3%BC%23%281%29%3F/"),
        (DIR, "release-3.1.md", "https://x.org/en/release-3.1/"),
        (DIR, "release-3.1", "https://x.org/en/release-3.1/"),
        ("https://x.org/{page}.html", "tutorial/index.rst", "https://x.org/tutorial/index.html"),
        ("https://x.org/blob/main/{path}", "a/index.md", "https://x.org/blob/main/a/index.md"),
        ("https://x.org/{page}/?raw={path}", "a/index.md", "https://x.org/a/?raw=a/index.md"),
        ("https://x.org/{page}", "{path}.md", "https://x.org/%7Bpath%7D"),
        ("https://x.org/faq", "a.md", "https://x.org/faq"),
        ("", "a.md", ""),
    ],
)
def test_links_of_pages(template, path, url):
    assert page_url(template, path) == url


def test_formats():
    assert [format_of(p) for p in ("a.md", "b/C.RST", "a.b.htm", "md", "x.png", "a.d/md")] == [
        "markdown",
        "rst",
        "html",
        None,
        None,
        None,
    ]


def test_templates_of_tools_are_no_pages(tmp_path):
    write(
        tmp_path, "_templates/layout.html", content=b'{# ours #}\n{% extends "!layout.html" %}\n<p>Help</p>'
    )
    write(tmp_path, "overrides/toc.html", content=b"<!-- copied -->\n<li>\n  {% if toc.children %}\n</li>")
    write(tmp_path, "made.html", content=b"<html><body><p>Write\n{% if x %} to ask.</p></body></html>")
    write(tmp_path, "part.html", content=b"<p>Write <code>{% if x %}</code> to ask.</p>")
    write(tmp_path, "loops.html", content=b"<p>Write:</p><pre>\n{% for x in y %}\n</pre>")
    write(tmp_path, "jekyll.html", content=b"---\ntitle: Help\n---\n<p>Ask.</p>\n{% include note.html %}")
    source = folder(tmp_path)
    assert paths(source) == ["jekyll.html", "loops.html", "made.html", "part.html"]
    assert {reason for _, reason in source.skipped} == {"a template, of which a tool makes pages"}
