from __future__ import annotations

import shutil
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.catalogue import SourceSpec
from core.errors import SourceError
from core.ingestion.sources import open_source
from core.ingestion.sources.sdist.package_index import PackageIndex
from core.ingestion.sources.sdist.source import Options, SdistSource
from core.settings import load_settings
from tests.core.ingestion_sources.index_server import Index, serving, tar_of, zip_of
from tests.fake_workers import FakeWorkers

FILES = {
    "thing-1.2.0/CHANGES.rst": b"changes",
    "thing-1.2.0/setup.py": b"raise SystemExit('code of the package was run')",
    "thing-1.2.0/docs/index.rst": b"hello",
    "thing-1.2.0/docs/guide/start.rst": b"start",
    "thing-1.2.0/docs/logo.png": b"\0",
}


@pytest.fixture(params=["json", "html"])
def index(request) -> Iterator[Index]:
    projects = {
        "thing": {
            "thing-1.2.0-py3-none-any.whl": b"wheel",
            "thing-1.2.0.zip": b"not this one",
            "thing-1.2.0.tar.gz": tar_of(FILES),
            "thing-1.10.0.tar.gz": b"",
            "thing-1.3.0rc1.tar.gz": b"",
            "thing-2.0.0-py3-none-any.whl": b"wheel",
        }
    }
    with serving(Index(projects, request.param)) as server:
        yield server


def sdist(
    tmp_path: Path, index: Index | str, version: str = "1.2.0", path: str = "docs", **keys
) -> SdistSource:
    options = Options(package=keys.pop("package", "Thing"), version=version, path=path)
    url = index if isinstance(index, str) else index.url
    return SdistSource(
        SourceSpec("sdist", options, where="corpora.toml, line 8", **keys),
        tmp_path,
        url,
        FakeWorkers(),
        retry_delays=(0.01, 0.01),
    )


def problem(source: SdistSource) -> str:
    with pytest.raises(SourceError) as caught:
        list(source.documents())
    assert "corpora.toml, line 8" in str(caught.value)
    return str(caught.value)


def test_documents_come_from_the_archive(tmp_path, index):
    source = sdist(tmp_path, index, include=("**/*.rst",), url="https://x.org/{page}/")
    documents = list(source.documents())
    assert source.name == "sdist:Thing==1.2.0/docs"
    assert [(d.path, d.url, d.content) for d in documents] == [
        ("guide/start.rst", "https://x.org/guide/start/", b"start"),
        ("index.rst", "https://x.org/", b"hello"),
    ]
    root = tmp_path / "sources/sdist/thing-1.2.0"
    assert documents[0].root == str(root)
    assert documents[0].file == str(root / "docs/guide/start.rst")
    assert (root / "CHANGES.rst").read_bytes() == b"changes"
    assert sorted(p.name for p in root.parent.iterdir()) == ["thing-1.2.0"]


def test_the_second_time_needs_no_network(tmp_path, index):
    first = [d.path for d in sdist(tmp_path, index).documents()]
    asked = len(index.requests)
    assert [d.path for d in sdist(tmp_path, index).documents()] == first
    assert next(d.path for d in sdist(tmp_path, index, path="").documents()) == "CHANGES.rst"
    assert len(index.requests) == asked == 2


