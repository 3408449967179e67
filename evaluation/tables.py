"""Tables of figures in Markdown, as reports have them."""

from __future__ import annotations

from collections.abc import Sequence


def grid(
    columns: Sequence[str], rows: Sequence[Sequence[str]], marks: Sequence[str] = (), margin: str = ""
) -> str:
    """Write a Markdown table; without `marks` the first column is words and the others are numbers.

    `margin` stands on both sides of the marks.
    """
    marks = marks or ["---", *["---:"] * (len(columns) - 1)]
    head, *body = (f"| {' | '.join(cells)} |" for cells in (columns, *rows))
    return "\n".join([head, f"|{'|'.join(f'{margin}{mark}{margin}' for mark in marks)}|", *body])


def cell(value: object) -> str:
    """Write a figure: three digits after the point, none from 10 on; a dash where there is none."""
    if isinstance(value, float):
        return f"{value:.3f}" if abs(value) < 10 else f"{value:.0f}"
    return "–" if value is None else str(value)
