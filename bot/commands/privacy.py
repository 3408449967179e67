"""`threadlore my-data | opt-out | opt-in | retention` of the command line."""

from __future__ import annotations

import json
from typing import Any

from bot.app.application import Application
from bot.app.control_socket import Send
from bot.commands.slash.privacy import BACK, LEFT, NEVER_LEFT
from bot.privacy.my_data import as_json, short


async def privacy(app: Application, request: dict[str, Any], send: Send) -> None:
    """Carry out one of the commands that concern what is kept of people."""
    match request["command"]:
        case "my-data":
            held = await app.my_data.of(request["user"])
            whole = f"All of it: `threadlore my-data --user {request['user']} --json`."
            line = as_json(held) if request.get("json") else short(held, whole)
        case "opt-out":
            line = LEFT.format(gone=(await app.people.opt_out(request["user"])).text)
        case "opt-in":
            line = BACK if await app.privacy.opt_in(request["user"]) else NEVER_LEFT
        case _:
            done = await app.retention.run(dry_run=bool(request.get("dry_run")))
            line = json.dumps(done) if request.get("json") else done_text(done, bool(request.get("dry_run")))
    await send({"line": line})
    await send({"code": 0})


def done_text(done: dict[str, int], dry_run: bool) -> str:
    """Say what retention removed, or would remove."""
    if not any(done.values()):
        return "Nothing is older than it may be."
    told = ", ".join(f"{count} {what}" for what, count in done.items() if count)
    return f"Would remove: {told}." if dry_run else f"Removed: {told}."
