"""What a run costs by `isotope estimate`: closed forms, known answers, and what it prints."""

import csv
import json
import math
import re
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests import bulk_world, forkserver
from tests.workflow.conftest import copy_project

from isotope.cli import estimate, estimate_work
from isotope.cli.estimate import APART, Cost, Machine
from isotope.cli.estimate_jobs import Job, jobs_of, wall
from isotope.cli.estimate_sizes import GIB, sizes
from isotope.params import files
from isotope.params.acquire import Source
from isotope.params.root import Params
from isotope.plan import needs

ROOT = Path(__file__).parents[3]
RESULTS = ROOT / "benchmarks/results"
HERE, GPU = Machine(2, gpu=False), Machine(2, gpu=True)
WIKI = "enwiki-20221101"
WHERE = {"source": WIKI, "collection": WIKI}


def enwiki(*, files_of: Any = None, **crawl: Any) -> Params:
    """Return the params of full size with other keys of its crawl, and further files."""
    params = files.load([ROOT / "params/enwiki.yaml"], root=ROOT)
    source = params.acquire[WIKI].spec()
    listed = {"files": {**source["files"], **(files_of or {})}}
    return params.model_copy(
        update={
            "crawl": {**params.crawl, WIKI: params.crawl[WIKI].model_copy(update=crawl)},
            "acquire": {**params.acquire, WIKI: Source.of_plain({**source, **listed})},
        }
    )


def verified(**keys: Any) -> Params:
    params = enwiki()
    verify = params.tabulate.verify.model_copy(update=keys)
    return params.model_copy(
        update={"tabulate": params.tabulate.model_copy(update={"verify": verify})}
    )


def costs(params: Params, on: Machine = HERE) -> dict[str, Cost]:
    return estimate.costs(params, sizes(params), on)


def seconds(params: Params, rule: str, on: Machine = HERE, *, jobs: int = 1, **named: str) -> float:
    """Return the core seconds of a rule whose work so many jobs share."""
    every = [Job(rule, {**WHERE, **named, "part": str(n)}, 2) for n in range(jobs)]
    return estimate.run(params, on, every)[1][rule].core_s


def toy(pages: int) -> Params:
    params = files.load(root=ROOT)
    made = {"generate": {"pages": pages}}
    acquire = {
        name: Source.of_plain({**source.spec(), **made}) for name, source in params.acquire.items()
    }
    return params.model_copy(update={"acquire": acquire})


# Rows of the embedded encyclopedia are as its pages, and no pool is of the least size here.
PAGES = 1_000_000


@pytest.mark.parametrize(
    "rule",
    [
        *("acquire_source", "parse_dump", "parse_wit", "crawl_shard", "project_queries"),
        *("collect_texts", "encode_shard", "index_bm25_shard", "search_fused", "score_runs_shard"),
        *("suggest_feed", "tabulate_tokens", "train_model", "release_collection"),
    ],
)
def test_twice_the_rows_take_twice_what_rows_take(rule):
    where = {"source": "toy", "collection": "toy", "system": "bm25", "model": "tiny-clip"}
    one, two, three = (
        estimate.run(toy(n * PAGES), HERE, [Job(rule, where, 2)])[1][rule].seconds
        for n in (1, 2, 3)
    )
    assert two - one > 0
    assert three - two == pytest.approx(two - one, rel=1e-6)


@pytest.mark.parametrize("rule", ["search_bm25", "search_dense", "project_texts"])
def test_twice_the_queries_in_twice_the_pool_take_more_than_twice(rule):
    where = {"source": "toy", "collection": "toy", "system": "bm25", "model": "tiny-clip"}
    where |= {"system": "tiny-clip"} if rule == "search_dense" else {}
    one, two, three = (
        estimate.run(toy(n * PAGES), HERE, [Job(rule, where, 2)])[1][rule].seconds
        for n in (1, 2, 3)
    )
    assert three - two > 1.2 * (two - one) > 0


def test_shards_share_the_work_and_each_takes_its_start():
    starts = sum(rate.start_s for rate in estimate_work.rates()["parse_dump"])
    one, eight = (seconds(enwiki(), "parse_dump", jobs=n) for n in (1, 8))
    assert eight - one == pytest.approx(7 * 2 * starts, rel=1e-3)


