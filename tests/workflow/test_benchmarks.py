"""Benchmarks compare like with like at any size, and the docs show what they found."""

import csv
import importlib.util
import json
import math
import os
import re
import subprocess
import sys
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from types import SimpleNamespace

import pytest

ROOT = Path(__file__).parents[2]


def module(path: str):
    """A script of benchmarks or docs, its neighbours within reach."""
    folder = str((ROOT / path).parent)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    spec = importlib.util.spec_from_file_location(Path(path).stem, ROOT / path)
    assert spec
    assert spec.loader
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


@pytest.fixture
def common(monkeypatch, tmp_path):
    """The benchmarks' common module, writing to a folder of the test."""
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    found = importlib.import_module("common")
    monkeypatch.setattr(found, "RESULTS", tmp_path)
    return found


@pytest.mark.parametrize(
    ("theirs", "least", "peak", "reached"),
    [(2.0, 2.0, 1.0, "yes"), (1.9, 2.0, 1.0, "no"), (9.0, 2.0, 2.1, "no"), (0.1, None, 1.0, "")],
)
def test_a_claim_is_reached_by_ratio_and_memory_alone(common, theirs, least, peak, reached):
    claim = common.Claim("score", "x", "peer", 1.0, theirs, least, peak, 2.0)
    assert claim.reached == reached


def test_rounds_yield_medians_and_leave_answers_alone(common):
    timings = [{"s": s, "answer": "same"} for s in (3.0, 1.0, 2.0)]
    assert common.median(timings) == {"s": 2.0, "answer": "same"}


def test_the_table_of_claims_holds_ratio_machine_and_command(common, tmp_path):
    claim = common.Claim("fuse", "2 runs", "ranx", 0.5, 10.0, 10.0, 1.0, 2.0)
    common.write("fuse", "# Fuse\n", [claim])
    rows = list(csv.DictReader((tmp_path / "fuse.csv").read_text("utf-8").splitlines()))
    assert [(row["ratio"], row["reached"], row["peer"]) for row in rows] == [
        ("20.000", "yes", "ranx")
    ]
    assert "CPUs" in rows[0]["machine"]
    assert rows[0]["command"].startswith("python benchmarks/")


def test_every_benchmark_has_a_small_size_at_which_it_is_tried(common):
    bench = module("benchmarks/run.py")
    assert sorted(bench.SMALL) == bench.names()


def test_the_page_of_benchmarks_is_what_the_results_say():
    docs = module("docs/benchmarks.py")
    assert (ROOT / "docs/benchmarks.md").read_text("utf-8") == docs.page()


def test_the_page_links_every_result_and_repeats_what_limits_gave(tmp_path, monkeypatch):
    docs = module("docs/benchmarks.py")
    results = ROOT / "benchmarks/results"
    linked = set(re.findall(r"\]\(\.\./benchmarks/results/([^)]+)\)", docs.page()))
    assert linked == {path.name for path in results.glob("*.md")}
    for claim in docs.claims():
        assert f" {claim['peer']} {float(claim['ratio']):.2f}" in docs.page()
    (tmp_path / "a.md").write_text("# A\n\nWhole: 3 of 4. In 0.5 s: no.\nUnder 2 GiB: yes.\n")
    line = "* [a](../benchmarks/results/a.md): A. In 0.5 s: no. Under 2 GiB: yes.\n"
    monkeypatch.setattr(docs, "claims", list)
    assert docs.page(tmp_path).endswith(f"\n{line}")


def test_calibration_on_the_real_snapshot_is_skipped_aloud_where_it_is_absent(
    common, tmp_path, capsys
):
    bench = module("benchmarks/suggest_calibration.py")
    assert not bench.build(tmp_path, tmp_path / "none")
    assert "skipped: raycharles is not built" in capsys.readouterr().out


