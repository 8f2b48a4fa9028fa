"""A project small enough to draw by hand, with everything that the report can show."""

import io
import json
import random
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from PIL import Image, ImageDraw

from isotope.core import sql, store
from isotope.core.schemas import FIVE_FIELDS, RUN
from isotope.report import account, cases, collection, queries, registry
from isotope.report.content import Scope
from isotope.schemas.collect import FILTERS, IMAGES, QRELS, TEXTS
from isotope.schemas.crawl import LEDGER, PIXELS
from isotope.schemas.project import PROJECTION
from isotope.schemas.score import SCORES, SIGNIFICANCE
from isotope.tabulate import figures, table
from isotope.tabulate.runs import tops_table

SQL = sql.SQL / "tabulate"
EVIL = "<script>alert('owned')</script>"
SHAPES = ("circle", "square")
COLOURS = ("crimson", "teal", "goldenrod", "slateblue", "olive")
MEASURES = ("MRR@10", "R@10", "R@1000", "Success@10", "nDCG@10", "MAP")
SYSTEMS = ("bm25", "random", "rrf")
LOOKS = {system: place for place, system in enumerate(SYSTEMS)}
PAIRS = 12
FETCHED = datetime(2023, 2, 3, tzinfo=UTC)


def drawing(n: int) -> bytes:
    """Draw a coloured shape, as WebP."""
    picture = Image.new("RGB", (300, 200 + 10 * n), "ivory")
    pen = ImageDraw.Draw(picture)
    shape = pen.ellipse if SHAPES[n % 2] == "circle" else pen.rectangle
    shape((40 + 5 * n, 40, 160 + 5 * n, 160), fill=COLOURS[n % 5])
    encoded = io.BytesIO()
    picture.save(encoded, "WEBP")
    return encoded.getvalue()


def lay_collection(root: Path) -> None:
    """Write texts, images, qrels, filters, pixels, ledger and projection of a dozen pairs."""
    names = [f"The {COLOURS[n % 5]} {SHAPES[n % 2]} of {n}" for n in range(PAIRS)]
    words = "It hangs in the long gallery, where the light comes from the left & falls on it. " * 5
    splits = ["test"] * 8 + ["validation", "train", "train", "other"]
    texts = [
        {"text_id": f"t{n:02}", "page_title": name, "section_title": EVIL if n == 0 else "History"}
        | {"page_url": f"https://en.wikipedia.org/wiki/{n}", "context_section_description": words}
        | {"split": splits[n]}
        for n, name in enumerate(names)
    ]  # fmt: skip
    images = [
        {"image_id": f"i{n:02}", "image_url": f"http://upload.wikimedia.org/{n}.png"}
        | {"caption_reference_description": [name, EVIL, name], "split": splits[n]}
        | {"language": ["en"] * 3}
        | {"caption_alt_text_description": [" "]}
        for n, name in enumerate(names)
    ]  # fmt: skip
    qrels = [
        {"text_id": f"t{n:02}", "image_id": f"i{n:02}", "relevance": 1, "split": splits[n]}
        for n in range(PAIRS - 1)
    ]
    filters = [
        {"step": s, "split": p, "before": 9, "dropped": 1, "after": 8}
        for s in ("alive", "canonical", "one_split")
        for p in ("train", "validation", "test")
    ]
    collect = root / "data/collect/toy"
    store.write_rows(texts, collect / "texts.parquet", TEXTS)
    store.write_rows(images, collect / "images.parquet", IMAGES)
    store.write_rows(qrels, collect / "qrels.parquet", QRELS)
    store.write_rows(filters, collect / "filters.parquet", FILTERS)
    pixels = [{"image_id": f"i{n:02}", "webp": drawing(n)} for n in range(PAIRS - 1)]
    crawl = root / "data/crawl/src"
    store.write_rows(pixels[:6], crawl / "shard-00000.parquet", PIXELS)
    store.write_rows(pixels[6:], crawl / "shard-00001.parquet", PIXELS)
    ledger = [
        {"image_url": str(n), "status": "success", "attempts": 1, "fetched_at": FETCHED}
        for n in range(PAIRS)
    ]
    store.write_rows(ledger, crawl / "ledger.parquet", LEDGER)
    found = [
        {"source_text_id": f"s{n}", "text_id": f"t{n:02}", "method": "exact"} for n in range(9)
    ]
    store.write_rows(found, root / "data/project/src/projection.parquet", PROJECTION)


