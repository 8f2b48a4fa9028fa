"""Two built collections of drawn rows: every table of the catalog has some in both."""

import json
import random
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
from tests.plugged import modules

from isotope.core import store
from isotope.core.schemas import CAPTION_FIELDS, RUN
from isotope.schemas.collect import FILTERS, IMAGES, QRELS, TEXTS
from isotope.schemas.crawl import LEDGER, PIXELS
from isotope.schemas.parse import (
    ASSOCIATIONS,
    CALLED_TEMPLATES,
    ENTITIES,
    INLINKS,
    OUTLINE,
    REJECTED,
    SECTIONS,
)
from isotope.schemas.project import PROJECTION
from isotope.schemas.score import SCORES, SIGNIFICANCE
from isotope.schemas.tabulate import INTERVALS, SUBSETS, TEMPORAL, TOKENS, TOPS

Row = dict[str, Any]
COLLECTIONS = ("toy", "later")
SYSTEMS = {"toy": ("bm25", "random", "rrf"), "later": ("bm25", "rrf")}
SETTINGS, SPLITS, TASKS = ("small", "base", "large"), ("validation", "test"), ("t2m", "m2t")
MEASURES = ("MRR@10", "R@10")
ITEMS = 14
_SPLIT = ["validation"] * 6 + ["test"] * 6 + ["train", "other"]


def lay(root: Path) -> Path:
    """Write every table below `root`; the two collections share their ids and little else."""
    for seed, collection in enumerate(COLLECTIONS):
        chance = random.Random(seed)
        qrels = _judgements(chance)
        _collected(root, collection, qrels, chance)
        _source(root, f"{collection}-source", chance)
        _searched(root, collection, qrels, chance)
        _counted(root, collection, chance)
        for module in modules("examples"):
            getattr(module, "lay", _nothing)(root, collection, chance)
    return root


def _nothing(root: Path, collection: str, chance: random.Random) -> None:
    """Write nothing: a plug-in without tables of its own."""


def write(rows: list[Row], path: Path, schema: pa.Schema) -> None:
    store.write_rows(rows, path, schema)


def _judgements(chance: random.Random) -> list[Row]:
    own = {(n, n) for n in range(ITEMS - 1)}
    others = {
        (n, chance.choice([m for m in range(ITEMS) if _SPLIT[m] == s]))
        for n, s in enumerate(_SPLIT)
    }
    pairs = sorted(own | others)
    return [
        {"text_id": f"t{t:02}", "image_id": f"i{i:02}", "relevance": 0 if t == 3 != i else 1}
        | {"split": _SPLIT[t]}
        for t, i in pairs
    ]  # fmt: skip


def _collected(root: Path, collection: str, qrels: list[Row], chance: random.Random) -> None:
    folder = root / "data/collect" / collection
    texts = [
        {"text_id": f"t{n:02}", "page_title": f"{collection} {n // 2}", "section_title": f"S{n}"}
        | {"context_section_description": "x" * chance.randrange(2600), "split": split}
        for n, split in enumerate(_SPLIT)
    ]
    images = [
        {"image_id": f"i{n:02}", "image_url": f"http://h/{n}.png", "split": split}
        | {"language": chance.sample(["en", "fr", "de"], chance.randint(1, 3))}
        | {field: ["words"] * chance.randint(0, 2) for field in CAPTION_FIELDS}
        for n, split in enumerate(_SPLIT)
    ]  # fmt: skip
    write(texts, folder / "texts.parquet", TEXTS)
    write(images, folder / "images.parquet", IMAGES)
    write(qrels, folder / "qrels.parquet", QRELS)
    steps = [
        {"step": s, "split": p, "before": 9, "dropped": chance.randint(0, 4), "after": 5}
        for s, p in product(("alive", "canonical"), SPLITS)
    ]
    write(steps, folder / "filters.parquet", FILTERS)
    curve = pl.DataFrame(
        [
            {"epoch": n, "step": 10 * n, "loss": chance.random()}
            | {f"mrr10_{task}": chance.random() for task in TASKS}
            for n in range(3)
        ]
    )
    path = root / f"data/train/{collection}/clip/curve.csv"
    path.parent.mkdir(parents=True)
    curve.write_csv(path)


