"""What a run costs by `isotope estimate`: closed forms, known answers, and what it prints."""

import csv
import json
import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests import bulk_world, library

from isotope.core.plugins import phase_of
from isotope.params import files
from isotope.params.acquire import Source
from isotope.params.root import Params
from isotope_estimate import estimate
from isotope_estimate.estimate import NOT_IN_ALL, Cost, Machine
from isotope_estimate.sizes import GIB, Bag, sizes, table

ROOT = Path(__file__).parents[4]
RESULTS = ROOT / "benchmarks/results"
CPU, GPU = Machine(2, gpu=False), Machine(2, gpu=True)
WIKI = "enwiki-20221101"


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
    verify = params.sections["verify"].model_copy(update=keys)
    return params.model_copy(update={"verify": verify})


def costs(params: Params, on: Machine = CPU) -> dict[str, Cost]:
    return estimate.run(params, on, sizes(params))


def toy(pages: int) -> Params:
    params = files.load(root=ROOT)
    generate = {"generate": {"pages": pages}}
    acquire = {
        name: Source.of_plain({**source.spec(), **generate})
        for name, source in params.acquire.items()
    }
    return params.model_copy(update={"acquire": acquire})


# Rows of the embedded encyclopedia are as its pages, and no pool is of the least size here.
PAGES = 1_000_000


@pytest.mark.parametrize("phase", estimate.PHASES)
def test_twice_the_rows_take_twice_what_rows_take(phase):
    """But for pairs of what grows: queries and pools, and texts and sections."""
    once, twice, thrice = (costs(toy(n * PAGES))[phase].seconds for n in (1, 2, 3))
    assert twice - once > 0
    if phase in ("project", "search", "suggest"):
        assert thrice - twice > 1.1 * (twice - once)
    else:
        assert thrice - twice == pytest.approx(twice - once, rel=1e-6)


def test_every_phase_has_a_cost_and_rows_of_its_own():
    phases = {phase_of(p.stem) for p in library.rules() if p.stem[0] != "_"}
    assert set(estimate.PHASES) == phases
    phase_costs = costs(files.load(root=ROOT))
    assert list(phase_costs) == list(estimate.PHASES)
    assert min(cost.seconds for cost in phase_costs.values()) > 0
    assert {phase for phase, cost in phase_costs.items() if not cost.disk} == {"score", "tabulate"}


def test_every_unit_of_the_table_is_one_that_some_params_have():
    """A unit that is misspelt would count nothing."""
    judging = ROOT / "workflow/plugins/isotope_judge/params/judge.yaml"
    overlays = ([], [ROOT / "params/2026.yaml"], [judging], [ROOT / "params/enwiki.yaml"])
    all_units = set[str]()
    for named in overlays:
        params = files.load(named, root=ROOT)
        phase_bags = estimate.units(params, sizes(params), 2)
        all_units |= {
            (phase, unit) for phase, bags in phase_bags.items() for bag in bags for unit in bag
        }
    # Of systems and sources that none of these has.
    exceptions = {"byte of Wikidata", "second of bulk", "item verified", "pair by lucene"}
    exceptions |= {"section asked by lucene"}
    rows = {
        (p, row.unit) for p in estimate.PHASES for row in table()[p] if row.unit not in exceptions
    }
    assert rows - all_units == set()


def points(name: str) -> list[dict[str, str]]:
    with (RESULTS / f"{name}.csv").open(newline="", encoding="utf-8") as file:
        return [*csv.DictReader(file)]


def took(phase: str, units: float, others_s: float) -> float:
    """Return what so many units of a phase take on two cores, and what it computes."""
    row = table()[phase][0]
    return row.start_s + units * row.value * (row.serial + (1 - row.serial) / 2) + others_s


@pytest.mark.parametrize("share", ["0.1", "0.3"])
def test_what_rehearsals_took_is_what_their_units_take(share):
    """Seconds of the phases of a rehearsal (benchmarks/results/calibrate_phases.csv)."""
    for row in (row for row in points("calibrate_phases") if row["share"] == share):
        guess = took(row["phase"], float(row["units"]), float(row["others_s"]))
        assert 0.75 < guess / float(row["wall_s"]) < 1.25, row["phase"]


