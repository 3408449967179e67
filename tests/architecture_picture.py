"""Draw the rooms and which of them may import which, from the folders and from the import contracts."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from pathlib import Path
from xml.sax.saxutils import escape

CAPTIONS = {
    "bot": "everyone who calls the engine",
    "core": "what it means to answer",
    "storage": "where things are kept",
    "evaluation": "measures all three; nothing that serves imports it",
}
CHIP, GAP, PAD, HEAD = 27, 8, 18, 62
"""Pixels: height of a name's box, space between boxes, space inside of a room, height of its title."""
CORE = 610
WIDTH = 340 + CORE + 80 + 200 + 20
"""Pixels of the room in the middle, and of the whole."""
STYLE = """
  svg { --page: #ffffff; --ink: #1f2933; --soft: #5b6773; --line: #c4ccd4; --chip: #ffffff; --edge: #7a8794;
        --bot: #e8f0fb; --core: #fdf3e0; --storage: #e7f5ec; --evaluation: #f2edf9; }
  @media (prefers-color-scheme: dark) {
    svg { --page: #14181d; --ink: #e8ecf0; --soft: #a3afba; --line: #3d4852; --chip: #1d232a; --edge: #8b98a5;
          --bot: #1b2838; --core: #332a18; --storage: #1a2e22; --evaluation: #29223a; }
  }
  text { font-family: system-ui, -apple-system, "Segoe UI", Helvetica, Arial, sans-serif; fill: var(--ink); }
  .room { font-size: 20px; font-weight: 650; }
  .says { font-size: 13px; fill: var(--soft); }
  .name { font-size: 13.5px; text-anchor: middle; }
  .note { font-size: 12.5px; fill: var(--soft); text-anchor: middle; }
  .chip { fill: var(--chip); stroke: var(--line); }
  .arrow { stroke: var(--edge); stroke-width: 2; fill: none; marker-end: url(#tip); }
"""


def floors_of(root: Path, room: str) -> list[list[str]]:
    """Return the floors of a room, top first, as its import contract names them."""
    contracts = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    layers = next(c["layers"] for c in contracts["contracts"] if c.get("containers") == [room])
    return [[name.strip() for name in layer.replace(":", "|").split("|")] for layer in layers]


def draw(root: Path) -> str:
    """Return the picture as SVG; it follows the reader's light or dark theme."""
    bot, core, storage = floors_of(root, "bot")[1:], floors_of(root, "core"), floors_of(root, "storage")
    height = HEAD + PAD + max(map(len, (core, storage, bot))) * (CHIP + GAP)
    middle, low = 20 + height / 2, 20 + height + 66
    left, right, centre = 340, 340 + CORE, 340 + CORE / 2
    parts = [
        _room("bot", 20, 20, 240, height, bot),
        _room("core", left, 20, CORE, height, core),
        _room("storage", right + 80, 20, 200, height, storage),
        _room("evaluation", left, low, CORE, HEAD + 4, []),
        _arrow(f"M 262 {middle} H {left - 4}"),
        _arrow(f"M {right + 78} {middle} H {right + 4}"),
        _arrow(f"M {centre} {low - 2} V {height + 26}"),
        _note(299, middle - 10, "imports"),
        _note(right + 41, middle - 10, "imports"),
        _note(centre + 32, low - 22, "imports"),
        _note(centre, 20 + height - 7, "inside a room, imports point down"),
        _note(150, height + 42, "only bot/app/builders/storage.py sees storage"),
    ]
    size = f"0 0 {WIDTH} {low + HEAD + 24}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{size}" role="img" '
        'aria-label="bot imports core, storage imports core, evaluation imports core">\n'
        f"<style>{STYLE}</style>\n"
        '<defs><marker id="tip" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" '
        'orient="auto"><path d="M 0 0 L 10 5 L 0 10 z" fill="var(--edge)"/></marker></defs>\n'
        '<rect width="100%" height="100%" fill="var(--page)"/>\n' + "\n".join(parts) + "\n</svg>\n"
    )


def _room(name: str, x: float, y: float, width: float, height: float, rows: Sequence[Sequence[str]]) -> str:
    lines = [
        f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="12" fill="var(--{name})" '
        'stroke="var(--line)"/>',
        f'<text class="room" x="{x + PAD}" y="{y + 30}">{name}</text>',
        f'<text class="says" x="{x + PAD}" y="{y + 49}">{escape(CAPTIONS[name])}</text>',
    ]
    for row, names in enumerate(rows):
        each = (width - 2 * PAD - GAP * (len(names) - 1)) / len(names)
        top = y + HEAD + row * (CHIP + GAP)
        for column, said in enumerate(names):
            left = x + PAD + column * (each + GAP)
            lines.append(
                f'<rect class="chip" x="{left:.1f}" y="{top}" width="{each:.1f}" height="{CHIP}" rx="6"/>'
                f'<text class="name" x="{left + each / 2:.1f}" y="{top + 18}">{escape(said)}</text>'
            )
    return "\n".join(lines)


def _arrow(path: str) -> str:
    return f'<path class="arrow" d="{path}"/>'


def _note(x: float, y: float, text: str) -> str:
    return f'<text class="note" x="{x}" y="{y}">{escape(text)}</text>'
