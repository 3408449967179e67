from __future__ import annotations

import re
from pathlib import Path

import pytest

from core.catalogue import Catalogue, ChannelSettings, SourceKinds, SourceOptions, load_catalogue
from core.catalogue.sources import Targets
from core.catalogue.tables import Schedule
from core.errors import ConfigurationError
from core.ingestion.sources import Kinds


class FolderOptions(SourceOptions):
    path: str


class PackageOptions(SourceOptions):
    package: str
    version: str
    path: str = ""


class Described(dict[str, type[SourceOptions]], SourceKinds):
    formats = ("html", "markdown", "rst", "text")


KINDS = Described(folder=FolderOptions, sdist=PackageOptions)

BASE = """[product]
name = "Flask"

[[release]]
name = "3.1"
aliases = ["3.1.x"]

[[release.source]]
kind = "folder"
path = "docs"
"""


def load(tmp_path: Path, text: str) -> Catalogue:
    file = tmp_path / "corpora.toml"
    file.write_text(text, encoding="utf-8")
    return load_catalogue(file, KINDS)


def test_a_whole_file(tmp_path):
    (tmp_path / "words.toml").write_text(
        '[acronyms]\nPM = "performance monitoring"\nAP = ["access point", "access provider"]\n'
        '[synonyms]\n"log in" = ["sign in"]\n'
    )
    catalogue = load(
        tmp_path,
        """
[product]
name = "Flask"
aliases = ["flask", "the framework"]
glossary = "words.toml"
[[release]]
name = "3.1"
[[release.source]]
kind = "sdist"
package = "flask"
version = "3.1.0"
include = ["**/*.rst"]
exclude = ["old"]
url = "https://example.org/{page}/"
format = "rst"
interval = "6h"
[[release]]
name = "2.10"
lts = true
[[release]]
name = "2.9"
aliases = ["2.9.x", "2.9", "2.9.x"]
[[release.source]]
kind = "folder"
path = "docs"
[[unversioned.source]]
kind = "folder"
path = "faq"
[channels."slack:C0123"]
release = "v2.9"
[channels."discord:42"]
mode = "forum"
[people]
ada = ["slack:U1", "discord:2", "slack:U1"]
""",
    )
    product = catalogue.product
    assert [r.name for r in product.releases] == ["2.9", "2.10", "3.1"]
    assert [r.latest for r in product.releases] == [False, False, True]
    assert [r.lts for r in product.releases] == [False, True, False]
    assert product.releases[0].aliases == ("2.9.x",)
    assert product.aliases == ("flask", "the framework")
    assert product.glossary["PM"] == ("performance monitoring",)
    assert product.glossary["performance monitoring"] == ("PM",)
    assert product.glossary["access point"] == ("AP",)
    assert product.glossary["sign in"] == ("log in",)
    assert catalogue.channels == {
        "slack:C0123": ChannelSettings("2.9"),
        "discord:42": ChannelSettings(mode="forum"),
    }
    assert catalogue.people == {"ada": ("slack:U1", "discord:2")}
    assert catalogue.root == tmp_path
    spec = catalogue.sources_of("3.1")[0]
    assert spec.options == PackageOptions(package="flask", version="3.1.0")
    assert (spec.include, spec.exclude, spec.format, spec.schedule.start) == (
        ("**/*.rst",),
        ("old",),
        "rst",
        21_600,
    )
    assert spec.url == "https://example.org/{page}/"
    assert spec.where == f"{tmp_path / 'corpora.toml'}, line 8"
    own, shared = catalogue.sources_of("2.9")
    assert (own.release, shared.release) == ("2.9", "")
    assert own.schedule.start == 86_400 and own.schedule.adapts
    assert own.resolve("docs") == tmp_path / "docs"
    assert own.resolve("/docs") == Path("/docs")


def test_the_newest_release_is_the_latest_unless_one_says_so(tmp_path):
    def latest(names: str) -> str:
        tables = "".join(f"[[release]]\n{name}\n" for name in names.split("|"))
        return load(tmp_path, f'[product]\nname = "x"\n{tables}').product.latest.name

    assert latest('name = "2.0"|name = "10.0"|name = "9.0"') == "10.0"
    assert latest('name = "2.0"\nlatest = true|name = "10.0"') == "2.0"
    assert latest('name = "3.1"|name = "4.0rc1"|name = "main"') == "3.1"
    assert latest('name = "4.0rc1"') == "4.0rc1"