def rows(name: str) -> list[dict[str, str]]:
    with (RESULTS / f"{name}.csv").open(newline="", encoding="utf-8") as file:
        return [*csv.DictReader(file)]


@pytest.mark.parametrize("share", ["0.1", "0.3"])
def test_what_rehearsals_took_is_what_their_units_take(share):
    """Seconds of all rules of a rehearsal (benchmarks/results/calibrate_rules.csv), by phase."""
    found: dict[str, list[float]] = {}
    for row in (row for row in rows("calibrate_rules") if row["share"] == share):
        rate = estimate_work.rates()[row["rule"]][0]
        guess = rate.start_s + rate.unit_s * float(row["units"]) + float(row["others_s"])
        phase = found.setdefault(row["rule"].partition("_")[0], [0.0, 0.0])
        phase[0] += guess * int(row["jobs"])
        phase[1] += float(row["s"]) * int(row["jobs"])
    for phase, (guess, took) in found.items():
        assert 0.75 < guess / took < 1.25, phase


def test_the_rehearsal_of_a_twentieth_took_what_is_foretold():
    """Its phases (rehearsal.csv) by lines of at most three tenths, their units ten thirds.

    Queries and pools grow both, so what BM25 does is a hundred ninths of it.
    """
    scale, took = 1 / 0.3, {row["phase"]: float(row["wall_s"]) for row in rows("rehearsal")}
    [call] = estimate_work.rates()["snakemake"]
    found = dict.fromkeys(took, call.start_s)
    for row in (row for row in rows("calibrate_rules") if row["share"] == "0.3"):
        rule, jobs, threads = row["rule"], int(row["jobs"]), int(row["threads"])
        rate = estimate_work.rates()[rule][0]
        grows = scale**2 if rule.startswith(("search", "project_texts")) else scale
        each = rate.start_s + rate.unit_s * float(row["units"]) * scale
        each += float(row["others_s"]) * grows
        phase = rule.partition("_")[0]
        if phase in found:
            found[phase] += max(threads * jobs / 2, 1) * each + call.unit_s * jobs
    ratios = {phase: guess / took[phase] for phase, guess in found.items()}
    assert all(0.65 < ratio < 1.35 for ratio in ratios.values()), ratios
    total = sum(found.values()) / sum(took.values())
    assert total == pytest.approx(1, abs=0.2)


def test_each_rate_says_where_it_was_measured_and_has_a_unit():
    for rule, rates in estimate_work.rates().items():
        for rate in rates:
            assert rate.unit in estimate_work.UNITS, rule
            assert rate.basis in ("measured", "assumed")
    rules = "".join(path.read_text() for path in (ROOT / "workflow/rules").glob("*.smk"))
    of_rules = estimate_work.rates().keys() - {"snakemake", "job", "operation on a GPU"}
    assert [rule for rule in of_rules if not re.search(rf"\b{rule}\b", rules)] == []


# Verification, Wikidata and what nobody measured.


def test_verification_is_counted_by_what_it_checks():
    found: dict[str, float] = {}
    for checks in ([], ["measures"], ["digests", "measures"], ["measures", "rankings"]):
        found[" ".join(checks)] = seconds(verified(checks=checks), "tabulate_verification")
    assert 0 < found[""] < found["measures"] < found["digests measures"]
    assert found["measures rankings"] > found["measures"] + 600, "every pool is indexed again"


def test_a_larger_sample_takes_longer_to_verify():
    few = seconds(enwiki(), "tabulate_verification")
    assert seconds(verified(sample=1.0), "tabulate_verification") > 10 * few


def test_a_dump_of_wikidata_is_unpacked_whole():
    """benchmarks/results/wikidata.md: 212 MB of text a second; a dump has 150 GB in gzip."""
    dump = {"url": "https://h/wikidata.json.gz", "bytes": 150_000_000_000}
    params = enwiki(files_of={"wikidata": [dump]})
    hours = seconds(params, "parse_wikidata") / 2 / 3_600
    assert hours == pytest.approx(1.5e12 / 212e6 / 3_600, rel=0.01)


