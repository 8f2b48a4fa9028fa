"""PISA by its Python bindings, run by a Python that has pyterrier-pisa.

    PYTHON pisa.py index DOCUMENTS PLACE THREADS
    PYTHON pisa.py search PLACE QUERIES HITS MOST THREADS K1 B

DOCUMENTS and QUERIES have a line each: id, tab, words with spaces between. HITS gets query,
document and score. The last line printed is JSON: seconds and processor seconds of the search, from
texts in memory to a table (a data frame), and the algorithm: the fastest for some of the queries.
"""

import json
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

warnings.simplefilter("ignore")
import pandas as pd  # noqa: E402
from pyterrier_pisa import PisaIndex  # noqa: E402  # pyright: ignore[reportMissingImports]

ALGORITHMS = ("block_max_wand", "maxscore", "block_max_maxscore", "ranked_or")
TRIED = 8


def lines(path: str) -> Iterator[tuple[str, str]]:
    """Yield id and words of each line."""
    with Path(path).open(encoding="utf-8") as file:
        for line in file:
            key, _, words = line.rstrip("\n").partition("\t")
            yield key, words


def index(documents: str, place: str, threads: str) -> None:
    """Index documents as they are, no word stemmed or left out."""
    plain: dict[str, Any] = {"stemmer": "none", "stops": "none", "threads": int(threads)}
    pisa = PisaIndex(place, text_field="text", **plain)
    pisa.index({"docno": key, "text": words} for key, words in lines(documents))


def search(place: str, queries: str, hits: str, *limits: str) -> None:
    """Search, each word of a query as often as it is there, and write the hits."""
    most, threads = map(int, limits[:2])
    k1, b = map(float, limits[2:])
    pisa = PisaIndex(place, stemmer="none", stops="none")
    asked = pd.DataFrame(list(lines(queries)), columns=["qid", "query"])
    same: dict[str, Any] = {"threads": threads, "query_weighted": True}
    tools = {name: pisa.bm25(k1, b, most, query_algorithm=name, **same) for name in ALGORITHMS}
    some = asked.head(TRIED)
    taken = {name: min(clock(tool, some)[0] for _ in range(2)) for name, tool in tools.items()}
    best = min(taken, key=lambda name: taken[name])
    seconds, used, found = clock(tools[best], asked)
    found[["qid", "docno", "score"]].to_csv(hits, sep="\t", header=False, index=False)
    print(json.dumps({"s": seconds, "used_s": used, "algorithm": best}), flush=True)


def clock(tool: Any, asked: pd.DataFrame) -> tuple[float, float, pd.DataFrame]:  # noqa: ANN401
    """Return the seconds, the processor seconds and the hits of a search."""
    start, before = time.perf_counter(), time.process_time()
    found = tool.transform(asked)
    return time.perf_counter() - start, time.process_time() - before, found


if __name__ == "__main__":
    {"index": index, "search": search}[sys.argv[1]](*sys.argv[2:])
