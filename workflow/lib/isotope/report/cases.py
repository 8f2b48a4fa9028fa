"""Fig. 6: what two systems return for a query, both ends of their lists side by side."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import md5
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from isotope.core import sql, store
from isotope.core.errors import MissingFile, UnknownId
from isotope.core.grid import TASKS, query_side
from isotope.report.content import (
    QueryExample,
    Scope,
    ShownItem,
    examples,
    items,
    pictures,
    read_exhibits,
)
from isotope.report.site import write_page
from isotope.report.words import WORDS
from isotope.tabulate.table import rows

_SQL = sql.SQL / "tabulate"
QUERY_PX = 420
# Documents that are shown from each end of a list, as in AToMiC's Fig. 6.
HITS = 10
PER_VERDICT = 3
_LAST = 1 << 30


class Placed(NamedTuple):
    """A document at its rank, with the rank that the other system gives it."""

    rank: int
    score: float
    item: ShownItem
    relevant: bool
    elsewhere: int | None


class SystemAnswer(NamedTuple):
    """A system's answer: the rank of its first relevant document, and both ends of its list."""

    system: str
    first: int | None
    hits: int
    top: list[Placed]
    bottom: list[Placed]


@dataclass(frozen=True)
class QueryCase:
    """A query and why it was chosen, its fields in full, its right answers, the two lists."""

    name: str
    task: str
    why: str
    query: ShownItem
    fields: dict[str, str]
    original: str | None
    answers: list[tuple[ShownItem, list[int | None]]]
    sides: list[SystemAnswer]

    @property
    def shared(self) -> int:
        """How many of the first hits both systems return."""
        last = self.sides[0].top[-1].rank if self.sides[0].top else 0
        return sum(hit.elsewhere is not None and hit.elsewhere <= last for hit in self.sides[0].top)


class Studies(NamedTuple):
    """Two systems, or one where there is no other, the setting of the pool, and what is shown.

    `queries` is how many with the largest gain of the first system over the second, as many with
    the largest loss and at random, or their ids; `hits` are from each end of a list, `overlap`
    those that the table of that name compares.
    """

    systems: Sequence[str]
    setting: str
    queries: int | list[str]
    seed: int
    overlap: int
    hits: int = HITS


def build(
    scope: Scope, studies: Studies, files: Sequence[Path], *, page: Path, folder: Path
) -> None:
    """Write `page`, the list, and a page for each case to `folder`, both within one site.

    Same input, same bytes.

    Raises:
        As `cases`.
    """
    pool = replace(scope, setting=studies.setting)
    all_cases = cases(pool, studies)
    common = {"scope": scope, "pool": pool, "cases": all_cases, "hits": studies.hits}
    with store.folder_aside(folder) as part:
        for n, case in enumerate(all_cases):
            ends = {
                "before": all_cases[n - 1] if n else None,
                "after": (all_cases[n + 1 :] or [None])[0],
            }
            write_page("case", part / f"{case.name}.html", up="../", case=case, **ends, **common)
    displays = read_exhibits(files, {"overlap": studies.overlap})
    write_page("cases", page, up="", displays=displays, examples=_examples(scope), **common)


def cases(scope: Scope, studies: Studies) -> list[QueryCase]:
    """Return the cases of both tasks in the scope's pool.

    The gain is in reciprocal rank of the first relevant document.

    Raises:
        MissingFile: no run of these systems.
        UnknownId: an id that is no judged query.
    """
    systems_of = {t: _systems(scope, t, studies.systems) for t in TASKS}
    if not any(systems_of.values()):
        run = replace(scope, system=studies.systems[0]).run("t2m")
        raise MissingFile(run, "no run of this system", "run the phase search")
    ranks = {t: ranks_of(scope, t, systems) for t, systems in systems_of.items() if systems}
    chosen = {t: choose(ranks_of_task, studies) for t, ranks_of_task in ranks.items()}
    check_ids(studies.queries, chosen)
    cases_of_tasks = (
        _of_task(scope, t, systems_of[t], ranks[t], (chosen[t], studies.hits)) for t in ranks
    )
    return list(chain.from_iterable(cases_of_tasks))


def choose(ranks: pl.DataFrame, studies: Studies) -> dict[str, str]:
    """Return {query id: why it was chosen}."""
    firsts = ranks.group_by("query_id").agg(pl.col("rank", "other_rank").min())
    gain = (1 / pl.col("rank")).fill_null(0.0) - (1 / pl.col("other_rank")).fill_null(0.0)
    gains = firsts.select("query_id", gain=gain).sort("gain", "query_id", descending=[True, False])
    if isinstance(studies.queries, list):
        judged = set(gains["query_id"])
        return {q: "as asked for" for q in studies.queries if q in judged}
    n = studies.queries
    best = gains.filter(pl.col("gain") > 0).head(n)["query_id"]
    worst = gains.filter(pl.col("gain") < 0).sort("gain", "query_id").head(n)["query_id"]
    chosen = {**dict.fromkeys(best, "largest gain"), **dict.fromkeys(worst, "largest loss")}
    remaining = sorted(set(gains["query_id"]) - set(chosen), key=lambda q: _hash(studies.seed, q))
    return {**chosen, **dict.fromkeys(remaining[:n], "at random")}


