"""`threadlore serve`: every platform that is configured, the clock, the socket, until a signal.

What the first question would wait for is loaded at the start, while nobody waits.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import os
import signal
import threading
import time
from argparse import Namespace
from collections.abc import Awaitable, Callable, Collection
from typing import Any

from bot.app.bootstrap import build
from bot.app.clustering import run_platform
from bot.app.overview import ErrorsSeen, Overview
from bot.commands.command_line import handle
from bot.commands.progress import progress_dict
from bot.commands.registry import table
from bot.dispatch.dispatch import Dispatch, dispatch_of, watches
from bot.home.control_socket import Control, Send
from bot.home.logs import is_watched
from bot.operations.application import Application
from bot.operations.audit import Audit
from bot.operations.following import following
from bot.operations.scheduler import Clock, OnSchedule
from bot.ports import platforms
from bot.ports.platforms import Platform
from bot.rendering.progress import Bars
from core.domain import Question
from core.errors import PlatformError, StorageError, ThreadloreError
from core.ingestion.reading import Progress
from core.models.breaker import Breaker
from core.query import language
from core.recipes import lacking
from core.settings import Settings

log = logging.getLogger(__name__)

Connect = Callable[[Settings, Dispatch], Platform | None]
"""Builds a platform, or returns None where it is not configured."""

ENDING_SECONDS = 25.0
"""From the signal to the end of the process, whatever still runs: what is under way is in the database."""


def connect_all(settings: Settings, dispatch: Dispatch) -> list[Platform]:
    """Build every platform that is configured: the folder is the registry."""
    made = (connect_of(name)(settings, dispatch) for name in platforms.worth_loading(settings))
    return [platform for platform in made if platform is not None]


def _loaded(settings: Settings) -> None:
    """Load the platforms that are configured, while the home is opened."""
    for name in platforms.worth_loading(settings):
        connect_of(name)


def connect_of(name: str) -> Connect:
    """Return the function of a platform that connects it."""
    connect: Connect = platforms.part(name, "platform").connect
    return connect


async def serve(settings: Settings, options: Namespace) -> int:
    """Serve until SIGINT or SIGTERM; returns the exit status."""
    detecting = asyncio.create_task(language.read_model())  # while the rest is opened
    loading = asyncio.create_task(asyncio.to_thread(_loaded, settings))
    async with build(settings, "serve") as app:
        await loading
        errors = ErrorsSeen()
        logging.getLogger().addHandler(errors)
        overview = Overview(app, errors)
        dispatch = dispatch_of(app, overview=overview)

        async def carry_out(request: dict[str, Any], send: Send) -> None:
            await handle(app, request, send)

        control = Control(settings.home, carry_out, table().ends_with_caller)
        clock = _clock(app, dispatch)
        others = following(app, dispatch.take_up, dispatch.let_go)
        await others.start()
        running = _running(app, dispatch)
        stopped = _stopped_by_signal(overview)
        await asyncio.to_thread(_set_apart)
        await control.start()
        ending, warming = asyncio.create_task(stopped.wait()), asyncio.create_task(warm_up(app, detecting))
        indexing = _index_what_is_missing(app, clock, is_watched(settings), running.values(), warming)
        work = [ending, warming, asyncio.create_task(indexing), asyncio.create_task(probe(app))]
        try:
            return await _until_stopped(running, ending)
        finally:
            logging.getLogger().removeHandler(errors)
            clock.stop()
            others.stop()
            await control.stop()
            with contextlib.suppress(StorageError):  # the rest is stopped all the same
                await dispatch.stop()
            for platform in running.values():
                with contextlib.suppress(PlatformError):
                    await platform.stop()
            for task in (*work, *running):
                task.cancel()
            await asyncio.gather(*work, *running, return_exceptions=True)


def _clock(app: Application, dispatch: Dispatch) -> Clock:
    """Return what does the work that is due by time."""
    on_schedule = OnSchedule(
        app.corpus_manager,
        app.retention,
        Audit(app.audit),
        dispatch.notices.tell_admins,
        app.learner,
        app.cluster,
    )
    return Clock(
        app.corpora,
        app.schedules,
        on_schedule.reindex,
        renew=app.stale_review.slice,
        daily=on_schedule.tidy,
        watch=watches(app, dispatch.notices),
        learn=on_schedule.learn,
        learn_hours=app.settings.learn_hours,
        cluster=app.cluster,
    )


def _running(app: Application, dispatch: Dispatch) -> dict[asyncio.Task[bool], Platform]:
    """Start every platform that is configured; raises PlatformError where none is."""
    running = {
        asyncio.create_task(_run(platform, app), name=platform.name): platform
        for platform in connect_all(app.settings, dispatch)
    }
    if not running:
        raise PlatformError(
            "There is nothing to serve: set THREADLORE_PLAYGROUND=true, or the tokens of "
            f"{platforms.titles(' or ')}, in .env."
        )
    return running


def _stopped_by_signal(overview: Overview) -> asyncio.Event:
    """Return an event that SIGINT or SIGTERM sets; a second signal, or a long wait, ends the process."""
    stopped = asyncio.Event()

    def stop(name: signal.Signals) -> None:
        if stopped.is_set():
            log.warning("%s came again: the process ends at once", name.name)
            os._exit(128 + name)  # whatever waits is in the database, and taken up at the next start
        log.info("%s: what is under way is handed over", name.name)
        overview.stop()
        stopped.set()
        last = threading.Timer(ENDING_SECONDS, os._exit, (128 + name,))
        last.daemon = True
        last.start()

    for name in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(name, stop, name)
    return stopped


def _set_apart() -> None:
    """Let the garbage collector pass over what was made at the start: looking through it takes 150 ms.

    What is garbage by then, a thousand objects, is not looked for either.
    """
    gc.freeze()
    gc.enable()


async def _run(platform: Platform, app: Application) -> bool:
    """Run one platform; False when it gave up, so that the others go on, and `ended` says why."""
    try:
        await run_platform(platform, app.cluster)
    except ThreadloreError as error:
        log.error("%s: %s", platform.name, error)
        app.ended[platform.name] = str(error)
        return False
    return True


async def _until_stopped(running: dict[asyncio.Task[bool], Platform], stopped: asyncio.Task[Any]) -> int:
    waiting: set[asyncio.Task[Any]] = {*running, stopped}
    ended = []
    while stopped in waiting and len(waiting) > 1:
        done, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        ended += [task.result() for task in done if task is not stopped]
    return 0 if stopped not in waiting or all(ended) else 1


async def _index_what_is_missing(
    app: Application,
    clock: Clock,
    is_seen: bool,
    serving: Collection[Platform],
    warming: asyncio.Task[None],
) -> None:
    """Index what is missing, then let the clock go on, whatever became of it."""
    try:
        await _index_first(app, is_seen, serving, warming)
    except ThreadloreError as error:  # such as a database that is away for a moment
        log.error("what is missing could not be indexed, the schedule tries again: %s", error)
    clock.start()
    try:
        if app.cluster.leads:
            await app.corpus_manager.remake_pairs()
    except ThreadloreError as error:
        log.error("pairs of what changed could not be made: %s", error)
    if lacks := lacking(app.settings.recipe, app.searcher):
        log.warning("%s", lacks)


async def _index_first(
    app: Application, is_seen: bool, serving: Collection[Platform], warming: asyncio.Task[None]
) -> None:
    """Index releases that have no corpus yet, and those with pages of a source that there is no more.

    The latest is first. What no answer needs waits until `warming` is done. A person who watches at a
    terminal (`is_seen`) is told how far it is, and where to ask once it is done. Raises ThreadloreError.
    """
    product = app.corpus_manager.product.name
    await _lead_or_follow(app)
    with Bars(log, product if is_seen else "") as bars:

        def show(progress: Progress) -> None:
            bars.show(progress_dict(progress))

        for release in app.corpus_manager.order():
            try:
                if not await _indexed(app, release, show):
                    continue
                log.info("%s %s is ready", product, release)
                where = next(filter(None, (getattr(one, "address", "") for one in serving)), "")
                bars.say(f"{product} {release} is ready{where and f': ask at {where}'}")
            except ThreadloreError as error:
                log.error("indexing %s failed: %s", release, error)
        ready = [entry["name"] for entry in await app.corpus_manager.releases() if entry["ready"]]
        bars.say(f"Ready: {product} {', '.join(ready) or '(nothing)'}. Ctrl+C stops the bot.", last=True)
        await asyncio.wait([warming])
        # what a first answer need not wait for, whatever release it is of
        rest = (app.corpus_manager.complete, app.corpus_manager.pregenerate) if app.cluster.leads else ()
        for later in rest:
            try:
                await later(report=show)
            except ThreadloreError as error:
                log.error("windows or pairs of the documents could not be made: %s", error)


async def _indexed(app: Application, release: str, show: Callable[[Progress], None]) -> bool:
    """Index a release that has no corpus, or has pages of a source that there is no more; True if it had."""
    gone: set[str] = set()
    if release in app.searcher.corpora:
        gone = await app.corpus_manager.sources_gone(release) if app.cluster.leads else gone
        if not gone:
            return False
        log.info("%s leaves out what corpora.toml no longer lists: %s", release, ", ".join(sorted(gone)))
    await app.corpus_manager.reindex(release, show, pairs=False, only=gone, windows=False)
    return True


async def _lead_or_follow(app: Application) -> None:
    """Wait until this process is the one to index, or another one of the cluster has indexed everything."""
    while not app.cluster.leads:
        if all(release["ready"] for release in await app.corpus_manager.releases()):
            return
        await asyncio.sleep(FOLLOW_SECONDS)


FOLLOW_SECONDS = 0.5
"""How often a process of a cluster looks whether another one has made a corpus."""
_ASKED = "How do I begin?"
AGAIN_SECONDS, LONGEST_SECONDS = 60.0, 3600.0
"""When a model that could not be asked is asked again, doubling; and how often its version is looked at."""


async def warm_up(app: Application, detecting: Awaitable[None]) -> None:
    """Load the language detector and the encoder, quote an answer for nobody, and read all that is said."""
    began = time.perf_counter()
    try:
        await detecting
        await (await app.corpus_manager.encoders.current()).encode([_ASKED])
        if app.engine.ready:
            await app.engine.quoted(Question(_ASKED))
            for release in app.searcher.corpora:
                await app.searcher.sayings.of(release)
    except ThreadloreError as error:  # the first question will say so
        log.warning("the bot could not be warmed up: %s", error)
        return
    state = "ready to answer" if app.engine.ready else "it answers once a release is indexed"
    log.info("%s; warming up took %.1f s", state, time.perf_counter() - began)


async def probe(app: Application) -> None:
    """See whether the model is kept to a JSON schema, and again when its version changes; for ever.

    Nobody waits for it, and a question goes first.
    """
    model, wait = app.engine.model, AGAIN_SECONDS
    while isinstance(model, Breaker):
        known = await model.probe()
        wait = LONGEST_SECONDS if known is not None else wait
        await asyncio.sleep(wait)
        wait = min(2 * wait, LONGEST_SECONDS)