def _source(root: Path, source: str, chance: random.Random) -> None:
    sections = [
        {
            "text_id": f"t{n:02}",
            "page_id": n // 2,
            "page_title": f"{source} {n // 2}",
            "section": n % 2,
            "media": [f"{n % 4}.png"],
        }
        for n in range(ITEMS)
    ]
    projection = [
        {"source_text_id": f"s{n:02}", "text_id": f"t{n:02}", "score": chance.random()}
        | {"method": chance.choice(["bm25", "exact"])}
        for n in range(ITEMS)
    ]
    ledger = [
        {"image_url": f"https://host{n % 3}.org/{n}.png", "status": "gone" if n % 4 else "success"}
        | {"http_status": 404 if n % 2 else 500}
        for n in range(20)
    ]
    pixels = [
        {"image_id": f"i{n:02}", "image_url": f"http://h/{n}.png", "webp": b"x"}
        | {"width": chance.randint(10, 90), "height": chance.randint(10, 90)}
        for n in range(ITEMS)
    ]
    associations = [
        {
            "language": chance.choice(["en", "fr"]),
            "image_url": f"http://h/{chance.randrange(9)}.png",
        }
        for _ in range(30)
    ]
    rejected = [{"reason": chance.choice(["redirect", "empty"]), "detail": "d"} for _ in range(9)]
    parse = root / "data/parse" / source
    write(sections, parse / "sections.parquet", SECTIONS)
    write(associations, parse / "associations.parquet", ASSOCIATIONS)
    write(rejected[:5], parse / "sections.rejected.parquet", REJECTED)
    write(rejected[5:], parse / "associations.rejected.parquet", REJECTED)
    outline = [
        {"text_id": f"t{n:02}", "page_id": n // 2, "place": n % 2}
        | {"list_items": chance.randrange(9), "table_rows": chance.randrange(4)}
        for n in range(ITEMS)
    ]
    write(outline, parse / "outline.parquet", OUTLINE)
    inlinks = [{"page_id": n, "inlinks": chance.randrange(50)} for n in range(ITEMS // 2)]
    write(inlinks, parse / "inlinks.parquet", INLINKS)
    templates = [
        {"wiki": "enwiki", "template": f"T{n:02}", "redirect_to": "", "shows": "", "pictures": []}
        | {"prints": chance.choice(["text", "unknown"]), "is_infobox": False}
        | {"known_by": chance.choice(["body", "not in the dump"]), "uses": chance.randrange(9)}
        for n in range(ITEMS)
    ]
    write(templates, parse / "templates.parquet", CALLED_TEMPLATES)
    entities = [
        {"item": f"Q{n + 1}", "page_title": f"{source} {n}", "names": [], "classes": []}
        | {"pictures": [f"{m}.png" for m in range(n % 3)]}
        for n in range(ITEMS)
    ]
    write(entities, parse / "wikidata.parquet", ENTITIES)
    write(projection, root / f"data/project/{source}/projection.parquet", PROJECTION)
    crawl = root / "data/crawl" / source
    write(ledger, crawl / "ledger.parquet", LEDGER)
    write(pixels[:7], crawl / "shard-00000.parquet", PIXELS)
    write(pixels[7:], crawl / "shard-00001.parquet", PIXELS)


def cells(collection: str) -> Iterator[Row]:
    """Every cell of a collection's grid with a system."""
    names = ("setting", "split", "task", "system")
    for values in product(SETTINGS, SPLITS, TASKS, SYSTEMS[collection]):
        yield dict(zip(names, values, strict=True))


def _searched(root: Path, collection: str, qrels: list[Row], chance: random.Random) -> None:
    scores: list[Row] = []
    for cell in cells(collection):
        query, doc = ("text_id", "i") if cell["task"] == "t2m" else ("image_id", "t")
        queries = sorted({pair[query] for pair in qrels if pair["split"] == cell["split"]})
        hits = [
            {"query_id": q, "doc_id": f"{doc}{n:02}", "rank": rank, "score": -float(rank)}
            for q in queries
            for rank, n in enumerate(chance.sample(range(ITEMS), 11), start=1)
        ]
        path = "results/search/{c}/{setting}/{split}/{task}/{system}.parquet"
        write(hits, root / path.format(c=collection, **cell), RUN)
        scores += [
            {
                "collection": collection,
                **cell,
                "query_id": q,
                "measure": m,
                "value": chance.random(),
            }
            for q, m in product(queries, MEASURES)
        ]
    write(scores, root / f"results/score/{collection}.parquet", SCORES)
    tests = [
        {"collection": collection, **cell, "measure": m, "other": "wsum"}
        | {"difference": chance.uniform(-1, 1), "p_bonferroni": chance.choice([0.001, 0.2])}
        for cell, m in product(cells(collection), MEASURES)
    ]
    path = root / f"results/score/{collection}.significance.parquet"
    write(tests, path, SIGNIFICANCE)
    trials = pl.DataFrame(
        [
            {"collection": collection, "system": "rrf", "setting": s, "task": t}
            | {"split": "validation", "measure": "MRR@10", "parameters": json.dumps({"k": k})}
            | {"value": chance.random(), "chosen": k == 20}
            for s, t, k in product(SETTINGS, TASKS, (10, 20, 40))
        ]
    )
    path = root / f"results/search/{collection}/tuning/rrf.csv"
    path.parent.mkdir(parents=True)
    trials.write_csv(path)


def _counted(root: Path, collection: str, chance: random.Random) -> None:
    folder = root / "results/tables" / collection
    tokens = [
        {"side": "texts", "item_id": f"t{n:02}", "field": field, "tokenizer": "clip"}
        | {"tokens": chance.choice([0, 20, 75, 76, 300])}
        for n, field in product(range(ITEMS), ("title", "section"))
    ]
    write(tokens, folder / "tokens.parquet", TOKENS)
    tops = [
        {"task": cell["task"], "system": cell["system"], "query_id": f"q{n}", "doc_id": f"d{m}"}
        for cell in cells(collection)
        if (cell["setting"], cell["split"]) == ("large", "validation")
        for n in range(4)
        for m in chance.sample(range(5), 3)
    ]
    write(tops, folder / "tops.parquet", TOPS)
    ends = ("low", "value", "high")
    kinds = [("all", "all"), ("caption", "present"), ("caption", "absent")]
    intervals = [
        cell | {"measure": "MRR@10", "kind": kind, "stratum": stratum, "queries": 6}
        | dict(zip(ends, sorted(chance.random() for _ in ends), strict=True))
        for cell, (kind, stratum) in product(cells(collection), kinds)
    ]  # fmt: skip
    write(intervals, folder / "intervals.parquet", INTERVALS)
    subsets = [
        cell | {"measure": "MRR@10", "documents": n, "value": chance.random()}
        | {"exact": chance.choice([1.0, 1.0, 0.5])}
        for cell, n in product(cells(collection), (10, 20, 40, 80))
        if (cell["setting"], cell["split"]) == ("large", "validation")
    ]  # fmt: skip
    write(subsets, folder / "subsets.parquet", SUBSETS)
    drops = [
        cell | {"measure": "MRR@10", "stratum": stratum, "queries": 6}
        | {"relative_drop": chance.random(), "low": chance.uniform(-1, 1)}
        for cell, stratum in product(cells(collection), ("all", "new"))
    ]  # fmt: skip
    write(drops, folder / "since/old/temporal.parquet", TEMPORAL)
