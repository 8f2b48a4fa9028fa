"""The encyclopedia as judge: how often, and how soon, editors chose what was suggested."""

import re
from typing import Any

import polars as pl

from isotope_suggest.later import GONE, OTHER, OUTCOMES, TAKEN
from isotope_suggest.measure.evaluate import counted
from isotope_suggest.measure.survival import kaplan_meier, median

_SYSTEMS = ("feed", "suggest", "wikimedia", "bm25", "dense")
_DATE = re.compile(r"(\d{4})(\d\d)(\d\d)")
_FIRST = (1, 3)
_ILLUSTRATED = (TAKEN, OTHER)
_BY_OUTCOME = {name: name.replace(" ", "_") for name in OUTCOMES if name != GONE}
_COUNTS = ("sections", "gone", "illustrated", "suggestions", *_BY_OUTCOME.values())
_RATES = ("illustrated_share", "precision", "hit@1", "low", "high", "hit@3")


def outcomes(rows: pl.DataFrame) -> pl.DataFrame:
    """Return what editors did until each later snapshot, of schemas.TAKEN_UP, a row a system.

    `sections` are those with a suggestion that are still there, `illustrated` those of them that
    show a picture now, `gone` those that are not found again. Of the illustrated ones, `hit@k` is
    the share that shows one of the first k suggestions (low and high are the exact interval of
    hit@1), and `precision` the share of their suggestions that was taken up. Suggestions are
    counted by outcome, too. `later` is a date such as 2021-01-22 where the snapshot has one.
    """
    parts = rows.partition_by("later", "system", as_dict=True)
    records = [
        {"later": _dated(later), "system": system, **_outcomes(parts[later, system])}
        for later in rows["later"].unique().sort()
        for system in _SYSTEMS
        if (later, system) in parts
    ]
    names: dict[str, Any] = {"later": pl.String, "system": pl.String}
    names |= dict.fromkeys(_COUNTS, pl.Int64) | dict.fromkeys(_RATES, pl.Float64)
    return pl.DataFrame(records, schema=names)


def _dated(later: str) -> str:
    is_date = _DATE.fullmatch(later)
    return "-".join(is_date.groups()) if is_date else later


def _outcomes(followed: pl.DataFrame) -> dict[str, Any]:
    existing = followed.filter(pl.col("outcome") != GONE)
    shown = existing.filter(pl.col("outcome").is_in(_ILLUSTRATED))
    # A section that took up one suggestion has another picture than each of the others.
    sections, illustrated = existing["text_id"].n_unique(), shown["text_id"].n_unique()
    taken = shown.filter(outcome=TAKEN)
    hits = {k: taken.filter(pl.col("rank") <= k)["text_id"].n_unique() for k in _FIRST}
    first, few = (counted(hits[k], illustrated) for k in _FIRST)
    by_outcome = dict(followed["outcome"].value_counts().iter_rows())
    return {
        **{"sections": sections, "gone": followed["text_id"].n_unique() - sections},
        **{"illustrated": illustrated, "suggestions": len(followed)},
        **{column: by_outcome.get(name, 0) for name, column in _BY_OUTCOME.items()},
        "illustrated_share": illustrated / sections if sections else None,
        "precision": len(taken) / len(shown) if len(shown) else None,
        **{"hit@1": first.share, "low": first.low, "high": first.high, "hit@3": few.share},
    }


def unit(rows: pl.DataFrame) -> str:
    """Return what time is counted in: days, or snapshots where a date is unknown."""
    return "snapshots" if rows["days"].null_count() else "days"


def waiting(rows: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """Return, by system, how many sections still wait for one of their suggestions.

    The columns are those of `survival.kaplan_meier`; `share` is that of sections that have taken up
    nothing yet. A section waits from its snapshot on. It has taken up a suggestion at the first
    later snapshot that shows it, though editors did so somewhere before; one that is gone has left
    with the last snapshot that has it, and every other with the last of all.
    """
    in_days = unit(rows) == "days"
    order = {name: n for n, name in enumerate(rows["later"].unique().sort(), 1)}
    time = pl.col("days") if in_days else pl.col("later").replace_strict(order)
    timed = rows.with_columns(time=time.cast(pl.Float64)) if len(rows) else rows
    named = set(rows["system"])
    return {s: _waiting(timed.filter(system=s)) for s in _SYSTEMS if s in named}


def _waiting(rows: pl.DataFrame) -> pl.DataFrame:
    is_taken, is_there = pl.col("outcome") == TAKEN, pl.col("outcome") != GONE
    sections = rows.group_by("text_id").agg(
        taken=pl.col("time").filter(is_taken).min(), seen=pl.col("time").filter(is_there).max()
    )
    times = sections.select(
        time=pl.coalesce("taken", "seen", pl.lit(0.0)), event=pl.col("taken").is_not_null()
    )
    return kaplan_meier(times["time"].to_list(), times["event"].to_list())


def medians(curves: dict[str, pl.DataFrame], time_unit: str) -> pl.DataFrame:
    """Return the median wait of each system's sections: system, unit, taken_up, median, low, high.

    The median is null where fewer than half have taken up a suggestion.
    """
    rows = [
        {"system": name, "unit": time_unit, "taken_up": int(curve["events"].sum())}
        | dict(zip(("median", "low", "high"), median(curve), strict=True))
        for name, curve in curves.items()
    ]
    schema: dict[str, Any] = {"system": pl.String, "unit": pl.String, "taken_up": pl.Int64}
    schema |= dict.fromkeys(("median", "low", "high"), pl.Float64)
    return pl.DataFrame(rows, schema=schema)


def long(curves: dict[str, pl.DataFrame]) -> pl.DataFrame:
    """Return all curves as one table, with the system first."""
    parts = [curve.with_columns(system=pl.lit(name)) for name, curve in curves.items()]
    if not parts:
        return pl.DataFrame()
    columns = ["system", *(c for c in parts[0].columns if c != "system")]
    return pl.concat([part.select(columns) for part in parts])
