"""What a cluster needs is said in plain words, and who does not lead waits with some platforms."""

from __future__ import annotations

import asyncio
import signal

import pytest

from bot.app import clustering
from bot.app.clustering import check_cluster, run_platform
from core.errors import ConfigurationError
from core.ports.cluster import OnlyProcess
from core.settings import load_settings
from tests.patience import SOON

WHOLE = {
    "cluster": True,
    "database_url": "postgresql://someone@127.0.0.1/db",
    "privacy_key": "5e" * 32,
    "slack_bot_token": "xoxb-1",
    "playground": False,
}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"database_url": ""}, "DATABASE_URL"),
        ({"database_url": "sqlite:///shared.db"}, "PostgreSQL"),
        ({"privacy_key": ""}, "PRIVACY_KEY"),
        ({"privacy_key": "short"}, "64 hex digits"),
        ({"chroma_url": "http://127.0.0.1:8000"}, "CHROMA_URL"),
        ({"playground": True}, "playground"),
    ],
)
def test_what_is_missing_is_said(given: dict[str, object], said: str) -> None:
    with pytest.raises(ConfigurationError, match=said):
        check_cluster(load_settings(None, **(WHOLE | given)))


def test_what_is_whole_is_served_and_without_the_setting_nothing_is_asked_for() -> None:
    check_cluster(load_settings(None, **WHOLE))
    check_cluster(load_settings(None))


class Others(OnlyProcess):
    """A cluster in which this process leads from a certain moment on."""

    is_shared = True
    leads = is_sure = False


class Gateway:
    """A platform of which every connection hears everything."""

    name = "gateway"
    every_connection_hears_all = True
    runs = 0

    def __init__(self) -> None:
        self.closed = asyncio.Event()
        self.closed.set()

    async def run(self) -> None:
        self.runs += 1
        await self.closed.wait()

    async def stop(self) -> None:
        """Do nothing."""


async def test_who_does_not_lead_connects_to_no_gateway() -> None:
    others, gateway = Others(), Gateway()
    running = asyncio.create_task(run_platform(gateway, others))
    await asyncio.sleep(0.05)
    assert not gateway.runs
    others.leads = True
    await running
    assert gateway.runs == 1


async def test_who_leads_no_more_ends_but_not_while_the_database_is_away(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(clustering, "LOOK_SECONDS", 0.01)
    monkeypatch.setattr(clustering, "LED_SECONDS", 0.1)
    ended, others, gateway = asyncio.Event(), Others(), Gateway()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, ended.set)
    others.leads = True
    gateway.closed.clear()
    running = asyncio.create_task(run_platform(gateway, others))
    await asyncio.sleep(0.05)
    others.leads = False
    await asyncio.sleep(0.3)
    assert not ended.is_set()
    others.is_sure = True
    await asyncio.wait_for(ended.wait(), SOON)
    running.cancel()
    asyncio.get_running_loop().remove_signal_handler(signal.SIGTERM)
