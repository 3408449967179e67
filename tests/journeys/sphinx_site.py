"""A documentation site on an address of its own, with the pages that Sphinx 9 writes, one folder a release.

The script stands where `html_js_files` of `conf.py` puts it.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from tests.journeys.kettle import PORTS, RETRIES

_PAGE = """\
<!DOCTYPE html>

<html lang="{language}" data-content_root="./">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1.0" />
    <meta http-equiv="Content-Security-Policy" content="{policy}" />
    <title>{title} &#8212; Kettle {release} documentation</title>
    <link rel="icon" href="data:," />
    <link rel="stylesheet" type="text/css" href="/_static/alabaster.css" />
    <script src="/_static/doctools.js"></script>
    <script async="async" data-product="Kettle" {more} src="{bot}/widget.js"></script>
  </head><body>
    <div class="document">
      <div class="documentwrapper">
        <div class="bodywrapper">
          <div class="body" role="main">
{body}
          </div>
        </div>
      </div>
      <div class="sphinxsidebar" role="navigation" aria-label="Main">
        <div class="sphinxsidebarwrapper">
<h1 class="logo"><a href="jobs.html">Kettle</a></h1>
<p class="blurb">A job queue</p>
<h3>Navigation</h3>
<ul class="current">
<li class="toctree-l1"><a class="reference internal" href="jobs.html">Jobs and retries</a></li>
<li class="toctree-l1"><a class="reference internal" href="dashboard.html">Dashboard</a></li>
</ul>
        </div>
      </div>
      <div class="clearer"></div>
    </div>
    <div class="footer">&#169;. | Powered by <a href="https://www.sphinx-doc.org/">Sphinx 9.0.4</a></div>
  </body>
</html>
"""
_JOBS = """\
<section id="jobs-and-retries">
<h1>Jobs and retries<a class="headerlink" href="#jobs-and-retries" title="Link to this heading">¶</a></h1>
<p>A job is a plain function that a worker runs outside of the web request.</p>
<section id="retries">
<h2>Retries<a class="headerlink" href="#retries" title="Link to this heading">¶</a></h2>
<p>A job that fails is tried again {retries} by default.</p>
<div class="highlight-python notranslate"><div class="highlight"><pre><span class="nd">@kettle</span><span
class="o">.</span><span class="n">job</span>
<span class="k">def</span> <span class="nf">send_mail</span><span class="p">(</span><span
class="n">address</span><span class="p">):</span>
    <span class="o">...</span>
</pre></div>
</div>
</section>
</section>
"""
_DASHBOARD = """\
<section id="dashboard">
<h1>Dashboard<a class="headerlink" href="#dashboard" title="Link to this heading">¶</a></h1>
<p>The dashboard shows queues, workers and failed jobs in the browser.</p>
<section id="opening-the-dashboard">
<h2>Opening the dashboard<a class="headerlink" href="#opening-the-dashboard"
title="Link to this heading">¶</a></h2>
<p>Start it with <code class="docutils literal notranslate"><span class="pre">kettle</span> <span
class="pre">dashboard</span></code>. The dashboard listens on port {port} by default.</p>
</section>
</section>
"""
_STYLE = """\
body { margin: 0; background: #fff; color: #3e4349; font-family: Georgia, serif; font-size: 17px; }
body[data-theme=dark] { background: #14181d; color: #d6d9dc; }
div.document { width: 940px; max-width: 100%; margin: 30px auto 0; }
div.documentwrapper { float: left; width: 100%; }
div.bodywrapper { margin: 0 0 0 220px; }
div.body { min-width: 0; padding: 0 30px; line-height: 1.4; }
div.body h1, div.body h2 { font-family: Garamond, Georgia, serif; font-weight: normal; }
div.sphinxsidebar { float: left; width: 220px; margin-left: -100%; font-size: 14px; }
div.highlight pre { padding: 7px 30px; background: #eee; color: #333; }
a { color: #004b6b; }
a.headerlink { visibility: hidden; }
div.clearer { clear: both; }
@media (max-width: 720px) {
  div.bodywrapper { margin: 0; }
  div.sphinxsidebar { float: none; width: auto; margin: 0; padding: 0 30px; }
}
/* what some theme does to everything, which the widget must not notice */
button, textarea, select, p, h2, svg, div { letter-spacing: 3px; text-transform: uppercase; }
div.body *, div.sphinxsidebar *, div.footer, div.footer * { letter-spacing: normal; text-transform: none; }
button { background: red !important; border: 9px solid red !important; }
body > * { max-width: 900px; }
"""
_SCRIPT = """\
// as doctools.js does: keys that somebody presses on the page lead away from it
const pressed = [];
document.addEventListener("keydown", (event) => {
  const written = ["INPUT", "TEXTAREA", "SELECT", "BUTTON"].includes(document.activeElement.tagName);
  if (!written && !event.ctrlKey) pressed.push(event.key);
  document.documentElement.dataset.pressed = pressed.join(" ");
});
"""


class Site(ThreadingHTTPServer):
    """A server of files, which may get another folder while browsers hold connections to it."""

    folder = Path()


class _Quiet(SimpleHTTPRequestHandler):
    def do_GET(self) -> None:
        """Hand out a file of the folder that is served now."""
        assert isinstance(self.server, Site)
        self.directory = str(self.server.folder)
        super().do_GET()

    def end_headers(self) -> None:
        """Let browsers keep nothing: a page of the same second names the bot of another test."""
        self.send_header("Cache-Control", "no-store")
        super().end_headers()

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@contextmanager
def address() -> Iterator[tuple[Site, str]]:
    """Take a port of this machine; yields the server, which does not answer yet, and its origin."""
    server = Site(("127.0.0.1", 0), _Quiet)
    try:
        yield server, f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.server_close()


@contextmanager
def serving(server: Site, folder: Path) -> Iterator[None]:
    """Serve a folder."""
    server.folder = folder
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        thread.join()


def write_site(folder: Path, bot: str, more: str = "", language: str = "en") -> None:
    """Write the pages of every release; each lets nothing run and asks nobody but the bot."""
    policy = (
        f"default-src 'none'; script-src 'self' {bot}; style-src 'self'; connect-src {bot}; img-src data:"
    )
    static = folder / "_static"
    static.mkdir(parents=True, exist_ok=True)
    (static / "alabaster.css").write_text(_STYLE)
    (static / "doctools.js").write_text(_SCRIPT)
    for release in (*PORTS, "stable", "9.9"):
        pages = folder / "en" / release
        pages.mkdir(parents=True, exist_ok=True)
        number = release if release in PORTS else "2.0"
        bodies = {
            "jobs": ("Jobs and retries", _JOBS.format(retries=RETRIES[number])),
            "dashboard": ("Dashboard", _DASHBOARD.format(port=PORTS[number])),
        }
        for name, (title, body) in bodies.items():
            told = {"title": title, "release": number, "body": body, "bot": bot, "more": more}
            (pages / f"{name}.html").write_text(_PAGE.format(**told, policy=policy, language=language))
