"""Fig. 6: what two systems return for a query, both ends of their lists side by side."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, NamedTuple

import polars as pl

from isotope.core import sql
from isotope.core.errors import MissingFile
from isotope.report.choice import check_ids, choose, ranks_of
from isotope.report.examples import Cell, Item, items, pictures
from isotope.report.site import TASKS
from isotope.tabulate.table import rows

QUERY_PX = 420
_SQL = sql.SQL / "tabulate"
_SIDES = {"t2m": "texts", "m2t": "images"}
_LAST = 1 << 30


class Placed(NamedTuple):
    """A document at its rank, with the rank that the other system gives it."""

    rank: int
    score: float
    item: Item
    relevant: bool
    elsewhere: int | None


class Side(NamedTuple):
    """A system's answer: the rank of its first relevant document, and both ends of its list."""

    system: str
    first: int | None
    hits: int
    top: list[Placed]
    bottom: list[Placed]


@dataclass(frozen=True)
class Case:
    """A query and why it was chosen, its fields in full, its right answers, the two lists."""

    name: str
    task: str
    why: str
    query: Item
    fields: dict[str, str]
    original: str | None
    answers: list[tuple[Item, list[int | None]]]
    sides: list[Side]

    @property
    def shared(self) -> int:
        """How many of the first hits both systems found."""
        last = self.sides[0].top[-1].rank if self.sides[0].top else 0
        return sum(hit.elsewhere is not None and hit.elsewhere <= last for hit in self.sides[0].top)


def cases(cell: Cell, asked: Mapping[str, Any]) -> list[Case]:
    """Return the cases of both tasks in the cell's pool.

    `asked` has `systems` (two, or one where there is no other), `queries` (how many with the
    largest gain of the first system over the second, as many with the largest loss and at random;
    or their ids), `seed` and `hits` (from each end of a list). The gain is in reciprocal rank of
    the first relevant document.

    Raises:
        MissingFile: no run of these systems.
        UnknownId: an id that is no judged query.
    """
    found = {t: _systems(cell, t, asked["systems"]) for t in TASKS}
    if not any(found.values()):
        run = replace(cell, system=asked["systems"][0]).run("t2m")
        raise MissingFile(run, "no run of this system", "run the phase search")
    ranks = {t: ranks_of(cell, t, systems) for t, systems in found.items() if systems}
    chosen = {t: choose(of, asked) for t, of in ranks.items()}
    check_ids(asked["queries"], chosen)
    each = (_of_task(cell, t, found[t], ranks[t], (chosen[t], asked["hits"])) for t in ranks)
    return list(chain.from_iterable(each))


def _systems(cell: Cell, task: str, wanted: Sequence[str]) -> list[str]:
    return [s for s in wanted if replace(cell, system=s).run(task).is_file()]


def _of_task(
    cell: Cell, task: str, systems: Sequence[str], ranks: pl.DataFrame, asked: tuple[Any, int]
) -> list[Case]:
    chosen, hits = asked
    ids = list(chosen)
    own = ranks.filter(pl.col("query_id").is_in(ids))
    ends = [_ends(cell, task, (s, o), ids, hits) for s, o in _pairs(systems)]
    known = items(cell, chain(ids, own["doc_id"], *(each["doc_id"] for each in ends)))
    fields = _fields(cell, task, ids)
    big = pictures(cell, ids, QUERY_PX) if task == "m2t" else {}
    return [
        Case(
            name=f"{task}-{n:02}",
            task=task,
            why=chosen[q],
            query=known[q],
            fields=fields.get(q, {}),
            original=big.get(q),
            answers=_answers(own, q, known, len(systems)),
            sides=[
                _side(s, first, each.filter(pl.col("query_id") == q), known, hits)
                for s, first, each in zip(systems, _firsts(own, q), ends, strict=False)
            ],
        )
        for n, q in enumerate(ids, start=1)
    ]


def _pairs(systems: Sequence[str]) -> list[tuple[str, str]]:
    return list(zip(systems, reversed(systems), strict=True))


def _ends(
    cell: Cell, task: str, systems: tuple[str, str], queries: list[str], hits: int
) -> pl.DataFrame:
    run, other = (replace(cell, system=s).run(task) for s in systems)
    relations = {"run": run, "other": other, "qrels": cell.table("qrels")}
    return rows(_SQL / "cases_hits.sql", relations, {"queries": queries, "most": hits})


def _firsts(ranks: pl.DataFrame, query: str) -> list[int | None]:
    own = ranks.filter(pl.col("query_id") == query)
    return list(own.select(pl.col("rank", "other_rank").min()).row(0))


def _answers(
    ranks: pl.DataFrame, query: str, known: Mapping[str, Item], systems: int
) -> list[tuple[Item, list[int | None]]]:
    own = ranks.filter(pl.col("query_id") == query).sort(pl.col("rank").fill_null(_LAST), "doc_id")
    return [
        (known[doc], [one, two][:systems])
        for doc, one, two in own.select("doc_id", "rank", "other_rank").rows()
    ]


def _side(
    system: str, first: int | None, hits: pl.DataFrame, known: Mapping[str, Item], most: int
) -> Side:
    placed = [
        Placed(h["rank"], h["score"], known[h["doc_id"]], h["relevant"], h["other_rank"])
        for h in hits.iter_rows(named=True)
    ]
    total: int = hits["hits"].max() or 0  # pyright: ignore[reportAssignmentType]
    return Side(system, first, total, placed[:most], placed[most:])


def _fields(cell: Cell, task: str, ids: list[str]) -> dict[str, dict[str, str]]:
    side = _SIDES[task]
    found = rows(_SQL / f"cases_{side}.sql", {side: cell.table(side)}, {"ids": ids})
    return {r.pop("id"): _filled(r) for r in found.to_dicts()}


def _filled(fields: Mapping[str, str | list[str] | None]) -> dict[str, str]:
    """Return the fields that say something; each caption of a list on a line of its own, once."""
    lines = {n: [v] if isinstance(v, str) else v or [] for n, v in fields.items()}
    words = {n: "\n".join(dict.fromkeys(x for x in v if x.strip())) for n, v in lines.items()}
    return {name.replace("_", " "): text for name, text in words.items() if text}
