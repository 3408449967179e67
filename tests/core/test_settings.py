from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from pydantic import AliasChoices

from core.env_file import entries
from core.errors import ConfigurationError
from core.settings import Settings, load_settings

EXAMPLE = Path(__file__).parents[2] / ".env.example"
ROW = re.compile(r"^# ?([A-Z][A-Z0-9_]*)=(.*)$")


def variable(name: str) -> str:
    field = Settings.model_fields[name]
    if isinstance(field.validation_alias, AliasChoices):
        return str(field.validation_alias.choices[0])
    return str(field.alias)


@pytest.fixture(autouse=True)
def bare_environment(monkeypatch):
    for name in (*map(variable, Settings.model_fields), "PIP_INDEX_URL"):
        monkeypatch.delenv(name, raising=False)


def rows() -> dict[str, tuple[str, str]]:
    lines = EXAMPLE.read_text(encoding="utf-8").splitlines()
    found = [(n, ROW.match(line)) for n, line in enumerate(lines)]
    return {match[1]: (match[2], lines[n - 1]) for n, match in found if match}


def test_the_example_has_every_variable_in_order_and_no_other():
    assert list(rows()) == [variable(name) for name in Settings.model_fields]


def test_every_variable_of_the_example_is_explained_in_one_line():
    for name, (_, comment) in rows().items():
        assert re.match(r"# \S.{15,}[^,]$", comment), name
        assert not ROW.match(comment), name


def test_the_example_shows_the_defaults(tmp_path):
    file = tmp_path / ".env"
    given = {name: value for name, (value, _) in rows().items() if value}
    file.write_text("".join(f"{name}={value}\n" for name, value in given.items()))
    assert load_settings(str(file)).model_dump() == load_settings(None).model_dump()
    empty = [n for n in Settings.model_fields if not rows()[variable(n)][0]]
    defaults = load_settings(None).model_dump(mode="json")
    assert [name for name in empty if defaults[name]] == []


def test_the_example_itself_changes_nothing():
    assert load_settings(str(EXAMPLE)).model_dump() == load_settings(None).model_dump()


def test_variables_that_shells_and_hosts_set_are_not_ours(monkeypatch, tmp_path):
    expected = load_settings(None, home=tmp_path).model_dump()
    for name, value in {"HOME": "/h", "HOST": "h", "PORT": "1", "CONFIG": "/c", "ADMINS": "slack:U1"}.items():
        monkeypatch.setenv(name, value)
    assert load_settings(None, home=tmp_path).model_dump() == expected
    assert load_settings(None).home == Path("/h/.threadlore")


def test_lists_are_written_with_commas(monkeypatch):
    monkeypatch.setenv("THREADLORE_ADMINS", " slack:U1, discord:2 ,,")
    monkeypatch.setenv("THREADLORE_HELPERS", "")
    settings = load_settings(None)
    assert settings.admins == ("slack:U1", "discord:2")
    assert settings.helpers == ()
    assert load_settings(None, admins=("slack:U9",)).admins == ("slack:U9",)
    monkeypatch.setenv("THREADLORE_HELPERS", "discord:role:3, U1")
    with pytest.raises(
        ConfigurationError, match="THREADLORE_HELPERS is not valid: write each as platform and id"
    ):
        load_settings(None)
    with pytest.raises(ConfigurationError, match="THREADLORE_ADMINS"):
        load_settings(None, helpers=(), admins="chloe")


def test_shards_are_written_as_numbers_and_ranges(monkeypatch):
    assert (load_settings(None).discord_shard_count, load_settings(None).discord_shard_ids) == (None, ())
    monkeypatch.setenv("DISCORD_SHARD_COUNT", "8")
    monkeypatch.setenv("DISCORD_SHARD_IDS", " 0-2, 6,1 ")
    assert load_settings(None).discord_shard_ids == (0, 1, 2, 6)
    monkeypatch.setenv("DISCORD_SHARD_IDS", "")
    assert load_settings(None).discord_shard_ids == ()
    monkeypatch.setenv("DISCORD_SHARD_COUNT", "auto")
    assert load_settings(None).discord_shard_count == 0


