"""Examines the port of the playground, the dashboard and the widget."""

from __future__ import annotations

import socket

from bot.home.findings import Finding, bad, good
from bot.home.home import SERVE, owner_of
from bot.ports.platforms import configured
from core.settings import Settings


async def examine(settings: Settings) -> list[Finding]:
    """Try to listen on the port; empty where nothing is served there, or the bot serves already."""
    is_served = (settings.playground is not False or settings.widget_origins) and settings.port
    if not is_served or owner_of(settings.home).get("what") == SERVE:
        return []
    try:
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((settings.host, settings.port))
    except OSError as error:
        said = f"{settings.host}:{settings.port} cannot be listened on ({error.strerror})"
        off = "leave WIDGET_ORIGINS empty" if settings.playground is False else "THREADLORE_PLAYGROUND=false"
        if settings.playground is None and configured(settings):
            said, off = f"{said}; the dashboard is served there", f"{off} for no dashboard either"
        return [bad("Port", said, f"set another THREADLORE_PORT, or {off}")]
    return [good("Port", f"{settings.port} is free")]
