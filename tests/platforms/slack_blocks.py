"""What the loopback Slack takes as blocks, and what it says of those that are wrong.

Limits are those of docs.slack.dev, Block Kit: 50 blocks of a message, 12,000 characters of all `markdown`
blocks, 3,000 of a section and 2,000 of its fields, 150 of a header, 25 elements of an actions block, 255
characters of an id, 75 of a button and an option, 150 of an option's value, 2,000 of a button's. No two
elements of a block have one `action_id`, no two blocks of a message one `block_id`.
"""

from __future__ import annotations

import json
from typing import Any

KEYS = {
    "markdown": {"text"},
    "section": {"text", "fields", "accessory", "expand"},
    "divider": set(),
    "context": {"elements"},
    "actions": {"elements"},
    "header": {"text"},
    "rich_text": {"elements"},
    "image": {"image_url", "slack_file", "alt_text", "title"},
    "context_actions": {"elements"},
}
"""What may stand in a block beside `type` and `block_id`."""
ELEMENTS = {
    "button": {"action_id", "text", "url", "value", "style", "confirm", "accessibility_label"},
    "static_select": {
        *(
            "action_id",
            "options",
            "option_groups",
            "initial_option",
            "confirm",
            "focus_on_load",
            "placeholder",
        )
    },
    "conversations_select": {
        *(
            "action_id",
            "initial_conversation",
            "default_to_current_conversation",
            "confirm",
            "response_url_enabled",
            "filter",
            "focus_on_load",
            "placeholder",
        )
    },
}
"""What may stand in an interactive element beside its `type`."""
_KINDS = {"im", "mpim", "private", "public"}
MESSAGE_BLOCKS = 50
VIEW_BLOCKS = 100
"""Blocks of a modal or a Home tab, in which there are no `markdown` and `context_actions` blocks."""
ALL_MARKDOWN = 12_000
WHOLE = 13_200
"""Characters of all blocks as JSON from which a message is refused (bolt-js, issue 2509)."""


class SlackError(Exception):
    """An `{"ok": false}` answer; `more` stands beside the error."""

    def __init__(self, error: str, *messages: str, **more: str) -> None:
        super().__init__(error)
        self.error, self.messages, self.more = error, list(messages), more


def refuse(condition: bool, problem: str, where: str = "") -> None:
    """Raise what Slack answers to blocks that are wrong, where a condition holds."""
    if condition:
        pointer = f" [json-pointer:{where}]" if where else ""
        raise SlackError("invalid_blocks", f"[ERROR] {problem}{pointer}")


def check_blocks(given: Any, refuses_markdown: bool = False) -> list[dict[str, Any]]:
    """Check the blocks of a message as Slack does, and return them."""
    try:
        blocks = json.loads(given) if isinstance(given, str) else given
    except ValueError:
        raise SlackError("invalid_blocks_format") from None
    if not isinstance(blocks, list) or not all(isinstance(block, dict) for block in blocks):
        raise SlackError("invalid_blocks_format")
    refuse(len(blocks) > MESSAGE_BLOCKS, f"no more than {MESSAGE_BLOCKS} items allowed", "/blocks")
    markdown = [str(block.get("text") or "") for block in blocks if block.get("type") == "markdown"]
    refuse(sum(map(len, markdown)) > ALL_MARKDOWN, f"must be less than {ALL_MARKDOWN + 1} characters")
    if len(json.dumps(blocks)) > WHOLE:
        raise SlackError("msg_blocks_too_long")
    ids = [block["block_id"] for block in blocks if block.get("block_id")]
    refuse(len(set(ids)) != len(ids), "`block_id` already exists", "/blocks")
    for index, block in enumerate(blocks):
        _check(block, f"/blocks/{index}", refuses_markdown)
    return blocks


def check_view_blocks(blocks: Any) -> None:
    """Check the blocks of a Home tab as Slack does."""
    refuse(not isinstance(blocks, list), "must be an array", "/view/blocks")
    refuse(len(blocks) > VIEW_BLOCKS, f"no more than {VIEW_BLOCKS} items allowed", "/view/blocks")
    ids = [block["block_id"] for block in blocks if block.get("block_id")]
    refuse(len(set(ids)) != len(ids), "`block_id` already exists", "/view/blocks")
    for index, block in enumerate(blocks):
        refuse(
            block.get("type") in ("markdown", "context_actions"), "unsupported type", f"/view/blocks/{index}"
        )
        _check(block, f"/view/blocks/{index}", refuses_markdown=True)


