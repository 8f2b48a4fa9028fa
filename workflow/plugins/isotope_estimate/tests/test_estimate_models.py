"""What models take by `isotope estimate`: weights, tokens, operations, vectors and memory."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from isotope.params import files
from isotope.params.root import Params
from isotope_estimate import doctor, estimate
from isotope_estimate.estimate import Cost, Machine
from isotope_estimate.sizes import GIB, Bag, sizes, table

ROOT = Path(__file__).parents[4]
CPU, GPU = Machine(2, gpu=False), Machine(2, gpu=True)
COLPALI = {"kind": "late", "name": "vidore/colpali", "images": "pixels"}
EYES = {"kind": "reranker", "name": "Qwen/Qwen3-VL-Reranker-2B", "images": "pixels"}
CLIP = {"kind": "open_clip", "name": "ViT-B-32", "pretrained": "openai"}


@pytest.fixture
def params(tmp_path) -> Any:
    """The demo, or enwiki, with a system `a` alone, of a model `m`."""

    def make(model: Any = None, *, wiki: bool = False, **system: Any) -> Params:
        entry = {"kind": "dense", "model": "m", **system}
        overlay = {"models": {"m": model} if model else {}, "systems": {"a": entry}}
        overlay |= {"search": {"systems": ["a"]}, "tabulate": {"system": "a", "comparisons": []}}
        (tmp_path / "o.yaml").write_text(yaml.safe_dump(overlay))
        overlays = [ROOT / "params/enwiki.yaml"] * wiki
        return files.load([*overlays, tmp_path / "o.yaml"], root=ROOT)

    return make


def cost(params: Params, phase: str, on: Machine = CPU) -> Cost:
    """Return what a phase takes."""
    return estimate.run(params, on, sizes(params))[phase]


def work_s(params: Params, phase: str, on: Machine = CPU) -> float:
    """Return the seconds of a phase beside those of the demo's or enwiki's rows."""
    rows = {row.unit for row in table()[phase][:1]}
    bags = estimate.units(params, sizes(params), 2)[phase]
    other_units = [{unit: n for unit, n in bag.items() if unit not in rows} for bag in bags]
    rates = [estimate.by_gpu(phase, row) if on.gpu else row for row in table()[phase]]
    units = [row.unit for row in table()[phase]]
    return sum(
        bag.get(unit, 0) * rate.value * (rate.serial + (1 - rate.serial) / on.cores)
        for unit, rate in zip(units, rates, strict=True)
        for bag in other_units
    )


def units(params: Params, phase: str) -> Bag:
    """Return the units of a phase of the only collection."""
    [bag] = estimate.units(params, sizes(params), 2)[phase]
    return bag


def test_a_core_reads_pictures_as_quickly_as_it_was_measured(params):
    """benchmarks/results/encode.md: 512 pictures in 29 s, 512 texts in 22.4 s on 2 cores."""
    model = estimate.models_of(params(CLIP))["m"]
    [rate] = [row for row in table()["encode"] if row.unit == "operation"]
    seconds = {side: 512 * rate.value / 2 * 1.51e8 * n for side, n in model.tokens.items()}
    assert model.weights == 1.51e8, "one tower of two reads an item: one operation a weight"
    assert seconds["images"] == pytest.approx(29, rel=0.35)
    assert seconds["texts"] == pytest.approx(22.4, rel=1.0)


def test_larger_models_and_more_pixels_take_longer_and_a_gpu_takes_less(params):
    def hours(on: Machine = GPU, **keys: Any) -> float:
        model = {"kind": "transformers", "name": "Qwen/Qwen3-VL-Embedding-2B", "pixels": 524_288}
        return work_s(params(model | keys, wiki=True), "encode", on) / 3_600

    usual = hours()
    # benchmarks/results/gpu.md: ViT-L-14 reads 4,096 texts in .2432 s, as many pictures in 2.5461.
    operation_s = (0.2432 + 2.5461) / (4_096 * 4.28e8 * (77 + 257))
    assert hours(CPU) == pytest.approx(usual / operation_s / 7e10 / 2, rel=0.01)
    assert hours(name="Qwen/Qwen3-VL-Embedding-8B") == pytest.approx(usual * 8.1448 / 2.1275, 1e-3)
    assert hours(pixels=1_843_200) > 2 * usual > 2 * hours(pixels=131_072)
    assert hours(images="captions") < usual / 2
    # 11 million texts of some 180 words and pictures of 512 tokens, 2 operations a parameter.
    tokens = 10.14e6 * (180 * 1.4 + 25) + 11.02e6 * 512
    assert usual == pytest.approx(2 * 2.1275e9 * tokens * operation_s / 3600, rel=0.15)


def test_the_memory_of_an_encoding_is_that_of_its_largest_model():
    full = files.load([ROOT / "params/2026.yaml"], root=ROOT)
    largest = cost(full, "encode").memory_gib
    assert 0 < largest - 4 * 8_144_793_840 / GIB < 1
    [detail] = [
        finding.detail for finding in doctor.findings(full, CPU) if finding.subject == "memory"
    ]
    assert detail.endswith(f"the largest job wants about {largest:.1f}")


def test_the_vectors_of_a_cut_take_less_disk():
    models = estimate.models_of(files.load([ROOT / "params/2026.yaml"], root=ROOT))
    names = ("siglip2-so400m", "jina-clip-v2", "qwen3-vl-2b", "qwen3-vl-8b")
    assert [models[name].dim for name in names] == [1152, 1024, 2048, 1024]


def test_a_picture_of_colpali_takes_1030_vectors_of_132_bytes(params):
    """Faysse et al., ICLR 2025: 1,030 vectors of 128 components a page (256 KB)."""
    colpali = params(COLPALI, kind="late")
    assert estimate.models_of(colpali)["m"].tokens["images"] == 1_030
    counts = units(colpali, "encode")
    texts, pooled = counts["text"] * 277 * 132, (counts["text"] + counts["image"]) * 512
    assert counts["byte of vectors"] == pytest.approx(
        counts["image"] * 1_030 * 132 + texts + pooled
    )


def test_captions_make_fewer_vectors_than_pictures(params):
    captioned = params({**COLPALI, "images": "captions"}, kind="late")
    assert estimate.models_of(captioned)["m"].tokens["images"] == 25 * 1.4 + 25


def test_candidates_cost_less_than_the_whole_pool(params):
    exact, few = (
        work_s(params(COLPALI, kind="late", exact_up_to=n, candidates=1_000), "search")
        for n in (10**9, 0)
    )
    # No pool of the embedded encyclopedia has more than 1,000 pictures; two have as many texts.
    assert 0 < few < exact


def test_disk_and_time_of_encoding_follow_the_kind(params):
    late = params(COLPALI, kind="late")
    sparse = params({"kind": "sparse", "name": "naver/splade-v3"}, kind="sparse")
    disk = [cost(experiment, "encode").disk for experiment in (late, sparse)]
    assert disk[0] > 20 * disk[1] > 0
    assert work_s(late, "encode") > 10 * work_s(sparse, "encode") > 0


def test_a_search_by_the_native_engine_takes_as_long_as_there_are_pairs(params):
    def seconds(*, wiki: bool) -> float:
        return work_s(params({"kind": "sparse", "name": "x"}, kind="sparse", wiki=wiki), "search")

    assert seconds(wiki=True) > 100 * seconds(wiki=False) > 0


# BM25's engines.


def test_lucene_is_dearer_than_native():
    params = files.load([ROOT / "params/enwiki.yaml"], root=ROOT)
    taken: dict[str, list[float]] = {}
    for engine in ("native", "lucene"):
        changed = {
            phase: {n: e.model_copy(update={"engine": engine}) for n, e in entries.items()}
            for phase, entries in (("systems", params.systems), ("project", params.project))
        }
        experiment = params.model_copy(update=changed)
        taken[engine] = [cost(experiment, phase).seconds for phase in ("search", "project")]
    assert all(b > 3 * a > 0 for a, b in zip(*taken.values(), strict=True))


# Rerankers, judges and training.


def test_twice_the_hits_take_twice_the_time_and_a_gpu_much_less(params):
    def seconds(on: Machine = CPU, **keys: Any) -> float:
        experiment = params({**EYES, **keys.pop("model", {})}, kind="rerank", of="bm25", **keys)
        pairs = [row for row in table()["search"] if row.unit == "operation"]
        rate = estimate.by_gpu("search", pairs[0]) if on.gpu else pairs[0]
        return (
            units(experiment, "search")["operation"] * rate.value * (1 if on.gpu else 1 / on.cores)
        )

    assert seconds(depth=20) == pytest.approx(2 * seconds(depth=10))
    assert seconds(GPU, depth=10) < seconds(depth=10) / 500
    assert seconds(model={"pixels": 102_400}) < seconds()
    # Two operations a weight and token, of a text and a picture.
    experiment = params(EYES, kind="rerank", of="bm25", depth=1)
    grid, counts = experiment.search, units(experiment, "search")
    asked = estimate.cells(counts, grid.settings, grid.splits, grid.tasks)
    queries = sum(queries for queries, _ in asked)
    tokens = sum(estimate.models_of(experiment)["m"].tokens.values())
    assert tokens == 277 + 1_800
    assert seconds(depth=1) == pytest.approx(2 * 2.13e9 * tokens * queries / 2 / 7e10, rel=0.01)
    short = seconds(depth=1, model={"context": 128})
    assert short == pytest.approx(seconds(depth=1) * 128 / tokens)


def test_a_reranker_is_in_memory_and_not_among_what_encodes(params):
    large = {**EYES, "name": "Qwen/Qwen3-VL-Reranker-8B"}
    experiment = params(large, kind="rerank", of="bm25", depth=10)
    assert cost(experiment, "search").memory_gib > 4 * 8e9 / GIB
    assert cost(experiment, "encode").disk == 0


def test_a_judge_takes_two_operations_a_weight_and_token(tmp_path):
    """8 billion weights in two bytes; a pair has a thousand tokens, two operations a weight."""
    judge = {"depth": 1, "setting": "small", "split": "test", "measures": ["nDCG@10"]}

    def judged(*names: str) -> Params:
        models = {name: {"kind": "vlm", "name": f"us/judge-{name}"} for name in names}
        overlay = {"judge": {**judge, "models": models}}
        (tmp_path / "judge.yaml").write_text(yaml.safe_dump(overlay))
        return files.load([tmp_path / "judge.yaml"], root=ROOT)

    experiment = judged("8B")
    grid, counts = experiment.search, units(experiment, "score")
    pools = estimate.cells(counts, ["small"], ["test"], grid.tasks)
    pairs = sum(queries * min(len(grid.systems), pool) for queries, pool in pools)
    # benchmarks/results/gpu.md: 1.54 billion weights read a message of 1,000 tokens in .030252 s.
    operation_s = 0.030252 / (1_000 * 2 * 1.54e9)
    assert work_s(experiment, "score", GPU) == pytest.approx(
        pairs * 1_000 * 2 * 8e9 * operation_s, rel=1e-3
    )
    assert work_s(experiment, "score", GPU) == pytest.approx(4 * work_s(judged("2B"), "score", GPU))
    both = work_s(judged("8B", "2B"), "score", GPU)
    assert both == pytest.approx(1.25 * work_s(experiment, "score", GPU))
    assert cost(experiment, "score").memory_gib == pytest.approx(16e9 / GIB + 8)
    assert work_s(files.load(root=ROOT), "score") == 0


def trained(**recipe: Any) -> dict[str, Any]:
    spec = {"batch": 1024, "learning_rate": 1e-5, "steps": 9075, **recipe}
    return {"kind": "trained", "name": "ViT-B-32", "train": spec}


def test_training_at_full_size_takes_its_pairs_and_keeps_their_pictures(params):
    experiment = params(trained(), wiki=True)
    counts = units(experiment, "train")
    assert counts["pair learned from"] == 9_075 * 1_024
    reads = 1.51e8 * sum(estimate.models_of(experiment)["m"].tokens.values())
    assert counts["operation"] == pytest.approx(3 * 9_075 * 1_024 * reads), "backward takes twice"
    pictures = counts["pair"] * (16_000 + 1_200)
    assert cost(experiment, "train").disk == pytest.approx(16 * 1.51e8 + pictures)
    assert cost(experiment, "train").seconds > 9_075 * 1_024 / 150 / 2, (
        "150 pictures a second and core"
    )


def test_a_model_trained_whole_learns_and_a_frozen_one_does_not(params):
    recipe = {"steps": 2000, "batch": 4096, "learning_rate": 1e-4}
    base = {"kind": "clip2clip", "of": "tiny-clip"}
    kinds = ({**base, "frozen": False, "train": recipe}, {**base, "frozen": True})
    learning, frozen = (units(params(kind, wiki=True), "train") for kind in kinds)
    assert learning["pair learned from"] - frozen["pair learned from"] == 2000 * 4096
