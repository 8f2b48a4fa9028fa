"""Questions to the catalog: `isotope sql`, and `isotope show` of one thing.

These are texts, images, runs and templates.
"""

import csv
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import duckdb

from isotope.core import store
from isotope.core.errors import BadQuery, UnknownId
from isotope.core.grid import task_of
from isotope.core.pixels import thumbnail
from isotope.core.sql import CATALOG, ask, opened, pattern
from isotope.core.terminal import MachineText
from isotope.core.titles import file_name
from isotope.report.site import environment
from isotope.tabulate.table import plain

FORMATS = ("table", "csv", "json")
Row = Sequence[object]
_WIDEST = 60


def sql(query: str, *, form: str = "table", most: int = 100, catalog: Path = CATALOG) -> str:
    """Return the answer to one SELECT; a table shows its first `most` rows and says if more exist.

    Raises:
        BadQuery: more than one statement, anything but a SELECT, or a query that DuckDB refuses.
        MissingFile: no catalog.
    """
    with opened(catalog) as con:
        answer = con.execute(_only_select(con, query))
        columns = [column[0] for column in answer.description or []]
        rows = answer.fetchmany(most + 1) if form == "table" else answer.fetchall()
    if form == "json":
        named = [dict(zip(columns, row, strict=True)) for row in rows]
        return MachineText(json.dumps(named, ensure_ascii=False, indent=1, default=str) + "\n")
    if form == "csv":
        return MachineText(_csv(columns, rows))
    more = f"({most} rows shown, there are more: --rows)\n" if len(rows) > most else ""
    return _table(columns, rows[:most]) + more


def _only_select(con: duckdb.DuckDBPyConnection, query: str) -> duckdb.Statement:
    statements = con.extract_statements(query)
    if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
        remedy = "give one SELECT: the catalog is for reading"
        raise BadQuery("isotope sql", f"no single SELECT in {query!r}", remedy)
    return statements[0]


def _table(columns: Sequence[str], rows: Sequence[Row]) -> str:
    return plain([[_short(value) for value in row] for row in rows], columns)


def _short(value: object) -> object:
    """Return a number or None as it is, anything else as one line of at most 60 characters."""
    if value is None or isinstance(value, int | float):
        return value
    text = " ".join(str(value).split())
    return text if len(text) <= _WIDEST else text[: _WIDEST - 1] + "…"


