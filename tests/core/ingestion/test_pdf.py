from __future__ import annotations

import io
from pathlib import Path

import pytest
from reportlab.lib import colors
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle, getSampleStyleSheet
from reportlab.lib.units import cm
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import (
    BaseDocTemplate,
    Frame,
    PageBreak,
    PageTemplate,
    Paragraph,
    Preformatted,
    SimpleDocTemplate,
    Spacer,
    Table,
    TableStyle,
)

from core.catalogue import SourceSpec
from core.domain import RawDocument
from core.errors import NoDocument, SourceError
from core.ingestion.parsing import parse
from core.ingestion.sources.pdf import Options, PdfSource
from tests.fake_workers import FakeWorkers

STYLES = getSampleStyleSheet()
LOREM = (
    "The kettle heats water with a flat element that is hidden below the plate, so that no scale settles "
    "on it and it can be wiped clean with a damp cloth after it has cooled down. "
)


def furniture(canvas: Canvas, document: BaseDocTemplate) -> None:
    canvas.setFont("Helvetica", 8)
    canvas.drawString(
        2 * cm, A4[1] - 1.2 * cm, f"Kettle 3000 manual, chapter {canvas.getPageNumber() // 3 + 1}"
    )
    canvas.drawString(2 * cm, 1 * cm, "© 2024 Kettle Works Ltd.")
    canvas.drawRightString(A4[0] - 2 * cm, 1 * cm, f"Page {canvas.getPageNumber()} of 6")


def manual(title: str = "Kettle 3000") -> bytes:
    """Return a manual of six pages with running lines, headings, a table, code and two parted paragraphs."""
    grid = TableStyle([("GRID", (0, 0), (-1, -1), 0.5, colors.black)])
    story = [
        Paragraph("Kettle 3000", STYLES["Title"]),
        Paragraph("1. First use", STYLES["Heading1"]),
        Paragraph(LOREM * 3, STYLES["BodyText"]),
        PageBreak(),
        Paragraph("2. Settings", STYLES["Heading1"]),
        Paragraph("2.1 Temperature", STYLES["Heading2"]),
        Paragraph("Choose the temperature with the dial.", STYLES["BodyText"]),
        Table([["Drink", "Degrees"], ["Green tea", "80 °C"], ["Coffee", "92 °C"]], style=grid),
        Spacer(1, 12),
        Paragraph("Afterwards the lamp goes out.", STYLES["BodyText"]),
        PageBreak(),
        Paragraph("2.2 Remote control", STYLES["Heading2"]),
        Preformatted("def boil(kettle):\n    kettle.on()\n    return 'hot'", STYLES["Code"]),
        PageBreak(),
        Paragraph("3. Care", STYLES["Heading1"]),
        Paragraph("• Descale it monthly.", STYLES["BodyText"]),
        Paragraph("• Never open it while it is hot.", STYLES["BodyText"]),
        Spacer(1, 15 * cm),
        Paragraph(LOREM * 12, STYLES["BodyText"]),
    ]
    out = io.BytesIO()
    SimpleDocTemplate(out, pagesize=A4, title=title).build(
        story, onFirstPage=furniture, onLaterPages=furniture
    )
    return out.getvalue()


def raw(content: bytes) -> RawDocument:
    return RawDocument("manual.pdf", "https://x.example/manual.pdf", content, "pdf")


@pytest.fixture(scope="module")
def document():
    return parse(raw(manual()))


def test_headings_and_pages_stay_with_the_text(document):
    assert document.title == "Kettle 3000"
    places = [(section.headings[1:], section.anchor) for section in document.sections]
    assert places == [
        (("1. First use",), "page=1"),
        (("2. Settings", "2.1 Temperature"), "page=2"),
        (("2. Settings", "2.2 Remote control"), "page=3"),
        (("3. Care",), "page=4"),
    ]


def test_running_lines_are_gone(document):
    text = "\n".join(section.text for section in document.sections)
    for gone in ("manual, chapter", "Kettle Works", "of 6"):
        assert gone not in text


