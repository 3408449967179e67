"""Pages of every format in which a text stands literally: in paragraphs, headings, lists and tables."""

from __future__ import annotations

import html
import io
import json
import re
from xml.sax.saxutils import escape

from reportlab.lib import colors
from reportlab.lib.styles import ParagraphStyle, getSampleStyleSheet
from reportlab.platypus import Paragraph, SimpleDocTemplate, Table, TableStyle

FORMATS = ("html", "rst", "text", "markdown", "notebook", "pdf")


def page(kind: str, text: str, about: str = "The valve") -> bytes:
    """Return a page of a format about something, with the text in each of its places."""
    written = {
        "html": _html,
        "rst": _rst,
        "text": _text,
        "markdown": _markdown,
        "notebook": _notebook,
    }
    return _pdf(text, about) if kind == "pdf" else written[kind](text, about).encode()


def _html(text: str, about: str) -> str:
    t, a = html.escape(text), html.escape(about)
    return (
        f"<html><head><title>{a} {t}</title></head><body><main><h1>{a} {t}</h1>"
        f"<p>{a} is opened by {t} in the morning, as everybody knows.</p><h2>Heading {t} here</h2>"
        f"<p>{a} is <b>closed</b> by <span>{t}</span><i>{t}</i> in the evening, as everybody knows.</p>"
        f"<ul><li>{a} rests on {t} during the night and is quiet.</li></ul>"
        f"<table><tr><th>Part</th><th>{t}</th></tr><tr><td>{t}</td><td>{a}</td></tr></table>"
        f"<dl><dt>{t}</dt><dd>{a} of {t} is old and heavy.</dd></dl>"
        f"<p>Kept: <code>{t}</code></p><pre>{t}</pre></main></body></html>"
    )


def _backslashed(text: str) -> str:
    return re.sub(r"([!-/:-@\[-`{-~])", r"\\\1", text)


def _rst(text: str, about: str) -> str:
    t = _backslashed(text)
    title, heading = f"{about} {t}", f"Heading {t} here"
    line = "=" * 2 * len(title)
    return (
        f"{line}\n{title}\n{line}\n\n{about} is opened by {t} in the morning, as everybody knows.\n\n"
        f"{heading}\n{'-' * 2 * len(heading)}\n\n"
        f"{about} is **closed** by {t} in the evening, as everybody knows.\n\n"
        f"- {about} rests on {t} during the night and is quiet.\n\n"
        f".. list-table::\n   :header-rows: 1\n\n   * - Part\n     - {t}\n   * - {t}\n     - {about}\n\n"
        f"::\n\n  {text}\n"
    )


def _text(text: str, about: str) -> str:
    return (
        f"{about}\n=========\n\n{about} is opened by {text} in the morning, as everybody knows.\n\n"
        f"{about} is closed by {text} in the evening, as everybody knows.\n\n"
        f"- {about} rests on {text} during the night and is quiet.\n"
    )


def _markdown(text: str, about: str) -> str:
    t = _backslashed(text)
    return (
        f"# {about} {t}\n\n{about} is opened by {t} in the morning, as everybody knows.\n\n"
        f"## Heading {t} here\n\n{about} is **closed** by {t} in the evening, as everybody knows.\n\n"
        f"- {about} rests on {t} during the night and is quiet.\n\n"
        f"| Part | {t} |\n|---|---|\n| {t} | {about} |\n\n````\n{text}\n````\n"
    )


def _notebook(text: str, about: str) -> str:
    table = f"<table><tr><th>Part</th></tr><tr><td>{html.escape(text)}</td></tr></table>"
    outputs = [
        {"output_type": "stream", "name": "stdout", "text": f"{text}\n"},
        {"output_type": "display_data", "data": {"text/html": table}, "metadata": {}},
    ]
    cells = [
        {"cell_type": "markdown", "metadata": {}, "source": _markdown(text, about)},
        {
            "cell_type": "code",
            "metadata": {},
            "execution_count": 1,
            "source": f"x = 1  # {text}",
            "outputs": outputs,
        },
    ]
    return json.dumps({"nbformat": 4, "nbformat_minor": 4, "metadata": {}, "cells": cells})


def _pdf(text: str, about: str) -> bytes:
    styles = getSampleStyleSheet()
    small = ParagraphStyle("small", parent=styles["BodyText"], fontSize=6)
    t = escape(text)
    story = [
        Paragraph(f"1. {about}", styles["Heading1"]),
        Paragraph(f"{about} is opened by {t} in the morning, as everybody knows.", small),
        Paragraph(f"{about} is closed by {t} in the evening, as everybody knows.", small),
        Table(
            [["Part", "Text"], [Paragraph(t, small), about]],
            style=TableStyle([("GRID", (0, 0), (-1, -1), 0.5, colors.black)]),
        ),
    ]
    kept = io.BytesIO()
    SimpleDocTemplate(kept).build(story)
    return kept.getvalue()
