"""`threadlore gaps`: what the community asked and the documentation does not answer."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from bot.bootstrap import Threadlore
from bot.control import Send
from bot.gaps_text import gaps_text
from core.gaps import DAYS, markdown


async def gaps(app: Threadlore, request: dict[str, Any], send: Send) -> None:
    """List gaps, as lines, as JSON or as a page of Markdown; raises ThreadloreError."""
    days = int(request.get("days") or DAYS)
    found = await app.statistics.gaps(days)
    product = app.engine.product.name
    if request.get("json"):
        entries = [asdict(gap) | {"reasons": gap.reasons, "page": gap.page} for gap in found]
        await send({"line": json.dumps(entries, ensure_ascii=False)})
    elif request.get("markdown"):
        await send({"line": markdown(found, product, days).rstrip("\n")})
    else:
        await send({"line": gaps_text(found, days, len(found))})
    await send({"code": 0})
