"""`threadlore evaluate --unasked`: how well the bot decides when to speak although nobody asked it."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from bot.home.control_socket import Send
from bot.operations.application import Application
from core.text.words import one_line


async def unasked(app: Application, request: dict[str, Any], send: Send) -> None:
    """Decide for the posts in `unasked` (absolute paths) and print the shares; raises ThreadloreError."""
    from evaluation.unasked import judge, read_posts, table

    judged = []
    for path in request["unasked"]:
        judged += await judge(await asyncio.to_thread(read_posts, Path(path)), app.research)
    await send({"line": table(judged)})
    for one in judged:
        if one.speaks() and not one.post.speak:
            await send({"line": f"wrongly answered ({one.confidence:.3f}): {one_line(one.post.text)[:120]}"})
    await send({"code": 0})