@pytest.mark.parametrize(
    ("written", "seconds"), [('"30m"', 1800), ('"1.5d"', 129_600), ("90", 90), ('"1w"', 604_800)]
)
def test_intervals(tmp_path, written, seconds):
    schedule = load(tmp_path, BASE + f"interval = {written}\n").sources[0].schedule
    assert schedule == Schedule(seconds, seconds, seconds) and not schedule.adapts


def test_an_interval_may_be_learnt_between_two_bounds(tmp_path):
    schedule = load(tmp_path, BASE + 'interval = "1h to 4h"\n').sources[0].schedule
    assert schedule == Schedule(7200, 3600, 14_400) and schedule.adapts


def test_twins_of_one_place_are_told_apart(tmp_path):
    catalogue = load(
        tmp_path,
        BASE + 'include = ["a/**"]\n[[release.source]]\nkind = "folder"\npath = "docs"\ninclude = ["b/**"]\n',
    )
    assert [source.suffix for source in catalogue.sources] == [" [a/**]", " [b/**]"]


def test_byte_order_mark_and_windows_lines(tmp_path):
    file = tmp_path / "corpora.toml"
    file.write_bytes(b"\xef\xbb\xbf" + BASE.replace("\n", "\r\n").encode())
    assert load_catalogue(file, KINDS).product.name == "Flask"
    file.write_bytes(b"\xef\xbb\xbf" + (BASE + "colour = 1\n").replace("\n", "\r\n").encode())
    with pytest.raises(ConfigurationError, match="line 11"):
        load_catalogue(file, KINDS)


