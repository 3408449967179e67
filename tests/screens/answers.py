"""`make pictures`: docs/slack.png and docs/discord.png, from what the bot really sends.

The whole bot answers on the loopback Slack and on simcord, with a simulated model; what stands there then is
drawn after Slack's and Discord's look and photographed in headless Chromium.
"""

from __future__ import annotations

import asyncio
import shutil
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from selenium import webdriver

from bot.app.bootstrap import build
from core.catalogue import ChannelSettings
from core.catalogue.sources import Targets
from tests.journeys.house import Bot, house, new_folder
from tests.journeys.stage import Said, Seen, answer, open_stage, until
from tests.ollama_server import OllamaServer
from tests.platforms.browser import start
from tests.scenarios.__main__ import MODELS
from tests.screens.drawing import Scene, Spoken, Window, of_discord, of_slack, page, slack_window

DOCS = Path(__file__).parents[2] / "docs"
WIDTH = 1500
RETRIES = "How do I change how often a failed job is tried again?"
CITED = """Set `retry_limit` on the decorator to change the number of retries; the pauses grow [1].

By default a job that fails is tried again 8 times [1].
"""
LIMITS = "Which settings limit how long a job runs and how large it may be?"
LIMITS_PAGE = """\
# Settings

## Limits of a job

These settings limit how long a job runs and how large it may be:

| Setting | Default | What it limits |
|---|---|---|
| `job_timeout` | 30 minutes | how long a job runs before it is ended |
| `payload_limit` | 512 KiB | how large the arguments of a job may be |
| `keep_results` | 7 days | how long the result of a job is kept |

```toml
[limits]
job_timeout = "30m"
payload_limit = "512KiB"
```
"""
PORT = "Which port does the dashboard listen on?"
LONG = "Set the port 9090 [1]:\n\n```python\n{}\n```\n\nThat is all of it [1]."
UNKNOWN = "How do I send a job to the moon with a rocket?"


class Recording:
    """Plays one platform and collects what it shows."""

    def __init__(self, platform: str, stage: Any, bot: Bot, model: Any) -> None:
        self._platform, self._stage, self._bot, self._model = platform, stage, bot, model

    async def scenes(self) -> dict[str, Scene]:
        """Return the scenes by name."""
        stage, model = self._stage, self._model
        model.say(CITED)
        said = await stage.say("ann", RETRIES, to="bot")
        cited = await answer(stage, said)
        found = {"cited": Scene("An answer with its sources", (_asks(RETRIES), *self._thread(said)))}
        await stage.press("bob", cited, "down")
        found["wrong"] = Scene("👎 asks what was wrong", (self._window("bob"),))
        model.first_token_delay = 3.0
        again = "How often is a failed job tried again?"
        saying = asyncio.create_task(stage.say("bob", again, to="bot"))
        await until(lambda: any("Reading the" in text for text in stage.texts()), "the pages")
        reading = self._at_work()
        found["reading"] = Scene(
            "Before the first word: the pages that are read", (_asks(again, "bob"), reading)
        )
        await answer(stage, await saying)
        model.first_token_delay = 0.0
        targets = Targets((stage.account("hal"),))
        self._bot.app.catalogue.channels[stage.key("public")] = ChannelSettings(ask=targets)
        model.say("I don't know.")
        said = await stage.say("ann", UNKNOWN, to="bot")
        seen = await answer(stage, said)
        await stage.press("ann", seen, "person")
        await until(lambda: stage.inbox("hal"), "a ticket")
        await stage.quiet()
        found["unknown"] = Scene("What the pages do not say", (_asks(UNKNOWN), *self._thread(said)))
        found["ticket"] = Scene("The person who is asked, in direct messages", self._inbox("hal"))
        lines = [f"task{number} worker worker worker worker worker worker" for number in range(90)]
        model.say(LONG.format("\n".join(lines)))
        long = f"{PORT} Show every worker."
        said = await stage.say("ann", long, to="bot")
        await until(lambda: [one for one in stage.replies(said) if one.controls], "the last part")
        await stage.quiet()
        parts = self._thread(said)
        seam = [replace(parts[0], body=f'<div class="tail">{parts[0].body}</div>')]
        seam += [replace(one, body=f'<div class="head">{one.body}</div>') for one in parts[1:2]]
        found["long"] = Scene("A long answer goes on in the next message, its code too", seam)
        return found

    async def quoted(self) -> Scene:
        """Return the scene in which no model answers and a page's table and code are quoted."""
        said = await self._stage.say("ann", LIMITS, to="bot")
        await answer(self._stage, said)
        return Scene("Without a model: a page is quoted, its table too", (_asks(LIMITS), *self._thread(said)))

    def _thread(self, said: Said) -> list[Spoken]:
        return [self._spoken(seen) for seen in self._stage.replies(said)]

    def _spoken(self, seen: Seen) -> Spoken:
        if self._platform == "slack":
            return of_slack(self._stage.server.messages["C1"][seen.id])
        return self._of_discord(self._stage.stored(seen))

    def _of_discord(self, stored: Any) -> Spoken:
        rows = [row.get("components") or [] for row in stored.components]
        return of_discord(stored.content, rows, bool(stored.reactions))

    def _at_work(self) -> Spoken:
        if self._platform == "slack":
            return of_slack(self._stage.server.said("C1")[-1])
        text = next(text for text in self._stage.texts() if "Reading the" in text)
        return of_discord(text, (), False)

    def _inbox(self, who: str) -> list[Spoken]:
        if self._platform == "slack":
            kept = [m for channel in self._stage.server.messages.values() for m in channel.values()]
            return [
                of_slack(kept_one)
                for seen in self._stage.inbox(who)
                for kept_one in kept
                if kept_one["ts"] == seen.id
            ]
        return [self._of_discord(self._stage.stored(seen)) for seen in self._stage.inbox(who)]

    def _window(self, who: str) -> Window:
        if self._platform == "slack":
            return slack_window(next(iter(self._stage.server.views.values())))
        form = self._stage._forms[who][1].modal
        fields = [(part["label"], "options" in part["component"]) for part in form["components"]]
        return Window(form["title"], tuple(fields), ("Cancel", "Submit"))


