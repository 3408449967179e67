from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import numpy as np
import pytest
from aiohttp import ClientSession

from bot.app.overview import Overview, flattened
from bot.platforms.web.platform import Playground
from core.domain import Question, Scope
from core.settings import load_settings
from tests.journeys.house import Kettle, house
from tests.patience import PATIENCE


@asynccontextmanager
async def served(kettle: Kettle, **given) -> AsyncIterator[tuple[str, object]]:
    async with house(kettle) as bot:
        settings = load_settings(None, home=bot.app.settings.home, port=0, ollama_host="off", **given)
        bot.dispatch.overview = Overview(bot.app)
        playground = Playground(settings, bot.dispatch)
        running = asyncio.create_task(playground.run())
        await asyncio.wait_for(playground.started.wait(), PATIENCE)
        try:
            yield playground.url, bot
        finally:
            await playground.stop()
            await running


async def get(url: str, **given) -> tuple[int, str, object]:
    async with ClientSession() as session, session.get(url, **given) as response:
        kind = response.content_type
        return response.status, kind, await (response.json() if "json" in kind else response.text())


async def test_the_figures_tell_what_was_asked_and_nothing_private(kettle):
    async with served(kettle) as (url, bot):
        await bot.app.engine.answer(Question("How often is a failed job retried?", "web:ada", "web:help"))
        private = Scope("private", "web:maintainers")
        secret = Question("What is the secret about zebras?", "web:ada", "web:maintainers", private)
        await bot.app.engine.answer(secret)
        await bot.app.engine.answer(
            Question("How do I rotate the log files for zebras?", "web:ada", "web:help")
        )
        status, _, figures = await get(f"{url}/api/dashboard")
        assert status == 200
        assert sum(figures["days"][-1]["routes"].values()) == 3
        assert len(figures["days"]) == 7, "no empty month on the first day"
        assert [gap["question"] for gap in figures["gaps"]] == ["How do I rotate the log files for zebras?"]
        assert "secret" not in str(figures)
        assert {release["name"] for release in figures["releases"]} == set(bot.app.research.corpora)


async def test_prometheus_reads_the_metrics(kettle):
    async with served(kettle) as (url, bot):
        await bot.app.engine.answer(Question("How often is a failed job retried?", "web:ada", "web:help"))
        status, kind, text = await get(f"{url}/metrics")
        assert (status, kind) == (200, "text/plain")
        assert 'threadlore_answers_total{route="quote"} 1.0' in text
        assert "threadlore_model_ready 0.0" in text
        assert 'threadlore_escalations{state="open"} 0.0' in text
        assert "# TYPE threadlore_corpus_chunks gauge" in text


async def test_ready_means_that_a_release_answers(kettle):
    async with served(kettle) as (url, bot):
        assert (await get(f"{url}/readyz"))[0] == 200
        bot.dispatch.overview = None
        assert (await get(f"{url}/readyz"))[0] == 503
        assert (await get(f"{url}/healthz"))[0] == 200


async def test_the_page_is_served_with_its_scripts(kettle):
    async with served(kettle) as (url, _):
        status, kind, page = await get(f"{url}/dashboard")
        assert status == 200 and kind == "text/html" and "dashboard.js" in page
        for name in ("dashboard.js", "charts.js", "dashboard.css"):
            assert (await get(f"{url}/{name}"))[0] == 200


async def test_a_token_opens_it_by_header_and_by_cookie(kettle):
    async with served(kettle, dashboard_token="s3cret") as (url, _):
        for path in ("/dashboard", "/api/dashboard", "/metrics"):
            assert (await get(url + path))[0] == 401
            assert (await get(url + path, headers={"Authorization": "Bearer wrong"}))[0] == 401
            assert (await get(url + path, headers={"Authorization": "Bearer s3cret"}))[0] == 200
        async with ClientSession() as session:
            assert (await session.get(f"{url}/dashboard?token=wrong")).status == 401
            opened = await session.get(f"{url}/dashboard?token=s3cret", allow_redirects=False)
            cookie = opened.headers["Set-Cookie"]
            assert opened.status == 303 and "HttpOnly" in cookie and "SameSite=Lax" in cookie
            sent = {"Cookie": cookie.partition(";")[0]}
        assert (await get(f"{url}/api/dashboard", headers=sent))[0] == 200
        assert (await get(f"{url}/readyz"))[0] == 200


async def test_without_a_token_only_this_machine_sees_it(kettle):
    async with served(kettle, host="0.0.0.0") as (url, _):
        status, _, body = await get(f"{url}/metrics")
        assert status == 403 and "DASHBOARD_TOKEN" in body["error"]


async def test_figures_are_kept_for_a_moment(kettle):
    async with house(kettle) as bot:
        overview = Overview(bot.app)
        first = await overview.figures()
        again = await overview.figures()
        assert again["releases"] is first["releases"], "it is not counted anew"
        assert first["product"] == bot.app.engine.product.name


@pytest.mark.parametrize("count", [1, 2, 5])
def test_points_lie_in_the_plane_between_minus_one_and_one(count):
    vectors = np.eye(5, 8, dtype=np.float32)[:count]
    places = flattened(vectors)
    assert places.shape == (count, 2)
    assert np.abs(places).max() <= 1.0 + 1e-9


def test_near_topics_stand_near_each_other():
    vectors = np.array([[1, 0, 0], [0.98, 0.2, 0], [0, 0, 1]], np.float32)
    a, b, c = flattened(vectors)
    assert np.linalg.norm(a - b) < np.linalg.norm(a - c)