MISTAKES = {
    "a key of a source": (
        BASE + 'inculde = ["x"]\n',
        11,
        ["inculde", 'did you mean "include"', "path", "interval"],
    ),
    "a key of another kind": (BASE + 'package = "x"\n', 11, ["package", 'kind "folder"']),
    "a table": (
        '[products]\nname = "x"\n' + BASE,
        1,
        ["products", 'did you mean "product"', "release", "channels"],
    ),
    "a source outside a release": (
        BASE + '[[source]]\nkind = "folder"\n',
        11,
        ["source", "belongs in [[release]]"],
    ),
    "a key of a release": (
        BASE.replace("aliases", "alias"),
        6,
        ["alias", 'did you mean "aliases"', "latest, lts"],
    ),
    "a number for text": (
        BASE.replace('"3.1"', "3.1"),
        5,
        ['"name" in [[release]] is 3.1', 'text in quotes, "3.1"'],
    ),
    "text for a list": (BASE.replace('["3.1.x"]', '"3.1.x"'), 6, ["aliases", "a list"]),
    "an item of the wrong type": (BASE.replace('"3.1.x"', "3"), 6, ["aliases", 'text in quotes, "3"']),
    "an empty name": (BASE.replace('"Flask"', '" "'), 2, ["name", "not empty"]),
    "text for true": (
        BASE.replace("aliases", 'latest = "yes"\naliases'),
        6,
        ["latest", '"yes"', "true or false"],
    ),
    "no name": (
        BASE.replace('name = "Flask"', ""),
        1,
        ['"name" is missing in [product]', "aliases, glossary"],
    ),
    "no product": (BASE.partition("\n\n")[2], 1, ["[product] is missing", "people"]),
    "no release": ('[product]\nname = "x"\n', 1, ["release"]),
    "an empty list of releases": ('release = []\n[product]\nname = "x"\n', 1, ["no release", "[[release]]"]),
    "single brackets": (BASE.replace("[[release]]", "[release]"), 4, ["[release]", "[[release]]"]),
    "no kind": (BASE.replace('kind = "folder"\n', ""), 8, ['"kind" is missing', "folder, sdist"]),
    "an unknown kind": (
        BASE.replace('"folder"', '"foldr"'),
        9,
        ["foldr", 'did you mean "folder"', "folder, sdist"],
    ),
    "a kind of the wrong type": (BASE.replace('"folder"', "1"), 9, ["kind", "folder, sdist"]),
    "no path": (BASE.replace('path = "docs"\n', ""), 8, ['"path" is missing in [[release.source]]']),
    "two of a name": (BASE + '[[release]]\nname = "3.1"\n', 12, ['"3.1"', "of line 4"]),
    "two of an alias": (
        BASE + '[[release]]\nname = "3.2"\naliases = ["3.2.x",\n"V3.1"]\n',
        14,
        ["V3.1", "line 4"],
    ),
    "two latest": (
        BASE.replace("aliases", "latest = true\naliases") + '[[release]]\nname = "3"\nlatest = true\n',
        14,
        ["latest", "line 6", "one release"],
    ),
    "a channel's release": (
        BASE + '[channels."slack:C1"]\nrelease = "3.2"\n',
        12,
        ['no release "3.2"', 'did you mean "3.1"', "allowed here: 3.1"],
    ),
    "a channel's mode": (
        BASE + '[channels."slack:C1"]\nmode = "loud"\n',
        12,
        ["mode", '"mentions"', '"forum"'],
    ),
    "a channel's key": (BASE + '[channels."slack:C1"]\nreleas = "3"\n', 12, ["releas", "mode, release"]),
    "a channel without platform": (BASE + "[channels.C1]\n", 11, ["C1", '[channels."slack:C0123"]']),
    "a channel without quotes": (BASE + "[channels.slack:C1]\n", 11, ["quotes", '[channels."slack:C0123"]']),
    "a bad interval": (BASE + 'interval = "daily"\n', 11, ["interval", '"daily"', '"6h"', "seconds"]),
    "bounds the wrong way round": (BASE + 'interval = "1d to 1h"\n', 11, ["interval", "1h to 1w"]),
    "a short interval": (BASE + "interval = 1\n", 11, ["interval", "at least 60"]),
    "an interval that is none": (BASE + "interval = nan\n", 11, ["interval"]),
    "a bad format": (BASE + 'format = "word"\n', 11, ["format", "html, markdown, rst, text"]),
    "a placeholder": (BASE + 'url = "https://x.org/{file}"\n', 11, ["url", "{page}", "{path}"]),
    "half a placeholder": (BASE + 'url = "https://x.org/{page"\n', 11, ["url", "{page}"]),
    "a link of another kind": (BASE + 'url = "javascript:{page}"\n', 11, ["url", "https://"]),
    "a pattern that leaves": (BASE + 'include = ["ok",\n"../x/*"]\n', 12, ["include", "inside"]),
    "no glossary": (
        BASE.replace('"Flask"', '"F"\nglossary = "g.toml"'),
        3,
        ["glossary", "g.toml", "file that exists"],
    ),
    "a person's account": (BASE + '[people]\nada = ["U1"]\n', 12, ["ada", "slack:U0123"]),
    "an account of two": (
        BASE + '[people]\na = ["slack:U1"]\nb = ["slack:U1"]\n',
        13,
        ["slack:U1", "belongs to a"],
    ),
    "the same source twice": (BASE + BASE[BASE.index("[[release.s") :], 11, ["line 8 already"]),
    "the same source for all": (
        BASE + '[[unversioned.source]]\nkind="folder"\npath="docs"\n',
        11,
        ["line 8"],
    ),
    "no TOML": (BASE + "path: docs\n", 11, ["not TOML", "path: docs", "key = value"]),
    "no end": (BASE + 'url = """x', 11, ["not TOML"]),
    "a key twice": (BASE + 'path = "x"\n', 11, ["twice"]),
    "a table twice": (BASE + "[product]\n", 11, ["twice"]),
}


@pytest.mark.parametrize("case", MISTAKES)
def test_a_mistake_names_line_key_and_what_is_allowed(tmp_path, case):
    text, line, told = MISTAKES[case]
    with pytest.raises(ConfigurationError) as caught:
        load(tmp_path, text)
    message = str(caught.value)
    assert f"corpora.toml, line {line}: " in message
    assert "allowed here: " in message
    assert "\n" not in message
    for part in told:
        assert part in message


