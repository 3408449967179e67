"""Links of pages where MkDocs and Docusaurus publish them; checked against what Docusaurus 3.6 builds."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.catalogue import SourceSpec
from core.ingestion.sources.folder import FolderSource, Options
from tests.fake_workers import FakeWorkers

FILES = {
    "docs/index.md": "# Home",
    "docs/guide/README.md": "# Guide",
    "docs/guide/01-start.md": "---\nid: begin\n---\n# Start",
    "docs/02-more/index.mdx": "# More",
    "docs/02-more/02-short.md": "---\nslug: /short\n---\n# Short",
    "docs/02-more/03-rel.md": "---\nslug: other\n---\n# Other",
    "docs/plain/plain.md": "# Plain",
    "docs/api/7.0-notes.md": "# Notes",
    "docs/api/_part.mdx": "Part.",
    "docs/api/2021-01-02-date.md": "# Date",
}


def links(
    root: Path,
    files: dict[str, str],
    url: str,
    path: str = ".",
    include: tuple[str, ...] = ("**/*.md", "**/*.mdx"),
):
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    spec = SourceSpec("folder", Options(path=path), root=root, url=url, include=include, where="x")
    source = FolderSource(spec, FakeWorkers())
    found = {d.path: d.url.removeprefix("https://x.example/") for d in source.documents()}
    return found, dict(source.skipped)


def test_docusaurus_routes(tmp_path):
    found, skipped = links(
        tmp_path, {**FILES, "docusaurus.config.js": "export default {};"}, "https://x.example/{page}"
    )
    assert found == {
        "docs/index.md": "docs",
        "docs/guide/README.md": "docs/guide",
        "docs/guide/01-start.md": "docs/guide/begin",
        "docs/02-more/index.mdx": "docs/more",
        "docs/02-more/02-short.md": "docs/short",
        "docs/02-more/03-rel.md": "docs/more/other",
        "docs/plain/plain.md": "docs/plain",
        "docs/api/7.0-notes.md": "docs/api/7.0-notes",
        "docs/api/2021-01-02-date.md": "docs/api/2021-01-02-date",
    }
    assert skipped == {"docs/api/_part.mdx": "a part that other pages include"}


def test_docusaurus_is_known_by_its_categories_where_its_configuration_is_out_of_sight(tmp_path):
    files = {name.removeprefix("docs/"): text for name, text in FILES.items()}
    found, _ = links(tmp_path, {**files, "api/_category_.json": "{}"}, "https://x.example/docs/{page}")
    assert found["guide/01-start.md"] == "docs/guide/begin"
    assert found["index.md"] == "docs/"


def test_docusaurus_pages_may_be_published_elsewhere(tmp_path):
    config = (
        "const config = {presets: [['classic', {\n  docs: {\n    // path: 'old',\n    path: './content',\n"
        "    routeBasePath: '/',\n    editUrl: ({docPath}) => `https://y/${docPath}`,\n  },\n"
        "  blog: {path: 'blog', routeBasePath: 'news'},\n}]],\n"
        "plugins: [['@docusaurus/plugin-content-docs', {id: 'sdk', path: 'sdk', "
        "routeBasePath: 'reference'}]]};"
    )
    files = {"content/01-a.md": "# A", "sdk/b.md": "# B", "README.md": "# R", "docusaurus.config.ts": config}
    found, _ = links(tmp_path, files, "https://x.example/{page}")
    assert found == {"content/01-a.md": "a", "sdk/b.md": "reference/b", "README.md": "README"}


def test_mkdocs_pages_are_folders_below_the_folder_of_pages(tmp_path):
    files = {
        "mkdocs.yml": "docs_dir: pages",
        "pages/index.md": "a",
        "pages/guide/README.md": "b",
        "pages/guide/01-x.md": "c",
    }
    found, _ = links(tmp_path, files, "https://x.example/{page}/")
    assert found == {
        "pages/index.md": "",
        "pages/guide/README.md": "guide/",
        "pages/guide/01-x.md": "guide/01-x/",
    }
    found, _ = links(tmp_path, files, "https://x.example/{page}.html")
    assert found["pages/guide/README.md"] == "guide/index.html"
    found, _ = links(tmp_path, files, "https://x.example/blob/main/{path}")
    assert found["pages/guide/01-x.md"] == "blob/main/pages/guide/01-x.md"


@pytest.mark.parametrize(
    ("slug", "url"),
    [("/one/two", "one/two"), ("two", "guide/two"), ("../up", "up"), ("/", ""), ("a/../../../b", "b")],
)
def test_a_slug_is_the_link_with_any_tool(tmp_path, slug, url):
    found, _ = links(tmp_path, {"guide/x.md": f"---\nslug: {slug}\n---\nText."}, "https://x.example/{page}")
    assert found["guide/x.md"] == url


def test_without_a_site_a_path_is_the_link(tmp_path):
    found, _ = links(
        tmp_path, {"guide/01-x.md": "Text.", "guide/README.md": "Text."}, "https://x.example/{page}/"
    )
    assert found == {"guide/01-x.md": "guide/01-x/", "guide/README.md": "guide/README/"}