def test_the_rehearsal_of_a_twentieth_took_what_is_foretold():
    """Its phases (rehearsal.csv) by lines of at most three tenths, their units ten thirds.

    Queries and pools grow both, so what is computed is a hundred ninths of it; the crawl's is not.
    """
    wall = {row["phase"]: float(row["wall_s"]) for row in points("rehearsal")}
    foretold: dict[str, float] = {}
    for row in (row for row in points("calibrate_phases") if row["share"] == "0.3"):
        grows = (1 / 0.3) ** (1 if row["phase"] == "crawl" else 2)
        others_s = float(row["others_s"]) * grows
        foretold[row["phase"]] = took(row["phase"], float(row["units"]) / 0.3, others_s)
    ratios = {phase: foretold[phase] / wall[phase] for phase in wall}
    assert all(0.65 < ratio < 1.35 for ratio in ratios.values()), ratios
    assert sum(foretold[phase] for phase in wall) / sum(wall.values()) == pytest.approx(1, abs=0.2)


def test_what_the_largest_jobs_of_the_rehearsal_held_is_foretold_within_a_half():
    held = {row["phase"]: float(row["peak_gib"]) for row in points("rehearsal")}
    for row in (row for row in points("calibrate_phases") if row["share"] == "0.3"):
        [measured, *_] = table()[row["phase"]]
        grown = measured.unit_mb * float(row["units"]) / 0.3 / float(row["shards"])
        if row["phase"] in held:
            assert 0.6 < (measured.start_mb + grown) / 1024 / held[row["phase"]] < 1.6, row["phase"]


def test_a_query_takes_what_it_took_in_a_pool_of_ten_million():
    """benchmarks/results/scaling_pools.csv: 7.71 ms among captions, 6.35 ms among sections."""
    [rate] = [row for row in table()["search"] if row.unit == "pair by native"]
    assert rate.value * 1e7 == pytest.approx(7.71e-3, rel=0.01)
    [lucene] = [row for row in table()["search"] if row.unit == "pair by lucene"]
    assert lucene.value * 1e6 == pytest.approx(29.9e-3, rel=0.01)


def test_more_cores_take_less_time_and_no_less_than_what_one_core_does():
    hours = [costs(enwiki(), Machine(n, gpu=False))["parse"].seconds for n in (2, 16, 256)]
    assert hours[0] > 3 * hours[1] > 3 * hours[2] > 0
    release = [costs(enwiki(), Machine(n, gpu=False))[NOT_IN_ALL].seconds for n in (2, 256)]
    assert release[1] > release[0] / 2, "one job writes it"


def test_shards_share_the_memory_of_rows_and_no_job_holds_more_than_the_most():
    few, many = (
        costs(
            enwiki().model_copy(update={"shards": enwiki().shards.model_copy(update={"index": n})})
        )
        for n in (8, 80)
    )
    assert few["index"].memory_gib == 8 > 2 * many["index"].memory_gib > 0
    assert max(cost.memory_gib for cost in few.values()) == 8


# Verification, Wikidata and what nobody measured.


def test_verification_is_counted_by_what_it_checks():
    seconds: dict[str, float] = {}
    for checks in ([], ["measures"], ["measures", "rankings"]):
        seconds[" ".join(checks)] = costs(verified(checks=checks))["tabulate"].seconds
    assert seconds[""] < seconds["measures"]
    assert seconds["measures rankings"] > seconds["measures"] + 400, "every pool is indexed again"


def test_a_larger_sample_takes_longer_to_verify():
    none, few, all_items = (
        costs(verified(checks=["measures"], sample=n))["tabulate"].seconds for n in (0.0, 0.01, 1.0)
    )
    assert all_items - none > 10 * (few - none) > 0


def test_a_dump_of_wikidata_is_unpacked_whole():
    """benchmarks/results/wikidata.md: 212 MB of text a second; a dump has 150 GB in gzip."""
    dump = {"url": "https://h/wikidata.json.gz", "bytes": 150_000_000_000}
    more, less = (
        costs(p)["parse"].seconds for p in (enwiki(files_of={"wikidata": [dump]}), enwiki())
    )
    assert more - less == pytest.approx(1.5e12 / 212e6, rel=0.01)