def test_only_benchmarks_say_how_fast_the_machine_is():
    """A busy machine fells a timed test. Growth with length is a ratio, which it hardly moves.

    The fork server counts the seconds of its programs for the summary; no test reads them.
    """
    clocks = re.compile(r"\.(?:ru_[us]time|perf_counter|process_time|cpu_times)\b")
    texts = {p: p.read_text("utf-8") for p in (ROOT / "tests").rglob("*.py") if p != Path(__file__)}
    timed = sorted(p.name for p, text in texts.items() if clocks.search(text))
    assert timed == ["forkserver.py", "growth.py"]
    counted = re.compile(r"\bspent\(\)|import spent|/ \"spent\"")
    readers = sorted(str(p.relative_to(ROOT)) for p, text in texts.items() if counted.search(text))
    assert readers == ["tests/fixtures.py", "tests/forkserver.py"]
    assert " s of a processor. Under " in (ROOT / "benchmarks/results/plan.md").read_text("utf-8")


@pytest.mark.parametrize("power", [0.8, 1.0, 1.3])
def test_the_exponent_of_a_curve_is_found_above_its_start(common, power):
    bench = module("benchmarks/scaling.py")
    rows = [1_000, 10_000, 100_000, 1_000_000]
    seconds = [3 + 2e-4 * n**power for n in rows]
    assert bench.exponent(rows, seconds) == pytest.approx(power, abs=0.011)
    assert math.isnan(bench.exponent(rows, [3.0, 2.9, 3.1, 3.3])), "the start hides it"


def noisy(rows: list[int], power: float) -> list[float]:
    """Seconds of a start and some work, a tenth too much and too little in turn."""
    return [(3 + 1e-4 * n**power) * (1.1 if i % 2 else 0.9) for i, n in enumerate(rows)]


@pytest.mark.parametrize("power", [0.9, 1.0, 1.2])
@pytest.mark.parametrize("rows", [[1_000, 100_000], [1_000, 10_000, 100_000]])
def test_a_curve_says_what_a_size_three_times_the_largest_takes(common, power, rows):
    curves = module("benchmarks/curves.py")
    truth = 3 + 1e-4 * 300_000**power
    exact = curves.fit(rows, [3 + 1e-4 * n**power for n in rows])
    assert exact.seconds(300_000) == pytest.approx(truth, rel=0.2)
    rough = curves.fit(rows, noisy(rows, power)).seconds(300_000)
    assert rough == pytest.approx(truth, rel=0.35)


def test_a_curve_is_never_flat_and_one_point_counts_all_its_time_as_work(common):
    curves = module("benchmarks/curves.py")
    flat = curves.fit([1_000, 10_000], [3.0, 2.9])
    assert flat.seconds(10_000) == pytest.approx(2.9, rel=0.1)
    assert flat.seconds(1e6) > 3 * flat.seconds(10_000)
    assert curves.fit([1_000], [3.0]).seconds(2_000) == 6.0


def test_beyond_what_was_measured_a_unit_costs_no_less_than_there(common):
    curves = module("benchmarks/curves.py")
    for power in (0.6, 1.0, 1.3):
        curve = curves.fit([1_000, 10_000, 100_000], [1 + n**power for n in (1, 10, 100)])
        ten_times = (curve.seconds(1e6) - curve.start_s) / (curve.seconds(1e5) - curve.start_s)
        assert ten_times == pytest.approx(10 ** max(1, power), rel=0.1)


def test_growth_is_the_power_of_the_rows_and_none_where_the_time_stays(common):
    curves = module("benchmarks/curves.py")
    rows = [100_000, 1_000_000, 10_000_000]
    assert curves.growth(rows, [3 * n**0.4 for n in rows]) == pytest.approx(0.4)
    assert curves.growth(rows, [2.0, 2.0, 2.0]) == pytest.approx(0.0, abs=1e-9)


def test_memory_that_is_watched_counts_what_a_process_holds_and_not_the_files_that_it_maps(
    tmp_path,
):
    # In a process of its own: other tests of this one hold and release some meanwhile.
    shown = subprocess.run(
        [sys.executable, "-c", _WATCHED, tmp_path / "mapped"],
        cwd=ROOT / "benchmarks",
        capture_output=True,
        text=True,
        check=True,
    )
    before, mapped, held = map(float, shown.stdout.split())
    assert mapped - before < 0.0625
    assert held - before == pytest.approx(0.125, abs=0.0625)


