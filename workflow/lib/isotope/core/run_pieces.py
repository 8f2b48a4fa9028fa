"""Several runs side by side, cut between the same queries."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import polars as pl

from isotope.core.runs import batches, empty


def by_query(runs: Sequence[pl.DataFrame], queries: int) -> Iterator[list[pl.DataFrame]]:
    """Cut runs, sorted by query_id, into aligned pieces of `queries` queries each."""
    ids = pl.concat([run["query_id"].unique() for run in runs]).unique().sort()
    firsts = ids.gather_every(queries).to_list()
    for first, end in zip(firsts, [*firsts[1:], None], strict=True):
        yield [_between(run, first, end) for run in runs]


def _between(run: pl.DataFrame, first: str, end: str | None) -> pl.DataFrame:
    start = run["query_id"].search_sorted(first)
    stop = run.height if end is None else run["query_id"].search_sorted(end)
    return run.slice(start, stop - start)


def aligned(paths: Sequence[Path], rows: int) -> Iterator[list[pl.DataFrame]]:
    """Read runs in pieces that hold all hits of some queries, the same ones of each run.

    At most `rows` hits of each run are held, and as many again as it gives one query.

    Raises:
        As `runs.batches`.
    """
    sources: list[Iterator[pl.DataFrame] | None] = [batches(path, rows) for path in paths]
    held = [empty() for _ in paths]
    while any(sources):
        end = _end(held, sources)
        for n, source in enumerate(sources):
            if source and _last(held[n]) == end:
                more = next(source, None)
                sources[n] = source if more is not None else None
                held[n] = held[n] if more is None else pl.concat([held[n], more])
        end = _end(held, sources) if any(sources) else None
        stops = [h.height if end is None else h["query_id"].search_sorted(end) for h in held]
        if any(stops):
            yield [run.head(stop) for run, stop in zip(held, stops, strict=True)]
            held = [run.slice(stop) for run, stop in zip(held, stops, strict=True)]


def _end(held: Sequence[pl.DataFrame], sources: Sequence[object]) -> str:
    """Return the query in which the first of the open runs breaks off: all before are complete."""
    return min(_last(run) for run, source in zip(held, sources, strict=True) if source)


def _last(run: pl.DataFrame) -> str:
    return run["query_id"][-1] if run.height else ""