def _asks(text: str, who: str = "ann") -> Spoken:
    return Spoken(who, f"<p><a>@Threadlore</a> {text}</p>")


async def record(platform: str) -> dict[str, Scene]:
    """Play everything on one platform and return its scenes."""
    MODELS.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="threadlore-screens-") as name:
        kettle = new_folder(Path(name) / "kettle", MODELS)
        (kettle.folder / "docs" / "2.0" / "settings.md").write_text(LIMITS_PAGE)
        async with build(kettle.settings(), "index") as app:
            await app.corpus_manager.reindex("")
        alone = kettle.copy(Path(name) / "alone")  # the next server numbers its messages as this one
        async with house(alone) as bot, open_stage(platform, bot) as stage:
            _name_people(platform, stage)
            quoted = await Recording(platform, stage, bot, None).quoted()
        async with (
            OllamaServer() as model,
            house(kettle, ollama_host=model.url) as bot,
            open_stage(platform, bot) as stage,
        ):
            _name_people(platform, stage)
            return await Recording(platform, stage, bot, model).scenes() | {"quoted": quoted}


def _name_people(platform: str, stage: Any) -> None:
    if platform == "slack":
        for user, name in (("U1", "ann"), ("U2", "bob"), ("UHAL", "hal")):
            stage.server.users[user]["profile"]["display_name"] = name


def laid(scenes: dict[str, Scene]) -> list[tuple[str, Sequence[Scene]]]:
    """Lay scenes out in two columns: the everyday ones light, the rest dark."""
    light = ("quoted", "reading", "cited", "wrong")
    dark = ("unknown", "ticket", "long")
    return [("light", [scenes[name] for name in light]), ("dark", [scenes[name] for name in dark])]


def photograph(source: str, target: Path, browser: webdriver.Chrome) -> None:
    """Save a picture of a page, as high as the page is."""
    with tempfile.NamedTemporaryFile("w", suffix=".html", encoding="utf-8") as file:
        file.write(source)
        file.flush()
        browser.get(f"file://{file.name}")
        height = int(browser.execute_script("return document.documentElement.scrollHeight"))
        browser.set_window_size(WIDTH, height + 200)
        body = browser.find_element("tag name", "body")
        target.write_bytes(body.screenshot_as_png)


def main() -> int:
    """Make both pictures; returns 1 where there is no Chromium."""
    binary, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if not (binary and driver):
        print("Chromium is missing: apt-get install chromium chromium-driver", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory() as profile:
        browser = start(binary, driver, Path(profile))
        try:
            for platform in ("slack", "discord"):
                scenes = asyncio.run(record(platform))
                target = DOCS / f"{platform}.png"
                photograph(page(platform, laid(scenes)), target, browser)
                print(f"{target.relative_to(DOCS.parent)}: {target.stat().st_size / 1000:.0f} kB")
        finally:
            browser.quit()
    return 0


if __name__ == "__main__":
    sys.exit(main())
