"""`threadlore gaps`: what the community asked and the documentation does not answer."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from bot.app.application import Application
from bot.app.control_socket import Send
from bot.privacy.exports import note
from bot.rendering.gaps import gaps_text
from core.errors import UsageError
from core.insights.gaps import DAYS
from core.insights.gaps_page import page


async def gaps(app: Application, request: dict[str, Any], send: Send) -> None:
    """List gaps as lines, as JSON, or as a page of Markdown, printed or in a file; raises ThreadloreError."""
    days = int(request.get("days") or DAYS)
    found = await app.statistics.gaps(days)
    if request.get("json"):
        entries = [asdict(gap) | {"reasons": gap.reasons, "page": gap.page} for gap in found]
        await send({"line": json.dumps(entries, ensure_ascii=False)})
    elif target := request.get("markdown"):
        text = page(found, app.engine.product.name, days)
        if target == "-":
            await send({"line": text.rstrip("\n")})
        else:
            ids = [question.answer_id for gap in found for question in gap.questions]
            await asyncio.to_thread(_write, app.settings.home, Path(target), text, ids)
            await send({"line": f"{len(found)} topics are in {target}."})
    else:
        await send({"line": gaps_text(found, days, len(found))})
    await send({"code": 0})


def _write(home: Path, path: Path, text: str, ids: Sequence[str]) -> None:
    """Write the page, and remember the file: forgetting goes by the answers whose questions it holds."""
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{path} cannot be written ({error.strerror}); name a file in a folder.") from None
    note(home, path, ids)