def test_a_file_that_cannot_be_read(tmp_path):
    with pytest.raises(ConfigurationError, match=r"corpora\.toml does not exist"):
        load_catalogue(tmp_path / "corpora.toml", KINDS)
    with pytest.raises(ConfigurationError, match="cannot be read"):
        load_catalogue(tmp_path, KINDS)
    (tmp_path / "corpora.toml").write_bytes(b"[product]\nname = '\xff'\n")
    with pytest.raises(ConfigurationError, match="line 2: this is not UTF-8"):
        load_catalogue(tmp_path / "corpora.toml", KINDS)


@pytest.mark.parametrize(
    ("glossary", "line", "told"),
    [
        ("[acronims]\n", 1, 'did you mean "acronyms"'),
        ("[acronyms]\nPM = 3\n", 2, '"PM"'),
        ('[synonyms]\na = "b"\nx = ["y", 3]\n', 3, '"x"'),
        ("[synonyms]\nx = []\n", 2, "empty"),
        ('[acronyms]\nPM = " "\n', 2, "empty"),
        ("acronyms = 3\n", 1, "table"),
        ("[acronyms\n", 1, "not TOML"),
    ],
)
def test_a_mistake_in_the_glossary(tmp_path, glossary, line, told):
    (tmp_path / "g.toml").write_text(glossary)
    with pytest.raises(ConfigurationError) as caught:
        load(tmp_path, BASE.replace('"Flask"', '"Flask"\nglossary = "g.toml"'))
    assert re.search(rf"g\.toml, line {line}: .*allowed here: ", str(caught.value))
    assert told in str(caught.value)


def test_the_project_s_own_file_is_flask_in_three_releases():
    file = Path(__file__).parents[2] / "corpora.toml"
    catalogue = load_catalogue(file, Kinds())
    assert [r.name for r in catalogue.product.releases] == ["2.0", "2.3", "3.1"]
    assert catalogue.product.latest.name == "3.1"
    assert {s.release: (s.kind, s.url) for s in catalogue.sources} == {
        "3.1": ("sdist", "https://flask.palletsprojects.com/en/stable/{page}/"),
        "2.3": ("sdist", "https://flask.palletsprojects.com/en/2.3.x/{page}/"),
        "2.0": ("sdist", "https://flask.palletsprojects.com/en/2.0.x/{page}/"),
    }


ASKED = """
[ask]
people = ["slack:U1", "discord:2", "slack:U1"]
channels = ["slack:C9"]
call = ["slack:S1", "discord:role:5"]

[channels."slack:C1".ask]
people = ["slack:U7"]

[channels."slack:C2"]
mode = "forum"

[channels."slack:C3".ask]
"""


def test_who_is_asked_for_help_by_platform_and_channel(tmp_path):
    catalogue = load(tmp_path, BASE + ASKED)
    assert catalogue.asked_in("slack:C0") == Targets(("slack:U1",), ("slack:C9",), ("slack:S1",))
    assert catalogue.asked_in("slack:C2") == catalogue.asked_in("slack:C0")
    assert catalogue.asked_in("discord:1") == Targets(("discord:2",), (), ("discord:role:5",))
    assert catalogue.asked_in("slack:C1") == Targets(("slack:U7",))
    assert not catalogue.asked_in("slack:C3") and not catalogue.asked_in("web:help")
    assert not load(tmp_path, BASE).asked_in("slack:C1")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('\n[ask]\npeople = ["hal"]\n', "slack:U0123"),
        ('\n[ask]\nroles = ["slack:S1"]\n', "call, channels, people"),
        ('\n[channels."slack:C1".ask]\nwho = ["slack:U1"]\n', "call, channels, people"),
    ],
)
def test_a_mistake_in_who_is_asked_is_told(tmp_path, text, told):
    with pytest.raises(ConfigurationError) as caught:
        load(tmp_path, BASE + text)
    assert told in str(caught.value) and f"line {(BASE + text).count(chr(10))}" in str(caught.value)


def test_a_source_that_never_answers_is_tried_for_ever() -> None:
    schedule = Schedule(300.0, 60.0, 600.0)
    assert [schedule.wait(0, failures) for failures in (0, 1_024, 10_000)] == [300.0] * 3
