"""What is typed after a slash command, on keyboards and phones, read into options."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.commands.pausing import channel_of, duration, mode_and_channel
from bot.commands.slash.words import Option, parsed, quoted, whole_number, words
from core.errors import UsageError

RELEASE = Option("release", "")
DRY = Option("dry-run", "", kind="flag")
DAYS = Option("days", "", named=True)
STORE = Option("store", "", choices=("high", "low"), named=True)
REASON = Option("reason", "", rest=True)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("reindex 2.0 --dry-run", ("reindex", "2.0", "--dry-run")),
        ("reindex 2.0 —dry-run", ("reindex", "2.0", "--dry-run")),
        ("gaps –days 7", ("gaps", "--days", "7")),
        ("memory show “an id with spaces”", ("memory", "show", "an id with spaces")),
        ("pause 30 ‘moving house’", ("pause", "30", "moving house")),
        ("pause it's bob's turn", ("pause", "it's", "bob's", "turn")),
        ("pause it’s bob’s turn", ("pause", "it's", "bob's", "turn")),
        ('say "open', ("say", '"open')),
        ('say ""', ("say", "")),
        ('x --reason="two words" y', ("x", "--reason=two words", "y")),
        ("forget <@U1|Ann Lee> confirm", ("forget", "<@U1|Ann Lee>", "confirm")),
        ("why <https://a.b/c?d=1|a message>", ("why", "<https://a.b/c?d=1|a message>")),
        ("1 < 2 and 3 > 2", ("1", "<", "2", "and", "3", ">", "2")),
        ("moving — back soon", ("moving", "—", "back", "soon")),
        ("", ()),
        ("  \n ", ()),
    ],
)
def test_words_are_read_as_they_are_meant(text: str, expected: tuple[str, ...]) -> None:
    assert words(text) == expected


@given(st.text(st.characters(blacklist_categories=("Cs", "Cc", "Zl", "Zp")), min_size=1).filter(str.strip))
def test_a_quoted_value_is_one_word(value: str) -> None:
    [word] = words(quoted(value))
    straight = str.maketrans("“”„«»‘’‚—–", '"""""\'\'\'--')
    assert word.translate(straight).replace("'", '"') == value.translate(straight).replace("'", '"')


def test_options_are_read_by_place_by_name_and_as_flags() -> None:
    options = (RELEASE, DRY, DAYS)
    assert parsed(options, ("2.0", "--dry-run")) == {"release": "2.0", "dry-run": "dry-run"}
    assert parsed(options, ("dry-run", "2.0")) == {"release": "2.0", "dry-run": "dry-run"}
    assert parsed(options, ("--days", "7")) == {"days": "7"}
    assert parsed(options, ("--days=7", "--release=1.0")) == {"days": "7", "release": "1.0"}
    assert parsed((RELEASE, REASON), ("2.0", "--", "it is", "late")) == {
        "release": "2.0",
        "reason": "-- it is late",
    }
    assert parsed((RELEASE, REASON), ("--reason", "it is late")) == {"reason": "it is late"}
    assert parsed((), ()) == {}


@pytest.mark.parametrize(
    ("options", "said", "part"),
    [
        ((RELEASE, DRY), ("--dryrun",), "did you mean `--dry-run`"),
        ((RELEASE,), ("2.0", "please"), "`please` is too much"),
        ((), ("please",), "takes nothing"),
        ((DAYS,), ("--days",), "`--days` wants a value"),
        ((STORE,), ("--store", "medium"), "`medium` is not one of `high`, `low`"),
        ((Option("id", "", required=True),), (), "ID is missing"),
    ],
)
def test_what_is_wrong_is_named(options: tuple[Option, ...], said: tuple[str, ...], part: str) -> None:
    with pytest.raises(UsageError, match=part.replace("(", r"\(")):
        parsed(options, said)


@pytest.mark.parametrize("given_", ["0", "-1", "1.5", "seven", "²", "10001"])
def test_a_number_is_whole_and_within_bounds(given_: str) -> None:
    with pytest.raises(UsageError, match="The page"):
        whole_number(given_, "The page")
    assert whole_number("12", "The page") == 12


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("30", (30.0, "")),
        ("30 moving house", (30.0, "moving house")),
        ("2h, moving", (120.0, "moving")),
        ("1.5 hours", (90.0, "")),
        ("1d", (1440.0, "")),
        ("until further notice because", (0.0, "because")),
        ("3rd attempt", (0.0, "3rd attempt")),
        ("moving house", (0.0, "moving house")),
        ("", (0.0, "")),
    ],
)
def test_how_long_a_pause_is(said: str, expected: tuple[float, str]) -> None:
    assert duration(said) == expected


@pytest.mark.parametrize("said", ["0", "0 minutes", "9999999"])
def test_a_pause_of_no_length_is_refused(said: str) -> None:
    with pytest.raises(UsageError, match="one minute to a year"):
        duration(said)


def test_a_channel_is_named_in_any_of_the_usual_ways() -> None:
    assert channel_of("here", "slack:C1") == "slack:C1"
    assert channel_of("<#C2|help>", "slack:C1") == "slack:C2"
    assert channel_of("<#22>", "discord:11") == "discord:22"
    assert channel_of("discord:7", "slack:C1") == "discord:7"
    assert channel_of("C2", "slack:C1") == "slack:C2"
    assert channel_of("#help", "web:general") == "web:help"
    for said, here in (("#help", "slack:C1"), ("C1", "")):
        with pytest.raises(UsageError, match="which channel"):
            channel_of(said, here)


def test_a_mode_alone_is_for_this_channel() -> None:
    assert mode_and_channel(()) == ("", "")
    assert mode_and_channel(("Questions",)) == ("here", "questions")
    assert mode_and_channel(("C1", "off")) == ("C1", "off")
    assert mode_and_channel(("C1",)) == ("C1", "")
    with pytest.raises(UsageError, match="Did you mean `questions`"):
        mode_and_channel(("question",))