@pytest.mark.parametrize(
    ("count", "ids", "told"),
    [
        ("4", "4", "the last is 3"),
        ("4", "0-4", "the last is 3"),
        ("4", "3-1", "such as 0,1 or 0-3"),
        ("4", "all", "such as 0,1 or 0-3"),
        ("4", "-1", "such as 0,1 or 0-3"),
        ("4", "0-99999999999999999999", "such as 0,1 or 0-3"),
        ("auto", "0", "set DISCORD_SHARD_COUNT, too"),
    ],
)
def test_shards_that_are_none_of_the_bots_are_refused(monkeypatch, count, ids, told):
    monkeypatch.setenv("DISCORD_SHARD_COUNT", count)
    monkeypatch.setenv("DISCORD_SHARD_IDS", ids)
    with pytest.raises(ConfigurationError, match=told) as caught:
        load_settings(None)
    assert str(caught.value).startswith("DISCORD_SHARD_IDS is not valid")


def test_given_values_win_and_none_is_not_given(monkeypatch, tmp_path):
    monkeypatch.setenv("THREADLORE_PORT", "1234")
    assert load_settings(None, port=99, host=None).port == 99
    assert load_settings(None, port=None).port == 1234
    assert load_settings(None, home=tmp_path / "x" / ".." / "y").home.is_absolute()
    assert load_settings(None, home=Path("~/x")).home == Path.home() / "x"


def test_the_environment_wins_over_the_file(monkeypatch, tmp_path):
    file = tmp_path / ".env"
    file.write_text("OLLAMA_MODEL=small\nOLLAMA_HOST=http://a:1\nSOMETHING_ELSE=1\n")
    monkeypatch.setenv("OLLAMA_MODEL", "large")
    settings = load_settings(str(file))
    assert (settings.ollama_model, settings.ollama_host) == ("large", "http://a:1")


def test_the_package_index_is_pip_s_unless_it_has_its_own(monkeypatch):
    assert load_settings(None).package_index == "https://pypi.org/simple/"
    monkeypatch.setenv("PIP_INDEX_URL", "https://mirror.example/simple")
    assert load_settings(None).package_index == "https://mirror.example/simple"
    monkeypatch.setenv("PACKAGE_INDEX", "https://own.example/simple")
    assert load_settings(None).package_index == "https://own.example/simple"


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("THREADLORE_PORT", "http", "write a whole number"),
        ("THREADLORE_PORT", "70000", "65535"),
        ("OLLAMA_NUM_CTX", "12", "1024"),
        ("OLLAMA_TIMEOUT", "0", "greater than 0"),
        ("MEMORY_DELTA", "1.5", "less than or equal to 1"),
        ("LOG_LEVEL", "LOUD", "'WARNING'"),
        ("THREADLORE_PLAYGROUND", "perhaps", "true or false"),
        ("DISCORD_SHARD_COUNT", "many", "a whole number"),
        ("DISCORD_SHARD_COUNT", "-1", "0"),
        ("DISCORD_SHARD_IDS", "0,1", "set DISCORD_SHARD_COUNT, too"),
    ],
)
def test_a_bad_value_names_its_variable_and_what_it_may_hold(monkeypatch, name, value, told):
    monkeypatch.setenv(name, value)
    with pytest.raises(ConfigurationError) as caught:
        load_settings(None)
    message = str(caught.value)
    assert message.startswith(f"{name} ")
    assert told in message
    assert repr(value) in message
    assert ".env" in message


def test_secrets_do_not_show(monkeypatch):
    monkeypatch.setenv("SLACK_BOT_TOKEN", "xoxb-secret")
    monkeypatch.setenv("DATABASE_URL", "postgresql://u:secret@h/d")
    settings = load_settings(None)
    assert "secret" not in repr(settings)
    assert settings.slack_bot_token.get_secret_value() == "xoxb-secret"


