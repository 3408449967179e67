"""Says who can reach what of this bot: the playground, the dashboard, the widget, the database.

What is secret or only the bot's own in a bot's folder is kept from being committed with it.
"""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

from bot.home.findings import Finding, good, unsure
from bot.ports.platforms import configured, serves_playground, title
from core.settings import Settings
from core.system.origins import is_readable_on_its_way

ANYBODY = "they can play anybody there, admins included"
LINK = "the link that `threadlore serve` prints at its start"
_LOCAL = ("localhost", "127.0.0.1", "::1", "")
TLS = "sslmode=require"
"""What has to stand in an address of PostgreSQL for a connection that cannot be read on the way."""
IGNORED = (".env", "/home/")
"""The tokens, and the bot's home: its key, its database, its logs, the pages it read."""


def exposed(settings: Settings) -> list[Finding]:
    """Return who can reach what, in plain words; not good is what may be read on its way."""
    if settings.playground is False:
        pages = [good("Pages", "neither playground nor dashboard (THREADLORE_PLAYGROUND=false)")]
        pages += [_port(settings)] if settings.widget_origins else []
    else:
        pages = [_port(settings), _playground(settings), _dashboard(settings)]
    pages += [_widget(settings)] if settings.widget_origins else []
    return [*pages, _database(settings)]


def listens_for(settings: Settings) -> str:
    """Return from where the web server can be reached."""
    if settings.allowed_hosts:
        return f"everybody who reaches {', '.join(settings.allowed_hosts)}"
    if _is_local(settings.host):
        return "everybody on this machine"
    return "everybody who reaches this machine over the network"


def _port(settings: Settings) -> Finding:
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    said = f"the pages listen on {host}:{settings.port} (THREADLORE_HOST, THREADLORE_PORT), for "
    said += listens_for(settings)
    if _is_local(settings.host) or settings.allowed_hosts:
        return good("Reach", said)
    advice = (
        "tokens and what is said travel unencrypted: put a proxy with TLS in front, set "
        "THREADLORE_HOST=127.0.0.1, and name the proxy's host in THREADLORE_ALLOWED_HOSTS"
    )
    return unsure("Reach", said, advice)


def _playground(settings: Settings) -> Finding:
    others = configured(settings)
    if not serves_playground(settings):
        beside = " and ".join(map(title, others))
        said = f"off beside {beside}; THREADLORE_PLAYGROUND=true serves it, behind a token"
        return good("Playground", said)
    own = settings.playground_token.get_secret_value().strip()
    is_alone = _is_local(settings.host) and not settings.allowed_hosts
    if own or others or not is_alone:
        key = "PLAYGROUND_TOKEN" if own else LINK
        return good("Playground", f"for {listens_for(settings)} and has {key}: {ANYBODY}")
    return good("Playground", f"for everybody on this machine, without a token: {ANYBODY}")


def _dashboard(settings: Settings) -> Finding:
    machines = "/metrics with it, /healthz and /readyz for everybody who reaches the port"
    is_alone = _is_local(settings.host) and not settings.allowed_hosts
    if settings.dashboard_token.get_secret_value().strip():
        said = f"for {listens_for(settings)} and has DASHBOARD_TOKEN"
    elif is_alone:
        said = "for everybody on this machine, without a token"
    else:
        said = "for nobody, until DASHBOARD_TOKEN is set"
    return good("Dashboard", f"{said}; {machines}")


def _widget(settings: Settings) -> Finding:
    """Say whose readers may ask, and what keeps them from it or shows too much on the way."""
    sites = settings.widget_origins
    said = f"readers of {', '.join(sites)} may ask, without a name, and hear what is public (WIDGET_ORIGINS)"
    open_ = [site for site in sites if is_readable_on_its_way(site)]
    advice = (
        [f"serve {', '.join(open_)} over https, or others can change what its readers see"] if open_ else []
    )
    if any(not _is_local(urlsplit(site).hostname or "") for site in sites) and not settings.allowed_hosts:
        advice.append(
            "put a proxy with TLS in front that passes on /widget.js and /widget/ alone, and name its host "
            "in THREADLORE_ALLOWED_HOSTS: browsers elsewhere do not reach the bot without it"
        )
    if settings.allowed_hosts and not settings.widget_proxies:
        advice.append(
            "name the proxy's address in WIDGET_PROXIES, or all readers count as one address "
            f"({settings.widget_per_minute:g} questions a minute)"
        )
    return unsure("Widget", said, "; ".join(advice)) if advice else good("Widget", said)


def _database(settings: Settings) -> Finding:
    url = settings.database_url.get_secret_value()
    if not url:
        return good("Database", f"a file in {settings.home}, for the user that runs the bot alone")
    if url.startswith("sqlite"):
        return good("Database", f"a file at {urlsplit(url).path}; look that nobody else may read it")
    address = urlsplit(url)
    try:
        place = f"{address.hostname or 'this machine'}:{address.port or 5432}{address.path}"
    except ValueError:  # a port that is none; who connects is told
        place = address.hostname or "?"
    said = f"PostgreSQL at {place}, for anybody with its password"
    if (address.hostname or "") in _LOCAL or "sslmode=" in address.query:
        return good("Database", said)
    advice = f"add ?{TLS} to DATABASE_URL, or what is kept may be read on its way there"
    return unsure("Database", said, advice)


def _is_local(host: str) -> bool:
    name = host.rstrip(".").lower()
    return name in ("localhost", "::1") or name.endswith(".localhost") or name.startswith("127.")


def keep_out_of_git(folder: Path) -> None:
    """Write a `.gitignore` into a bot's folder; lines that somebody wrote there stay."""
    place = folder / ".gitignore"
    there = place.read_text(encoding="utf-8") if place.exists() else ""
    lacking = [line for line in IGNORED if line not in there.splitlines()]
    gap = "\n" if there and not there.endswith("\n") else ""
    if lacking:
        place.write_text(there + gap + "\n".join(lacking) + "\n", encoding="utf-8")