def test_two_threads_fetch_once(tmp_path, index):
    found: list[int] = []
    threads = [
        threading.Thread(target=lambda: found.append(len(list(sdist(tmp_path, index).documents()))))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [2, 2, 2, 2]
    assert len(index.requests) == 2


def test_what_a_killed_process_left_is_no_hindrance(tmp_path, index):
    left = tmp_path / "sources/sdist/.thing-1.2.0.abc/tree"
    left.mkdir(parents=True)
    assert len(list(sdist(tmp_path, index).documents())) == 2
    assert not left.exists()


def test_settings_say_where_home_and_index_are(tmp_path, index):
    settings = load_settings(None, home=tmp_path, package_index=index.url)
    spec = SourceSpec("sdist", Options(package="thing", version="1.2", path="docs"))
    assert len(list(open_source(spec, settings, FakeWorkers()).documents())) == 2


def test_zip_archives(tmp_path):
    with serving(Index({"thing": {"thing-1.2.0.zip": zip_of(FILES)}})) as index:
        assert [d.path for d in sdist(tmp_path, index).documents()] == ["guide/start.rst", "index.rst"]


def test_no_such_package(tmp_path, index):
    told = problem(sdist(tmp_path, index, package="other"))
    assert "There is no package 'other'" in told
    assert "PACKAGE_INDEX" in told


def test_no_such_version_names_the_nearest(tmp_path, index):
    assert "versions near it: 1.2.0, 1.3.0rc1, 1.10.0" in problem(sdist(tmp_path, index, "1.4.0"))


def test_wheels_alone(tmp_path, index):
    told = problem(sdist(tmp_path, index, "2.0.0"))
    assert "wheels alone" in told
    assert "1.10.0" in told


def test_a_package_of_wheels(tmp_path):
    with serving(Index({"thing": {"thing-1.2.0-py3-none-any.whl": b""}})) as index:
        assert 'kind = "git"' in problem(sdist(tmp_path, index))


def test_no_such_folder_says_which_there_are(tmp_path, index):
    told = problem(sdist(tmp_path, index, path="doc"))
    assert "no folder 'doc'" in told
    assert "did you mean 'docs'" in told
    assert "folders in 'docs': guide" in problem(sdist(tmp_path, index, path="docs/guides"))
    assert "folders in it: docs" in problem(sdist(tmp_path, index, path="../../.."))


def test_a_wrong_digest_is_refused(tmp_path, index):
    index.digest = "0" * 64
    assert "another digest" in problem(sdist(tmp_path, index))
    assert list((tmp_path / "sources/sdist").iterdir()) == []


def test_an_index_without_digests_is_taken_at_its_word(tmp_path, index):
    index.digest = "none"
    assert len(list(sdist(tmp_path, index).documents())) == 2


def test_a_short_trouble_is_outlived(tmp_path, index):
    index.failures = 2
    assert len(list(sdist(tmp_path, index).documents())) == 2
    index.drops = 2
    assert len(list(sdist(tmp_path / "other", index).documents())) == 2


def test_a_long_trouble_is_told(tmp_path, index):
    index.failures = 99
    told = problem(sdist(tmp_path, index))
    assert "status 503" in told
    assert "PACKAGE_INDEX" in told
    assert len(index.requests) == 3


def test_no_server_at_all(tmp_path):
    with serving(Index()) as index:
        pass
    told = problem(sdist(tmp_path, index))
    assert "connection refused" in told
    assert "PACKAGE_INDEX" in told


def test_what_answers_is_no_index(tmp_path, index):
    index.form = "page"
    assert "does not answer as a package index" in problem(sdist(tmp_path, index))
    assert "does not answer as a package index" in problem(sdist(tmp_path, "file:///srv/simple"))


def test_a_broken_archive(tmp_path, index):
    index.projects["thing"]["thing-1.2.0.tar.gz"] = tar_of(FILES)[:-40]
    assert "cannot be unpacked" in problem(sdist(tmp_path, index))
    index.projects["thing"]["thing-1.2.0.tar.gz"] = b"<html>"
    assert "cannot be unpacked" in problem(sdist(tmp_path, index))
    assert list((tmp_path / "sources/sdist").iterdir()) == []


def test_a_download_has_a_limit(tmp_path, index):
    with (
        PackageIndex(index.url, (), max_bytes=100) as client,
        pytest.raises(SourceError, match="larger than 100"),
    ):
        client.download("thing", "1.2.0", tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_password_opens_the_index_and_is_never_told(tmp_path, index):
    index.password = "ada:s3cr/t"
    told = problem(sdist(tmp_path, index))
    assert "https://user:password@host" in told
    with_password = index.url.replace("://", "://ada:s3cr%2Ft@")
    assert len(list(sdist(tmp_path, with_password).documents())) == 2
    index.failures = 99
    assert "s3cr" not in problem(sdist(tmp_path / "other", with_password))


def test_a_home_that_cannot_be_written(tmp_path, index):
    (tmp_path / "sources").write_text("a file in the way")
    assert "THREADLORE_HOME" in problem(sdist(tmp_path, index))


@pytest.mark.skipif(not shutil.which("openssl"), reason="needs the openssl command: apt-get install openssl")
def test_ssl_cert_file_is_trusted(tmp_path, monkeypatch):
    key, certificate, both = tmp_path / "key.pem", tmp_path / "cert.pem", tmp_path / "both.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
         "-keyout", key, "-out", certificate, "-days", "2", "-subj", "/CN=127.0.0.1",
         "-addext", "subjectAltName=IP:127.0.0.1"],
        check=True, capture_output=True,
    )  # fmt: skip
    both.write_bytes(key.read_bytes() + certificate.read_bytes())
    for name in ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE"):
        monkeypatch.delenv(name, raising=False)
    with serving(Index({"thing": {"thing-1.2.0.tar.gz": tar_of(FILES)}}), both) as index:
        assert "not trusted (SSL_CERT_FILE" in problem(sdist(tmp_path / "home", index))
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        assert len(list(sdist(tmp_path / "home", index).documents())) == 2
