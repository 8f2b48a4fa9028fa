"""How long until something happens: the estimate of Kaplan and Meier, and its median."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

LEVEL = 0.95


class Median(NamedTuple):
    """The time by which half of all have had the event; None where it was not reached."""

    value: float | None
    low: float | None
    high: float | None


def kaplan_meier(
    times: Sequence[float], happened: Sequence[bool], level: float = LEVEL
) -> pl.DataFrame:
    """Return the share without the event after each time at which it happened.

    Columns: time, at_risk, events, share, low, high. Whoever left without the event (`happened` is
    false) at a time counts as at risk at that time. This is the product-limit estimate (Kaplan and
    Meier, JASA 53, 1958) with Greenwood's variance; the interval is that of log(-log(share)), which
    stays between 0 and 1 (Kalbfleisch and Prentice, The Statistical Analysis of Failure Time Data,
    section 1.4).
    """
    rows = pl.DataFrame({"time": times, "event": happened}, schema=_SCHEMA)
    grouped = rows.group_by("time").agg(pl.len(), events=pl.col("event").sum()).sort("time")
    at_risk = pl.col("len").sum() - pl.col("len").cum_sum().shift(1, fill_value=0)
    event_rows = grouped.with_columns(at_risk=at_risk).filter(pl.col("events") > 0)
    risk, events = (event_rows[name].cast(pl.Float64).to_numpy() for name in ("at_risk", "events"))
    share: NDArray[np.float64] = np.cumprod(1 - events / risk, dtype=np.float64)
    with np.errstate(divide="ignore"):
        greenwood = np.cumsum(events / (risk * (risk - events)))
    low, high = _ends(share, greenwood, level)
    named = {"share": share, "low": low, "high": high}
    return event_rows.select("time", "at_risk", "events").with_columns(**_columns(named))


_SCHEMA = {"time": pl.Float64, "event": pl.Boolean}


def _columns(values: dict[str, Any]) -> dict[str, pl.Series]:
    return {name: pl.Series(name, column, pl.Float64) for name, column in values.items()}


def _ends(
    share: NDArray[Any], greenwood: NDArray[Any], level: float
) -> tuple[list[float | None], list[float | None]]:
    from scipy.stats import norm  # noqa: PLC0415 (slow to import)

    z = float(norm.ppf((1 + level) / 2))
    low: list[float | None] = []
    high: list[float | None] = []
    for survival, variance in zip(share.tolist(), greenwood.tolist(), strict=True):
        # Once nobody is left without the event there is no variance to speak of.
        if survival <= 0:
            low.append(None)
            high.append(None)
            continue
        width = z * np.sqrt(variance) / abs(np.log(survival))
        low.append(float(survival ** np.exp(width)))
        high.append(float(survival ** np.exp(-width)))
    return low, high


def median(curve: pl.DataFrame) -> Median:
    """Return the first time at which half or fewer are left, and where the interval's ends say so.

    Source: Brookmeyer and Crowley, Biometrics 38, 1982, with the intervals of `kaplan_meier`.
    """
    return Median(*(_first(curve, column) for column in ("share", "low", "high")))


def _first(curve: pl.DataFrame, column: str) -> float | None:
    reached = curve.filter(pl.col(column) <= 0.5)["time"]  # noqa: PLR2004 (half)
    return float(reached[0]) if len(reached) else None
