"""What is printed of a table, in Markdown, LaTeX and HTML, against its csv: always all of it.

The csv is compared with the scores by other checks; here every printed cell is compared with what
the csv's cell prints as. So a number that was edited in one form only is found.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import polars as pl
from lxml import html

from isotope.report.content import group_rows, read_table
from isotope.tabulate.table import PrintedCell, Table, lay_out
from isotope.verify.outcome import Check
from isotope.verify.subject import Built, Subject

_BOLD = re.compile(r"\*\*(.*)\*\*|\\textbf\{(.*)\}")
_BEATS = re.compile(r"<sup>(.*)</sup>$|\$\^\{(.*)\}\$$")
_ESCAPED = re.compile(r"\\(.)")
_PIPES = re.compile(r"(?<!\\)\|")
_AMPERSANDS = re.compile(r"(?<!\\)&")
_LATEX = {r"\textasciitilde{}": "~", r"\textasciicircum{}": "^", r"$\pm$": "±", "---": "—"}
_END = r" \\"
_FORMS = ("md", "tex")
_PAGES = ("collection", "systems")


def check_printed(subject: Subject) -> list[Check]:
    """Compare the printed forms of every table of a report with its csv; a release has none."""
    if not isinstance(subject, Built):
        return []
    check = Check("printed", "read back", "cells")
    for csv in sorted(subject.tables.glob("*.csv")):
        frame = pl.read_csv(csv, infer_schema_length=None)
        if not frame.is_empty():
            for form in _FORMS:
                _compare_rows(check, csv.with_suffix(f".{form}"), _rows(lay_out(frame)))
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
    """Compare a Markdown or LaTeX table; one that is not there was never asked for."""
    if path.is_file():
        read = _markdown if path.suffix == ".md" else _latex
        found = [*read(path.read_text(encoding="utf-8"))]
        _compare(check, path.name, found, expected)


def _compare(
    check: Check, name: str, found: Sequence[Sequence[str]], expected: Sequence[Sequence[str]]
) -> None:
    if len(found) != len(expected):
        check.words(name, f"{len(found)} rows", f"{len(expected)} rows")
        return
    for number, (one, two) in enumerate(zip(found, expected, strict=True), 1):
        if len(one) != len(two):
            check.words(f"{name} row {number}", f"{len(one)} cells", f"{len(two)} cells")
            continue
        for place, (published, printed) in enumerate(zip(one, two, strict=True), 1):
            check.words(f"{name} row {number} ({two[0]}) column {place}", published, printed)


def _markdown(text: str) -> Iterator[list[str]]:
    for line in text.splitlines()[2:]:
        yield [_unmarked(cell) for cell in _PIPES.split(line)[1:-1]]


def _latex(text: str) -> Iterator[list[str]]:
    body = text.partition("\\midrule\n")[2].partition("\\bottomrule")[0]
    for line in body.splitlines():
        cells = _AMPERSANDS.split(line.removesuffix(_END))
        for sign, letter in _LATEX.items():
            cells = [cell.replace(sign, letter) for cell in cells]
        yield [_unmarked(cell) for cell in cells]


def _unmarked(cell: str) -> str:
    """Return the text of a cell, with the letters of what it beats, without bold type."""
    letters = _BEATS.search(cell.strip())
    text = _BEATS.sub("", cell.strip())
    bold = _BOLD.fullmatch(text)
    text = next(filter(None, bold.groups()), "") if bold else text
    beats = next(filter(None, letters.groups()), "") if letters else ""
    return _plain(_ESCAPED.sub(r"\1", text) + beats)


def _compare_page(check: Check, page: Path, tables: Path) -> None:
    """Compare the tables of a page that have a csv: their sections bear its name."""
    if not page.is_file():
        check.skip(f"{page.name}: no such page")
        return
    tree = html.parse(str(page), html.HTMLParser(encoding="utf-8"))
    for section in tree.iterfind(".//section[@id]"):
        csv = tables / f"{section.get('id')}.csv"
        table = read_table(csv) if csv.is_file() else None
        if table is not None and section.find(".//table") is not None:
            groups = group_rows(table).groups
            expected = [[_printed(cell) for cell in row] for own in groups for row in own.rows]
            _compare(check, f"{page.name}#{csv.stem}", [*_html(section)], expected)


def _html(section: html.HtmlElement) -> Iterator[list[str]]:
    for row in section.iterfind(".//tbody/tr"):
        if row.get("class") != "pool":
            cells = row.xpath("./th|./td")
            yield [_plain("".join(cell.itertext())) for cell in cells]