_WATCHED = """
import sys, time
import common, numpy as np
common._LOOK_EVERY_S = 0.01
size, file = 1 << 27, sys.argv[1]
with open(file, "wb") as out:
    out.truncate(size)
with common.anonymous() as before:
    time.sleep(0.1)
with common.anonymous() as mapped:
    assert np.memmap(file, np.uint8, "r").sum() == 0
    time.sleep(0.1)
with common.anonymous() as held:
    kept = np.ones(size, np.uint8)
    time.sleep(0.1)
print(before.peak_gib, mapped.peak_gib, held.peak_gib, len(kept) and "")
"""


def test_a_small_pool_is_the_start_of_a_large_one_and_copies_know_their_sections(
    common, monkeypatch, tmp_path
):
    pools = module("benchmarks/pools.py")
    monkeypatch.setattr(pools, "SLICE", 20)
    for number in range(2):
        pools._write((tmp_path, "sections", number))
    rows = list(pools.read_texts(tmp_path, 40))
    assert rows[:30] == list(pools.read_texts(tmp_path, 30))
    assert [key for key, _ in rows] == sorted({key for key, _ in rows})
    for _, text, origin in pools.copies(40, 4).iter_rows():
        source = dict(rows)[origin].split()
        kept = sum(a == b for a, b in zip(text.split(), source, strict=True))
        assert kept == pytest.approx(0.8 * len(source), abs=0.1 * len(source) + 2)


def test_a_measurement_whose_process_is_ended_fails_and_does_not_wait(common):
    with pytest.raises(BrokenProcessPool):
        common.alone(os.abort)


def test_the_profiles_watch_steps_that_are_there(common):
    for name, within in (("searchers", "search"), ("project", "nearest")):
        bench = module(f"benchmarks/{name}.py")
        for step in bench.PROFILED:
            assert callable(getattr(getattr(bench, within), step))


def points(phase: str, *seconds: float) -> list[dict]:
    """Points of a phase at 1,000, 10,000 ... rows."""
    rows = [1_000 * 10**n for n in range(len(seconds))]
    parts = {"wit_s": 0.25, "dump_s": 0.75} if phase == "parse" else {}
    return [
        {"phase": phase, "rows": n, "s": s, "peak_gib": 1.0, "cpu_s": s}
        | {k: share * s for k, share in parts.items()}
        for n, s in zip(rows, seconds, strict=True)
    ]


@pytest.fixture
def scaling(common):
    """The benchmark of scaling."""
    return module("benchmarks/scaling.py")


def searched(pool: int, s: float) -> dict:
    """A point of a search among captions."""
    point = {"engine": "native", "work": "search in images", "pool": pool, "queries": 10}
    return point | {"words": 120, "length": 25, "postings": 0.6 * pool, "hits": 1_000, "s": s}


def test_a_line_of_bm25_says_what_was_measured_and_what_a_larger_pool_takes(common):
    bench = module("benchmarks/pool_costs.py")
    pools = (10_000, 30_000, 100_000, 300_000, 1_000_000)
    points = [searched(pool, 1e-4 + 4e-9 * 0.6 * pool) for pool in pools]
    line = bench.drawn(points[:-1])["native", "search in images"]
    assert line.at(0.6 * 1_000_000) == pytest.approx(points[-1]["s"])
    cells = [row.split("|")[-2].strip() for row in bench.table(points)[2:]]
    assert cells == ["", "", "", "", "yes"]
    points[-1]["s"] *= 2
    assert bench.table(points)[-1].split("|")[-2].strip() == "no"


def test_a_line_goes_through_the_two_largest_sizes_and_is_never_flat(common):
    rates = module("benchmarks/rates.py")
    line = rates.line([100, 1_000, 10_000], [9.0, 4.0, 13.0])
    assert line == (pytest.approx(3.0), pytest.approx(1e-3))
    flat = rates.line([1_000, 10_000], [3.0, 2.9])
    assert flat.at(10_000) == pytest.approx(2.9)
    assert flat.at(1e6) > 3 * flat.at(10_000)
    assert rates.line([1_000], [3.0]).at(2_000) == 6.0
    assert rates.line([10, 1_000], [0.0, 10.0]).start == 0.0
    assert rates.line([10, 1_000, 1_000], [1.0, 10.0, 10.9]).slope == pytest.approx(0.01)