def test_the_machines_own_language_is_not_the_bots(monkeypatch, tmp_path):
    monkeypatch.setenv("LANGUAGE", "C")
    assert load_settings(None).language == "en"
    (tmp_path / ".env").write_text("LANGUAGE=es\n")
    assert load_settings(str(tmp_path / ".env")).language == "es"
    monkeypatch.setenv("THREADLORE_LANGUAGE", "de-AT")
    assert load_settings(str(tmp_path / ".env")).language == "de-AT"
    with pytest.raises(ConfigurationError, match="THREADLORE_LANGUAGE"):
        load_settings(None, language="german")


def test_settings_do_not_change():
    with pytest.raises(ValueError, match="frozen"):
        load_settings(None).port = 1  # type: ignore[misc]


def test_channels_for_notices_have_a_platform():
    settings = load_settings(None, admin_channels="slack:C1, discord:5")
    assert settings.admin_channels == ("slack:C1", "discord:5") and settings.gaps_digest == "mon 09:00"
    with pytest.raises(ConfigurationError, match="THREADLORE_ADMIN_CHANNEL"):
        load_settings(None, admin_channels="#help")


@pytest.mark.parametrize("when", ["monday", "mon 24:00", "mon 9:00"])
def test_a_digest_has_a_day_and_a_time_or_is_off(when):
    assert load_settings(None, gaps_digest="off").gaps_digest == "off"
    with pytest.raises(ConfigurationError, match="GAPS_DIGEST is not valid: write a day and a time, such as"):
        load_settings(None, gaps_digest=when)


def test_a_privacy_key_that_is_none_is_refused_and_not_shown(monkeypatch):
    monkeypatch.setenv("PRIVACY_KEY", "abc")
    with pytest.raises(ConfigurationError, match="PRIVACY_KEY is not valid: write 64 hex digits") as caught:
        load_settings(None)
    assert "abc" not in str(caught.value)
    monkeypatch.setenv("PRIVACY_KEY", "0a" * 32)
    assert load_settings(None).privacy_key.get_secret_value() == "0a" * 32


def test_a_file_that_windows_wrote_counts_from_its_first_line(tmp_path):
    file = tmp_path / ".env"
    file.write_bytes(b"\xef\xbb\xbfTHREADLORE_PORT=81\r\nOLLAMA_MODEL=small\r\n")
    settings = load_settings(str(file))
    assert (settings.port, settings.ollama_model) == (81, "small")
    assert dict(entries(file)) == {"THREADLORE_PORT": "81", "OLLAMA_MODEL": "small"}


@pytest.mark.parametrize("held", ["FAST=true\n".encode("utf-16"), "OLLAMA_MODEL=gro\xdf\n".encode("latin-1")])
def test_a_file_that_is_not_utf_8_is_refused_with_what_to_do(tmp_path, held):
    file = tmp_path / ".env"
    file.write_bytes(held)
    with pytest.raises(ConfigurationError, match=r"\.env is not UTF-8; save it as text in UTF-8"):
        load_settings(str(file))


def test_lines_that_set_nothing_are_told_once_with_the_file(tmp_path, caplog):
    file = tmp_path / ".env"
    file.write_text("OLLAMA_MODEL=small\n# said\n\nTHREADLORE_ADMINS: slack:U1\nDASHBOARD_TOKEN\nFAST=true\n")
    settings = load_settings(str(file))
    load_settings(str(file))
    assert (settings.ollama_model, settings.fast, settings.admins) == ("small", True, ())
    assert [record.getMessage() for record in caplog.records] == [
        f"{file}, line {line} sets nothing: write it as NAME=value." for line in (4, 5)
    ]


def test_no_library_tells_of_such_a_line_again(tmp_path):
    (tmp_path / ".env").write_text("THREADLORE_ADMINS: slack:U1\n")
    program = [sys.executable, "-c", "import storage.vectors.ahead, chromadb"]
    path = {**os.environ, "PYTHONPATH": str(EXAMPLE.parent)}
    ended = subprocess.run(program, cwd=tmp_path, env=path, capture_output=True, text=True, check=True)
    assert "could not parse" not in ended.stderr
