"""Which tables and figures need which relations; no import that a dry run feels."""

from collections.abc import Mapping
from typing import Any, NamedTuple


class Table(NamedTuple):
    """The relations that a query reads, and the params that it asks for."""

    reads: tuple[str, ...]
    asks: Mapping[str, object]


_ORDER: Mapping[str, object] = {"systems": None}
CHOSEN: Mapping[str, object] = dict.fromkeys(("split", "measure", "systems"))
_CELL: Mapping[str, object] = {**CHOSEN, "setting": None}
ROAD: Mapping[str, Table] = {
    "table1": Table(("texts", "images", "qrels"), {}),
    "account": Table(("filters",), {}),
    "table3": Table(("scores", "significance"), {"alpha": None, **_ORDER}),
    "headline": Table(("scores",), _CELL),
}
ACCOUNTS: Mapping[str, str] = {
    "crawl": "ledger",
    "projection": "projection",
    "picture_words": "pictures",
}
STATISTICS: Mapping[str, Table] = {
    "table2": Table(("tokens",), {}),
    "intervals": Table(("intervals",), _ORDER),
    "strata": Table(("intervals",), _CELL),
    "subsets": Table(("subsets",), CHOSEN),
    "overlap": Table(("tops",), _ORDER),
}
# ASSUME a topic is predicted when its probability is above one half, as Wikimedia counts them;
# AToMiC takes the predicted classes (section 4.2) and does not say.
FACTS: Mapping[str, Table] = {
    "categories": Table(("texts", "topics"), {"probability": 0.5, "tail": None}),
    "objects": Table(("images", "objects"), {"tail": None}),
    "object_counts": Table(("images", "objects"), {"most": 10}),
    "styles": Table(("images", "styles"), {"tail": None}),
}


def given(table: Table, params: Mapping[str, Any]) -> dict[str, object]:
    """Return the query's parameters: fixed ones, and the others from `params`."""
    return {k: params[k] if v is None else v for k, v in table.asks.items()}


def figures_from(facts: Mapping[str, object]) -> list[str]:
    """Return the names of FACTS whose facts are there."""
    collected = {"texts", "images"}
    return [n for n, table in FACTS.items() if set(table.reads) - collected <= set(facts)]