def test_rows_of_the_estimate_are_replaced_one_by_one(common, monkeypatch, tmp_path):
    rates = module("benchmarks/rates.py")
    before = rates.TABLE.read_text("utf-8")
    (tmp_path / "estimate.csv").write_text(before)
    monkeypatch.setattr(rates, "TABLE", tmp_path / "estimate.csv")
    rates.keep([{"what": "parse", "unit": "byte of XML", "value": 0.25}])
    after = (tmp_path / "estimate.csv").read_text("utf-8")
    [changed] = {*after.splitlines()} - {*before.splitlines()}
    assert changed.startswith("parse,byte of XML,0.25,")
    with pytest.raises(KeyError):
        rates.keep([{"what": "parse", "unit": "page", "value": 0.25}])


def test_the_estimate_goes_by_the_largest_pools_of_bm25(common, monkeypatch, tmp_path):
    """scaling_pools.csv: 7.71 ms among ten million captions, 29.9 ms by Lucene among a million."""
    monkeypatch.setattr(common, "RESULTS", ROOT / "benchmarks/results")
    bench, rates = module("benchmarks/pool_costs.py"), sys.modules["rates"]
    before = rates.TABLE.read_text("utf-8")
    monkeypatch.setattr(rates, "TABLE", tmp_path / "estimate.csv")
    (tmp_path / "estimate.csv").write_text(before)
    points = bench.load(common.RESULTS / "scaling_pools.csv", ("engine", "work"))
    bench.save(points)
    assert (tmp_path / "estimate.csv").read_text("utf-8") == before, "what was kept"
    assert bench.each(points, "native", "search in images") == pytest.approx(7.71e-10, rel=1e-3)
    assert bench.each(points, "lucene", "search in images") == pytest.approx(29.9e-9, rel=2e-3)


def test_the_estimate_and_the_page_go_by_what_a_gpu_took(common, monkeypatch, tmp_path):
    """11 million vectors of 512 components: 50,000 queries in 49.987 s."""
    module("benchmarks/rates.py")
    points, rates = module("benchmarks/gpu_points.py"), importlib.import_module("rates")
    results = ROOT / "benchmarks/results"
    monkeypatch.setattr(points, "RESULTS", results)
    rows, before = points.read(), rates.TABLE.read_text("utf-8")
    assert (results / "gpu.md").read_text("utf-8") == points.report(rows)
    monkeypatch.setattr(rates, "TABLE", tmp_path / "estimate.csv")
    (tmp_path / "estimate.csv").write_text(before)
    rates.keep(points.rates(rows))
    assert (tmp_path / "estimate.csv").read_text("utf-8") == before, "what was kept"
    found = {(row["what"], row["unit"]): row["value"] for row in points.rates(rows)}
    took = 49.987 / (50_000 * 11e6 * 512)
    assert found["gpu.search gpu.suggest", "product"] == pytest.approx(took)
    text, picture = 0.46189 / 512 - 0.2432 / 4_096, 1.0859 / 512 - 2.5461 / 4_096
    assert found["gpu.encode", "item"] == pytest.approx((text + picture) / 2)
    step = 2.8785 / (1_024 * 4.28e8 * (77 + 257))
    assert found["gpu.train", "operation"] == pytest.approx(step / 3)


def test_without_a_gpu_its_benchmark_says_so_and_shows_what_was_measured(
    common, monkeypatch, tmp_path, capsys
):
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    bench, points = module("benchmarks/gpu.py"), sys.modules["gpu_points"]
    monkeypatch.setattr(points, "RESULTS", ROOT / "benchmarks/results")
    monkeypatch.setattr(bench, "keep", lambda rows: None)
    bench.main()
    assert "skipped: torch sees no GPU" in capsys.readouterr().out
    assert (tmp_path / "gpu.md").read_text("utf-8") == points.report(points.read())


