"""From one month to the next: a new snapshot is one line in params.yaml."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml

pytestmark = pytest.mark.long

JANUARY, FEBRUARY = "wiki-20230101", "wiki-20230201"
PAGES = {JANUARY: 30, FEBRUARY: 36}
WIKI = "wiki-{snapshot}"
MAKE = {"acquire", "parse", "crawl", "project", "collect", "encode", "index", "search", "score"}
STAGES = {*MAKE, "train"}
WANTED = [
    f"results/tables/{FEBRUARY}/since/{JANUARY}/temporal.md",
    "results/tables/newest/metrics.json",
]


def params() -> dict[str, Any]:
    """The experiment in January: two systems and their fusion on a small encyclopedia."""
    return {
        "snapshots": ["20230101"],
        "build": [WIKI],
        "acquire": {name: {"generate": {"pages": n, "seed": 0}} for name, n in PAGES.items()},
        # DVC refuses a stage whose params the file lacks.
        "parse": {},
        "shards": dict.fromkeys(("parse", "project", "collect", "index", "search", "score"), 1),
        "crawl": {name: {"serve": f"data/acquire/{name}/images", "shards": 1} for name in PAGES},
        "project": {name: {"mode": "bm25"} for name in PAGES},
        "collect": {WIKI: {"kind": "wikipedia", "source": WIKI, "language": "en"}},
        "models": {"hash": {"kind": "hash", "dim": 32}},
        "encode": {"shards": 1, "batch": 16},
        "systems": {
            "bm25": {"kind": "bm25"},
            "hashed": {"kind": "dense", "model": "hash"},
            "rrf": {"kind": "rrf", "of": ["bm25", "hashed"]},
        },
        "search": {
            "systems": ["bm25", "hashed", "rrf"],
            "settings": ["large"],
            "splits": ["validation"],
            "tasks": ["t2m", "m2t"],
            "depth": 50,
            "memory_mb": 16,
        },
        "score": {"measures": ["MRR@10", "R@10"]},
        "suggest": {},
        "tabulate": {
            "alpha": 0.05,
            "sizes": [50],
            "system": "bm25",
            "tokenizers": {"words": "toy"},
            "facts": {},
            "popularity": "auto",
            "diff": [],
            "temporal": ["bm25", "hashed", "rrf"],
        },
    }


@pytest.fixture(scope="module")
def february(project, shell, commit_all) -> tuple[Path, str]:
    """A project with a second snapshot, and what `dvc repro` said when it came."""
    place = project()
    (place / "params.yaml").write_text(yaml.safe_dump(params(), sort_keys=False))
    shell("snakemake", "--cores", "2", *sorted(STAGES), cwd=place)
    shell("mkdir", "-p", "data/train", cwd=place)
    shell("dvc", "commit", "--force", *sorted(STAGES), cwd=place)
    commit_all(place, "January")
    shell("isotope", "snapshot", "20230201", cwd=place)
    told = shell("dvc", "repro", "score", cwd=place)
    shell("snakemake", "--cores", "2", *WANTED, cwd=place)
    return place, told


def test_repro_makes_all_of_the_new_snapshot_and_nothing_of_the_old_one(february):
    """Jobs say what they are about: of January only what February is compared with."""
    jobs = re.findall(r"^[\d:]+ +\d+/\d+ \w+: (.*), [\d,]+ s$", february[1], re.MULTILINE)
    about = {name: [job for job in jobs if name in job] for name in (JANUARY, FEBRUARY)}
    assert all(FEBRUARY in job for job in about[JANUARY]), about[JANUARY]
    assert {job.split()[0] for job in about[FEBRUARY]} >= MAKE
    assert f"search {JANUARY} for {FEBRUARY} with bm25" in jobs
    assert set(re.findall(r"Running stage '(\w+)'", february[1])) == STAGES


def test_only_pictures_that_january_lacks_are_fetched_in_february(february):
    """What the server calls unchanged comes as 304, without its bytes."""
    ledgers = [february[0] / f"data/crawl/{name}/ledger.parquet" for name in (JANUARY, FEBRUARY)]
    before, after = (pl.read_parquet(path).filter(status="success") for path in ledgers)
    known = after.filter(pl.col("image_url").is_in(before["image_url"].implode()))
    assert 0 < known.height < after.height
    assert set(known["http_status"]) == {304}
    new = after.filter(~pl.col("image_url").is_in(before["image_url"].implode()))
    assert set(new["http_status"]) == {200}


def test_a_second_repro_makes_nothing(february, shell):
    told = shell("dvc", "repro", "--dry", "score", cwd=february[0])
    assert "Running stage" not in told


def test_what_systems_built_in_january_lose_in_february_is_told(february):
    folder = february[0] / f"results/tables/{FEBRUARY}/since/{JANUARY}"
    drops = pl.read_parquet(folder / "temporal.parquet")
    assert set(drops["system"]) == {"bm25", "hashed", "rrf"}
    assert {"all", "surviving", "new"} <= set(drops["stratum"])
    drawn = february[0] / f"results/figures/{FEBRUARY}/since/{JANUARY}/temporal.svg"
    assert "built" in (folder / "temporal.md").read_text()
    assert "<svg" in drawn.read_text()


def test_both_sides_are_what_a_count_by_hand_gives(february):
    place, _ = february
    compared = place / f"results/tables/{FEBRUARY}/since/{JANUARY}"
    drops = pl.read_parquet(compared / "temporal.parquet")
    qrels = pl.read_parquet(place / f"data/collect/{FEBRUARY}/qrels.parquet")
    right = {(r["image_id"], r["text_id"]) for r in qrels.filter(split="validation").to_dicts()}
    known = pl.read_parquet(compared / "identities.parquet")
    later_id = dict(known.select("before_id", "after_id").rows())
    told = drops.filter(stratum="all", task="m2t", system="bm25", measure="MRR@10").row(
        0, named=True
    )
    for side, cell, names in (("earlier", f"since/{JANUARY}/", later_id), ("later", "", None)):
        run = place / f"results/search/{FEBRUARY}/{cell}large/validation/m2t/bm25.parquet"
        first = dict[str, int]()
        for query, doc, rank, _ in pl.read_parquet(run).rows():
            if rank <= 10 and (query, names.get(doc) if names else doc) in right:
                first.setdefault(query, rank)
        queries = {image for image, _ in right}
        assert told["queries"] == len(queries)
        assert told[side] == pytest.approx(sum(1 / r for r in first.values()) / len(queries))
    assert told["earlier"] < told["later"]
    assert told["relative_drop"] == pytest.approx(1 - told["earlier"] / told["later"])


def test_the_old_systems_answer_new_queries_with_old_documents(february):
    place, _ = february
    texts = set(pl.read_parquet(place / f"data/collect/{JANUARY}/texts.parquet")["text_id"])
    cell = f"results/search/{FEBRUARY}/since/{JANUARY}/large/validation/m2t"
    asked = pl.read_parquet(place / f"data/collect/{FEBRUARY}/qrels.parquet")
    asked = set(asked.filter(split="validation")["image_id"])
    for system in ("hashed", "rrf"):
        run = pl.read_parquet(place / cell / f"{system}.parquet")
        assert set(run["query_id"]) == asked
        assert set(run["doc_id"]) <= texts


def test_a_trained_model_asks_with_the_weights_that_it_learned_in_january(february, shell):
    place, _ = february
    recipe = {"epochs": 1, "batch": 16, "learning_rate": 0.001}
    overlay = {
        "models": {"tiny": {"kind": "trained", "config": "tiny-clip", "train": recipe}},
        "systems": {"learned": {"kind": "dense", "model": "tiny"}},
    }
    (place / "learned.yaml").write_text(yaml.safe_dump(overlay))
    wanted = f"results/search/{FEBRUARY}/since/{JANUARY}/large/validation/t2m/learned.parquet"
    plan = ["snakemake", "-n", "--cores", "1", "--configfile", "learned.yaml", "--", wanted]
    told = shell(*plan, cwd=place)
    (place / "learned.yaml").unlink()
    assert f"encode {FEBRUARY} with tiny of {JANUARY}, shard 00000" in told
    assert f"encode {JANUARY} with tiny, shard 00000" in told
    assert f"data/train/{JANUARY}/tiny/model.safetensors" in told
    assert f"data/train/{FEBRUARY}" not in told


def test_the_newest_numbers_are_those_of_the_last_snapshot(february):
    place, _ = february
    newest = json.loads((place / WANTED[1]).read_text())
    texts = pl.read_parquet(place / f"data/collect/{FEBRUARY}/texts.parquet")
    assert newest["texts"] == texts.height
    assert 0 < newest["held"]["all"] < 1
    scores = pl.read_parquet(place / f"results/score/{FEBRUARY}.parquet")
    own = scores.filter(task="t2m", system="bm25", measure="MRR@10")["value"].mean()
    assert (newest["pool"], newest["measure"]) == ("large/validation", "MRR@10")
    assert newest["bm25"]["t2m"] == pytest.approx(own, abs=1e-6)


MADE = """
import sys
from pathlib import Path
import yaml
sys.path[:0] = sys.argv[1:]
from isotope.tabulate import snapshot_diff as newest
from tests.lib.tabulate.test_newest import written
value = len(yaml.safe_load(Path("params.yaml").read_text())["snapshots"]) / 4
at = Path(".isotope")
at.mkdir(exist_ok=True)
tables = written(at, value)
(at / "headline.csv").write_text(f"system,t2m,m2t\\nbm25,{value},0.5\\n")
out = Path("results/tables/newest")
newest.write_newest(tables, at / "scores.parquet", at / "headline.csv", None, out)
"""


@pytest.fixture(scope="module")
def monthly(root, shell, commit_all, tmp_path_factory) -> tuple[Path, str]:
    """What the monthly job prints, on one stage that stands for all, with the project's metrics."""
    place = tmp_path_factory.mktemp("monthly")
    dvc = yaml.safe_load((root / "dvc.yaml").read_text())
    stage = {
        "cmd": f"python made.py {root} {root / 'workflow/lib'}",
        "params": ["snapshots"],
        "outs": [{"results/tables": {"persist": True}}],
    }
    one = {"stages": {"tabulate": stage}, "metrics": dvc["metrics"], "plots": dvc["plots"]}
    (place / "dvc.yaml").write_text(yaml.safe_dump(one))
    (place / "made.py").write_text(MADE)
    (place / "params.yaml").write_text("# kept\nsnapshots: [2023-01]\n")
    (place / ".gitignore").write_text("/results/\n/logs/\n/.isotope/\n")
    shutil.copytree(root / "workflow/profiles/monthly", place / "workflow/profiles/monthly")
    shell("git", "init", "-q", cwd=place)
    shell("git", "config", "user.name", "tests", cwd=place)
    shell("git", "config", "user.email", "tests@example.org", cwd=place)
    shell("dvc", "init", "-q", cwd=place)
    shell("dvc", "remote", "add", "-d", "store", place / ".isotope/remote", cwd=place)
    shell("dvc", "repro", cwd=place)
    commit_all(place, "January")
    return place, shell("workflow/profiles/monthly/run.sh", "2023-02", cwd=place)


