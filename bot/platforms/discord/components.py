"""Buttons, menus and forms as Discord has them; all that they mean stands in their ids.

An id is `tl|name|value`, so a press is understood after a restart, and no object is kept for it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

import discord
from discord import ui

from bot.platforms.discord.markdown import messages, without_previews
from bot.platforms.discord.places import TROUBLE, unheard
from bot.ports.chat import Choice, Control, Form, Reply
from core.text.words import cut_at_word

MARK = "tl"
"""What the ids of this bot's own controls begin with."""
LABEL, TITLE, LINE, LINES = 80, 45, 100, 25
"""Discord's limits: characters of a button, of a form's title and labels, of a menu's line or of what stands
below a label; lines of a menu."""
_SENTENCE = re.compile(rf"[^.?!。？！]{{1,{TITLE - 1}}}[.?!。？！](?:\s+|(?<=[。？！]))(?=\S)")
"""A sentence that fits into a label and is not all there is."""
WRITTEN = 2000
"""Characters that one may write into a field of a form."""


def view(controls: Sequence[Control]) -> ui.View | None:
    """Lay controls out under a message, buttons side by side and each menu below; None for no controls."""
    if not controls:
        return None
    laid = ui.View(timeout=None)
    for control in sorted(controls, key=lambda control: bool(control.choices)):
        laid.add_item(_item(control))
    laid.stop()  # so that discord.py does not keep it: presses are read from their ids
    return laid


def modal(form: Form) -> ui.Modal:
    """Make the window of a form."""
    window = ui.Modal(title=form.title[:TITLE], custom_id=control_id(form.name, form.value), timeout=None)
    for field in form.fields:
        item: ui.Item[Any]
        if field.choices:
            item = ui.Select(custom_id=field.name, options=_lines(field.choices), required=field.required)
        else:
            item = ui.TextInput(
                custom_id=field.name,
                style=discord.TextStyle.paragraph,
                required=field.required,
                max_length=WRITTEN,
            )
        text, description = _labelled(field.label)
        window.add_item(ui.Label(text=text, description=description, component=item))
    window.stop()
    return window


def _labelled(label: str) -> tuple[str, str | None]:
    """Put what is too long for a label below it: what follows its first sentence, or all of it."""
    if len(label) <= TITLE:
        return label, None
    first = _SENTENCE.match(label)
    text, below = (first[0].strip(), label[first.end() :]) if first else (_cut(label, TITLE), label)
    return text, _cut(below, LINE)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else cut_at_word(text, most - 2)  # with a space and "…" after it


def pressed(data: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return name and value of a used control or a sent form; None for what is not this bot's."""
    mark, _, rest = str(data.get("custom_id", "")).partition("|")
    name, _, value = rest.partition("|")
    chosen = data.get("values") or [value]
    return (name, str(chosen[0])) if mark == MARK and name else None


def filled(data: Mapping[str, Any]) -> dict[str, str]:
    """Return what a sent form holds, by field; empty for a mere press."""
    return {
        part["custom_id"]: str(part.get("value") or next(iter(part.get("values") or []), ""))
        for part in _parts(data.get("components") or [])
    }


def _parts(components: Sequence[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    for component in components:
        if "custom_id" in component:
            yield component
        yield from _parts([component["component"]] if "component" in component else [])
        yield from _parts(component.get("components") or [])


def _item(control: Control) -> ui.Item[Any]:
    if not control.choices:
        return ui.Button(label=control.label[:LABEL], custom_id=control_id(control.name, control.value))
    return ui.Select(
        custom_id=control_id(control.name, control.value),
        placeholder=control.label,
        options=_lines(control.choices, control.chosen),
    )


def _lines(choices: Sequence[Choice], chosen: str = "") -> list[discord.SelectOption]:
    return [
        discord.SelectOption(
            label=choice.label[:LINE], value=choice.value, default=bool(chosen) and choice.value == chosen
        )
        for choice in choices[:LINES]
    ]


def control_id(name: str, value: str) -> str:
    """Return the id that `pressed` reads name and value from."""
    return f"{MARK}|{name}|{value}"


class LateResponder:
    """Answers an interaction that an earlier process had taken, by its token."""

    def __init__(self, webhook: discord.Webhook, address: Mapping[str, Any]) -> None:
        self._webhook, self.address = webhook, address
        # of a press "@original" is the message with its control, which everybody sees
        self._said: list[int | Literal["@original"]] = ["@original"] if address.get("thinks") else []

    async def reply(self, reply: Reply) -> None:
        """Answer the caller alone: in the place of the sign of work, where one stands."""
        texts = [text or "…" for text in messages(without_previews(reply.markdown))]
        try:
            for place, text in enumerate(texts):
                under = {"view": view(reply.controls)} if place == len(texts) - 1 else {}
                await self._say(place, text, {name: it for name, it in under.items() if it is not None})
        except TROUBLE as error:
            raise unheard(error) from error

    async def _say(self, place: int, text: str, under: dict[str, Any]) -> None:
        if place < len(self._said):
            known = self._said[place]
            try:
                # discord.py wants a number, and Discord takes this name for the first answer as well
                await self._webhook.edit_message(known, content=text, **under)  # type: ignore[arg-type]
                return
            except discord.NotFound:
                pass  # it was never acknowledged
        nobody = discord.AllowedMentions.none()
        sent = await self._webhook.send(text, ephemeral=True, wait=True, allowed_mentions=nobody, **under)
        self._said[place : place + 1] = [sent.id]

    async def ask(self, form: Form) -> None:
        """Show a button that opens the form: only a fresh press can open one."""
        await self.reply(Reply(form.title, controls=(Control(form.name, "Open", form.value),)))

    async def progress(self, reply: Reply) -> None:
        """Show the state of long work to the caller."""
        await self.reply(reply)
