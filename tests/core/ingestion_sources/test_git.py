from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from pydantic import ValidationError

from core.catalogue import SourceSpec
from core.errors import SourceError
from core.ingestion.sources import open_source
from core.ingestion.sources.git.source import GitSource, Options
from core.settings import load_settings
from tests.fake_workers import FakeWorkers

pytestmark = pytest.mark.skipif(not shutil.which("git"), reason="needs the git command: apt-get install git")


def git(place: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "commit.gpgSign=false")
    done = subprocess.run(
        ["git", *identity, *arguments], cwd=place, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


def commit(place: Path, text: str, *paths: str) -> str:
    for path in paths:
        file = place / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    git(place, "add", "-A")
    git(place, "commit", "-q", "-m", text)
    return git(place, "rev-parse", "HEAD")


@pytest.fixture
def repository(tmp_path) -> Path:
    place = tmp_path / "project"
    place.mkdir()
    git(place, "init", "-q", "-b", "main")
    commit(place, "one", "docs/index.md", "docs/old.md", "README.md")
    git(place, "tag", "v1")
    (place / "docs/old.md").unlink()
    commit(place, "two", "docs/index.md", "docs/new.md")
    return place


def source(tmp_path: Path, repository: Path | str, home: str = "home", **keys) -> GitSource:
    options = Options(repository=str(repository), **keys)
    spec = SourceSpec("git", options, root=tmp_path, where="corpora.toml, line 8")
    return GitSource(spec, tmp_path / home, FakeWorkers())


def read(source: GitSource) -> dict[str, str]:
    return {d.path: d.content.decode() for d in source.documents()}


def problem(source: GitSource) -> str:
    with pytest.raises(SourceError) as caught:
        list(source.documents())
    assert "corpora.toml, line 8" in str(caught.value)
    return str(caught.value)


def test_each_ref_has_its_own_pages(tmp_path, repository):
    assert read(source(tmp_path, repository, path="docs")) == {"index.md": "two", "new.md": "two"}
    assert read(source(tmp_path, repository, path="docs", ref="v1")) == {"index.md": "one", "old.md": "one"}
    assert read(source(tmp_path, repository.as_uri(), path="docs", ref="main"))["index.md"] == "two"
    head = git(repository, "rev-parse", "HEAD")
    assert read(source(tmp_path, repository, path="docs", ref=head))["index.md"] == "two"
    assert len(list((tmp_path / "home/sources/git").iterdir())) == 4


def test_only_the_last_commit_is_fetched(tmp_path, repository):
    document = next(iter(source(tmp_path, repository.as_uri()).documents()))
    assert git(Path(document.root), "rev-list", "--count", "HEAD") == "1"
    assert document.path == "README.md"


def test_new_commits_are_seen_at_the_next_run(tmp_path, repository):
    docs = source(tmp_path, repository, path="docs", ref="main")
    assert set(read(docs)) == {"index.md", "new.md"}
    (repository / "docs/new.md").unlink()
    commit(repository, "three", "docs/index.md", "docs/newest.md")
    assert read(docs) == {"index.md": "three", "newest.md": "three"}
    git(repository, "reset", "-q", "--hard", "v1")
    assert read(docs) == {"index.md": "one", "old.md": "one"}


def test_a_relative_repository_starts_at_the_file(tmp_path, repository):
    settings = load_settings(None, home=tmp_path / "home")
    spec = SourceSpec("git", Options(repository="project", path="docs"), root=tmp_path)
    opened = open_source(spec, settings, FakeWorkers())
    assert [d.path for d in opened.documents()] == ["index.md", "new.md"]
    assert opened.name == "git:project/docs"


def test_a_checkout_that_was_killed_half_way_is_made_anew(tmp_path, repository):
    docs = source(tmp_path, repository, path="docs")
    root = Path(next(iter(docs.documents())).root)
    (root / ".git/index.lock").write_text("")
    (root / "docs/index.md").write_text("half")
    assert read(docs)["index.md"] == "two"
    (root / ".git/HEAD").unlink()
    assert read(docs)["index.md"] == "two"


def test_a_repository_that_is_gone_does_not_pass_for_unchanged(tmp_path, repository):
    docs = source(tmp_path, repository, path="docs")
    checkout = Path(next(iter(docs.documents())).root)
    repository.rename(tmp_path / "moved")
    assert "git cannot fetch" in problem(docs)
    assert (checkout / "docs/index.md").exists()


def test_nothing_of_the_repository_is_run(tmp_path, repository):
    docs = source(tmp_path, repository)
    root = Path(next(iter(docs.documents())).root)
    hook = root / ".git/hooks/post-checkout"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/run\n")
    hook.chmod(0o755)
    commit(repository, "three", "README.md")
    assert read(docs)["README.md"] == "three"
    assert not (tmp_path / "run").exists()


def test_links_out_of_the_repository_are_passed_over(tmp_path, repository):
    (tmp_path / "secret.md").write_text("secret")
    (repository / "docs/out.md").symlink_to("/../" + str(tmp_path / "secret.md"))
    (repository / "docs/in.md").symlink_to("../README.md")
    commit(repository, "three", "x.md")
    docs = source(tmp_path, repository, path="docs")
    assert read(docs)["in.md"] == "one"
    assert dict(docs.skipped) == {"out.md": "a link that leaves the folder"}


def test_what_tools_keep_in_a_checkout_is_for_no_reader(tmp_path, repository):
    (repository / "docs/git.md").symlink_to("../.git/config")
    (repository / "docs/head.md").symlink_to("../.git/FETCH_HEAD")
    (repository / ".env").write_text("TOKEN=s3cret")
    (repository / "docs/env.md").symlink_to("../.env")
    commit(repository, "three", "x.md")
    docs = source(tmp_path, repository, path="docs")
    assert set(read(docs)) == {"index.md", "new.md"}
    reason = "a file for tools, not for readers"
    assert dict(docs.skipped) == dict.fromkeys(("git.md", "head.md", "env.md"), reason)


def test_pages_in_git_lfs_are_told_and_not_fetched(tmp_path, repository):
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n"
    (repository / ".gitattributes").write_text("*.md filter=lfs\n")
    commit(repository, pointer, "docs/large.md")
    docs = source(tmp_path, repository, path="docs")
    assert "large.md" not in read(docs)
    assert dict(docs.skipped)["large.md"] == "its content is in Git LFS, which is not fetched"


def test_submodules_are_not_fetched(tmp_path, repository):
    inner = tmp_path / "inner"
    inner.mkdir()
    git(inner, "init", "-q", "-b", "main")
    commit(inner, "inner", "secret.md")
    allowed = ("-c", "protocol.file.allow=always")
    git(repository, *allowed, "submodule", "--quiet", "add", str(inner), "docs/sub")
    commit(repository, "three", "x.md")
    docs = source(tmp_path, repository, path="docs")
    assert set(read(docs)) == {"index.md", "new.md"}


def test_a_path_of_the_repository_does_not_lead_out(tmp_path, repository):
    (repository / "docs" / "up").symlink_to(tmp_path)
    (tmp_path / "secret.md").write_text("secret")
    commit(repository, "three", "x.md")
    for path in ("docs/up", "..", "docs/../..", "../../.."):
        assert "There is no folder" in problem(source(tmp_path, repository, path=path))


def test_an_unknown_ref_names_those_near_it(tmp_path, repository):
    told = problem(source(tmp_path, repository, ref="v2"))
    assert "'v2'" in told
    assert "v1" in told
    assert list((tmp_path / "home/sources/git").iterdir()) == []


def test_no_repository_and_no_folder(tmp_path, repository):
    assert "git cannot fetch" in problem(source(tmp_path, "nowhere"))
    assert "no folder 'doc'" in problem(source(tmp_path, repository, path="doc"))
    assert "no folder" in problem(source(tmp_path, repository, path="../.."))


def test_a_password_is_never_told(tmp_path):
    hidden = source(tmp_path, "https://ada:s3cret@127.0.0.1:1/x.git")
    assert "s3cret" not in hidden.name
    assert "s3cret" not in problem(hidden)


@pytest.mark.parametrize(
    "value", ["ext::sh -c true", "--upload-pack=touch /tmp/x", "fd::17", "ftp://x/y", ""]
)
def test_repositories_that_run_commands_are_refused(value):
    with pytest.raises(ValidationError):
        Options(repository=value)


@pytest.mark.parametrize("value", ["-x", "--upload-pack=x", "a..b", "+main", "main:refs/heads/x", "a b"])
def test_refs_that_are_none_are_refused(value):
    with pytest.raises(ValidationError):
        Options(repository="x", ref=value)


@pytest.mark.parametrize(
    ("repository", "url"),
    [
        ("https://github.com/pallets/flask", "https://github.com/pallets/flask/blob/main/docs/{path}"),
        ("git@github.com:pallets/flask.git", "https://github.com/pallets/flask/blob/main/docs/{path}"),
        ("https://gitlab.com/a/b/c.git", "https://gitlab.com/a/b/c/-/blob/main/docs/{path}"),
        ("https://git.example.org/a/b", ""),
        ("host:a/b.git", ""),
    ],
)
def test_known_hosts_have_links_without_being_told(tmp_path, repository, url):
    assert source(tmp_path, repository, ref="main", path="docs").url == url
