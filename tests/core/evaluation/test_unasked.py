"""Posts of which it is known whether the documentation answers them."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path

import pytest

from core.errors import UsageError
from evaluation.unasked import Judged, Post, read_posts, table

GOLDEN = Path(__file__).parents[2] / "golden"


def test_the_posts_are_enough_and_of_every_kind_and_in_halves() -> None:
    posts = read_posts(GOLDEN / "unasked.jsonl")
    assert len(posts) >= 150 and len({post.id for post in posts}) == len(posts)
    kinds = Counter(post.kind for post in posts)
    assert set(kinds) == {
        "smalltalk", "announcement", "paste", "rhetorical", "other", "meta", "near", "real"
    }  # fmt: skip
    assert all(post.speak == (post.kind == "real") == bool(post.files) for post in posts)
    halves = Counter(post.split for post in posts)
    assert abs(halves["tune"] - halves["report"]) <= 8 and halves["late"] >= 70


def test_golden_questions_that_stand_alone_are_posts() -> None:
    posts = {post.id: post for post in read_posts(GOLDEN / "flask.jsonl")}
    assert posts["max-cookie-warn"].speak and posts["max-cookie-warn"].files == ("config.rst",)
    assert not any(post.speak for post in posts.values() if post.kind in ("out_of_scope", "unknown_release"))
    assert not [post for post in posts.values() if post.kind == "followup"]


def test_conversations_give_their_first_messages_but_those_to_somebody(tmp_path: Path) -> None:
    message = '<message conversation_id="{}"><text>{}</text></message>'
    said = [
        (1, "How do I &amp;amp;lt;&amp;gt; this?"),
        (1, "Like so."),
        (2, "&lt;@Ann&gt; did it work?"),
        (3, "Hi"),
    ]
    path = tmp_path / "chat.xml.gz"
    path.write_bytes(
        gzip.compress(f"<slack>{''.join(message.format(*one) for one in said)}</slack>".encode())
    )
    assert [post.text for post in read_posts(path)] == ["How do I &lt;> this?", "Hi"]


def test_a_plain_file_is_a_post_a_line(tmp_path: Path) -> None:
    path = tmp_path / "titles.txt"
    path.write_text("One?\n\nTwo?\n")
    assert [(post.text, post.speak) for post in read_posts(path)] == [("One?", False), ("Two?", False)]


def test_what_cannot_be_read_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        read_posts(tmp_path / "nothing.jsonl")
    path = tmp_path / "bad.jsonl"
    path.write_text(json.dumps({"id": "a"}) + "\n")
    with pytest.raises(UsageError, match="line 1 is no post"):
        read_posts(path)


def test_the_table_counts_what_was_answered_rightly() -> None:
    def post(speak: bool, split: str = "tune") -> Post:
        return Post("a", "real" if speak else "near", split, "How?", speak, ("a.md",) if speak else ())

    judged = [
        Judged(post(True), 0.96, ("a.md", "b.md")),
        Judged(post(True), 0.96, ("b.md",)),
        Judged(post(True), 0.5),
        Judged(post(False), 0.96),
        Judged(post(False, "report"), 0.9),
    ]
    shown = table(judged, [0.95])
    assert "| tune | 4 | 3 | 0.95 | 3 | 0.667 | 0.667 | 0.500 |" in shown
    assert "| report | 1 | 0 | 0.95 | 0 | – | – | – |" in shown
    assert "| real | 3 | 2 |" in shown and "| near | 2 | 1 |" in shown


def test_posts_that_cannot_be_read_are_named_with_file_and_line(tmp_path: Path) -> None:
    good = {"id": "1", "kind": "real", "split": "all", "text": "one\u2028two", "speak": True}
    path = tmp_path / "posts.jsonl"
    path.write_text("\ufeff" + json.dumps(good, ensure_ascii=False) + "\r\n\n", "utf-8")
    assert [post.text for post in read_posts(path)] == ["one\u2028two"]
    for bad in ("5", "[" * 100_000, json.dumps(good | {"speak": "false"}), json.dumps(good | {"id": None})):
        path.write_text(f"{json.dumps(good)}\n\n{bad}\n", "utf-8")
        with pytest.raises(UsageError, match=r"posts\.jsonl, line 3 is no post"):
            read_posts(path)
    packed = tmp_path / "posts.jsonl.gz"
    packed.write_bytes(gzip.compress(path.read_bytes())[:-10])
    with pytest.raises(UsageError, match=r"posts\.jsonl\.gz cannot be read"):
        read_posts(packed)
