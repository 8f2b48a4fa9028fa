"""Benchmarks compare like with like at any size, and the docs show what they found."""

import csv
import importlib.util
import math
import re
import sys
from pathlib import Path

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


def test_only_benchmarks_say_how_fast_the_machine_is():
    """A busy machine fells a timed test. Growth with length is a ratio, which it hardly moves.

    The fork server counts the seconds of its programs for the summary; no test reads them.
    """
    clocks = re.compile(r"\.(?:ru_[us]time|perf_counter|process_time|cpu_times)\b")
    texts = {p: p.read_text("utf-8") for p in (ROOT / "tests").rglob("*.py") if p != Path(__file__)}
    timed = sorted(p.name for p, text in texts.items() if clocks.search(text))
    assert timed == ["forkserver.py", "test_wikitext.py"]
    counted = re.compile(r"\bspent\(\)|import spent|/ \"spent\"")
    readers = sorted(str(p.relative_to(ROOT)) for p, text in texts.items() if counted.search(text))
    assert readers == ["tests/conftest.py", "tests/forkserver.py"]
    assert " s of a processor. Under " in (ROOT / "benchmarks/results/plan.md").read_text("utf-8")


def test_full_size_is_start_plus_rows_over_the_rate_of_the_largest_sizes(tmp_path):
    docs = module("docs/full_size.py")
    points = tmp_path / "points.csv"
    phases = ("parse", "project", "collect", "search", "score", "tabulate")
    rows = [f"{p},{n},{2 + n / 100}" for p in phases for n in (1000, 10_000, 100_000)]
    points.write_text("\n".join(["phase,rows,s", *rows]) + "\n")
    for line in docs.lines(points):
        assert line.rate == pytest.approx(100)
        assert line.start == pytest.approx(2)
        assert line.seconds == pytest.approx(2 + line.rows / 100)
        rows = line.rows * (line.alone + (1 - line.alone) / docs.NODES)
        assert line.spread == pytest.approx(2 + rows / 100, rel=1e-3)
    assert {line.phase for line in docs.lines(points) if line.alone == 1} == {"tabulate"}
    hours = sum(line.seconds for line in docs.lines(points)) / 3600
    assert f"| together | | | | {hours:.2f} |" in docs.page(points)


def test_what_shards_of_collect_do_not_make_less_is_told_by_two_numbers_of_them(tmp_path):
    """3 s to gather and 1 s to read all in each cut, of 10 s; what is cut adds 8 s at one shard."""
    docs = module("docs/full_size.py")
    points = ["job,shards,jobs,cpu_s", "start,1,1,0.5", "whole,1,1,10.5"]
    for n in (4, 16):
        each = 1 + 4 / n + 0.5
        points += [f"texts,{n},{n},{n * each}", f"images,{n},{n},{n * each}", f"gather,{n},1,3.5"]
    (tmp_path / "points.csv").write_text("\n".join(points) + "\n")
    assert docs.uncut(tmp_path / "points.csv") == pytest.approx(0.5)


def test_where_the_start_hides_the_work_full_size_counts_all_of_it(tmp_path):
    docs = module("docs/full_size.py")
    points = tmp_path / "points.csv"
    phases = ("parse", "project", "collect", "search", "score", "tabulate")
    rows = [f"{p},{n},{s}" for p in phases for n, s in ((1000, 5.0), (10_000, 4.0))]
    points.write_text("\n".join(["phase,rows,s", *rows]) + "\n")
    assert all(line.rate == 2500 and line.start == 0 for line in docs.lines(points))


def test_the_page_of_full_size_is_what_the_points_say():
    assert (ROOT / "docs/full-size.md").read_text("utf-8") == module("docs/full_size.py").page()


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
        ten_times = curve.work(1e6) / curve.work(1e5)
        assert ten_times == pytest.approx(10 ** max(1, power), rel=0.1)


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
def scaling(common, monkeypatch, tmp_path):
    """The benchmark of scaling, whose curves go to a folder of the test."""
    found = module("benchmarks/scaling.py")
    monkeypatch.setattr(found.estimate_sizes, "FILE", tmp_path / "curves.csv")
    yield found
    found.estimate_sizes.curves.cache_clear()


def test_the_estimate_is_checked_at_the_largest_size_with_that_size_and_without_it(
    scaling, tmp_path
):
    linear = [2 + n / 1_000 for n in (1_000, 10_000, 100_000)]
    found = [p for phase in scaling.PHASES for p in points(phase, *linear)]
    found[-2]["s"] = 1
    scaling.keep(found)
    kept = list(csv.DictReader((tmp_path / "curves.csv").read_text("utf-8").splitlines()))
    assert {row["largest"] for row in kept} == {"100000"}
    rows = [[cell.strip() for cell in line.split("|")[1:]] for line in scaling.against(found)[2:]]
    assert [row[0] for row in rows] == list(scaling.PHASES)
    assert [row[4] for row in rows] == ["yes"] * 5 + ["no"]
    assert [float(row[3]) for row in rows[:5]] == pytest.approx([102] * 5, rel=0.1)
    assert [float(row[5]) for row in rows[:5]] == pytest.approx([102] * 5, rel=0.1)
    assert float(rows[5][5]) < 5, "what was measured at the largest size does not tell"
    assert tmp_path / "curves.csv" == scaling.estimate_sizes.FILE
    assert len((tmp_path / "scaling_points.csv").read_text("utf-8").splitlines()) == 19


def test_a_phase_is_spared_what_its_budget_cannot_pay_and_what_needs_it_too(scaling):
    found = [*points("parse", 1, 2, 3), *points("project", 50, 300)]
    assert scaling.affordable("parse", 1_000_000, found)
    assert not scaling.affordable("project", 100_000, found)
    assert scaling.affordable("collect", 10_000, found)
    assert not scaling.affordable("collect", 100_000, found)


def test_wit_is_parsed_alike_by_all_three_at_a_small_size(shared, common, monkeypatch, tmp_path):
    bench = module("benchmarks/parse_wit.py")
    assert shared.exists()
    shard = tmp_path / "wit_v1.train.all-00000-of-00001.tsv.gz"
    bench.make(shard, 300)
    for work in (bench.by_isotope, bench.by_csv, bench.by_pandas):
        assert work(shard)["s"] > 0
    bench.compare(tmp_path)