def test_a_table_is_whole_and_in_its_place(document):
    text = document.sections[1].text
    table = "| Drink | Degrees |\n| --- | --- |\n| Green tea | 80 °C |\n| Coffee | 92 °C |"
    assert text == f"Choose the temperature with the dial.\n\n{table}\n\nAfterwards the lamp goes out."


def test_code_keeps_its_lines(document):
    assert document.sections[2].text == "```\ndef boil(kettle):\n    kettle.on()\n    return 'hot'\n```"


def test_a_paragraph_that_crosses_a_page_is_not_cut(document):
    care = [section for section in document.sections if section.headings[-1] == "3. Care"]
    assert care[0].text.startswith("- Descale it monthly.\n\n- Never open it while it is hot.")
    assert care[0].text.count("The kettle heats water") == 12
    assert "  " not in care[0].text


def test_two_columns_are_read_one_after_the_other():
    out = io.BytesIO()
    template = BaseDocTemplate(out, pagesize=A4, title="Columns")
    width = (A4[0] - 5 * cm) / 2
    frames = [Frame(2 * cm + at * (width + cm), 2 * cm, width, 24 * cm) for at in (0, 1)]
    template.addPageTemplates([PageTemplate(frames=frames)])
    left = [Paragraph(f"Left {n}. " + LOREM, STYLES["BodyText"]) for n in range(12)]
    right = [Paragraph(f"Right {n}. " + LOREM, STYLES["BodyText"]) for n in range(12)]
    template.build([*left, *right])
    text = parse(raw(out.getvalue())).sections[0].text
    assert text.index("Left 9.") < text.index("Right 5.")
    assert text.count("hidden below the plate, so that no scale settles") == 24


def test_a_word_parted_at_the_end_of_a_line_is_whole():
    out = io.BytesIO()
    canvas = Canvas(out, pagesize=A4)
    canvas.drawString(100, 600, "The docu-")
    canvas.drawString(100, 586, "mentation is well-")
    canvas.drawString(100, 572, "Known.")
    canvas.save()
    assert parse(raw(out.getvalue())).sections[0].text == "The documentation is well- Known."


def test_a_title_that_says_nothing_gives_way_to_the_first_heading():
    assert parse(raw(manual("Microsoft Word - final2.doc"))).title == "Kettle 3000"


@pytest.mark.parametrize(
    ("content", "said"),
    [(b"%PDF-1.4 nonsense", "is broken or no PDF"), (b"hello", "is broken or no PDF"), (b"", "is broken")],
)
def test_what_is_no_pdf_is_told(content, said):
    with pytest.raises(SourceError, match=said):
        parse(raw(content))


def test_a_locked_pdf_is_told():
    out = io.BytesIO()
    canvas = Canvas(out, pagesize=A4, encrypt="secret")
    canvas.drawString(100, 600, "Hidden.")
    canvas.save()
    with pytest.raises(SourceError, match="locked with a password"):
        parse(raw(out.getvalue()))


def test_pictures_of_text_are_told():
    out = io.BytesIO()
    canvas = Canvas(out, pagesize=A4)
    canvas.rect(100, 100, 200, 200)
    canvas.save()
    with pytest.raises(SourceError, match="OCR"):
        parse(raw(out.getvalue()))


def test_small_print_of_many_sizes_does_not_become_headings():
    out = io.BytesIO()
    small = ParagraphStyle("small", parent=STYLES["BodyText"], fontSize=7)
    story = [Paragraph(LOREM * 4, STYLES["BodyText"]), Paragraph("A note in small print.", small)]
    SimpleDocTemplate(out, pagesize=A4, title="Notes").build(story)
    assert all(not section.headings for section in parse(raw(out.getvalue())).sections)


