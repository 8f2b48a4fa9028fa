"""`isotope.verify` of the public API."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import polars as pl

from isotope.api.plugged import Verification
from isotope.core.errors import BadArgument
from isotope.params.files import load
from isotope_verify import verify as checking

_TEXTS = ("name", "tool", "unit")
_COUNTS = ("total", "compared", "different")
_NUMBERS = ("largest", "tolerance")
_SHOWN = ("name", "tool", "unit", "total", "compared", "different", "largest", "tolerance")


def verify(source: str | Path, *, share: float, only: Sequence[str]) -> Verification:
    """Verify a release or a report, as `isotope.verify` says.

    Raises:
        BadArgument: another check.
        As `verify.verify`.
    """
    other = [name for name in only if name not in checking.CHECKS]
    if other:
        raise BadArgument("checks", f"{other[0]!r}", f"name some of {', '.join(checking.CHECKS)}")
    [done] = checking.verify(str(source), partial(load, (), ()), share=share, only=only)
    record, kinds = done.record, dict.fromkeys(_TEXTS, pl.String())
    kinds |= {**dict.fromkeys(_COUNTS, pl.Int64()), **dict.fromkeys(_NUMBERS, pl.Float64())}
    differences = [
        (check.name, *difference) for check in done.checks for difference in check.differences
    ]
    skipped = [
        (check.name, reason, count)
        for check in done.checks
        for reason, count in check.skipped.items()
    ]
    return Verification(
        record["collection"],
        record["confirmed"],
        pl.DataFrame(record["checks"], kinds).select(_SHOWN),
        _texts(differences, "name", "cell", "published", "recomputed"),
        _texts(skipped, "name", "reason", "count").with_columns(pl.col("count").cast(pl.Int64)),
    )


def _texts(rows: Sequence[tuple[object, ...]], *columns: str) -> pl.DataFrame:
    texts = [tuple(map(str, row)) for row in rows]
    return pl.DataFrame(texts, dict.fromkeys(columns, pl.String), orient="row")