def test_what_a_gpu_takes_is_measured_and_what_nobody_measured_is_told():
    params = enwiki()
    for phase in ("encode", "search"):
        on_cpu, on_gpu = (costs(params, on)[phase] for on in (CPU, GPU))
        assert (on_cpu.unmeasured_s, on_gpu.unmeasured_s) == (0, 0)
        assert 2 * on_gpu.work_s < on_cpu.work_s
    shown = estimate.text({"encode": Cost(work_s=100.0, unmeasured_s=25.0)}, CPU, {})
    assert "25%" in shown


# The network.


def test_a_polite_crawl_takes_as_long_as_the_host_allows():
    crawl = costs(enwiki())["crawl"]
    assert (crawl.seconds, crawl.bound) == (pytest.approx(crawl.requests / 10), "crawl's limits")
    quick = costs(enwiki(rate_per_s=100))["crawl"]
    assert quick.seconds == pytest.approx(crawl.fetched * 8e-6 / 25)


def test_twice_the_pages_cost_twice_the_requests_and_disk():
    small, large = (costs(toy(n * PAGES)) for n in (1, 2))
    assert large["crawl"].requests == 2 * small["crawl"].requests > 0
    for phase in ("acquire", "parse", "crawl", "project", "collect", "encode"):
        assert large[phase].disk == pytest.approx(2 * small[phase].disk), phase


def test_a_release_is_larger_than_the_pictures_in_it():
    phase_costs = costs(enwiki())
    assert phase_costs["crawl"].disk < phase_costs[NOT_IN_ALL].disk < 2 * phase_costs["crawl"].disk


HUB = "hf://datasets/wikimedia/wit_base/data/*.parquet"


def bulk(
    folder: Path, items: list[dict[str, Any]], acquire: Any = None, decoders: int = 1
) -> Params:
    """Return the params of params/enwiki.yaml with bulk sources."""
    overlay = {"acquire": {k: {"files": v} for k, v in (acquire or {}).items()}}
    crawl = {WIKI: {"bulk": items, "decoders": decoders}}
    (folder / "b.yaml").write_text(json.dumps({**overlay, "crawl": crawl}))
    return files.load([ROOT / "params/enwiki.yaml", folder / "b.yaml"], root=ROOT)


def way(params: Params, cores: int = 2) -> Bag:
    [crawl_way] = [
        estimate.bulk(params, name, counts, cores) for name, counts in sizes(params).items()
    ]
    assert crawl_way
    return crawl_way


def test_what_is_on_the_hub_is_counted_by_what_its_page_says(tmp_path):
    params = bulk(tmp_path, [{"source": "wit-base", "part": "p"}], {"wit-base": {"p": [HUB]}})
    crawl_way, [counts] = way(params), sizes(params).values()
    assert round(crawl_way["bytes"] / GIB) == 287
    # "More than six million images" (its page on the hub).
    assert crawl_way["pictures"] == pytest.approx(6e6, rel=1e-4)
    assert crawl_way["requests"] == pytest.approx(counts["image"] - crawl_way["pictures"])
    # 10 requests a second.
    assert crawl_way["rest_s"] == pytest.approx(crawl_way["requests"] / 10)
    acquired, without = costs(params)["acquire"], costs(enwiki())["acquire"]
    assert acquired.fetched - without.fetched == pytest.approx(308e9, rel=1e-3)
    # All pictures may have to be asked for, and all may be read.
    crawl = costs(params)["crawl"]
    assert crawl.requests == counts["image"]
    assert crawl.seconds == pytest.approx(counts["image"] / 10)
    assert crawl.work_s - costs(enwiki())["crawl"].work_s == pytest.approx(crawl_way["read_s"])


def test_rows_of_files_that_are_here_are_counted_and_decoders_share_them(tmp_path):
    world = bulk_world.make(tmp_path / "world", 200)
    [item] = world.bulk[:1]
    complete_files = sorted((world.root / "published/wit_base").iterdir())[:-1]
    params = bulk(
        tmp_path, [item], {"wit_base": {"train": [*map(str, complete_files)]}}, decoders=2
    )
    crawl_way = way(params)
    assert (
        crawl_way["pictures"] == pl.scan_parquet(complete_files).select(pl.len()).collect().item()
    )
    assert crawl_way["fetched"] == 0
    assert crawl_way["read_s"] == pytest.approx(crawl_way["pictures"] / 125 / 2)
    assert way(params, cores=1)["read_s"] == pytest.approx(2 * crawl_way["read_s"])