def test_phases_of_small_rehearsals_foretell_a_larger_one(common):
    """A phase of 3 s and a ms a row; what it computes beside that comes on top, and is no row's."""
    bench = module("benchmarks/calibrate.py")
    rules, phases = [], []
    for share, rows in ((0.01, 1_000), (0.1, 10_000), (1.0, 100_000)):
        point = {"share": share, "phase": "search", "jobs": 2, "shards": 4, "units": rows}
        took = {"others_s": 1e-4 * rows, "wall_s": 3 + 1.1e-3 * rows, "mb": 100 + rows / 100}
        phases.append(point | took)
        rule = {"share": share, "rule": "search_gather", "jobs": 1, "threads": 1, "s": rows / 4_000}
        rules += [rule | {"mb": 1.0}, {**rule, "rule": "search_bm25", "jobs": 9, "mb": 1.0}]
    seconds, mb = bench.drawn(phases[:2])["search"]
    assert seconds.at(100_000) == pytest.approx(103)
    assert mb.at(100_000 / 4) == pytest.approx(1_100)
    assert bench.against(phases)[-1].endswith("| yes |")
    # Of 113 s one job of one thread runs alone for 25 s; both cores share the others.
    alone = 25 / (25 + bench.CORES * (113 - 25))
    assert bench.serial(rules, phases[-1]) == pytest.approx(alone)
    [row] = bench.rows(rules, phases)
    again = row["value"] * (alone + (1 - alone) / bench.CORES)
    assert again * 100_000 + row["start_s"] == pytest.approx(103)


def test_a_rehearsals_jobs_give_rules_and_its_units_what_is_computed(common, monkeypatch, tmp_path):
    bench = module("benchmarks/calibrate.py")
    taken = {"search_bm25/toy/0": 7.0, "search_bm25/toy/1": 9.0, "search_gather/toy": 1.0}
    jobs = {k: SimpleNamespace(seconds=s, threads=2) for k, s in taken.items()}
    monkeypatch.setattr(bench, "benchmarks", lambda _: jobs)
    reh = bench.Rehearsal(tmp_path, 1.0)
    (tmp_path / "notes").mkdir()
    seen = [{"name": name, "anonymous": n} for n, name in enumerate(taken, 1)]
    (tmp_path / "notes/search-00.json").write_text(json.dumps({"jobs": seen}))
    found = {point["rule"]: point for point in bench._rules(reh)}
    assert [found["search_bm25"][k] for k in ("jobs", "threads", "s", "mb")] == [2, 2, 8.0, 2_048]
    params = bench.load([ROOT / "params/enwiki.yaml"], root=ROOT)
    has = bench.estimate.units(params, bench.sizes(params), 2)
    computing = ("parse", "crawl", "project", "encode", "search", "tabulate")
    for phase in bench.PHASES:
        told = bench.worked(phase, has[phase])
        assert (told["units"] > 0) == (phase != "suggest"), phase
        assert (told["others_s"] > 0) == (phase in computing), phase


def test_the_estimates_rows_are_the_lines_of_what_was_kept(common, monkeypatch):
    monkeypatch.setattr(common, "RESULTS", ROOT / "benchmarks/results")
    bench = module("benchmarks/calibrate.py")
    monkeypatch.setattr(bench, "CORES", 2)
    rules, phases = bench.points("rules", bench.RULE), bench.points("phases", bench.PHASE)
    for row in bench.rows(rules, phases):
        kept = bench.table()[row["what"]][0]
        for name in ("value", "serial", "start_s", "unit_mb", "start_mb"):
            assert getattr(kept, name) == pytest.approx(row[name], rel=1e-3), (row["what"], name)
    told = "\n".join(bench.against(phases))
    assert told in (ROOT / "benchmarks/results/calibrate.md").read_text("utf-8")
    assert told.count("| no |") <= 1


def test_a_phase_is_spared_what_its_budget_cannot_pay_and_what_needs_it_too(scaling):
    found = [*points("parse", 1, 2, 3), *points("project", 50, 300)]
    assert scaling.affordable("parse", 1_000_000, found)
    assert not scaling.affordable("project", 100_000, found)
    assert scaling.affordable("collect", 10_000, found)
    assert not scaling.affordable("collect", 100_000, found)


def test_wit_is_parsed_alike_by_all_at_a_small_size(shared, common, monkeypatch, tmp_path):
    bench = module("benchmarks/parse_wit.py")
    assert shared.exists()
    shard = tmp_path / "wit_v1.train.all-00000-of-00001.tsv.gz"
    bench.make(shard, 300)
    others = (bench.by_csv, bench.by_pandas, bench.by_duckdb, bench.by_polars)
    for work in (bench.by_isotope, *others):
        assert work(shard)["s"] > 0
    bench.compare(tmp_path)