def test_a_page_in_a_folder_of_figures_is_no_document_and_a_manual_is_one(tmp_path: Path):
    out = io.BytesIO()
    SimpleDocTemplate(out, pagesize=A4).build([Paragraph("Cells of a battery", STYLES["BodyText"])])
    for path in ("figs/cells.pdf", "a/Images/cells.pdf"):
        with pytest.raises(NoDocument, match="a figure of other pages"):
            parse(RawDocument(path, "", out.getvalue(), "pdf", str(tmp_path)))
        assert parse(RawDocument(path, "", manual(), "pdf", str(tmp_path))).title == "Kettle 3000"
    for path in ("static/card.pdf", "figures.pdf"):
        assert parse(RawDocument(path, "", out.getvalue(), "pdf", str(tmp_path))).sections


def test_the_source_reads_one_pdf_or_a_folder_of_them(tmp_path: Path):
    (tmp_path / "m" / "b").mkdir(parents=True)
    for name in ("m/a[1].pdf", "m/b/c.PDF", "m/notes.md"):
        (tmp_path / name).write_bytes(manual() if name.lower().endswith("pdf") else b"# Notes")

    def read(path: str) -> list[tuple[str, str, str]]:
        spec = SourceSpec(
            "pdf",
            Options(path=path),
            root=tmp_path,
            url="https://x.example/{path}",
            where="corpora.toml, line 3",
        )
        return [(d.path, d.url, d.format) for d in PdfSource(spec, FakeWorkers()).documents()]

    assert read("m/a[1].pdf") == [("a[1].pdf", "https://x.example/a%5B1%5D.pdf", "pdf")]
    assert [path for path, _, _ in read("m")] == ["a[1].pdf", "b/c.PDF"]
    with pytest.raises(SourceError, match=r"There is no .*correct `path` \(corpora\.toml, line 3\)"):
        read("missing.pdf")


def test_a_single_pdf_is_read_without_looking_through_its_folder(tmp_path: Path):
    (tmp_path / "m.pdf").write_bytes(manual())
    (tmp_path / "elsewhere").symlink_to("/usr")  # a walk would tell of it
    spec = SourceSpec("pdf", Options(path="m.pdf"), root=tmp_path, where="x")
    source = PdfSource(spec, FakeWorkers())
    assert [document.path for document in source.documents()] == ["m.pdf"]
    assert not source.skipped
    folder = PdfSource(SourceSpec("pdf", Options(path="."), root=tmp_path, where="x"), FakeWorkers())
    assert [document.path for document in folder.documents()] == ["m.pdf"]
    assert folder.skipped == [("elsewhere", "a link to a folder")]


def test_headers_that_change_with_every_chapter_are_known_by_the_number_of_the_page():
    out = io.BytesIO()
    canvas = Canvas(out, pagesize=A4)
    for page in range(1, 9):
        canvas.setFont("Helvetica", 10)
        canvas.drawString(
            2 * cm,
            A4[1] - 1.2 * cm,
            f"Chapter {page}: {'Alpha Beta Gamma Delta'.split()[page % 4]} {page + 4}",
        )
        canvas.drawString(2 * cm, 15 * cm, f"The text of page {page}.")
        canvas.showPage()
    canvas.save()
    sections = parse(raw(out.getvalue())).sections
    assert [section.text for section in sections] == [f"The text of page {page}." for page in range(1, 9)]


def test_what_a_document_writes_elsewhere_decides_about_a_hyphen():
    lines = [
        "A well-known OPTIONAL part. It is a well-",
        "known one, OP-",
        "TIONAL, and docu-",
        "mented; ISO-",
        "DATE stays.",
    ]
    out = io.BytesIO()
    canvas = Canvas(out, pagesize=A4)
    for number, line in enumerate(lines):
        canvas.drawString(100, 600 - 14 * number, line)
    canvas.save()
    text = parse(raw(out.getvalue())).sections[0].text
    assert (
        text
        == "A well-known OPTIONAL part. It is a well-known one, OPTIONAL, and documented; ISO- DATE stays."
    )