def test_a_folder_of_pictures_has_at_most_all(tmp_path):
    params = bulk(tmp_path, [{"folder": str(tmp_path)}])
    crawl_way, [counts] = way(params), sizes(params).values()
    assert [crawl_way[of_way] for of_way in ("pictures", "requests", "rest_s")] == [
        counts["image"],
        0,
        0,
    ]
    shown = estimate.text(costs(params), CPU, {WIKI: crawl_way})
    assert f"for {counts['image']:,.0f} pictures at most" in shown


def test_a_crawl_without_bulk_sources_says_nothing_of_them():
    assert estimate.bulk(enwiki(), WIKI, sizes(enwiki())[WIKI], 2) == {}
    assert "pictures" not in estimate.text(costs(enwiki()), CPU, {})


# The page on snapshots of Wikipedia.


def test_the_page_says_of_full_size_what_the_estimate_says():
    """For the 11 million images of AToMiC (Table 1), where the estimate counts 11.9 addresses."""
    page = (ROOT / "docs/wikipedia.md").read_text()
    text = page.partition("**At full size**")[2].partition("\n## ")[0]
    words = " ".join(text.split())
    assert "`contact`" in words
    sizes_by_width: dict[int | None, list[float]] = {}
    for width in (None, 500):
        cost = costs(enwiki(**({} if width is None else {"width": width})))["crawl"]
        of_paper = 11e6 / cost.requests
        sizes_by_width[width] = [of_paper * n for n in (cost.fetched, cost.disk, cost.seconds)]
    originals, thumbnails = sizes_by_width[None], sizes_by_width[500]
    assert "about 11 million pictures" in words
    assert f"downloads the originals, {originals[0] / 1e12:.1f} TB" in words
    assert f"stores {round(originals[1] / 1e9, -1):.0f} GB of WebP" in words
    smaller = f"thumbnails of that width instead, {thumbnails[0] / 1e12:.1f} TB"
    assert f"with `width: 500` it downloads {smaller}" in words
    assert {round(figures[2] / (7 * 24 * 3600)) for figures in sizes_by_width.values()} == {2}
    assert "Both take two weeks" in words
    assert "assumptions" in words
    assert "nobody has run isotope at this size yet" in words


@pytest.mark.parametrize(("side_px", "words"), [(500, "it stores about"), (None, "at full size,")])
def test_the_page_says_what_other_sides_take(side_px, words):
    cost = costs(enwiki(side_px=side_px))["crawl"]
    terabytes = 11e6 / cost.requests * cost.disk / 1e12
    key = f"`side_px: {'null' if side_px is None else side_px}`"
    text = " ".join((ROOT / "docs/wikipedia.md").read_text().split())
    assert re.search(f"{key},? {words} {terabytes:.1f} TB", text)


# What is printed.


def test_the_last_line_is_the_sum_and_the_peak():
    parse = Cost(1, 0, GIB, 3600.0, 2.0, work_s=3600.0, unmeasured_s=900.0)
    phases = {"parse": parse, "crawl": Cost(2, GIB, 0, 3600.0, 5.0, "link")}
    lines = estimate.text(phases, Machine(10**9, gpu=False), {}).splitlines()
    assert lines[1].split() == ["parse", "1", "0.0", "1.0", "1.0", "2.0", "machine", "25%"]
    assert lines[-2].split() == ["all", "3", "1.0", "1.0", "2.0", "5.0"]


def test_a_release_stands_below_the_sum():
    phases = {"tabulate": Cost(disk=GIB, memory_gib=2), "release": Cost(disk=3 * GIB, memory_gib=5)}
    lines = estimate.text(phases, CPU, {}).splitlines()
    assert [line.split()[0] for line in lines[-4:-1]] == ["tabulate", "all", "release"]
    assert lines[-3].split() == ["all", "0", "0.0", "1.0", "0.0", "2"]


def test_json_has_bytes_and_seconds():
    record = json.loads(estimate.as_json({"parse": Cost(disk=7, seconds=5.0)}, CPU, {}))
    assert (record["cores"], record["gpu"], record["bulk"]) == (2, False, {})
    assert (record["phases"]["parse"]["seconds"], record["phases"]["parse"]["disk"]) == (5, 7)
