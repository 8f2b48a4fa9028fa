"""`isotope sql`: one SELECT on the catalog, as a table, csv or json."""

import csv
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import duckdb

from isotope.core import store
from isotope.core.errors import BadQuery, UnknownId
from isotope.core.pixels import thumbnail
from isotope.core.sql import CATALOG, ask, opened
from isotope.report.site import environment

FORMATS = ("table", "csv", "json")
_WIDEST = 60
Row = Sequence[object]


def sql(query: str, *, form: str = "table", most: int = 100, catalog: Path = CATALOG) -> str:
    """Return the answer to one SELECT; a table shows its first `most` rows and says if more exist.

    Raises:
        BadQuery: more than one statement, anything but a SELECT, or a query that DuckDB refuses.
        MissingFile: no catalog.
    """
    with opened(catalog) as con:
        found = con.execute(_only_select(con, query))
        columns = [column[0] for column in found.description or []]
        rows = found.fetchmany(most + 1) if form == "table" else found.fetchall()
    if form == "json":
        told = [dict(zip(columns, row, strict=True)) for row in rows]
        return json.dumps(told, ensure_ascii=False, indent=1, default=str) + "\n"
    if form == "csv":
        return _csv(columns, rows)
    more = f"({most} rows shown, there are more: --rows)\n" if len(rows) > most else ""
    return aligned(columns, rows[:most]) + more


def _only_select(con: duckdb.DuckDBPyConnection, query: str) -> duckdb.Statement:
    statements = con.extract_statements(query)
    if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
        remedy = "give one SELECT: the catalog is for reading"
        raise BadQuery("isotope sql", f"no single SELECT in {query!r}", remedy)
    return statements[0]


