from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from core.catalogue import SourceSpec
from core.errors import SourceError
from core.ingestion.parsing import parse
from core.ingestion.sources._conversations import document, threads, told
from core.ingestion.sources.history.exports.slack import markdown_of
from core.ingestion.sources.history.source import HistorySource, Options
from core.ports.history import Post
from tests.fake_workers import FakeWorkers


def source(tmp_path: Path, path: str = "export", **options) -> HistorySource:
    spec = SourceSpec("history", Options(path=path, **options), root=tmp_path, where="corpora.toml, line 4")
    return HistorySource(spec, FakeWorkers())


def message(ts: str, user: str, text: str, **more):
    return {"type": "message", "ts": ts, "user": user, "text": text, **more}


HELP = [
    message("100.000100", "U1", "How do I boil *less* water? <@U2> &lt;help&gt;", thread_ts="100.000100"),
    message("101.000100", "U3", "Buy a smaller kettle.", thread_ts="100.000100"),
    message("102.000100", "U2", "Fill it to the mark, see <https://x.example/guide|the guide>.",
            thread_ts="100.000100", reactions=[{"name": "white_check_mark", "users": ["U1"], "count": 1}]),
    message("103.000100", "B1", "I am a bot and say nonsense.", thread_ts="100.000100", bot_id="B1"),
    message("200.000100", "U1", "Why does it whistle?", thread_ts="200.000100"),
    message("201.000100", "U4", "Nobody knows.", thread_ts="200.000100"),
    message("300.000100", "U1", "Lunch!"),
    message("9000.000100", "U5", "Is the lid spare?"),
    message("9010.000100", "U2", "Yes, order part 7."),
    message("9020.000100", "U5", "Thanks!"),
    {"type": "message", "subtype": "channel_join", "ts": "1.0", "user": "U9", "text": "<@U9> has joined"},
]  # fmt: skip


def slack(tmp_path: Path, zipped: bool = False) -> None:
    files = {
        "channels.json": [{"id": "C1", "name": "help"}],
        "groups.json": [{"id": "G1", "name": "secret"}],
        "users.json": [{"id": "U1", "is_bot": False}, {"id": "U6", "is_bot": True}],
        "help/2024-05-01.json": HELP[:6],
        "help/2024-05-02.json": HELP[6:],
        "secret/2024-05-01.json": HELP[:3],
    }
    if zipped:
        with zipfile.ZipFile(tmp_path / "export.zip", "w") as out:
            for name, content in files.items():
                out.writestr(name, json.dumps(content))
        return
    for name, content in files.items():
        file = tmp_path / "export" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(content))


@pytest.mark.parametrize("zipped", [False, True])
def test_settled_questions_of_public_slack_channels_are_read(tmp_path, zipped):
    slack(tmp_path, zipped)
    history = source(tmp_path, "export.zip" if zipped else "export", workspace="https://kettle.slack.com/")
    first, second = history.documents()
    assert first.path == "help/100.000100"
    assert first.url == "https://kettle.slack.com/archives/C1/p100000100"
    assert first.content.decode() == (
        "# How do I boil **less** water?\n\nHow do I boil **less** water?  <help>\n\n"
        "Fill it to the mark, see [the guide](https://x.example/guide).\n\nBuy a smaller kettle."
    )
    assert parse(first).title == "How do I boil less water?"
    assert second.content.decode() == "# Is the lid spare?\n\nYes, order part 7."
    assert dict(history.skipped) == {
        "secret": "it is not public",
        "help/200.000100": "no answer was accepted, voted for or thanked for",
        "help/300.000100": "it does not begin with a question",
    }


def test_all_answered_questions_can_be_asked_for(tmp_path):
    slack(tmp_path)
    assert len(list(source(tmp_path, answers="any").documents())) == 3


def test_channels_are_chosen_and_people_left_out(tmp_path):
    slack(tmp_path)
    assert list(source(tmp_path, channels=["other-*"]).documents()) == []
    assert len(list(source(tmp_path, channels=["hel*"]).documents())) == 2
    texts = [d.content.decode() for d in source(tmp_path, without=["U2"], answers="any").documents()]
    assert not any("Fill it" in text or "part 7" in text for text in texts)
    assert any("smaller kettle" in text for text in texts)


def discord(tmp_path: Path) -> None:
    def entry(mark: int, author: str, text: str, **more):
        return {
            "id": str(mark),
            "type": "Default",
            "timestamp": f"2024-05-01T10:{mark % 60:02}:00.000+00:00",
            "content": text,
            "author": {"id": author, "name": author, "isBot": author == "bot"},
            "reactions": [],
            "mentions": [],
            **more,
        }

    channel = {
        "guild": {"id": "9"},
        "channel": {"id": "5", "type": "GuildTextChat", "name": "support"},
        "messages": [
            entry(1, "ann", "What is the warranty? <@77> <:kettle:123>"),
            entry(2, "bob", "How long is the cord?"),
            entry(3, "eve", "Two years.", type="Reply", reference={"messageId": "1"},
                  reactions=[{"emoji": {"name": "👍"}, "count": 3}]),
            entry(4, "eve", "A metre.", type="Reply", reference={"messageId": "2"},
                  reactions=[{"emoji": {"name": "✅"}, "count": 1}]),
            entry(5, "bot", "Beep?", type="Reply", reference={"messageId": "2"}),
        ],
    }  # fmt: skip
    post = {
        "guild": {"id": "9"},
        "channel": {"id": "6", "type": "GuildPublicThread", "name": "Kettle trips the fuse"},
        "messages": [entry(11, "ann", "It goes dark."), entry(12, "bob", "Use another socket.",
                     reactions=[{"emoji": {"name": "✅"}, "count": 1}])],
    }  # fmt: skip
    private = channel | {"channel": {"id": "7", "type": "GuildPrivateThread", "name": "staff"}}
    (tmp_path / "export").mkdir()
    for name, content in (("a.json", channel), ("b.json", post), ("c.json", private), ("d.json", {"x": 1})):
        (tmp_path / "export" / name).write_text(json.dumps(content))


