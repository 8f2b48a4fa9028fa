"""Neither the number of jobs at a time nor that of shards can be told from what a run leaves."""

import os
import shutil
import sys
from pathlib import Path

import polars as pl
import pytest
import yaml
from tests import forkserver

from isotope.core import digests

ROOT = Path(__file__).parents[2]
TABLE = "results/tables/toy/table3.csv"
# Jobs at a time, and shards; what starts a program of its own for each has at most 3.
CRAWLED = 3
LAYOUTS = {1: 1, 8: 16}
TELLS_THE_TIME = "fetched_at"


def overlay(shards: int, most: int = CRAWLED) -> dict[str, object]:
    """A tiny collection: every sharded phase, one system of each kind that asks in shards."""
    systems = {"hashed": {"kind": "dense", "model": "hash"}, "rrf": {"of": ["hashed", "random"]}}
    cells = {"settings": ["base"], "splits": ["validation"], "depth": 50, "memory_mb": 16}
    return {
        "acquire": {"toy": {"generate": {"pages": 40}}},
        "crawl": {"toy": {"shards": min(shards, most)}},
        "shards": {
            **dict.fromkeys(("project", "index"), min(shards, most)),
            **dict.fromkeys(("parse", "collect", "search", "score"), shards),
        },
        "models": {"hash": {"kind": "hash", "dim": 32}},
        "encode": {"shards": shards, "batch": 4},
        "systems": systems,
        "search": {"systems": ["random", "bm25", "hashed", "rrf"], **cells},
        "tabulate": {"system": "hashed", "facts": {"toy": {}}},
    }


def snakemake(place: Path, *arguments: object, jobs: bool = True) -> str:
    """Run in a folder beside the project; return what was said."""
    where = ["--snakefile", ROOT / "Snakefile", "--directory", place]
    line = [str(word) for word in ("snakemake", *where, *arguments)]
    program = Path(sys.executable).parent
    env = {**os.environ, "PATH": f"{program}{os.pathsep}{os.environ['PATH']}"}
    done = forkserver.run(line, cwd=place, env=env, timeout=1_200, jobs=jobs)
    assert done.returncode == 0, (done.stdout + done.stderr)[-8_000:]
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def layouts(tmp_path_factory) -> list[Path]:
    """The same collection built by each of LAYOUTS."""
    places = []
    for jobs, shards in LAYOUTS.items():
        places.append(tmp_path_factory.mktemp(f"by{jobs}"))
        shutil.copy(ROOT / "params.yaml", places[-1])
        (places[-1] / "tiny.yaml").write_text(yaml.safe_dump(overlay(shards)))
        files = ["--configfile", "params.yaml", "tiny.yaml"]
        # Forked jobs have one hash seed; the first layout's are started and have each its own.
        forked = len(places) > 1
        snakemake(places[-1], "--cores", jobs, *files, "--", TABLE, jobs=forked)
    return places


def left(place: Path) -> dict[str, bytes]:
    """What a run leaves, by name: shards and what is bound to them apart.

    Of indexes of words it is the digests, as blocks of postings end where shards do.
    """
    found = {}
    for path in sorted(p for top in ("data", "results") for p in (place / top).rglob("*.*")):
        name = path.relative_to(place).as_posix()
        shards = name.startswith(("data/acquire", "data/crawl", "data/encode"))
        of_words = path.parent.with_suffix(".sha256").exists()
        is_record = digests.FOLDER in path.parts
        if path.is_file() and not shards and not of_words and not is_record:
            found[name] = path.read_bytes()
    return found