def lay_run(path: Path, ids: tuple[str, str], first: int, step: int) -> None:
    """Write a run of eight queries, the nth with its answer at rank `first` + n * `step`."""
    query, doc = ids
    run = [
        {"query_id": f"{query}{q:02}", "doc_id": f"{doc}{(q - rank + first + q * step) % 8:02}"}
        | {"rank": rank, "score": 10.0 - rank - q / 100}
        for q in range(8)
        for rank in range(1, 8)
    ]
    store.write_rows(run, path, RUN)


def lay_runs(root: Path) -> None:
    """Write runs, of `rrf` with answers at ranks 1 to 8, of `bm25` at 8 to 1, and scores.

    An answer at rank 8 is not returned. Scores grow by system, but for the reciprocal ranks of the
    two in the large pool, which are those of the runs.
    """
    for task, ids in {"t2m": ("t", "i"), "m2t": ("i", "t")}.items():
        for setting in ("small", "large"):
            folder = root / f"results/search/toy/{setting}/test/{task}"
            lay_run(folder / "rrf.parquet", ids, 1, 1)
            lay_run(folder / "bm25.parquet", ids, 8, -1)
    chance = random.Random(7)
    scores = [
        {"collection": "toy", "setting": setting, "split": split, "task": task, "system": system}
        | {"query_id": f"{'t' if task == 't2m' else 'i'}{q:02}", "measure": measure}
        | {"value": chance.random() * (s + 1) * ease / 3}
        for setting, ease in (("small", 1.0), ("base", 0.7), ("large", 0.4))
        for split in ("validation", "test")
        for task in ("t2m", "m2t")
        for s, system in enumerate(SYSTEMS)
        for measure in MEASURES
        for q in range(8)
    ]
    for row in scores:
        if (row["setting"], row["measure"]) == ("large", "MRR@10") and row["system"] != "random":
            q = int(str(row["query_id"])[1:])
            rank = q + 1 if row["system"] == "rrf" else 8 - q
            row["value"] = 1 / rank if rank < 8 else 0.0
    store.write_rows(scores, root / "results/score/toy.parquet", SCORES)
    wins = [
        {"collection": "toy", "setting": "small", "split": "test", "task": "t2m", "measure": m}
        | {"system": "rrf", "other": o, "difference": 0.2, "p_bonferroni": 0.001}
        for m in MEASURES
        for o in ("bm25", "random")
    ]
    store.write_rows(wins, root / "results/score/toy.significance.parquet", SIGNIFICANCE)


def lay_tables(root: Path) -> None:
    """Tabulate and draw what the page reads."""
    collect, out = root / "data/collect/toy", root / "results/tables/toy"
    three = {n: collect / f"{n}.parquet" for n in ("texts", "images", "qrels")}
    scores = root / "results/score/toy.parquet"
    tests = root / "results/score/toy.significance.parquet"
    for name, relations, params in (
        ("table1", three, {}),
        ("table3", {"scores": scores, "significance": tests}, {"alpha": 0.05}),
        ("account", {"filters": collect / "filters.parquet"}, {}),
        ("crawl", {"ledger": root / "data/crawl/src/ledger.parquet"}, {}),
        ("projection", {"projection": root / "data/project/src/projection.parquet"}, {}),
    ):
        table.tabulate(SQL / f"tables/{name}.sql", relations, params, out / name)
    runs = sorted(root.glob("results/search/toy/large/test/*/*.parquet"))
    tops_table(runs, depth=3, out=root / "tops.parquet")
    table.tabulate(SQL / "tables/overlap.sql", {"tops": root / "tops.parquet"}, {}, out / "overlap")
    drawn = root / "results/figures/toy"
    relations = {"scores": scores, "texts": three["texts"], "images": three["images"]}
    params = {"split": "test", "measure": "MRR@10", "looks": LOOKS}
    figures.corpus_size(
        SQL / "tables/corpus_size.sql", relations, params, drawn / "corpus_size.svg"
    )
    curve = root / "curve.csv"
    lines = "".join(f"{e},{e * 9},{3 - e / 4},{e / 10},{e / 12}\n" for e in range(6))
    curve.write_text("epoch,step,loss,mrr10_t2m,mrr10_m2t\n" + lines)
    figures.learning_curve(curve, drawn / "curve-clip.svg")


