"""The site's front page: every collection that has pages, with its sizes and its best system."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from isotope.report.collection import Leader, leader, need, totals
from isotope.report.exhibits import exhibits
from isotope.report.site import write_page


class Entry(NamedTuple):
    """A collection on the front page."""

    name: str
    totals: dict[str, int]
    leader: Leader


def build(
    root: Path,
    setting: str,
    split: str,
    out: Path,
    groups: Mapping[str, Sequence[Path]] | None = None,
) -> None:
    """Write the front page of all collections whose pages and tables are there, by name.

    The pages of snapshots that are there, `<later>/since/<earlier>.html`, are listed too, and
    `groups` are shown: the tables that hold the collections of each group side by side.
    A collection's leader is that of its pool `setting`/`split`, or of its first pool.
    """
    names = sorted(p.parent.name for p in out.parent.glob("*/index.html"))
    folders = [root / "results/tables" / name for name in names]
    entries = [_entry(f, setting, split) for f in folders if (f / "table3.csv").is_file()]
    since = [
        (page.parents[1].name, page.stem) for page in sorted(out.parent.glob("*/since/*.html"))
    ]
    shown = {name: list(exhibits(files, {}).values()) for name, files in (groups or {}).items()}
    told = {"entries": entries, "since": since, "groups": shown}
    write_page("overview", out, **told, up="", cell=None)


def _entry(folder: Path, setting: str, split: str) -> Entry:
    table1, table3 = need(folder / "table1.csv"), need(folder / "table3.csv")
    return Entry(folder.name, totals(table1), leader(table3, setting, split))