@pytest.mark.long
def test_tables_runs_and_scores_do_not_depend_on_jobs_or_shards(layouts):
    first, *others = map(left, layouts)
    assert {
        TABLE,
        "data/parse/toy/associations.parquet",
        "data/parse/toy/sections.parquet",
        "data/parse/toy/sections.rejected.parquet",
        "data/project/toy/projection.parquet",
        "data/collect/toy/images.parquet",
        "data/index/toy/base/bm25/all/images.sha256",
        "results/search/toy/base/validation/t2m/bm25.parquet",
        "results/search/toy/base/validation/t2m/rrf.parquet",
        "results/score/toy.parquet",
    } <= set(first)
    for other in others:
        assert first.keys() == other.keys()
        assert [name for name in first if first[name] != other[name]] == []


@pytest.mark.long
def test_shards_hold_the_same_vectors_pictures_and_outcomes(layouts):
    def joined(place: Path, pattern: str) -> pl.DataFrame:
        parts = [pl.read_parquet(path) for path in sorted(place.glob(pattern))]
        return pl.concat(parts).drop(TELLS_THE_TIME, strict=False)

    for pattern in (
        "data/encode/toy/hash/texts/*.ids.parquet",
        "data/encode/toy/hash/images/*.ids.parquet",
        "data/crawl/toy/shard-*.parquet",
        "data/crawl/toy/ledger.parquet",
    ):
        first, *others = (joined(place, pattern) for place in layouts)
        assert all(first.equals(other) for other in others), pattern
    shards = [len(list(place.glob("data/encode/toy/hash/texts/*.npy"))) for place in layouts]
    assert shards == list(LAYOUTS.values())


@pytest.mark.slow
def test_sixteen_shards_of_what_starts_a_program_for_each_leave_the_same(layouts, tmp_path):
    shutil.copy(ROOT / "params.yaml", tmp_path)
    (tmp_path / "tiny.yaml").write_text(yaml.safe_dump(overlay(16, most=16)))
    snakemake(tmp_path, "--cores", 8, "--configfile", "params.yaml", "tiny.yaml", "--", TABLE)
    assert len(list((tmp_path / "data/crawl/toy").glob("shard-*.parquet"))) == 16
    first, found = left(layouts[0]), left(tmp_path)
    assert first.keys() == found.keys()
    assert [name for name in first if first[name] != found[name]] == []


def test_collections_that_are_no_snapshots_are_made_by_one_job(tmp_path):
    """A union of two snapshots, planned from nothing."""
    kinds = {n: {"kind": "wikipedia", "source": "toy", "language": n} for n in ("en", "fr")}
    both = {**kinds, "both": {"kind": "union", "of": ["en", "fr"]}}
    params = {**overlay(3), "collect": both, "build": ["both"]}
    (tmp_path / "union.yaml").write_text(yaml.safe_dump(params))
    overlays = ["--configfile", ROOT / "params.yaml", "union.yaml"]
    told = snakemake(
        tmp_path, "-n", "--quiet", "rules", *overlays, "--", "data/collect/both/texts.parquet"
    )
    planned = dict(line.split() for line in told.splitlines() if line.startswith("collect_"))
    jobs = {"collect_texts": 6, "collect_images": 6, "collect_gather": 2, "collect_tables": 1}
    assert planned == {rule: str(n) for rule, n in jobs.items()}


def test_full_scale_plans_under_1000_jobs(tmp_path):
    """params/enwiki.yaml, without a file of it; benchmarks/plan.py tells the seconds."""
    overlay = ["--configfile", ROOT / "params.yaml", ROOT / "params/enwiki.yaml"]
    told = snakemake(tmp_path, "-n", "--cores", 8, "--quiet", "rules", *overlay)
    rules = dict(line.split() for line in told.splitlines() if len(line.split()) == 2)
    assert int(rules["total"]) < 1_000
    sharded = {
        "crawl_shard": 256,
        "encode_shard": 16,
        "search_dense": 16,
        "project_texts": 32,
        "project_index": 8,
        "index_bm25_shard": 8,
        "index_bm25_gather": 1,
        "collect_texts": 16,
        "collect_images": 16,
    }
    assert {rule: int(rules[rule]) for rule in sharded} == sharded
