"""What the site shows: every table and figure with its page, its number in AToMiC, a caption."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

import polars as pl

from isotope.tabulate.exhibits import Exhibit, described
from isotope.tabulate.layout import Table, lay_out

_CURVE = "curve-"
_TALL_ROWS = 24


class Shown(NamedTuple):
    """An exhibit with its table, its drawing, or both; `files` are suffixes to link to."""

    stem: str
    exhibit: Exhibit
    table: Table | None
    drawing: str | None
    files: tuple[str, ...]

    @property
    def tall(self) -> bool:
        """Whether the table is too long to be read in one piece."""
        return self.table is not None and len(self.table.rows) > _TALL_ROWS


def exhibits(files: Iterable[Path], told: Mapping[str, object]) -> dict[str, Shown]:
    """Return what `files` hold, by stem: `.svg` drawings, and the tables whose `.csv` is given.

    `told` fills the captions. What lies in `since/<earlier>` has that before its stem. A table that
    nothing describes is shown last, under its own name; a drawing `curve-<model>` is a learning
    curve.
    """
    given = sorted(set(files))
    tables = {_stem(p): p.with_suffix(".csv") for p in given if p.suffix in {".csv", ".md"}}
    drawings = {_stem(p): p for p in given if p.suffix == ".svg"}
    known = [s for s in described() if s in tables or s in drawings]
    others = sorted((tables.keys() | drawings.keys()) - set(known))
    return {s: _shown(s, tables.get(s), drawings.get(s), told) for s in (*known, *others)}


def _stem(path: Path) -> str:
    """Return a file's name; with its folder where it holds a collection against an earlier one."""
    parts = path.with_suffix("").parts
    return "/".join(parts[-3:]) if parts[-3:-2] == ("since",) else path.stem


def _shown(stem: str, csv: Path | None, svg: Path | None, told: Mapping[str, object]) -> Shown:
    folder, _, name = stem.rpartition("/")
    exhibit = described().get(name) or _unlisted(stem)
    table = lay_out(pl.read_csv(csv, infer_schema_length=None)) if csv else None
    drawing = _drawing(svg, stem.replace("/", "-")) if svg else None
    named = {**told, "earlier": folder.removeprefix("since/")}
    told_so = exhibit._replace(caption=exhibit.caption.format_map(named))
    return Shown(stem, told_so, table, drawing, ("csv", "tex") if csv else ())


def _unlisted(stem: str) -> Exhibit:
    if stem.startswith(_CURVE):
        model = stem.removeprefix(_CURVE)
        caption = "Loss, and its quality on validation, while it learned from the training split."
        return Exhibit("systems", "", f"How {model} learned", caption)
    return Exhibit("systems", "", stem.replace("_", " "), "")


def _drawing(svg: Path, name: str) -> str:
    """Return the SVG element without prolog; its ids get the name, so none occurs twice."""
    text = svg.read_text(encoding="utf-8")
    own = text[text.index("<svg") :].replace(' id="', f' id="{name}-')
    return own.replace('href="#', f'href="#{name}-').replace("url(#", f"url(#{name}-")