def _check(block: dict[str, Any], where: str, refuses_markdown: bool) -> None:
    kind = str(block.get("type"))
    unknown = kind not in KEYS or (kind == "markdown" and refuses_markdown)
    refuse(unknown, f"unsupported type: {kind}", f"{where}/type")
    more = sorted(block.keys() - KEYS[kind] - {"type", "block_id"})
    refuse(bool(more), f"no additional properties allowed: {more}", where)
    refuse(len(str(block.get("block_id") or "")) > 255, "must be less than 256 characters", where)
    if kind == "markdown":
        text = block.get("text")
        refuse(
            not isinstance(text, str) or not text.strip(), "must be more than 0 characters", f"{where}/text"
        )
    elif kind == "section":
        _check_section(block, where)
    elif kind == "header":
        check_text(block.get("text"), 150, where)
    elif kind == "context":
        elements = block.get("elements") or []
        refuse(not 1 <= len(elements) <= 10, "no more than 10 items allowed, and at least 1", where)
        for element in elements:
            if element.get("type") == "image":
                _check_image(element, where)
            else:
                check_text(element, 3_000, where, ("mrkdwn", "plain_text"))
    elif kind == "actions":
        check_actions(block, where)
    elif kind == "image":
        _check_image(block, where)


def _check_section(block: dict[str, Any], where: str) -> None:
    fields = block.get("fields") or []
    refuse(not (block.get("text") or fields), "missing required field: text", where)
    refuse(len(fields) > 10, "no more than 10 items allowed", f"{where}/fields")
    if block.get("text") is not None:
        check_text(block["text"], 3_000, where, ("mrkdwn", "plain_text"))
    for entry in fields:
        check_text(entry, 2_000, f"{where}/fields", ("mrkdwn", "plain_text"))
    if block.get("accessory"):
        _check_element(block["accessory"], where)


def _check_image(image: dict[str, Any], where: str) -> None:
    refuse(not 1 <= len(image.get("alt_text") or "") <= 2_000, "missing required field: alt_text", where)
    refuse(
        not (image.get("image_url") or image.get("slack_file")), "missing required field: image_url", where
    )
    refuse(len(image.get("image_url") or "") > 3_000, "must be less than 3001 characters", where)


def check_actions(block: dict[str, Any], where: str = "") -> None:
    """Check an actions block as Slack does."""
    elements = block.get("elements") or []
    refuse(not 1 <= len(elements) <= 25, "no more than 25 items allowed, and at least 1", where)
    ids = [element.get("action_id") for element in elements]
    refuse(len(set(ids)) != len(ids), "`action_id` already exists in the block", where)
    for element in elements:
        _check_element(element, where)


def _check_element(element: dict[str, Any], where: str) -> None:
    kind = str(element.get("type"))
    refuse(kind not in ELEMENTS, f"unsupported type: {kind}", where)
    more = sorted(element.keys() - ELEMENTS[kind] - {"type"})
    refuse(bool(more), f"no additional properties allowed: {more}", where)
    action = element.get("action_id", "given by Slack")
    refuse(not 1 <= len(str(action)) <= 255, "must be less than 256 characters", where)
    if kind == "button":
        check_text(element.get("text"), 75, where)
        refuse(not 1 <= len(element.get("value", "x")) <= 2_000, "must be less than 2001 characters", where)
        refuse(len(element.get("url") or "") > 3_000, "must be less than 3001 characters", where)
        refuse("url" in element and not element["url"].startswith("http"), "invalid url", where)
        refuse(element.get("style") not in (None, "primary", "danger"), "style", where)
    elif kind == "conversations_select":
        check_text(element.get("placeholder"), 150, where)
        _check_filter(element.get("filter"), where)
    else:
        check_text(element.get("placeholder"), 150, where)
        check_options(element, where)


def _check_filter(given: Any, where: str) -> None:
    """Check which conversations a menu lists."""
    if given is None:
        return
    known = {"include", "exclude_bot_users", "exclude_external_shared_channels"}
    refuse(not given or bool(given.keys() - known), "filter needs one of its fields, and no other", where)
    include = given.get("include", ["public"])
    refuse(not include or not set(include) <= _KINDS, "include: im, mpim, private, public", where)


def check_options(element: dict[str, Any], where: str = "") -> None:
    """Check the lines of a menu as Slack does."""
    options = element.get("options") or []
    refuse(not 1 <= len(options) <= 100, "no more than 100 items allowed, and at least 1", where)
    for option in options:
        more = sorted(option.keys() - {"text", "value", "description", "url"})
        refuse(bool(more), f"no additional properties allowed: {more}", where)
        check_text(option.get("text"), 75, where)
        refuse(not 1 <= len(option.get("value") or "") <= 150, "must be less than 151 characters", where)
    values = [option["value"] for option in options]
    refuse(len(set(values)) != len(values), "values must be unique", where)
    first = element.get("initial_option")
    refuse(first is not None and first not in options, "initial_option must be one of the options", where)


def check_text(text: Any, limit: int, where: str = "", kinds: tuple[str, ...] = ("plain_text",)) -> None:
    """Check a text object as Slack does."""
    wrong = not isinstance(text, dict) or text.get("type") not in kinds
    refuse(wrong, f"a {' or '.join(kinds)} object is required", where)
    own = {"plain_text": "emoji", "mrkdwn": "verbatim"}[text["type"]]
    more = sorted(text.keys() - {"type", "text", own})
    refuse(bool(more), f"no additional properties allowed: {more}", where)
    length = len(text.get("text") or "")
    refuse(not length, "must be more than 0 characters", where)
    refuse(length > limit, f"must be less than {limit + 1} characters", where)
