"""What models take by `isotope estimate`: weights, tokens, operations, vectors and memory."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from isotope.cli import estimate, estimate_work
from isotope.cli.estimate import Cost, Machine
from isotope.cli.estimate_jobs import Job
from isotope.cli.estimate_sizes import GIB, Size, figure, sizes
from isotope.params import files
from isotope.params.root import Params
from isotope.params.sections import ModelKind

ROOT = Path(__file__).parents[3]
HERE, GPU = Machine(2, gpu=False), Machine(2, gpu=True)
COLPALI = {"kind": "late", "name": "vidore/colpali", "images": "pixels", "tokens": 512}
EYES = {"kind": "reranker", "name": "Qwen/Qwen3-VL-Reranker-2B", "images": "pixels"}
# 10 texts and 100 images, of 180 and 25 words.
OF = Size(10, 100, 0, 0, 0, 0, 0, 0, {"texts": 180, "images": 25})


@pytest.fixture
def params(tmp_path) -> Any:
    """The demo, or enwiki, with a system `a` alone, of a model `m`."""

    def of(model: Any = None, *, wiki: bool = False, **system: Any) -> Params:
        entry = {"kind": "dense", "model": "m", **system}
        own = {"models": {"m": model} if model else {}, "systems": {"a": entry}}
        own |= {"search": {"systems": ["a"]}, "tabulate": {"system": "a", "comparisons": []}}
        (tmp_path / "o.yaml").write_text(yaml.safe_dump(own))
        overlays = [ROOT / "params/enwiki.yaml"] * wiki
        return files.load([*overlays, tmp_path / "o.yaml"], root=ROOT)

    return of


def entry(**keys: Any) -> ModelKind:
    """Return a model of these keys."""
    return ModelKind.of_spec(keys)


def cost(params: Params, rule: str, on: Machine = HERE, **named: str) -> Cost:
    """Return what a job of a rule takes."""
    [name] = params.build[:1]
    where = {"collection": name, "model": "m", "system": "a", **named}
    return estimate.run(params, on, [Job(rule, where, 8)])[1][rule]


def test_a_core_reads_pictures_as_quickly_as_it_was_measured():
    """benchmarks/results/encode.md: 512 pictures in 29 s, 512 texts in 22.4 s on 2 cores."""
    model = entry(kind="open_clip", name="ViT-B-32", pretrained="openai")
    [rate] = [r for r in estimate_work.rates()["encode_shard"] if r.unit == "operation"]
    seconds = {
        side: 512 * rate.unit_s / 2 * estimate_work.operations(model, OF, side)
        for side in ("texts", "images")
    }
    assert seconds["images"] == pytest.approx(29, rel=0.35)
    assert seconds["texts"] == pytest.approx(22.4, rel=1.0)


def test_larger_models_and_more_pixels_take_longer_and_a_gpu_takes_less(params):
    def hours(on: Machine = GPU, **keys: Any) -> float:
        model = {"kind": "transformers", "name": "Qwen/Qwen3-VL-Embedding-2B", "pixels": 524_288}
        return cost(params(model | keys, wiki=True), "encode_shard", on).seconds / 3_600

    usual = hours()
    assert hours(HERE) == pytest.approx(usual * 1e14 / 7e10 / 2, rel=0.01)
    assert hours(name="Qwen/Qwen3-VL-Embedding-8B") == pytest.approx(usual * 8.1448 / 2.1275, 1e-3)
    assert hours(pixels=1_843_200) > 2 * usual > 2 * hours(pixels=131_072)
    assert hours(images="captions") < usual / 2
    # 11 million texts of some 180 words and pictures of 512 tokens, 2 operations a parameter.
    tokens = 10.14e6 * (180 * 1.4 + 25) + 11.02e6 * 512
    assert usual == pytest.approx(2 * 2.1275e9 * tokens / 1e14 / 3600, rel=0.15)


def test_what_a_gpu_takes_is_assumed_and_jobs_take_turns_on_it(params):
    own = params(COLPALI, kind="late", wiki=True)
    where = {"collection": "enwiki-20221101", "model": "m"}
    jobs = [Job("encode_late_shard", {**where, "shard": str(n)}, 1) for n in range(4)]
    alone, shared = (estimate.run(own, GPU, jobs[:n])[0]["encode"] for n in (1, 4))
    assert shared.seconds == pytest.approx(alone.seconds, rel=0.01)
    assert shared.unmeasured_s == pytest.approx(shared.core_s, rel=0.01)


def test_the_memory_of_an_encoding_is_that_of_its_largest_model():
    own = files.load([ROOT / "params/2026.yaml"], root=ROOT)
    jobs = [
        Job("encode_shard", {"collection": "toy", "model": model, "shard": "00000"}, 8)
        for model in ("siglip2-so400m", "qwen3-vl-8b")
    ]
    phases, _ = estimate.run(own, HERE, jobs)
    assert 0 < phases["encode"].memory_gib - 4 * 8_144_793_840 / GIB < 1
    assert estimate.largest_gib(own, sizes(own)) > 31


def test_the_vectors_of_a_cut_take_less_disk():
    models = files.load([ROOT / "params/2026.yaml"], root=ROOT).models
    names = ("siglip2-so400m", "jina-clip-v2", "qwen3-vl-2b", "qwen3-vl-8b")
    found = [estimate_work.dimensions(models[name]) for name in names]
    assert found == [1152, 1024, 2048, 1024]


def test_a_picture_of_colpali_takes_1030_vectors_of_132_bytes():
    """Faysse et al., ICLR 2025: 1,030 vectors of 128 components a page (256 KB)."""
    assert estimate_work.tokens(entry(**COLPALI), OF, "images") == 1_030
    texts, pooled = 10 * (180 * 1.4 + 25) * 132, 110 * 512
    bytes_ = estimate_work.encoded_bytes(entry(**COLPALI), OF)
    assert bytes_ == pytest.approx(100 * 1_030 * 132 + texts + pooled)


def test_captions_make_fewer_vectors_than_pictures():
    own = entry(**{**COLPALI, "images": "captions"})
    assert estimate_work.tokens(own, OF, "images") == 25 * 1.4 + 25
    short = own.model_copy(update={"tokens": 20})
    assert estimate_work.tokens(short, OF, "images") == 20


def test_candidates_cost_less_than_the_whole_pool(params):
    exact, few = (
        cost(params(COLPALI, kind="late", exact_up_to=n, candidates=1_000), "search_late").seconds
        for n in (10**9, 0)
    )
    # No pool of the embedded encyclopedia has more than 1,000 pictures; two have as many texts.
    assert 0 < few < exact


def test_disk_and_time_of_encoding_follow_the_kind(params):
    late = params(COLPALI, kind="late")
    sparse = params({"kind": "sparse", "name": "naver/splade-v3"}, kind="sparse")
    disk = [estimate.costs(own, sizes(own), HERE)["encode"].disk for own in (late, sparse)]
    assert disk[0] > 20 * disk[1] > 0
    seconds = [cost(late, "encode_late_shard").seconds, cost(sparse, "encode_sparse_shard").seconds]
    assert seconds[0] > 10 * seconds[1] > 0


def test_a_search_over_impacts_takes_as_long_as_there_are_postings(params):
    own = params({"kind": "sparse", "name": "x"}, kind="sparse", wiki=True)
    start = cost(params({"kind": "sparse", "name": "x"}, kind="sparse"), "search_sparse").seconds
    assert cost(own, "search_sparse").seconds > 100 * start > 0


# BM25's engines.


def test_lucene_is_dearer_than_impacts():
    params = files.load([ROOT / "params/enwiki.yaml"], root=ROOT)
    taken: dict[str, list[float]] = {}
    for engine in ("impacts", "lucene"):
        changed = {
            phase: {n: e.model_copy(update={"engine": engine}) for n, e in entries.items()}
            for phase, entries in (("systems", params.systems), ("project", params.project))
        }
        own = params.model_copy(update=changed)
        searched = cost(own, "search_bm25", system="bm25").seconds
        taken[engine] = [searched, cost(own, "project_texts", source="enwiki-20221101").seconds]
    assert all(b > 3 * a > 0 for a, b in zip(*taken.values(), strict=True))


def test_a_query_takes_what_it_took_in_a_pool_of_ten_million():
    """benchmarks/results/scaling_pools.csv: 7.71 ms for 113 words among captions of 24.8."""
    every = estimate_work.rates()["search_bm25"]
    rates = {rate.unit: rate.unit_s for rate in every if rate.engine == "impacts"}
    postings = 113.46 * 24.758 * 1e7 * figure("bm25.share")
    assert rates["query"] + postings * rates["posting"] == pytest.approx(7.71e-3, rel=0.15)


# Rerankers, judges and training.


def test_twice_the_hits_take_twice_the_time_and_a_gpu_much_less(params):
    def seconds(on: Machine = HERE, **keys: Any) -> float:
        own = params({**EYES, **keys.pop("model", {})}, kind="rerank", of="bm25", **keys)
        [start] = [rate.start_s for rate in estimate_work.rates()["search_reranked"]]
        return cost(own, "search_reranked", on).seconds - start

    assert seconds(depth=20) == pytest.approx(2 * seconds(depth=10))
    assert seconds(GPU, depth=10) < seconds(depth=10) / 500
    assert seconds(model={"pixels": 102_400}) < seconds()
    # Two operations a weight and token, of a prompt, a text and a picture.
    own = params(EYES, kind="rerank", of="bm25", depth=1)
    [of] = sizes(own).values()
    grid = own.search
    every = estimate_work.cells(of, grid.settings, grid.splits, grid.tasks)
    queries = sum(cell.queries for cell in every)
    tokens = 60 + 1.4 * of.words["texts"] + 1_000
    assert seconds(depth=1) == pytest.approx(2 * 2.13e9 * tokens * queries / 2 / 7e10, rel=0.01)
    short = seconds(depth=1, model={"context": 128})
    assert short == pytest.approx(seconds(depth=1) * 128 / tokens)


def test_a_reranker_is_in_memory_and_not_among_what_encodes(params):
    large = {**EYES, "name": "Qwen/Qwen3-VL-Reranker-8B"}
    own = params(large, kind="rerank", of="bm25", depth=10)
    assert cost(own, "search_reranked").memory_gib > 4 * 8e9 / GIB
    assert estimate.largest_gib(own, sizes(own)) > 4 * 8e9 / GIB
    assert estimate.costs(own, sizes(own), HERE)["encode"].disk == 0


def test_a_judge_takes_two_operations_a_weight_and_token(tmp_path):
    """8 billion weights in two bytes; a pair has a thousand tokens, two operations a weight."""
    judge = {"depth": 1, "setting": "small", "split": "test", "measures": ["nDCG@10"]}
    models = {name: {"kind": "vlm", "name": f"us/judge-{name}"} for name in ("8B", "2B")}
    overlay = {"score": {"judge": {**judge, "models": models}}}
    (tmp_path / "judge.yaml").write_text(yaml.safe_dump(overlay))
    own = files.load([tmp_path / "judge.yaml"], root=ROOT)
    [of] = sizes(own).values()
    pairs = estimate_work.judged(of, own)
    [start] = [rate.start_s for rate in estimate_work.rates()["score_model_grades"]]
    large, small = (cost(own, "score_model_grades", GPU, judge=name) for name in models)
    assert large.seconds - start == pytest.approx(pairs * 1_000 * 2 * 8e9 / 1e14)
    assert large.seconds - start == pytest.approx(4 * (small.seconds - start))
    assert large.memory_gib == pytest.approx(16e9 / GIB + 8)
    assert estimate_work.judged(of, files.load(root=ROOT)) == 0


def trained(**recipe: Any) -> dict[str, Any]:
    spec = {"batch": 1024, "learning_rate": 1e-5, "steps": 9075, **recipe}
    return {"kind": "trained", "name": "ViT-B-32", "train": spec}


def test_training_at_full_size_keeps_pictures_as_they_came_or_as_squares(params):
    own = params(trained(), wiki=True)
    [of] = sizes(own).values()
    count, weights, packed = estimate_work.learned(entry(**trained()), of)
    assert (count, weights) == (9_075 * 1_024, 16 * 1.51e8)
    assert packed == pytest.approx(of.pairs * (of.picture + 1_200))
    squares = estimate_work.learned(entry(**trained(squares_gib=1000)), of)[2]
    assert squares > of.pairs * 224 * 224 * 3 > 5 * packed
    assert estimate.costs(own, sizes(own), HERE)["train"].disk == weights + packed
    seconds = cost(own, "train_model").seconds
    assert seconds > count / 150 / 2, "two cores decode 150 pictures a second each"


def test_a_model_trained_whole_learns_and_a_frozen_one_does_not():
    recipe = {"steps": 2000, "batch": 4096, "learning_rate": 1e-4, "warmup": 10}
    mix = {"kind": "clip2clip", "of": "vit-l-14", "train": recipe}
    of = Size(10**7, 10**7, 0, 10**6, 0, 0, 16_000, 0, OF.words)
    assert estimate_work.learned(entry(**mix, frozen=False), of)[0] == 2000 * 4096
    assert estimate_work.learned(entry(**mix, frozen=True), of) == (0, 0, 0)