def test_a_rule_that_nobody_measured_is_named_and_its_time_is_no_measurement():
    jobs = [Job("parse_wit", WHERE, 1), Job("parse_unheard_of", WHERE, 1)]
    phases, rules = estimate.run(enwiki(), HERE, jobs)
    shown = estimate.text(jobs, phases, rules, HERE, {})
    assert "never measured, 6 s a job: parse_unheard_of\n" in shown
    assert 0 < phases["parse"].unmeasured_s == rules["parse_unheard_of"].unmeasured_s
    assert rules["parse_wit"].unmeasured_s == 0


# The network.


def test_a_polite_crawl_takes_as_long_as_the_host_allows():
    crawl = costs(enwiki())["crawl"]
    assert (crawl.seconds, crawl.bound) == (pytest.approx(crawl.requests / 10), "crawl's limits")
    quick = costs(enwiki(rate_per_s=100))["crawl"]
    assert quick.seconds == pytest.approx(crawl.fetched * 8e-6 / 25)
    [phase] = [estimate.run(enwiki(), HERE, [Job("crawl_shard", WHERE, 1)])[0]["crawl"]]
    assert (phase.seconds, phase.bound) == (crawl.seconds, "crawl's limits")


def test_twice_the_pages_cost_twice_the_requests_and_disk():
    small, large = (costs(toy(n * PAGES)) for n in (1, 2))
    assert large["crawl"].requests == 2 * small["crawl"].requests > 0
    for phase in ("acquire", "parse", "crawl", "project", "collect", "encode"):
        assert large[phase].disk == pytest.approx(2 * small[phase].disk), phase


def test_a_release_is_larger_than_the_pictures_in_it():
    found = costs(enwiki())
    assert found["crawl"].disk < found[APART].disk < 2 * found["crawl"].disk


HUB = "hf://datasets/wikimedia/wit_base/data/*.parquet"


def bulk(
    folder: Path, items: list[dict[str, Any]], acquire: Any = None, decoders: int = 1
) -> Params:
    """Return the params of params/enwiki.yaml with bulk sources."""
    overlay = {"acquire": {k: {"files": v} for k, v in (acquire or {}).items()}}
    crawl = {WIKI: {"bulk": items, "decoders": decoders}}
    (folder / "b.yaml").write_text(json.dumps({**overlay, "crawl": crawl}))
    return files.load([ROOT / "params/enwiki.yaml", folder / "b.yaml"], root=ROOT)


def way(params: Params, cores: int = 2) -> estimate.Bulk:
    [found] = [estimate.bulk(params, name, of, cores) for name, of in sizes(params).items()]
    assert found
    return found


def test_what_is_on_the_hub_is_counted_by_what_its_page_says(tmp_path):
    own = bulk(tmp_path, [{"source": "wit-base", "part": "p"}], {"wit-base": {"p": [HUB]}})
    found, [of] = way(own), sizes(own).values()
    assert (found.files, round(found.bytes / GIB)) == (330, 287)
    # "More than six million images" (its page on the hub).
    assert found.pictures == pytest.approx(6e6, rel=1e-4)
    assert found.requests == pytest.approx(of.images - found.pictures)
    # 10 requests a second.
    assert found.rest_s == pytest.approx(found.requests / 10)
    acquired, without = costs(own)["acquire"], costs(enwiki())["acquire"]
    assert acquired.fetched - without.fetched == pytest.approx(308e9, rel=1e-3)
    # All pictures may have to be asked for, and all may be read.
    crawl = costs(own)["crawl"]
    assert crawl.requests == of.images
    assert crawl.seconds == pytest.approx(of.images / 10 + found.read_s)


def test_rows_of_files_that_are_here_are_counted_and_decoders_share_them(tmp_path):
    world = bulk_world.make(tmp_path / "world", 200)
    [item] = world.bulk[:1]
    whole = sorted((world.root / "published/wit_base").iterdir())[:-1]
    own = bulk(tmp_path, [item], {"wit_base": {"train": [*map(str, whole)]}}, decoders=2)
    found = way(own)
    assert found.pictures == pl.scan_parquet(whole).select(pl.len()).collect().item()
    assert (found.fetched, found.read_s) == (0, pytest.approx(found.pictures / 125 / 2))
    assert way(own, cores=1).read_s == pytest.approx(2 * found.read_s)


