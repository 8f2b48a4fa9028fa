"""A project of a dozen pairs that was searched, scored and released, for `isotope verify`."""

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import polars as pl
from tests import entries, releases, report_project
from tests.models import model_of

from isotope.core import sql, store
from isotope.core.grid import SIDES, RunKey, document_ids, query_ids
from isotope.core.runs import ranked, write_run
from isotope.core.schemas import FIVE_FIELDS
from isotope.core.vectors import load_vectors
from isotope.encode.shard import encode_shard
from isotope.index.bm25 import index_bm25
from isotope.params.root import Params, parse
from isotope.release import collection as release
from isotope.report import collection
from isotope.report.content import Scope
from isotope.score.score import score_runs
from isotope.search.bm25 import search_bm25
from isotope.search.systems import search_fused, search_random
from isotope.tabulate.exhibits import system_rows, table5
from isotope.tabulate.strata import Resampling, intervals_table
from isotope.tabulate.table import metrics, tabulate

_NATIVE, _TITLES = {"kind": "bm25", "engine": "native"}, ["page_title", "section_title"]
# One says how its words are prepared; of the other the kind of the collection does, `atomic`.
SYSTEMS: dict[str, dict[str, Any]] = {
    "random": {"kind": "random", "seed": 0},
    "bm25": {**_NATIVE, "k1": 0.9, "b": 0.4, "fields": list(FIVE_FIELDS)},
    "titles": {**_NATIVE, "k1": 1.2, "b": 0.5, "fields": _TITLES, "prepare": "none"},
    "hash": {"kind": "dense", "model": "hash"},
    "rrf": {"kind": "rrf", "of": ["bm25", "hash"], "k": 60},
    "wsum": {"kind": "wsum", "of": ["bm25", "hash"], "weights": [0.7, 0.3]},
}
MEASURES = ["MRR@10", "R@10", "R@1000", "Success@10", "nDCG@10", "MAP"]
BOOTSTRAP: dict[str, Any] = {"samples": 100, "seed": 0, "level": 0.95}
CELLS = {"settings": ["small", "large"], "splits": ["test"], "tasks": ["t2m", "m2t"]}
PARAMS: dict[str, Any] = {
    "build": ["toy"],
    "acquire": {"src": {"files": {"images": ["a.jpg"]}}},
    "crawl": {"src": {"shards": 2}},
    "project": {},
    "collect": {"toy": {"kind": "wikipedia", "source": "src", "language": "en"}},
    "models": {"hash": {"kind": "hash", "dim": 16}},
    "encode": {"shards": 1, "batch": 4, "precision": "float32", "after": {}},
    "systems": SYSTEMS,
    "search": {"systems": [*SYSTEMS], **CELLS, "depth": 1000, "memory_mb": 512},
    "score": {"measures": MEASURES},
    "tabulate": {
        **{"system": "bm25", "tokenizers": {}, "alpha": 0.05},
        "comparisons": [["random", "bm25"]],
    },
}


def params(**sections: Any) -> Params:
    """The params of the collection, with other sections."""
    return parse({**PARAMS, **sections})


# As a release names them; one of before words were prepared says nothing of it.
RELEASED = {
    **SYSTEMS,
    "bm25": {**SYSTEMS["bm25"], "prepare": "atomic"},
    "titles": {key: value for key, value in SYSTEMS["titles"].items() if key != "prepare"},
}
SQL = sql.SQL / "tabulate/tables"


def lay(root: Path) -> None:
    """Write the project: the collection, runs, scores, tables, pages, vectors and a release."""
    report_project.lay_collection(root)
    collected = root / "data/collect/toy"
    tables = {name: collected / f"{name}.parquet" for name in ("texts", "images", "qrels")}
    pixels = [
        {"image_id": f"i{n:02}", "webp": report_project.drawing(n)}
        for n in range(6, report_project.PAIRS)
    ]
    store.write_rows(pixels, root / "data/crawl/src/shard-00001.parquet", report_project.PIXELS)
    _grade(tables["qrels"])
    _acquire(root / "data/acquire/src")
    _encode(root, tables)
    runs = _search(root, tables)
    scores = root / "results/score/toy.parquet"
    significance = root / "results/score/toy.significance.parquet"
    score_runs(
        runs=runs,
        qrels=tables["qrels"],
        scores=scores,
        significance=significance,
        collection="toy",
        measures=MEASURES,
    )
    _tabulate(root, scores, significance)
    release.build(
        texts=tables["texts"],
        images=tables["images"],
        qrels=tables["qrels"],
        pixels=_pixels(root),
        runs=runs,
        release=root / "results/release/toy",
        collection="toy",
        language="en",
        captions="en",
        manifests=[root / "data/acquire/src/manifest.json"],
        facts=releases.facts("toy"),
        systems=RELEASED,
        scores=scores,
        significance=significance,
    )


def _pixels(root: Path) -> list[Path]:
    return sorted(root.glob("data/crawl/src/shard-*.parquet"))


def _grade(qrels: Path) -> None:
    """Add a second judgement of grade 2, and one of grade 0."""
    rows = pl.read_parquet(qrels)
    more = [("t01", "i03", 2), ("t02", "i05", 0)]
    columns: dict[str, Any] = {"orient": "row", "schema": ["text_id", "image_id", "relevance"]}
    added = pl.DataFrame(more, **columns).with_columns(split=pl.lit("test"))
    same = added.select(pl.col(name).cast(kind) for name, kind in rows.schema.items())
    table = pl.concat([rows, same]).sort("text_id", "image_id").to_arrow()
    store.write(table, qrels, report_project.QRELS)