def test_discord_channels_and_posts_are_read(tmp_path):
    discord(tmp_path)
    history = source(tmp_path)
    documents = {d.path: (d.url, d.content.decode()) for d in history.documents()}
    assert documents == {
        "support/1": (
            "https://discord.com/channels/9/5/1",
            "# What is the warranty?\n\nWhat is the warranty?  :kettle:\n\nTwo years.",
        ),
        "support/2": ("https://discord.com/channels/9/5/2", "# How long is the cord?\n\nA metre."),
        "Kettle trips the fuse/11": (
            "https://discord.com/channels/9/6/11",
            "# Kettle trips the fuse\n\nIt goes dark.\n\nUse another socket.",
        ),
    }
    assert dict(history.skipped) == {"staff": "it is not public", "d.json": "it is no channel"}


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda place: None, "There is no"),
        (lambda place: place.mkdir(), "no folder with a channel's days"),
        (lambda place: place.write_bytes(b"no zip"), "no zip that can be read"),
        (lambda place: (place.mkdir(), (place / "a.json").write_text("{")), "a.json is not JSON"),
    ],
)
def test_what_is_no_export_is_told(tmp_path, make, said):
    make(tmp_path / "export")
    with pytest.raises(SourceError, match=f"{said}.*line 4"):
        list(source(tmp_path).documents())


def test_a_link_out_of_the_export_is_not_followed(tmp_path):
    slack(tmp_path)
    (tmp_path / "elsewhere.json").write_text(json.dumps(HELP[:3]))
    (tmp_path / "export" / "help" / "2024-05-03.json").symlink_to(tmp_path / "elsewhere.json")
    assert len(list(source(tmp_path).documents())) == 2


def post(mark: int, author: str, text: str, minute: float, *mentions: str) -> Post:
    return Post(str(mark), author, text, minute * 60, mentions=frozenset(mentions))


def test_two_conversations_at_once_are_told_apart():
    posts = [
        post(1, "ann", "How do I fill it?", 0),
        post(2, "bob", "ann: from the tap", 1, "ann"),
        post(3, "eve", "Unrelated: where is the plug?", 25),
        post(4, "ann", "bob: how far?", 26, "bob"),
        post(5, "joe", "eve: behind you", 27, "eve"),
        post(6, "bob", "To the mark.", 28),
    ]
    assert [[p.id for p in conversation] for conversation in threads(posts)] == [
        ["1", "2", "4", "6"],
        ["3", "5"],
    ]


def test_a_long_silence_ends_a_conversation():
    posts = [post(1, "ann", "Hello?", 0), post(2, "bob", "Other things?", 90)]
    assert len(threads(posts)) == 2


def test_thanks_settle_the_last_answer_before_them():
    found = told(
        [post(1, "a", "Why?", 0), post(2, "b", "Because.", 1), post(3, "c", "So.", 2), post(4, "a", "ty!", 3)]
    )
    assert not isinstance(found, str)
    assert found.settled and [answer.text for answer in found.answers] == ["So.", "Because."]


@pytest.mark.parametrize(
    ("slack", "markdown"),
    [
        ("see <#C1|general> and <https://x.example>", "see #general and https://x.example"),
        ("<!here> ping <!subteam^S1|@team>", "ping @team"),
        ("a `x &lt; *y*` b", "a `x < *y*` b"),
        ("```def f():\n  return 1```", "```\ndef f():\n  return 1\n```"),
        ("2 * 3 * 4", "2 * 3 * 4"),
    ],
)
def test_slacks_notation_becomes_markdown(slack, markdown):
    assert markdown_of(slack) == markdown


def test_people_who_opted_out_are_left_out_with_the_conversations_that_they_began(tmp_path):
    slack(tmp_path)
    history = source(tmp_path, answers="any")

    def read(*out: str) -> list[str]:
        history.is_out = lambda account: account in out
        return [document.content.decode() for document in history.documents()]

    everything = read()
    assert history.withheld == 0 and len(everything) == 3
    without = read("slack:U2")
    assert history.withheld == 2
    assert not any("Fill it to the mark" in text or "order part 7" in text for text in without)
    assert any("How do I boil" in text and "smaller kettle" in text for text in without)
    assert not any("How do I boil" in text or "smaller kettle" in text for text in read("slack:U1"))
    assert read("discord:U2") == everything, "an account of another platform is another's"


def test_an_answer_that_is_no_whole_sentence_becomes_an_item_and_is_quoted_so() -> None:
    posts = [
        Post("1", "ada", "How do I mend a torn sail?", 1.0),
        Post("2", "bo", "use the waxed thread\nand a sail needle", 2.0),
        Post("3", "bo", "Ask the sailmaker, too.", 3.0),
        Post("4", "bo", "- thread\n- needle", 4.0),
        Post("5", "bo", "like this:\n```\nsew(sail)\n```", 5.0),
    ]
    conversation = told(posts)
    assert not isinstance(conversation, str)
    assert document("deck/1", conversation).content.decode().split("\n\n") == [
        "# How do I mend a torn sail?",
        "- use the waxed thread and a sail needle",
        "Ask the sailmaker, too.",
        "- thread\n- needle",
        "like this:\n```\nsew(sail)\n```",
    ]