def test_a_folder_of_pictures_has_at_most_all(tmp_path):
    own = bulk(tmp_path, [{"folder": str(tmp_path)}])
    found, [of] = way(own), sizes(own).values()
    assert (found.pictures, found.requests, found.rest_s) == (of.images, 0, 0)
    shown = estimate.text([], {}, {}, HERE, {WIKI: found})
    assert f"for {of.images:,.0f} pictures at most" in shown


def test_a_crawl_without_bulk_sources_says_nothing_of_them():
    assert estimate.bulk(enwiki(), WIKI, sizes(enwiki())[WIKI], 2) is None
    assert "pictures" not in estimate.text([], {}, {}, HERE, {})


# The page of the README.


def test_the_readme_says_of_full_size_what_the_estimate_says():
    """For the 11 million images of AToMiC (Table 1), where the estimate counts 11.9 addresses."""
    text = (ROOT / "README.md").read_text().partition("**At full size**")[2].partition("\n## ")[0]
    words = " ".join(text.split())
    assert "`contact`" in words
    told: dict[int | None, list[float]] = {}
    for width in (None, 500):
        cost = costs(enwiki(**({} if width is None else {"width": width})))["crawl"]
        of_paper = 11e6 / cost.requests
        told[width] = [of_paper * n for n in (cost.fetched, cost.disk, cost.seconds)]
    originals, thumbnails = told[None], told[500]
    assert "about 11 million pictures" in words
    assert f"downloads the originals, {originals[0] / 1e12:.1f} TB" in words
    assert f"stores {round(originals[1] / 1e9, -1):.0f} GB of WebP" in words
    smaller = f"thumbnails of that width instead, {thumbnails[0] / 1e12:.1f} TB"
    assert f"with `width: 500` it downloads {smaller}" in words
    assert {round(each[2] / (7 * 24 * 3600)) for each in told.values()} == {2}
    assert "Both take two weeks" in words
    assert "assumptions" in words
    assert "nobody has run isotope at this size yet" in words


@pytest.mark.parametrize(("side_px", "words"), [(500, "it stores about"), (None, "at full size,")])
def test_the_readme_says_what_other_sides_take(side_px, words):
    cost = costs(enwiki(side_px=side_px))["crawl"]
    terabytes = 11e6 / cost.requests * cost.disk / 1e12
    key = f"`side_px: {'null' if side_px is None else side_px}`"
    text = " ".join((ROOT / "README.md").read_text().split())
    assert re.search(f"{key},? {words} {terabytes:.1f} TB", text)


# Jobs, side by side.


def described(rule: str, *, threads: int = 1, needs: str = "", makes: str = "") -> dict[str, Any]:
    listed = {"inputs": needs.split(), "outputs": makes.split()}
    return {"rule": rule, "wildcards": {}, "threads": threads, **listed}


def test_jobs_share_the_cores_and_wait_for_what_they_need():
    jobs = jobs_of(
        [
            described("parse_wit", makes="a"),
            described("parse_dump", makes="b"),
            described("parse_both", needs="a b", threads=8, makes="c"),
            described("all", needs="b c"),
        ]
    )
    assert jobs[2].after == (0, 1)

    def ends(taken: dict[int, float], cores: int) -> float:
        core_s = {n: s * min(jobs[n].threads, cores) for n, s in taken.items()}
        return wall(jobs, taken, core_s, cores)

    taken = {0: 10.0, 1: 4.0, 2: 5.0}
    assert ends(taken, 1) == 19
    # In fact 15: Graham's bound counts what is not on the longest chain as if it came after it.
    assert 15 <= ends(taken, 2) <= 15 + 4 / 2
    assert ends({0: 10.0, 2: 5.0}, 2) == 15, "what another phase makes is there"
    assert ends({}, 2) == 0
    circle = [Job("a_b", {}, 1, (1,)), Job("a_c", {}, 1, (0,))]
    with pytest.raises(ValueError, match="cycle"):
        wall(circle, {0: 1.0, 1: 1.0}, {0: 1.0, 1: 1.0}, 2)


def test_more_cores_take_less_time_and_no_less_than_the_longest_chain():
    jobs = [Job("parse_dump", {**WHERE, "part": str(n)}, 4) for n in range(20)]
    hours = [estimate.run(enwiki(), Machine(n, gpu=False), jobs)[0]["parse"] for n in (2, 16, 256)]
    assert hours[0].seconds > 6 * hours[1].seconds > 6 * hours[2].seconds > 0


