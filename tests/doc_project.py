"""Two built collections of drawn rows: every table of the catalog has some in both."""

import json
import random
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa

from isotope.core import store
from isotope.core.schemas import CAPTION_FIELDS, RUN
from isotope.schemas.collect import FILTERS, IMAGES, QRELS, TEXTS
from isotope.schemas.crawl import LEDGER, PIXELS
from isotope.schemas.explain import FAILURES, RANKS, STUDIED
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
from isotope_judge.schemas import (
    AGREEMENT,
    CIRCULARITY,
    ESTIMATES,
    GRADED,
    MODEL_AGREEMENT,
    MODEL_GRADES,
    MODEL_SCORES,
    MODEL_TAU,
    POOL,
    REUSABILITY,
    SHEET,
    TAU,
)
from isotope_suggest import schemas as suggest

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
        _judged(root, collection, chance)
        _counted(root, collection, chance)
        _suggested(root, collection, chance)
    return root


def _write(rows: list[Row], path: Path, schema: pa.Schema) -> None:
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
    _write(texts, folder / "texts.parquet", TEXTS)
    _write(images, folder / "images.parquet", IMAGES)
    _write(qrels, folder / "qrels.parquet", QRELS)
    steps = [
        {"step": s, "split": p, "before": 9, "dropped": chance.randint(0, 4), "after": 5}
        for s, p in product(("alive", "canonical"), SPLITS)
    ]
    _write(steps, folder / "filters.parquet", FILTERS)
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
    _write(sections, parse / "sections.parquet", SECTIONS)
    _write(associations, parse / "associations.parquet", ASSOCIATIONS)
    _write(rejected[:5], parse / "sections.rejected.parquet", REJECTED)
    _write(rejected[5:], parse / "associations.rejected.parquet", REJECTED)
    outline = [
        {"text_id": f"t{n:02}", "page_id": n // 2, "place": n % 2}
        | {"list_items": chance.randrange(9), "table_rows": chance.randrange(4)}
        for n in range(ITEMS)
    ]
    _write(outline, parse / "outline.parquet", OUTLINE)
    inlinks = [{"page_id": n, "inlinks": chance.randrange(50)} for n in range(ITEMS // 2)]
    _write(inlinks, parse / "inlinks.parquet", INLINKS)
    templates = [
        {"wiki": "enwiki", "template": f"T{n:02}", "redirect_to": "", "shows": "", "pictures": []}
        | {"prints": chance.choice(["text", "unknown"]), "is_infobox": False}
        | {"known_by": chance.choice(["body", "not in the dump"]), "uses": chance.randrange(9)}
        for n in range(ITEMS)
    ]
    _write(templates, parse / "templates.parquet", CALLED_TEMPLATES)
    entities = [
        {"item": f"Q{n + 1}", "page_title": f"{source} {n}", "names": [], "classes": []}
        | {"pictures": [f"{m}.png" for m in range(n % 3)]}
        for n in range(ITEMS)
    ]
    _write(entities, parse / "wikidata.parquet", ENTITIES)
    _write(projection, root / f"data/project/{source}/projection.parquet", PROJECTION)
    crawl = root / "data/crawl" / source
    _write(ledger, crawl / "ledger.parquet", LEDGER)
    _write(pixels[:7], crawl / "shard-00000.parquet", PIXELS)
    _write(pixels[7:], crawl / "shard-00001.parquet", PIXELS)


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
        _write(hits, root / path.format(c=collection, **cell), RUN)
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
    _write(scores, root / f"results/score/{collection}.parquet", SCORES)
    tests = [
        {"collection": collection, **cell, "measure": m, "other": "wsum"}
        | {"difference": chance.uniform(-1, 1), "p_bonferroni": chance.choice([0.001, 0.2])}
        for cell, m in product(cells(collection), MEASURES)
    ]
    path = root / f"results/score/{collection}.significance.parquet"
    _write(tests, path, SIGNIFICANCE)
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


def _judged(root: Path, collection: str, chance: random.Random) -> None:
    folder = root / "results/score" / collection
    places = [
        {"split": "test", "task": task, "query_id": f"{q}{n:02}", "doc_id": f"{d}{m:02}"}
        for task, (q, d) in {"t2m": ("t", "i"), "m2t": ("i", "t")}.items()
        for n, m in product(range(6, 12), range(3))
    ]
    pool = [
        p | {"systems": chance.sample(SYSTEMS[collection], chance.randint(1, 2))} for p in places
    ]
    _write(pool, folder / "pool.parquet", POOL)
    _write(
        [p | {"query": "q", "document": "d"} for p in places],
        folder / "sheet.parquet",
        SHEET,
    )
    graded = [
        p | {"relevance": chance.randint(0, 3), "sparse": chance.choice([0, 1, None]), "grades": 1}
        for p in places[::2]
    ]
    _write(graded, folder / "graded.parquet", GRADED)
    systems = list(product(TASKS, SYSTEMS[collection]))
    scores = [
        {"collection": collection, "setting": "small", "split": "test", "task": task}
        | {"system": system, "query_id": f"q{n}", "measure": "MAP", "value": chance.random()}
        for (task, system), n in product(systems, range(5))
    ]
    _write(scores, folder / "scores.parquet", SCORES)
    reuse = [
        {"task": task, "measure": "MAP", "system": system}
        | {"place": chance.randint(1, 3), "place_without": chance.randint(1, 3)}
        for task, system in systems
    ]
    _write(reuse, folder / "reuse.parquet", REUSABILITY)
    taus = [{"task": task, "measure": "MAP", "tau": chance.random()} for task in TASKS]
    _write(taus, folder / "tau.parquet", TAU)
    pairs = [{"assessor": a, "other": b, "kappa": chance.random()} for a, b in ("ab", "ac", "bc")]
    _write(pairs, folder / "agreement.parquet", AGREEMENT)
    _judged_by_a_model(folder, collection, places, chance)


def _judged_by_a_model(
    folder: Path, collection: str, places: list[Row], chance: random.Random
) -> None:
    judge = {"judge": "vlm"}
    grades = [p | judge | {"grade": chance.randint(0, 3)} for p in places]
    _write(grades, folder / "models/vlm.parquet", MODEL_GRADES)
    cells = [
        judge | {"task": task, "measure": "MAP", "system": system}
        for task, system in product(TASKS, SYSTEMS[collection])
    ]
    scores = [
        cell | {"collection": collection, "setting": "small", "split": "test"}
        | {"query_id": f"q{n}", "value": chance.random()}
        for cell, n in product(cells, range(5))
    ]  # fmt: skip
    _write(scores, folder / "model_scores.parquet", MODEL_SCORES)
    means = [
        cell | {"judged_by": by, "value": chance.choice([None, chance.random()])}
        | {"low": chance.random() / 2, "high": 0.5 + chance.random() / 2}
        for cell, by in product(cells, ("people", "model", "both"))
    ]  # fmt: skip
    _write(means, folder / "estimates.parquet", ESTIMATES)
    own = [
        cell | {"relation": "checkpoint", "raised": chance.random(), "excess": chance.random()}
        | {"low": chance.random() - 0.5}
        for cell in cells
    ]  # fmt: skip
    _write(own, folder / "circularity.parquet", CIRCULARITY)
    alike = [judge | {"task": t, "pairs": 9, "kappa": chance.random()} for t in TASKS]
    _write(alike, folder / "model_agreement.parquet", MODEL_AGREEMENT)
    taus = [
        judge | {"task": task, "measure": measure}
        | {"tau": chance.random(), "tau_without": chance.random()}
        for task, measure in product(TASKS, ("MAP", "nDCG@10"))
    ]  # fmt: skip
    _write(taus, folder / "model_tau.parquet", MODEL_TAU)


def _counted(root: Path, collection: str, chance: random.Random) -> None:
    folder = root / "results/tables" / collection
    tokens = [
        {"side": "texts", "item_id": f"t{n:02}", "field": field, "tokenizer": "clip"}
        | {"tokens": chance.choice([0, 20, 75, 76, 300])}
        for n, field in product(range(ITEMS), ("title", "section"))
    ]
    _write(tokens, folder / "tokens.parquet", TOKENS)
    tops = [
        {"task": cell["task"], "system": cell["system"], "query_id": f"q{n}", "doc_id": f"d{m}"}
        for cell in cells(collection)
        if (cell["setting"], cell["split"]) == ("large", "validation")
        for n in range(4)
        for m in chance.sample(range(5), 3)
    ]
    _write(tops, folder / "tops.parquet", TOPS)
    ends = ("low", "value", "high")
    kinds = [("all", "all"), ("caption", "present"), ("caption", "absent")]
    intervals = [
        cell | {"measure": "MRR@10", "kind": kind, "stratum": stratum, "queries": 6}
        | dict(zip(ends, sorted(chance.random() for _ in ends), strict=True))
        for cell, (kind, stratum) in product(cells(collection), kinds)
    ]  # fmt: skip
    _write(intervals, folder / "intervals.parquet", INTERVALS)
    subsets = [
        cell | {"measure": "MRR@10", "documents": n, "value": chance.random()}
        | {"exact": chance.choice([1.0, 1.0, 0.5])}
        for cell, n in product(cells(collection), (10, 20, 40, 80))
        if (cell["setting"], cell["split"]) == ("large", "validation")
    ]  # fmt: skip
    _write(subsets, folder / "subsets.parquet", SUBSETS)
    drops = [
        cell | {"measure": "MRR@10", "stratum": stratum, "queries": 6}
        | {"relative_drop": chance.random(), "low": chance.uniform(-1, 1)}
        for cell, stratum in product(cells(collection), ("all", "new"))
    ]  # fmt: skip
    _write(drops, folder / "since/old/temporal.parquet", TEMPORAL)
    _explained(folder, collection, chance)


def _explained(folder: Path, collection: str, chance: random.Random) -> None:
    first = [c for c in cells(collection) if (c["setting"], c["split"]) == ("small", "test")]
    asked = [cell | {"query_id": f"q{n}"} for cell, n in product(first, range(4))]
    failures = [a | {"ca": chance.choice([None, chance.random()]), "ce": 2} for a in asked]
    ranks = [a | {"rank": chance.choice([None, chance.randint(2, 90)])} for a in asked]
    _write(failures, folder / "failures.parquet", FAILURES)
    _write([r | {"perturbation": "none"} for r in ranks], folder / "ranks.parquet", RANKS)
    studied = [
        {k: a[k] for k in ("task", "system", "query_id")}
        | {"assessor": who, "rating": chance.randint(0, 10), "classes": [who]}
        for a, who in product(asked[::3], ("ann", "bob"))
    ]
    _write(studied, folder / "studied.parquet", STUDIED)


def _suggested(root: Path, collection: str, chance: random.Random) -> None:
    folder = root / "results/suggest" / collection
    sections = [
        {"text_id": f"t{n:02}", "page_id": n // 2, "role": chance.choice(["open", "judged"])}
        | {"page_class": chance.choice(["list", "article"]), "probability": chance.random()}
        for n in range(ITEMS)
    ]
    _write(sections, folder / "sections.parquet", suggest.SECTION_ROLES)
    pictures = [
        {"image_id": f"i{n:02}", "kind": chance.choice(["icon", "photograph"])}
        for n in range(ITEMS)
    ]
    _write(pictures, folder / "pictures.parquet", suggest.PICTURE_KINDS)
    pairs = [
        {"text_id": f"t{n:02}", "image_id": f"i{m:02}"} for n, m in product(range(9), repeat=2)
    ]
    ranks = ("bm25_rank", "dense_rank")
    candidates = [
        pair
        | {rank: chance.choice([None, *range(1, 6)]) for rank in ranks}
        | {"alignment": chance.choice([None, 0.5, 0.8])}
        for pair in pairs
    ]
    _write(candidates, folder / "candidates.parquet", suggest.CANDIDATES)
    reasons = ("too small", "not free", "on the page")
    rejected = [pair | {"reason": chance.choice(reasons)} for pair in pairs[::2]]
    _write(rejected, folder / "rejected.parquet", suggest.FILTERED)
    scored = [
        {"text_id": f"t{n:02}", "image_id": f"i{m:02}", "system": system, "rank": rank}
        | {"kind": chance.choice(["text", "several"])}
        for n, system in product(range(9), ("suggest", "wikimedia"))
        for rank, m in enumerate(chance.sample(range(3), 2), 1)
    ]
    _write(scored, folder / "scored.parquet", suggest.SCORED)
    verdicts = [pair | {"relevance": chance.randrange(3), "assessors": 1} for pair in pairs[::3]]
    _write(verdicts, folder / "judgements.parquet", suggest.JUDGEMENTS)
    feed = [
        row
        | {"wiki": f"{collection}wiki", "kind": chance.choice(["text", "several"])}
        | {"probability": chance.random()}
        for row in ({k: r[k] for k in ("text_id", "image_id", "rank")} for r in scored[:9])
    ]
    _write(feed, folder / "feed.parquet", suggest.FEED)
    changes = ("new", "withdrawn", "taken up")
    delta = [{"change": chance.choice(changes), **row} for row in feed]
    other = next(c for c in COLLECTIONS if c != collection)
    _write(delta, folder / f"since/{other}/delta.parquet", suggest.DELTA)
    outcomes = ("taken up", "other picture", "without picture", "section gone")
    taken_up = [
        row | {"later": "next", "outcome": chance.choice(outcomes), "days": 31} for row in scored
    ]
    _write(taken_up, folder / "taken_up.parquet", suggest.TAKEN_UP)