def test_the_monthly_job_commits_the_snapshot_pushes_its_bytes_and_shows_what_moved(monthly, shell):
    place, told = monthly
    assert (place / "params.yaml").read_text() == '# kept\nsnapshots: [2023-01, "2023-02"]\n'
    assert shell("git", "log", "-1", "--format=%s", cwd=place) == "Snapshot 2023-02\n"
    assert shell("git", "status", "--short", cwd=place) == ""
    assert "up to date" in shell("dvc", "push", cwd=place)
    [line] = [row for row in told.splitlines() if "bm25.t2m" in row]
    assert re.findall(r"bm25\.\S+|-?\d+\.\d+", line) == ["bm25.t2m", "0.625", "0.75", "0.125"]


def test_metrics_and_plots_of_two_revisions_tell_the_story(monthly, shell):
    place, _ = monthly
    diff = json.loads(shell("dvc", "metrics", "diff", "HEAD~", "--json", cwd=place))
    moved = diff["results/tables/newest/metrics.json"]
    assert moved == {"bm25.t2m": {"old": 0.625, "new": 0.75, "diff": 0.125}}
    shown = shell("dvc", "metrics", "show", "--md", cwd=place)
    assert all(len(line) < 160 for line in shown.splitlines())
    assert re.search(r"\| small/test +\|", shown)
    page = (place / "logs/monthly/index.html").read_text()
    assert "image suggestion (t2m)" in page
    assert '"rev": "HEAD~"' in page or "HEAD~" in page


def test_the_monthly_job_run_again_changes_nothing(monthly, shell):
    place, _ = monthly
    before = shell("git", "rev-parse", "HEAD", cwd=place)
    told = shell("workflow/profiles/monthly/run.sh", "2023-02", cwd=place)
    assert "already a snapshot" in told
    assert shell("git", "rev-parse", "HEAD", cwd=place) == before


def test_the_monthly_profile_is_one_that_snakemake_takes(february, shell):
    profile = ["--profile", "workflow/profiles/monthly"]
    told = shell("snakemake", "-n", *profile, "--", WANTED[0], cwd=february[0])
    assert re.search(r"Using profiles? workflow/profiles/monthly\b", told)
    assert "Nothing to be done" in told
