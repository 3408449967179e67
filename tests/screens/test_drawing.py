"""The pictures show what was sent: every block and component of it, and nothing that is not there."""

from __future__ import annotations

from tests.screens.drawing import (
    Piece,
    Scene,
    Spoken,
    Window,
    mrkdwn,
    of_discord,
    of_slack,
    page,
    slack_window,
)

BUTTON = {"type": "button", "action_id": "up", "text": {"type": "plain_text", "text": "👍"}}
MENU = {
    "type": "static_select",
    "action_id": "release",
    "placeholder": {"type": "plain_text", "text": "Another release"},
    "options": [],
}


def test_a_slack_message_is_drawn_block_by_block() -> None:
    message = {
        "text": "not shown",
        "blocks": [
            {"type": "markdown", "text": "Set `x` [1].\n\n| a | b |\n|---|---|\n| 1 | 2 |"},
            {"type": "section", "text": {"type": "mrkdwn", "text": "*bold* <https://a.b|link>"}},
            {"type": "context", "elements": [{"type": "mrkdwn", "text": "Kettle 2.0"}]},
            {"type": "actions", "elements": [BUTTON, MENU]},
        ],
    }
    drawn = of_slack(message)
    assert "<code>x</code>" in drawn.body and "<td>2</td>" in drawn.body
    assert '<b>bold</b> <a href="https://a.b">link</a>' in drawn.body
    assert '<p class="small">Kettle 2.0</p>' in drawn.body and "not shown" not in drawn.body
    assert drawn.rows == ((Piece("👍"), Piece("Another release", menu=True)),) and not drawn.votes
    voted = of_slack(message | {"reactions": {"+1": ["UBOT"]}})
    assert voted.rows == ((Piece("Another release", menu=True),),) and voted.votes, "one row of votes"


def test_what_streams_is_drawn_from_its_text() -> None:
    assert "Looking it up …" in of_slack({"text": "Looking it up …\n\n", "blocks": []}).body


def test_a_discord_message_has_its_small_print_and_rows() -> None:
    rows = [[{"label": "Why?", "custom_id": "tl|why|a"}], [{"placeholder": "Another release", "options": []}]]
    drawn = of_discord("Set it [1].\n\n-# Kettle 2.0 · *quoted*", rows, False)
    assert "<p>Set it [1].</p>" in drawn.body and "-#" not in drawn.body
    assert '<p class="small">Kettle 2.0 · <em>quoted</em></p>' in drawn.body
    assert drawn.rows == ((Piece("Why?"),), (Piece("Another release", menu=True),))


def test_markup_in_what_people_wrote_is_no_markup_of_the_page() -> None:
    assert "<script>" not in of_discord("<script>alert(1)</script>", (), False).body
    assert mrkdwn("a &lt;b&gt; `c`") == "a &lt;b&gt; <code>c</code>"
    window = Window("<b>", (("<i>", True),), ("No", "Yes"))
    drawn = page("slack", [("dark", [Scene("<u>", (Spoken("ann", "<p>hi</p>"), window))])])
    assert "<u>" not in drawn and "<i>" not in drawn and "<p>hi</p>" in drawn and "slack dark" in drawn


def test_a_modal_is_drawn_with_its_fields() -> None:
    view = {
        "title": {"text": "What was wrong?"},
        "close": {"text": "Cancel"},
        "submit": {"text": "Send"},
        "blocks": [
            {"label": {"text": "Which?"}, "element": {"type": "static_select"}},
            {"label": {"text": "Better?"}, "element": {"type": "plain_text_input"}},
        ],
    }
    fields = (("Which?", True), ("Better?", False))
    assert slack_window(view) == Window("What was wrong?", fields, ("Cancel", "Send"))
