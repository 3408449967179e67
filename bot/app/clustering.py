"""What several processes on one database need."""

from __future__ import annotations

import asyncio
import logging
import os
import re
import signal
import time

from bot.ports.platforms import Platform, serves_playground
from core.errors import ConfigurationError
from core.ports.cluster import Cluster
from core.settings import Settings

log = logging.getLogger(__name__)

LOOK_SECONDS, LED_SECONDS = 0.5, 15.0
"""How often a process looks whether it leads; after how long without it, it ends what only who leads runs."""


def check_cluster(settings: Settings) -> None:
    """Raise ConfigurationError, which says what to do, where a cluster cannot be served as it is set up."""
    if not settings.cluster:
        return
    if not re.match(r"postgres(ql)?\b", settings.database_url.get_secret_value()):
        raise ConfigurationError(
            "CLUSTER=true needs PostgreSQL, which all processes share: set DATABASE_URL=postgresql://…."
        )
    if not re.fullmatch(r"[0-9a-fA-F]{64}", settings.privacy_key.get_secret_value()):
        raise ConfigurationError(
            "CLUSTER=true needs PRIVACY_KEY, the same for all processes: 64 hex digits, such as "
            "`openssl rand -hex 32` makes (or `xxd -p -c 32 privacy.key` of the home that served alone)."
        )
    if settings.chroma_url:
        raise ConfigurationError(
            "CLUSTER=true does not work with CHROMA_URL: each process has a vector index in its own home. "
            "Remove CHROMA_URL."
        )
    if serves_playground(settings):
        raise ConfigurationError(
            "CLUSTER=true does not work with the playground, which keeps its conversations in one home. "
            "Set the tokens of Slack or Discord, and remove THREADLORE_PLAYGROUND."
        )


async def run_platform(platform: Platform, cluster: Cluster) -> None:
    """Run a platform; one of which every connection hears everything in the process that leads alone.

    A process that leads no more ends, and is started anew by whoever runs it: then it waits its turn.
    """
    if not (cluster.is_shared and getattr(platform, "every_connection_hears_all", False)):
        await platform.run()
        return
    while not cluster.leads:  # noqa: ASYNC110 # a thread changes it
        await asyncio.sleep(LOOK_SECONDS)
    running, led = asyncio.ensure_future(platform.run()), time.monotonic()
    try:
        while not (await asyncio.wait({running}, timeout=LOOK_SECONDS))[0]:
            unknown = not cluster.is_sure  # as while the database is away: then nobody leads
            led = time.monotonic() if unknown or cluster.leads else led
            if time.monotonic() - led > LED_SECONDS:
                log.error("another process leads the cluster: this one ends")
                os.kill(os.getpid(), signal.SIGTERM)
                led = time.monotonic()
        running.result()
    finally:
        running.cancel()