def ranks_of(scope: Scope, task: str, systems: Sequence[str]) -> pl.DataFrame:
    """Return a row a judged pair of the task: query_id, doc_id, rank by the first and the last."""
    first, two = (replace(scope, system=s).run(task) for s in (systems[0], systems[-1]))
    relations = {"one": first, "two": two, "qrels": scope.table("qrels")}
    params = {"task": task, "split": scope.split}
    return rows(_SQL / "cases/answers.sql", relations, params)


def check_ids(queries: int | list[str], chosen: Mapping[str, Mapping[str, str]]) -> None:
    """Refuse ids that no task has judgements for.

    Raises:
        UnknownId: the first of them.
    """
    unknown = set(queries if isinstance(queries, list) else ()) - set(chain(*chosen.values()))
    if unknown:
        problem = f"no judged query {min(unknown)!r} in this split"
        raise UnknownId(
            "params tabulate.cases.queries", problem, "see the view qrels of the catalog"
        )


def _examples(scope: Scope) -> dict[str, list[QueryExample]]:
    return {t: examples(scope, t, PER_VERDICT) for t in TASKS if scope.run(t).is_file()}


def _hash(seed: int, query: str) -> tuple[str, str]:
    return md5(f"{seed}/{query}".encode(), usedforsecurity=False).hexdigest(), query


def _systems(scope: Scope, task: str, names: Sequence[str]) -> list[str]:
    return [s for s in names if replace(scope, system=s).run(task).is_file()]


def _of_task(
    scope: Scope, task: str, systems: Sequence[str], ranks: pl.DataFrame, choice: tuple[Any, int]
) -> list[QueryCase]:
    chosen, hits = choice
    ids = list(chosen)
    chosen_ranks = ranks.filter(pl.col("query_id").is_in(ids))
    ends = [_ends(scope, task, (s, o), ids, hits) for s, o in _pairs(systems)]
    by_id = items(
        scope,
        chain(ids, chosen_ranks["doc_id"], *(hits_of_system["doc_id"] for hits_of_system in ends)),
    )
    fields = _fields(scope, task, ids)
    big = pictures(scope, ids, QUERY_PX) if task == "m2t" else {}
    return [
        QueryCase(
            name=f"{task}-{n:02}",
            task=task,
            why=chosen[q],
            query=by_id[q],
            fields=fields.get(q, {}),
            original=big.get(q),
            answers=_answers(chosen_ranks, q, by_id, len(systems)),
            sides=[
                _side(s, first, hits_of_system.filter(pl.col("query_id") == q), by_id, hits)
                for s, first, hits_of_system in zip(
                    systems, _firsts(chosen_ranks, q), ends, strict=False
                )
            ],
        )
        for n, q in enumerate(ids, start=1)
    ]


def _pairs(systems: Sequence[str]) -> list[tuple[str, str]]:
    return list(zip(systems, reversed(systems), strict=True))


def _ends(
    scope: Scope, task: str, systems: tuple[str, str], queries: list[str], hits: int
) -> pl.DataFrame:
    run, other = (replace(scope, system=s).run(task) for s in systems)
    relations = {"run": run, "other": other, "qrels": scope.table("qrels")}
    return rows(_SQL / "cases/hits.sql", relations, {"queries": queries, "most": hits})


def _firsts(ranks: pl.DataFrame, query: str) -> list[int | None]:
    ranks_of_query = ranks.filter(pl.col("query_id") == query)
    return list(ranks_of_query.select(pl.col("rank", "other_rank").min()).row(0))


def _answers(
    ranks: pl.DataFrame, query: str, by_id: Mapping[str, ShownItem], systems: int
) -> list[tuple[ShownItem, list[int | None]]]:
    ranks_of_query = ranks.filter(pl.col("query_id") == query).sort(
        pl.col("rank").fill_null(_LAST), "doc_id"
    )
    return [
        (by_id[doc], [first, two][:systems])
        for doc, first, two in ranks_of_query.select("doc_id", "rank", "other_rank").rows()
    ]


def _side(
    system: str, first: int | None, hits: pl.DataFrame, by_id: Mapping[str, ShownItem], most: int
) -> SystemAnswer:
    placed = [
        Placed(h["rank"], h["score"], by_id[h["doc_id"]], h["relevant"], h["other_rank"])
        for h in hits.iter_rows(named=True)
    ]
    total: int = hits["hits"].max() or 0  # pyright: ignore[reportAssignmentType]
    return SystemAnswer(system, first, total, placed[:most], placed[most:])


def _fields(scope: Scope, task: str, ids: list[str]) -> dict[str, dict[str, str]]:
    side = query_side(task)
    records = rows(_SQL / f"cases/{side}.sql", {side: scope.table(side)}, {"ids": ids})
    words = WORDS[scope.origin].fields
    records = records.rename({n: word for n, word in words.items() if n in records.columns})
    return {r.pop("id"): _nonempty(r) for r in records.to_dicts()}


def _nonempty(fields: Mapping[str, str | list[str] | None]) -> dict[str, str]:
    """Return the fields that say something; each caption of a list on a line of its own, once."""
    lines = {n: [v] if isinstance(v, str) else v or [] for n, v in fields.items()}
    words = {n: "\n".join(dict.fromkeys(x for x in v if x.strip())) for n, v in lines.items()}
    return {name.replace("_", " "): text for name, text in words.items() if text}
