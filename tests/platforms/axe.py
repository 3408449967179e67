"""axe-core in the browser: what a page gets wrong for people who hear it, use keys, or see little contrast.

The rules come with the package axe-core-python; nothing is fetched.
"""

from __future__ import annotations

from importlib.resources import files
from typing import Any

from tests.platforms.browser import Page

RULES = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice")


def violations(page: Page, *without: str) -> list[str]:
    """Return what axe finds wrong on a page as it stands, a line each; `without` names rules that are off."""
    source = (files("axe_core_python") / "axe.min.js").read_text(encoding="utf-8")
    page.js(source)
    options: dict[str, Any] = {
        "runOnly": {"type": "tag", "values": list(RULES)},
        "rules": {rule: {"enabled": False} for rule in without},
    }
    found = page.driver.execute_async_script(
        """const [options, done] = arguments;
        const told = (node) => `${node.target.join(" ")}: ${node.failureSummary}`;
        axe.run(document, options).then(
          ({ violations }) => done(violations.map((one) => [one.id, one.help, one.nodes.map(told)])),
          (error) => done([[`${error}`, "", []]]));""",
        options,
    )
    return [f"{rule}: {help_}\n  " + "\n  ".join(nodes) for rule, help_, nodes in found]
