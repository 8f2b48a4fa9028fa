"""The pages of the case studies: a list of them, and one page for each."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from isotope.core import store
from isotope.report.cases import cases
from isotope.report.examples import Cell, Example, examples
from isotope.report.exhibits import exhibits
from isotope.report.site import TASKS, write_page

PER_VERDICT = 3


def build(
    cell: Cell, asked: Mapping[str, Any], files: Sequence[Path], *, page: Path, folder: Path
) -> None:
    """Write `page`, the list, and a page for each case to `folder`, both within one site.

    `asked` is as for `report_cases.cases`, with the `setting` of the pool and the hits (`overlap`)
    that the table among `files` compares. Same input, same bytes.

    Raises:
        As `report_cases.cases`.
    """
    pool = replace(cell, setting=asked["setting"])
    found = cases(pool, asked)
    common = {"cell": cell, "pool": pool, "cases": found, "hits": asked["hits"]}
    with store.folder_aside(folder) as part:
        for n, case in enumerate(found):
            ends = {"before": found[n - 1] if n else None, "after": (found[n + 1 :] or [None])[0]}
            write_page("case", part / f"{case.name}.html", up="../", case=case, **ends, **common)
    shown = exhibits(files, {"overlap": asked["overlap"]})
    write_page("cases", page, up="", shown=shown, examples=_examples(cell), **common)


def _examples(cell: Cell) -> dict[str, list[Example]]:
    return {t: examples(cell, t, PER_VERDICT) for t in TASKS if cell.run(t).is_file()}