def _csv(columns: Sequence[str], rows: Sequence[Row]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([columns, *rows])
    return out.getvalue()


KINDS = ("text", "image", "query", "run", "template")
CELL = ("collection", "setting", "split", "task", "system")
_SECTIONS = {
    "text": ("siblings", "attached", "ranks"),
    "image": ("pixels", "illustrated", "ranks"),
    "run": ("run_scores", "run_extremes"),
    "template": ("template_pictures", "template_names"),
}
_JUDGED = ("attached", "illustrated")
_TITLES = {
    "siblings": "Other sections of the page",
    "attached": "Images judged to go with it",
    "illustrated": "Texts judged to go with it",
    "pixels": "Pixels",
    "ranks": "Ranks of what is relevant to it",
    "hits": "First documents of each system",
    "run_scores": "Measures",
    "run_extremes": "Queries answered best and worst",
    "template_pictures": "Pictures that it shows, by the names of their parameters",
    "template_names": "Redirects to it",
}
Params = Mapping[str, object]


@dataclass(frozen=True)
class PageTable:
    """One table of a page."""

    name: str
    columns: Sequence[str]
    rows: Sequence[Row]

    @property
    def title(self) -> str:
        """Its heading."""
        return _TITLES[self.name]


@dataclass(frozen=True)
class AnswerPage:
    """Everything known of one thing: its fields, then tables."""

    kind: str
    ident: str
    fields: Mapping[str, object]
    sections: Sequence[PageTable] = field(default_factory=tuple)


def show(
    kind: str,
    ident: str,
    *,
    collection: str | None = None,
    most: int = 5,
    catalog: Path = CATALOG,
) -> AnswerPage:
    """Look up a text or image, the answers to it as a query, the run at its path, or a template.

    A run's id is collection/setting/split/task/system; a template's is its name. Where no
    `collection` is named, the first by name that has the id is shown. `most` hits a system, best
    and worst queries are listed.

    Raises:
        UnknownId: no such thing in the catalog.
        MissingFile, CorruptFile: no catalog.
    """
    with opened(catalog, threads=1) as con:
        if kind == "run":
            return _run(con, ident, most)
        if kind == "template":
            return _template(con, ident, most)
        sides = ("text", "image") if kind == "query" else (kind,)
        values: Params = {"id": ident, "collection": collection}
        answers = ((side, ask(con, side, values)) for side in sides)
        side, fields = next(((s, _first(a)) for s, a in answers if a[1]), ("", {}))
        if not side:
            where = f"{kind} {ident}"
            raise UnknownId(where, "no such id in the catalog", _remedy(collection))
        return AnswerPage(
            kind, ident, fields, _sections(con, kind, _query_values(side, fields, most))
        )


def _query_values(side: str, fields: Mapping[str, object], most: int) -> dict[str, object]:
    return {
        "id": fields[f"{side}_id"],
        "side": side,
        "collection": fields["collection"],
        "page": fields.get("page_id"),
        "task": task_of(f"{side}s"),
        "most": most,
    }


def _sections(con: duckdb.DuckDBPyConnection, kind: str, values: Params) -> list[PageTable]:
    side = str(values["side"])
    names = _SECTIONS[side] if kind != "query" else (_SECTIONS[side][1], "ranks", "hits")
    sections: list[PageTable] = []
    for name in names:
        sections.append(PageTable(name, *ask(con, name, {**values, **_judged(sections)})))
    return sections


def _judged(sections: Sequence[PageTable]) -> dict[str, list[object]]:
    """Return what a section before listed as judged, so that no later query looks it up again."""
    rows = [row for section in sections if section.name in _JUDGED for row in section.rows]
    return {"judged": [row[0] for row in rows], "relevance": [row[1] for row in rows]}


def _run(con: duckdb.DuckDBPyConnection, ident: str, most: int) -> AnswerPage:
    parts = ident.split("/")
    values = {**dict(zip(CELL, parts, strict=False)), "most": most}
    answer = ask(con, "run", values) if len(parts) == len(CELL) else ([], [])
    if not answer[1]:
        remedy = f"write {'/'.join(CELL)}, see `isotope sql 'SELECT DISTINCT … FROM runs'`"
        raise UnknownId(f"run {ident}", "no such run in the catalog", remedy)
    sections = [PageTable(name, *ask(con, name, values)) for name in _SECTIONS["run"]]
    return AnswerPage("run", ident, {**_first(answer), **values}, sections)


def _template(con: duckdb.DuckDBPyConnection, ident: str, most: int) -> AnswerPage:
    names = [file_name(name) for name in (ident, ident.partition(":")[2]) if name]
    asked = ((name, ask(con, "template", {"id": name})) for name in names)
    name, answer = next(((name, rows) for name, rows in asked if rows[1]), ("", ([], [])))
    if not name:
        remedy = "`isotope sql 'FROM templates'` lists all"
        raise UnknownId(f"template {ident}", "no such template in the catalog", remedy)
    values: Params = {"id": name, "most": most}
    fields = _first(answer)
    values = {**values, "source": fields["source"], "wiki": fields["wiki"]}
    sections = [PageTable(name, *ask(con, name, values)) for name in _SECTIONS["template"]]
    return AnswerPage("template", ident, fields, sections)


def _first(answer: tuple[list[str], list[tuple[object, ...]]]) -> dict[str, object]:
    return dict(zip(answer[0], answer[1][0], strict=True))


def _remedy(collection: str | None) -> str:
    return "check the id" + (f", or leave out --collection {collection}" if collection else "")


def to_text(page: AnswerPage) -> str:
    """Return the page for a terminal."""
    parts = [f"{page.kind} {page.ident}\n", plain([*page.fields.items()], right=())]
    for section in page.sections:
        body = _table(section.columns, section.rows) if section.rows else "none\n"
        parts.append(f"{section.title}\n{body}")
    return "\n".join(parts)


_IDS = ("image_id", "doc_id")


def write_html(page: AnswerPage, out: Path, *, catalog: Path = CATALOG) -> None:
    """Write the page; every image that it names is shown where its pixels were crawled.

    Raises:
        DiskFull: no room for it.
        MissingFile, BadQuery: no catalog, or a shard that it names and that is gone.
    """
    html = (
        environment()
        .get_template("show.html.j2")
        .render(page=page, pictures=_pictures(page, catalog))
    )
    with store.aside(out) as part:
        part.write_text(html, encoding="utf-8", newline="\n")


def _pictures(page: AnswerPage, catalog: Path) -> dict[str, str]:
    ids = {page.ident}
    for section in page.sections:
        for i, column in enumerate(section.columns):
            ids |= {str(row[i]) for row in section.rows if column in _IDS}
    with opened(catalog, threads=1) as con:
        values = {"ids": sorted(ids)}
        # DuckDB looks for a plain path in the working directory before it looks by the search path.
        root = catalog.resolve().parent.parent
        shards = [pattern(root / str(row[0])) for row in ask(con, "shards", values)[1]]
        pictures = ask(con, "pictures", {**values, "shards": shards})[1] if shards else []
    small = {str(ident): thumbnail(bytes(webp)) for ident, webp in pictures}  # pyright: ignore[reportArgumentType]
    return {ident: uri for ident, uri in small.items() if uri}