def lay_records(root: Path) -> None:
    """Write the source's manifest, and what Snakemake measured of three jobs."""
    acquired = root / "data/acquire/src"
    acquired.mkdir(parents=True)
    listed = [
        {"part": "dump", "path": "dump/xwiki-20230101-pages.xml.bz2", "bytes": 7, "url": None}
        | {"sha256": "ab" * 32},
    ]
    (acquired / "manifest.json").write_text(json.dumps({"files": listed}))
    head = "s\th:m:s\tmax_rss\tcpu_time\n"
    for job, line in {
        "parse_dump/src": "3.5\t0:00:03\t200.5\t2.5",
        "crawl_shard/src.00000": "10.0\t0:00:10\t-\t1.0",
        "score_runs/toy": "2.0\t0:00:02\t300.0\tNA",
        "score_runs/another": "99.0\t0:01:39\t900.0\t9.0",
    }.items():
        path = root / f"logs/benchmarks/{job}.tsv"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(head + line + "\n")


TOLD = collection.ReportFacts(
    alpha=0.05,
    overlap=3,
    measure="MRR@10",
    looks=LOOKS,
    built=collection.BuildRecord("wikipedia", "en", "00ff00ff00ff00ff"),
)
SCORED = {"scores": "", "significance": ".significance"}
WORDS = queries.Bm25Reading("en", "en", list(FIVE_FIELDS), "none", 0.9, 0.4, "native", index=None)
QUERIES = queries.SystemPair(["rrf", "bm25"], "large", "MRR@10", 100, 3, WORDS)
ASKED = cases.Studies(["rrf", "bm25"], "large", queries=1, seed=0, hits=3, overlap=3)


def lay(root: Path) -> Path:
    """Write the whole project."""
    lay_collection(root)
    lay_runs(root)
    lay_tables(root)
    lay_records(root)
    return root


def files(root: Path) -> list[Path]:
    """The tables and figures of the collection."""
    return [*root.glob("results/tables/toy/*.arrow"), *root.glob("results/figures/toy/*.svg")]


def cell(root: Path, **changes: str | list[str] | None) -> Scope:
    """What the pages are about: `rrf` in the small pool of the test split."""
    chosen = {"collection": "toy", "sources": ["src"], "setting": "small", "split": "test"}
    own = {"system": "rrf", "compared": True}
    return Scope(root=root, **{**chosen, **own, **changes})  # pyright: ignore


def record(name: str, beside: Sequence[str] = (), **changes: Any) -> registry.Record:
    """What the registry says of a collection, which is compared with those `beside`."""
    said: dict[str, Any] = {"kind": "wikipedia", "language": "en", "collections": [name, *beside]}
    said |= {"sources": [], "setting": "small", "split": "test", "groups": {}, "fingerprint": ""}
    return registry.Record(name, **{**said, **changes})


def build(root: Path, **changes: str | list[str] | None) -> Path:
    """Write the whole site; return its folder."""
    about, site = cell(root, **changes), root / "results/report"
    own = site / "toy"
    collection.build_pages(about, files(root), TOLD, own)
    collection.build_front_pages(about, files(root), TOLD, [], own)
    overlap = [root / "results/tables/toy/overlap.arrow"]
    cases.build(about, ASKED, overlap, page=own / "cases.html", folder=own / "cases")
    scored = {n: root / f"results/score/toy{s}.parquet" for n, s in SCORED.items()}
    queries.build(about, QUERIES, scored, own / "queries.html")
    account.build(about, [root / "data/crawl/src/ledger.parquet"], own / "costs.html")
    collection.build_front_page(root, [record("toy")], site / "index.html")
    return site
