"""What is printed of a table, as csv, Markdown, LaTeX and HTML, against its rows: always all of it.

The rows are compared with the scores by other checks; here every printed cell is compared with what
the row's cell prints as. So a number that was edited in one form only is found.
"""

import csv
import re
from collections.abc import Iterator, Sequence
from io import StringIO
from pathlib import Path

from lxml import html

from isotope.report.content import group_rows, on_page
from isotope.tabulate.table import PrintedCell, Table, lay_out, read_table
from isotope_verify.outcome import Check
from isotope_verify.subject import Built, Subject

_BOLD = re.compile(r"\*\*(.*)\*\*|\\textbf\{(.*)\}")
_BEATS = re.compile(r"<sup>(.*)</sup>$|\$\^\{(.*)\}\$$")
_ESCAPED = re.compile(r"\\(.)")
_PIPES = re.compile(r"(?<!\\)\|")
_AMPERSANDS = re.compile(r"(?<!\\)&")
_LATEX = {
    **{r"\textasciitilde{}": "~", r"\textasciicircum{}": "^", r"\textbackslash{}": "\\"},
    **{r"$\pm$": "±", "---": "—", "-{}": "-"},
}
_SIGN = re.compile("|".join(map(re.escape, _LATEX)) + r"|\\(.)")
_END = r" \\"
_PAGES = ("collection", "systems")


def check_printed(subject: Subject) -> list[Check]:
    """Compare the printed forms of every table of a report with its csv; a release has none."""
    if not isinstance(subject, Built):
        return []
    check = Check("printed", "read back", "cells")
    # Sheets for people are csv alone; of a table in Markdown that has no rows, reading tells.
    names = {p.stem for p in subject.tables.iterdir() if p.suffix in (".arrow", ".md")}
    for path in (subject.tables / f"{name}.arrow" for name in sorted(names)):
        frame = read_table(path)
        if not frame.is_empty():
            laid = _rows(lay_out(frame))
            _compare_rows(check, path.with_suffix(".csv"), [*_csv(frame.write_csv())])
            _compare_rows(check, path.with_suffix(".md"), laid)
            _compare_rows(check, path.with_suffix(".tex"), laid)
    for page in _PAGES:
        _compare_page(check, subject.pages / f"{page}.html", subject.tables)
    check.total = check.compared
    return [check]


def _rows(table: Table) -> list[list[str]]:
    return [[_printed(cell) for cell in row] for row in table.rows]


def _printed(cell: PrintedCell) -> str:
    return _plain(cell.text + cell.beats)


def _plain(text: str) -> str:
    return " ".join(text.split())


def _compare_rows(check: Check, path: Path, expected: list[list[str]]) -> None:
    """Compare a printed form; one that is not there was never asked for."""
    if path.is_file():
        rows = [*_READERS[path.suffix](path.read_text(encoding="utf-8"))]
        _compare(check, path.name, rows, expected)


def _compare(
    check: Check, name: str, actual: Sequence[Sequence[str]], expected: Sequence[Sequence[str]]
) -> None:
    if len(actual) != len(expected):
        check.words(name, f"{len(actual)} rows", f"{len(expected)} rows")
        return
    for number, (actual_row, expected_row) in enumerate(zip(actual, expected, strict=True), 1):
        if len(actual_row) != len(expected_row):
            check.words(
                f"{name} row {number}", f"{len(actual_row)} cells", f"{len(expected_row)} cells"
            )
            continue
        for column, (published, printed) in enumerate(
            zip(actual_row, expected_row, strict=True), 1
        ):
            check.words(
                f"{name} row {number} ({expected_row[0]}) column {column}", published, printed
            )


def _csv(text: str) -> Iterator[list[str]]:
    yield from csv.reader(StringIO(text))


def _markdown(text: str) -> Iterator[list[str]]:
    for line in text.splitlines()[2:]:
        yield [_ESCAPED.sub(r"\1", _unmarked(cell)) for cell in _PIPES.split(line)[1:-1]]


def _latex(text: str) -> Iterator[list[str]]:
    body = text.partition("\\midrule\n")[2].partition("\\bottomrule")[0]
    for line in body.splitlines():
        cells = map(_unmarked, _AMPERSANDS.split(line.removesuffix(_END)))
        yield [_SIGN.sub(lambda sign: _LATEX.get(sign[0], sign[1]), cell) for cell in cells]


_READERS = {".csv": _csv, ".md": _markdown, ".tex": _latex}


def _unmarked(cell: str) -> str:
    """Return the text of a cell, with the letters of what it beats, without bold type."""
    letters = _BEATS.search(cell.strip())
    text = _BEATS.sub("", cell.strip())
    bold = _BOLD.fullmatch(text)
    text = next(filter(None, bold.groups()), "") if bold else text
    beats = next(filter(None, letters.groups()), "") if letters else ""
    return _plain(text + beats)


def _compare_page(check: Check, page: Path, tables: Path) -> None:
    """Compare the tables of a page that are of the report: their sections bear its name."""
    if not page.is_file():
        check.skip(f"{page.name}: no such page")
        return
    tree = html.parse(str(page), html.HTMLParser(encoding="utf-8"))
    for section in tree.iterfind(".//section[@id]"):
        arrow = tables / f"{section.get('id')}.arrow"
        table = on_page(read_table(arrow)) if arrow.is_file() else None
        if table is not None and section.find(".//table") is not None:
            groups = group_rows(table).groups
            expected = [[_printed(cell) for cell in row] for group in groups for row in group.rows]
            _compare(check, f"{page.name}#{arrow.stem}", [*_html(section)], expected)


def _html(section: html.HtmlElement) -> Iterator[list[str]]:
    for row in section.iterfind(".//tbody/tr"):
        if row.get("class") != "pool":
            cells = row.xpath("./th|./td")
            yield [_plain("".join(cell.itertext())) for cell in cells]
