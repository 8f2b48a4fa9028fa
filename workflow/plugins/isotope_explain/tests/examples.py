"""Tables of explained failures in some rows, and what this plug-in's queries answer on them."""

import random
from collections.abc import Callable, Mapping
from itertools import product
from pathlib import Path

from tests.doc_answers import CELL, TOP, Answer, Tables, by, rounded
from tests.doc_project import cells, write

from isotope_explain.schemas import FAILURES, INTACT, RANKS


def lay(root: Path, collection: str, chance: random.Random) -> None:
    """Write the failures of a collection, and the ranks of its right answers."""
    folder = root / "results/tables" / collection
    first = [c for c in cells(collection) if (c["setting"], c["split"]) == ("small", "test")]
    asked = [cell | {"query_id": f"q{n}"} for cell, n in product(first, range(4))]
    failures = [a | {"ca": chance.choice([None, chance.random()]), "ce": 2} for a in asked]
    ranks = [a | {"rank": chance.choice([None, chance.randint(2, 90)])} for a in asked]
    write(failures, folder / "failures.parquet", FAILURES)
    write([r | {"perturbation": INTACT} for r in ranks], folder / "ranks.parquet", RANKS)


def explained(t: Tables) -> Answer:
    keys = (*CELL, "query_id")
    places = {tuple(r[k] for k in keys): r["rank"] for r in t.counted("ranks")}
    rows: Answer = []
    for failure in t.counted("failures"):
        key = tuple(failure[k] for k in keys)
        rows.append((*key, rounded(failure["ca"], 2), failure["ce"], places[key]))
    return by(rows, -7, 1, 2, 3, 4, 5, 6)[:TOP]


ANSWERS: Mapping[str, Callable[[Tables], Answer]] = {
    "Which wrong pictures show the right things?": explained,
}