def _csv(columns: Sequence[str], rows: Sequence[Row]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([columns, *rows])
    return out.getvalue()


def aligned(columns: Sequence[str], rows: Sequence[Row]) -> str:
    """Return rows in columns parted by two blanks, numbers to the right, long words cut."""
    lines = [[_short(value) for value in row] for row in rows]
    widths = [max(map(len, cells)) for cells in zip(columns, *lines, strict=True)]
    right = [any(isinstance(row[i], int | float) for row in rows) for i in range(len(columns))]
    form = "  ".join(f"{{:{'>' if r else '<'}{w}}}" for w, r in zip(widths, right, strict=True))
    return "".join(form.format(*line).rstrip() + "\n" for line in [list(columns), *lines])


def _short(value: object) -> str:
    if value is None:
        return "—"
    text = " ".join(str(value).split())
    return text if len(text) <= _WIDEST else text[: _WIDEST - 1] + "…"


KINDS = ("text", "image", "query", "run")
CELL = ("collection", "setting", "split", "task", "system")
_SECTIONS = {
    "text": ("siblings", "attached", "ranks"),
    "image": ("pixels", "illustrated", "ranks"),
    "run": ("run_scores", "run_extremes"),
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
}
Params = Mapping[str, object]


@dataclass(frozen=True)
class Section:
    """One table of a page."""

    name: str
    columns: Sequence[str]
    rows: Sequence[Row]

    @property
    def title(self) -> str:
        """Its heading."""
        return _TITLES[self.name]


@dataclass(frozen=True)
class Page:
    """Everything known of one thing: its fields, then tables."""

    kind: str
    ident: str
    fields: Mapping[str, object]
    sections: Sequence[Section] = field(default_factory=tuple)


def show(
    kind: str,
    ident: str,
    *,
    collection: str | None = None,
    most: int = 5,
    catalog: Path = CATALOG,
) -> Page:
    """Look up a text or image, the answers to it as a query, or the run at its path.

    A run's id is collection/setting/split/task/system. Where no `collection` is named, the first
    by name that has the id is shown. `most` hits a system, best and worst queries are listed.

    Raises:
        UnknownId: no such thing in the catalog.
        MissingFile, CorruptFile: no catalog.
    """
    with opened(catalog, threads=1) as con:
        if kind == "run":
            return _run(con, ident, most)
        sides = ("text", "image") if kind == "query" else (kind,)
        given: Params = {"id": ident, "collection": collection}
        found = ((side, ask(con, side, given)) for side in sides)
        side, fields = next(((s, _first(a)) for s, a in found if a[1]), ("", {}))
        if not side:
            where = f"{kind} {ident}"
            raise UnknownId(where, "no such id in the catalog", _remedy(collection))
        return Page(kind, ident, fields, _sections(con, kind, _given(side, fields, most)))


def _given(side: str, fields: Mapping[str, object], most: int) -> dict[str, object]:
    return {
        "id": fields[f"{side}_id"],
        "side": side,
        "collection": fields["collection"],
        "page": fields.get("page_id"),
        "task": {"text": "t2m", "image": "m2t"}[side],
        "most": most,
    }


def _sections(con: duckdb.DuckDBPyConnection, kind: str, given: Params) -> list[Section]:
    side = str(given["side"])
    names = _SECTIONS[side] if kind != "query" else (_SECTIONS[side][1], "ranks", "hits")
    made: list[Section] = []
    for name in names:
        made.append(Section(name, *ask(con, name, {**given, **_judged(made)})))
    return made


def _judged(made: Sequence[Section]) -> dict[str, list[object]]:
    """Return what a section before listed as judged, so that no later query looks it up again."""
    rows = [row for section in made if section.name in _JUDGED for row in section.rows]
    return {"judged": [row[0] for row in rows], "relevance": [row[1] for row in rows]}


def _run(con: duckdb.DuckDBPyConnection, ident: str, most: int) -> Page:
    parts = ident.split("/")
    given = {**dict(zip(CELL, parts, strict=False)), "most": most}
    answer = ask(con, "run", given) if len(parts) == len(CELL) else ([], [])
    if not answer[1]:
        remedy = f"write {'/'.join(CELL)}, see `isotope sql 'SELECT DISTINCT … FROM runs'`"
        raise UnknownId(f"run {ident}", "no such run in the catalog", remedy)
    sections = [Section(name, *ask(con, name, given)) for name in _SECTIONS["run"]]
    return Page("run", ident, {**_first(answer), **given}, sections)


def _first(answer: tuple[list[str], list[tuple[object, ...]]]) -> dict[str, object]:
    return dict(zip(answer[0], answer[1][0], strict=True))


def _remedy(collection: str | None) -> str:
    return "check the id" + (f", or leave out --collection {collection}" if collection else "")


def to_text(page: Page) -> str:
    """Return the page for a terminal."""
    wide = max(map(len, page.fields))
    lines = [f"{page.kind} {page.ident}\n\n"]
    lines += [f"{k:<{wide}}  {'—' if v is None else v}\n" for k, v in page.fields.items()]
    for section in page.sections:
        body = aligned(section.columns, section.rows) if section.rows else "none\n"
        lines.append(f"\n{section.title}\n{body}")
    return "".join(lines)


_IDS = ("image_id", "doc_id")


def write_html(page: Page, out: Path, *, catalog: Path = CATALOG) -> None:
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


def _pictures(page: Page, catalog: Path) -> dict[str, str]:
    ids = {page.ident}
    for section in page.sections:
        for i, column in enumerate(section.columns):
            ids |= {str(row[i]) for row in section.rows if column in _IDS}
    with opened(catalog, threads=1) as con:
        wanted = {"ids": sorted(ids)}
        shards = [row[0] for row in ask(con, "shards", wanted)[1]]
        found = ask(con, "pictures", {**wanted, "shards": shards})[1] if shards else []
    small = {str(ident): thumbnail(bytes(webp)) for ident, webp in found}  # pyright: ignore[reportArgumentType]
    return {ident: uri for ident, uri in small.items() if uri}