def _acquire(folder: Path) -> None:
    """Write a source of one file, with its manifest."""
    content = b"a dump"
    (folder / "dump").mkdir(parents=True)
    (folder / "dump/pages.xml").write_bytes(content)
    listed: dict[str, Any] = {
        "part": "dump",
        "path": "dump/pages.xml",
        "bytes": len(content),
        "url": None,
    }
    entry = {**listed, "sha256": sha256(content).hexdigest(), "version": None}
    (folder / "manifest.json").write_text(json.dumps({"files": [entry]}))


def _search(root: Path, tables: dict[str, Path]) -> list[Path]:
    cells = [(setting, task) for setting in ("small", "large") for task in ("t2m", "m2t")]
    all_runs: list[Path] = []
    for system in [*SYSTEMS]:
        spec, entry = RELEASED[system], entries.system_of(**RELEASED[system])
        runs = [root / f"results/search/toy/{s}/test/{t}/{system}.parquet" for s, t in cells]
        if spec["kind"] == "random":
            search_random(**tables, runs=runs, spec=entry, depth=6)
        elif spec["kind"] == "dense":
            _search_vectors(root / "data/encode/toy/hash", tables, runs)
        elif "of" in spec:
            parts = [run for run in all_runs if run.stem in spec["of"]]
            search_fused(parts=parts, runs=runs, spec=entry, depth=6)
        else:
            folders = [
                root / f"data/index/toy/{setting}/{system}" for setting in ("small", "large")
            ]
            side_tables = {side: tables[side] for side in ("texts", "images")}
            words: dict[str, Any] = {"language": "en", "fields": spec["fields"]}
            words["prepare"] = spec.get("prepare", "none")
            index_bm25(**side_tables, folders=folders, splits=["test"], threads=1, **words)
            limits: dict[str, Any] = {"language": "en", "depth": 6, "threads": 1}
            search_bm25(**tables, indexes=folders, runs=runs, spec=entry, **limits)
        all_runs += runs
    return all_runs


def _search_vectors(folder: Path, tables: dict[str, Path], runs: list[Path]) -> None:
    """Rank by inner products in single precision, as `isotope.core.exact` does."""
    shards = {side: folder / f"{side}/shard-00000" for side in SIDES}
    side_vectors = {
        side: load_vectors([path.with_suffix(".npy")], [path.with_suffix(".ids.parquet")])
        for side, path in shards.items()
    }
    rows = {side: dict(zip(f.ids, f.blocks[0], strict=True)) for side, f in side_vectors.items()}
    for path in runs:
        cell = RunKey.from_path(path)
        docs = document_ids(tables[cell.document_side], cell)
        hits = [
            (query, doc, float(rows[cell.query_side][query] @ rows[cell.document_side][doc]))
            for query in query_ids(tables["qrels"], cell)
            for doc in docs
        ]
        frame = pl.DataFrame(hits, ["query_id", "doc_id", "score"], orient="row")
        write_run(ranked(frame, 6), path)


def _tabulate(root: Path, scores: Path, significance: Path) -> None:
    out, ordered = root / "results/tables/toy", {"systems": [*SYSTEMS]}
    both: dict[str, sql.Files] = {"scores": scores, "significance": significance}
    report_project.lay_tables(root)
    tabulate(SQL / "table3.sql", both, {"alpha": 0.05, **ordered}, out / "table3")
    cell: dict[str, Any] = {"setting": "small", "split": "test", "measure": "MRR@10"}
    tabulate(SQL / "headline.sql", {"scores": scores}, {**cell, **ordered}, out / "headline")
    typed = params()
    stages = [*system_rows(typed.systems, typed.models)]
    options = {"alpha": 0.05, "comparisons": typed.tabulate.comparisons, "stages": stages}
    relations: dict[str, sql.Files] = {**both, "trials": []}
    table5(relations, options, out / "table5")
    _intervals(root, scores, out)
    metrics([scores], out / "metrics.json")
    files = [*out.glob("*.arrow"), *root.glob("results/figures/toy/*.svg")]
    scope: dict[str, Any] = {
        "collection": "toy",
        "sources": ["src"],
        "setting": "small",
        "split": "test",
    }
    about = Scope(root=root, **scope, system="bm25")
    report_facts = report_project.TOLD._replace(
        looks={name: n for n, name in enumerate([*SYSTEMS])}
    )
    pages = root / "results/report/toy"
    collection.build_pages(about, files, report_facts, pages)
    collection.build_front_pages(about, files, report_facts, [], pages)


def _intervals(root: Path, scores: Path, out: Path) -> None:
    collected = root / "data/collect/toy"
    files = {name: collected / f"{name}.parquet" for name in ("texts", "images", "qrels")}
    how = Resampling(**BOOTSTRAP, gains=[("bm25", "hash")])
    intervals_table(scores, files, language="en", how=how, out=out / "intervals.parquet")
    relations: dict[str, sql.Files] = {"intervals": out / "intervals.parquet"}
    params: dict[str, Any] = {"measure": "MRR@10", "systems": [*SYSTEMS]}
    tabulate(SQL / "intervals.sql", relations, params, out / "intervals")


def _encode(root: Path, tables: dict[str, Path]) -> None:
    folder = root / "data/encode/toy/hash"
    outputs = {
        f"{side}_{part}": folder / f"{side}s/shard-00000.{suffix}"
        for side in ("text", "image")
        for part, suffix in (("vectors", "npy"), ("ids", "ids.parquet"))
    }
    encode_shard(
        texts=tables["texts"],
        images=tables["images"],
        pixels=_pixels(root),
        model=model_of(PARAMS["models"]["hash"]),
        weights=None,
        features=[],
        earlier=[],
        language="en",
        shard=0,
        shards=1,
        batch=4,
        precision="float32",
        outputs=outputs,
    )
