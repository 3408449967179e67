"""Kettle, a product that does not exist: three releases of a job queue, and a page for all of them."""

from __future__ import annotations

from pathlib import Path

RELEASES = ("1.0", "1.5", "2.0")
URL = "https://kettle.example"
RETRIES = {"1.0": "3 times", "1.5": "5 times", "2.0": "8 times"}
"""How often a failed job is tried again by default, as each release's page says it."""
PORTS = {"1.0": "7070", "1.5": "7171", "2.0": "9090"}
"""Where the dashboard listens, as each release's page says it."""

_JOBS = """\
# Jobs and retries

A job is a plain function that a worker runs outside of the web request.

## Writing a job

Put the decorator `@kettle.job` on a function, then call `enqueue` on it:

```python
@kettle.job
def send_mail(address):
    ...

send_mail.enqueue("ada@example.org")
```

## Retries

A job that fails is tried again {retries} by default. {more}
"""
_MORE = {
    "1.0": "The number of retries cannot be changed.",
    "1.5": "Set `max_retries` on the decorator to change the number of retries.",
    "2.0": "Set `retry_limit` on the decorator to change the number of retries; the pauses grow.",
}
_DASHBOARD = """\
Dashboard
=========

The dashboard shows queues, workers and failed jobs in the browser.

Opening the dashboard
---------------------

Start it with ``kettle dashboard``. The dashboard listens on port {port} by default; choose another one
with ``--port``.

Passwords
---------

{password}
"""
_PASSWORD = {
    "1.0": "The dashboard has no password protection; put it behind a proxy.",
    "1.5": "Protect the dashboard with a password by setting ``dashboard_password`` in ``kettle.ini``.",
    "2.0": "Protect the dashboard with a password by setting ``KETTLE_DASHBOARD_PASSWORD``.",
}
_CONFIGURATION = """\
# Configuration

Kettle reads `{file}` from the folder in which a worker is started.

## Workers

Set `{workers}` to the number of worker processes that run at the same time. The default is one worker
for each processor core.

## Logging

Workers write their log to standard error. Set `log_level` to `debug` to see every job that is taken.
"""
_SCHEDULING = {
    "1.5": """\
# Scheduling

Run a job at fixed times with `kettle schedule`, which reads the table `[schedule]` of `kettle.ini`.

## Every night

Write `send_report = daily 02:00` to send the report every night.
""",
    "2.0": """\
# Scheduling

Run a job at fixed times with the argument `cron` of the decorator; `kettle schedule` was removed in 2.0.

## Every night

Write `@kettle.job(cron="0 2 * * *")` to send the report every night.
""",
}
_FAQ = """\
# Community questions

## Licence

Kettle is published under the Mozilla Public License.

## Why is it called Kettle

The name comes from the tea that its author drank while waiting for slow requests.
"""
CORPORA = """\
[product]
name = "Kettle"
aliases = ["kettle"]

{releases}
[[unversioned.source]]
kind = "folder"
path = "docs/all"
url = "https://kettle.example/{{page}}"

[channels."fake:old"]
release = "1.0"
"""
_RELEASE = """\
[[release]]
name = "{name}"
aliases = ["v{name}"]
latest = {latest}

[[release.source]]
kind = "folder"
path = "docs/{name}"
include = ["**/*.md", "**/*.rst"]
url = "https://kettle.example/{name}/{{page}}"

"""


def write_kettle(folder: Path, url: str = "") -> Path:
    """Write the documentation and the `corpora.toml` that names it; return that file.

    `url` is where its pages are on the web, with `{release}` and `{page}`, where that is not kettle.example.
    """
    for name in RELEASES:
        pages = folder / "docs" / name
        pages.mkdir(parents=True)
        (pages / "jobs.md").write_text(_JOBS.format(retries=RETRIES[name], more=_MORE[name]))
        (pages / "dashboard.rst").write_text(_DASHBOARD.format(port=PORTS[name], password=_PASSWORD[name]))
        file, workers = ("kettle.toml", "KETTLE_WORKERS") if name == "2.0" else ("kettle.ini", "workers")
        (pages / "configuration.md").write_text(_CONFIGURATION.format(file=file, workers=workers))
        if name in _SCHEDULING:
            (pages / "scheduling.md").write_text(_SCHEDULING[name])
    (folder / "docs" / "all").mkdir()
    (folder / "docs" / "all" / "faq.md").write_text(_FAQ)
    releases = "".join(_RELEASE.format(name=name, latest=str(name == "2.0").lower()) for name in RELEASES)
    if url:
        for name in RELEASES:
            usual = f"https://kettle.example/{name}/{{page}}"
            releases = releases.replace(usual, url.replace("{release}", name))
    config = folder / "corpora.toml"
    config.write_text(CORPORA.format(releases=releases))
    return config