def test_a_job_takes_no_more_memory_than_it_declares():
    gib: dict[float, float] = {}
    for declared in (100.0, 5_000.0, math.inf):
        jobs = [Job("parse_wit_gather", WHERE, 1, memory_mb=declared)]
        gib[declared] = estimate.run(enwiki(), HERE, jobs)[0]["parse"].memory_gib
    assert gib[100.0] == 100 / 1024
    assert gib[100.0] < gib[5_000.0] <= 5_000 / 1024
    assert gib[math.inf] < 64, "of what was measured, beside search.memory_mb"


def test_every_phase_has_jobs_and_a_cost(tmp_path, monkeypatch):
    monkeypatch.chdir(copy_project(tmp_path))  # Where nothing is built yet.
    monkeypatch.setattr(sys, "executable", str(forkserver.stand_in("python")))
    phases = {p.stem.split("-")[0] for p in (ROOT / "workflow/rules").glob("[a-z]*.smk")}
    jobs = estimate.planned([])
    assert set(estimate.PHASES) == phases == {job.phase for job in jobs}
    # A job waits for jobs of its phase, or of those before it.
    order = {phase: n for n, phase in enumerate(estimate.PHASES)}
    waited = [(order[jobs[before].phase], order[job.phase]) for job in jobs for before in job.after]
    assert all(before <= after for before, after in waited)
    before = {jobs[n].rule for job in jobs if job.rule == "crawl_shard" for n in job.after}
    assert before == {"acquire_toy", "crawl_urls"}
    declared = {job.rule: job.memory_mb for job in jobs}
    assert declared["parse_dump"] == needs.PAGES.base_mb, "known before its files are there"
    assert declared["collect_tables"] == needs.DUCKDB_LARGE.most_mb, "at most"
    assert declared["search_dense"] == math.inf, "as its files say"
    found, rules = estimate.run(files.load(root=ROOT), HERE, jobs)
    assert min(cost.seconds for cost in found.values()) > 0
    assert min(cost.disk for cost in found.values()) > 0
    assert set(rules) == {job.rule for job in jobs}
    assert rules["tabulate_verification"].bound == "machine", "measured"


# What is printed.


def test_the_last_line_is_the_sum_and_the_peak():
    parse = Cost(1, 0, GIB, 3600.0, 2.0, 100.0, 25.0)
    found = {"parse": parse, "crawl": Cost(2, GIB, 0, 3600.0, 5.0, bound="link")}
    jobs = [Job("parse_wit", {}, 1), Job("crawl_urls", {}, 1)]
    lines = estimate.text(jobs, found, {}, Machine(10**9, gpu=False), {}).splitlines()
    assert lines[1].split() == ["parse", "1", "1", "0.0", "1.0", "1.0", "2.0", "machine", "25%"]
    assert lines[-2].split() == ["all", "2", "3", "1.0", "1.0", "2.0", "5.0", "25%"]


def test_a_release_stands_below_the_sum():
    found = {"tabulate": Cost(disk=GIB, memory_gib=2), "release": Cost(disk=3 * GIB, memory_gib=5)}
    jobs = [Job("tabulate_report", {}, 1), Job("release_collection", {}, 1)]
    lines = estimate.text(jobs, found, {}, HERE, {}).splitlines()
    assert [line.split()[0] for line in lines[-4:-1]] == ["tabulate", "all", "release"]
    assert lines[-3].split() == ["all", "1", "0", "0.0", "1.0", "0.0", "2"]


def test_json_has_bytes_seconds_and_rules():
    jobs = [Job("parse_wit", {}, 1), Job("parse_dump", {}, 2)]
    phases, rules = {"parse": Cost(disk=7, seconds=5.0)}, {"parse_wit": Cost(seconds=3.0)}
    told = json.loads(estimate.as_json(jobs, phases, rules, HERE, {}))
    assert (told["cores"], told["phases"]["parse"]["jobs"]) == (2, 2)
    assert (told["phases"]["parse"]["seconds"], told["rules"]["parse_wit"]["seconds"]) == (5, 3)
