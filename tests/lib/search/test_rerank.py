"""Reranking by real models: which pairs are scored, what becomes of the runs, and what is kept."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests import entries, kernels
from tests import tiny_rerankers as tiny
from tests.models import model_of

from isotope.core import store
from isotope.core.errors import IntegrityError, MissingFile
from isotope.core.runs import ranked, read_run, write_run
from isotope.models import rerankers
from isotope.models.pairs import ScoredPair
from isotope.params.sections import ModelKind
from isotope.schemas.collect import IMAGES, QRELS, TEXTS
from isotope.schemas.crawl import PIXELS
from isotope.search import pairs, rerank
from isotope.search.pairs import PairCache
from isotope.search.rerank import reranked, search_reranked
from isotope.search.systems import gather_runs, search_fused

WORDS = ["a dog runs", "two red balls", "the boat", "a green field", "the dog on the left", ""]
CAPTIONS = ["a dog", "red balls", "a boat left", "the field", "", "two dog"]
N, DEPTH = len(WORDS), 3
CELLS = [f"{setting}/validation/{task}" for setting in ("small", "base") for task in ("t2m", "m2t")]
Rows = list[tuple[str, str, int, float]]


@pytest.fixture
def place(tmp_path, monkeypatch) -> Path:
    """A collection of six texts and six pictures, in an empty working folder."""
    monkeypatch.chdir(tmp_path)
    texts = [
        {"text_id": f"t{n}", "context_section_description": text, "split": "validation"}
        for n, text in enumerate(WORDS)
    ]
    images = [
        {"image_id": f"i{n}", "image_url": f"https://x.org/{n}", "split": "validation"}
        | {"language": ["en"], "caption_reference_description": [text]}
        | {"caption_alt_text_description": [""], "caption_attribution_description": [""]}
        for n, text in enumerate(CAPTIONS)
    ]
    qrels = [
        {"text_id": f"t{n}", "image_id": f"i{n}", "relevance": 1, "split": "validation"}
        for n in range(N)
    ]
    pixels = [
        {"image_id": f"i{n}", "webp": tiny.picture(60 + 30 * (n % 2), 64, n)} for n in range(N)
    ]
    store.write_rows(texts, tmp_path / "texts.parquet", TEXTS)
    store.write_rows(images, tmp_path / "images.parquet", IMAGES)
    store.write_rows(qrels, tmp_path / "qrels.parquet", QRELS)
    shard = [{name: row.get(name) for name in PIXELS.names} for row in pixels]
    store.write_rows(shard, tmp_path / "pixels.parquet", PIXELS)
    return tmp_path


@pytest.fixture(scope="module")
def checkpoints(tmp_path_factory) -> dict[str, Path]:
    kinds = ("bert", "qwen3-vl")
    return {kind: tiny.save(tmp_path_factory.mktemp("tiny") / kind, kind) for kind in kinds}


def first_runs(place: Path, queries: int = N - 1) -> list[Path]:
    """Runs of a first system, `base` deeper than `small`; the last query has no hit."""
    parts = list[Path]()
    for cell in CELLS:
        query, document = ("t", "i") if cell.endswith("t2m") else ("i", "t")
        rows = [
            (f"{query}{q}", f"{document}{(q + d) % N}", 10.0 - d)
            for q in range(queries)
            for d in range(4 if cell.startswith("small") else N)
        ]
        path = place / "results" / cell / "words.parquet"
        hits = pl.DataFrame(rows, ["query_id", "doc_id", "score"], orient="row")
        write_run(hits, path)
        parts.append(path)
    return parts


def entry(checkpoint: Path, **keys: Any) -> dict[str, Any]:
    told = {"kind": "reranker", "name": str(checkpoint), "images": "captions", "batch": 4}
    told |= {"fields": ["context_section_description"]}
    return ModelKind.of_spec({**told, **keys}).filled()


def search(place: Path, model: dict[str, Any], **keys: Any) -> dict[str, Any]:
    """Rerank all cells; return the account."""
    parts = keys.pop("parts", None) or first_runs(place)
    runs = keys.pop("runs", None) or [path.with_name("again.parquet") for path in parts]
    spec = entries.system_of("rerank", of="words", model="m", depth=keys.pop("depth", DEPTH))
    seen = [place / "pixels.parquet"] if model["images"] == "pixels" else []
    files: Any = {name: place / f"{name}.parquet" for name in ("texts", "images", "qrels")}
    costs = str(place / "costs.json")
    more: Any = {"parts": parts, "runs": runs, "pixels": seen, "spec": spec, "costs": costs, **keys}
    more |= {"collection": "toy", "system": "again"}
    search_reranked(**files, model=model_of(model), language="en", **more)
    return json.loads((place / "costs.json").read_text())


def expected(run: pl.DataFrame, score: Callable[[str, str], float]) -> Rows:
    """The same by hand: the first hits by the model's score, ties by the greater id, the rest."""
    rows: Rows = []
    for (query,), hits in run.group_by("query_id", maintain_order=True):
        ids = hits["doc_id"].to_list()
        head = sorted(((score(str(query), d), d) for d in ids[:DEPTH]), reverse=True)
        rows += [(str(query), d, n, s) for n, (s, d) in enumerate(head, 1)]
        low = head[-1][0]
        step = max(abs(low), 1) * 2**-20
        tail = enumerate(ids[DEPTH:], 1)
        rows += [(str(query), d, DEPTH + n, low - n * step) for n, d in tail]
    return rows


def same(run: pl.DataFrame, rows: Rows) -> bool:
    told = run.rows()
    assert [row[:3] for row in told] == [row[:3] for row in rows]
    assert [row[3] for row in told] == pytest.approx([row[3] for row in rows], abs=1e-6)
    return True


def scorer(model: dict[str, Any], sides: dict[str, Any]) -> Callable[[str, str], float]:
    loaded = rerankers.load(model_of(model), device="cpu")

    def score(query: str, document: str) -> float:
        [ready] = loaded.prepare([ScoredPair(sides[query], sides[document])])
        return float(loaded.scores([ready] * 4)[0])

    return score


@pytest.mark.parametrize(("kind", "images"), [("bert", "captions"), ("qwen3-vl", "pixels")])
def test_first_hits_are_ordered_by_the_model_and_the_others_follow(
    place, checkpoints, kind, images
):
    model = entry(checkpoints[kind], images=images)
    account = search(place, model)
    sides: dict[str, Any] = {f"t{n}": text for n, text in enumerate(WORDS)}
    sides |= {f"i{n}": text for n, text in enumerate(CAPTIONS)}
    if images == "pixels":
        sides |= {f"i{n}": tiny.picture(60 + 30 * (n % 2), 64, n) for n in range(N)}
    score = scorer(model, sides)
    for path in first_runs(place):
        run = read_run(path.with_name("again.parquet"))
        assert same(run, expected(read_run(path), score))
    # Two settings of two tasks, five queries of three hits; settings share all of them.
    assert account == {
        "collection": "toy",
        "system": "again",
        "queries": 4 * (N - 1),
        "pairs": 4 * (N - 1) * DEPTH,
        "scored": 2 * (N - 1) * DEPTH,
        "seconds": account["seconds"],
    }


def test_what_is_found_within_the_whole_depth_stays(place, checkpoints):
    search(place, entry(checkpoints["bert"]))
    for path in first_runs(place):
        before, after = read_run(path), read_run(path.with_name("again.parquet"))
        pairs_of = [set(run.select("query_id", "doc_id").rows()) for run in (before, after)]
        assert pairs_of[0] == pairs_of[1]
        assert before.filter(pl.col("rank") > DEPTH)["doc_id"].to_list() == (
            after.filter(pl.col("rank") > DEPTH)["doc_id"].to_list()
        )


def test_a_run_shorter_than_the_depth_is_reranked_whole(place, checkpoints):
    account = search(place, entry(checkpoints["bert"]), depth=50)
    assert account["pairs"] == 2 * (N - 1) * (4 + N)


def test_runs_without_a_hit_have_none(place, checkpoints):
    parts = first_runs(place, queries=0)
    account = search(place, entry(checkpoints["bert"]), parts=parts)
    assert (account["queries"], account["pairs"], account["scored"]) == (0, 0, 0)
    assert all(read_run(path.with_name("again.parquet")).is_empty() for path in parts)


numbers = st.floats(-60, 60, width=32)


@given(
    lists=st.lists(
        st.tuples(st.lists(numbers, min_size=1, max_size=4), st.integers(0, 1200)), max_size=3
    )
)
def test_scores_fall_at_single_precision_below_those_of_the_model(lists):
    rows, told = list[tuple[str, str, float]](), list[tuple[str, str, float]]()
    for query, (scores, others) in enumerate(lists):
        size = len(scores) + others
        rows += [(f"q{query}", f"d{n:05}", float(size - n)) for n in range(size)]
        told += [(f"q{query}", f"d{n:05}", score) for n, score in enumerate(scores)]
    schema: Any = {"query_id": pl.String, "doc_id": pl.String, "score": pl.Float64}
    run = ranked(pl.DataFrame(rows, schema, orient="row"))
    scores = pl.DataFrame(told, schema, orient="row").with_columns(pl.col("score").cast(pl.Float32))
    out = reranked(run, scores, 4)
    assert out.equals(ranked(out.drop("rank")))
    assert sorted(out.select("query_id", "doc_id").rows()) == sorted(
        run.select("query_id", "doc_id").rows()
    )
    for (query,), hits in out.group_by("query_id", maintain_order=True):
        own = hits["score"].to_numpy().astype(np.float32)[len(lists[int(str(query)[1:])][0]) - 1 :]
        assert (np.diff(own) < 0).all()


def test_a_hit_that_another_pool_has_higher_up_stays_below():
    """The frequencies of words, and so BM25's order, differ from pool to pool."""
    run = ranked(
        pl.DataFrame({"query_id": ["q"] * 3, "doc_id": ["a", "b", "c"], "score": [3.0, 2, 1]})
    )
    scores = pl.DataFrame({"query_id": ["q"] * 3, "doc_id": ["a", "b", "c"], "score": [1.0, 2, 9]})
    assert reranked(run, scores, 2)["doc_id"].to_list() == ["b", "a", "c"]


def skip_where_places_differ(caplog: pytest.LogCaptureFixture) -> None:
    """Skip what shows that scores are remembered, on a processor where none is to be."""
    if kernels.PLACES in caplog.text:
        pytest.skip("kernels of this processor differ by row, so no score is remembered")


def test_pairs_are_scored_once_whatever_runs_and_settings_have_them(place, checkpoints, caplog):
    model = entry(checkpoints["bert"])
    first = search(place, model)
    skip_where_places_differ(caplog)
    files = {path: path.with_name("again.parquet").read_bytes() for path in first_runs(place)}
    again = search(place, model)
    assert (first["scored"], again["scored"]) == (30, 0)
    assert files == {
        path: path.with_name("again.parquet").read_bytes() for path in first_runs(place)
    }
    deeper = search(place, model, depth=4)
    assert deeper["scored"] == 10


def test_without_the_cache_the_same_bytes_are_made(place, checkpoints, monkeypatch):
    monkeypatch.setattr(rerank, "CACHE_MB", 0)

    def made(**keys: Any) -> list[bytes]:
        search(place, entry(checkpoints["bert"], **keys))
        return [p.with_name("again.parquet").read_bytes() for p in first_runs(place)]

    assert made() == made()
    assert not list((place / ".isotope/pairs").rglob("*.parquet"))


def test_another_snapshot_with_the_same_content_is_not_scored_again(place, checkpoints):
    model = entry(checkpoints["bert"])
    search(place, model)
    for name, keys in (("texts", ["text_id"]), ("images", ["image_id"])):
        table = pl.read_parquet(place / f"{name}.parquet")
        later = table.with_columns(pl.col(keys).str.replace("^(.)", "${1}x"))
        later.write_parquet(place / f"{name}.parquet")
    parts = list[Path]()
    for path in first_runs(place):
        run = read_run(path).with_columns(pl.col("query_id", "doc_id").str.replace("^(.)", "${1}x"))
        write_run(run.drop("rank"), path.with_name("later.parquet"))
        parts.append(path.with_name("later.parquet"))
    assert search(place, model, parts=parts)["scored"] == 0


@pytest.mark.parametrize(
    "change",
    [{"context": 16}, {"batch": 2}, {"name": "other"}],
    ids=["prompt", "shape", "weights"],
)
def test_another_model_or_prompt_finds_nothing(place, checkpoints, tmp_path_factory, change):
    search(place, entry(checkpoints["bert"]))
    if "name" in change:
        change = {"name": str(tiny.save(tmp_path_factory.mktemp("other"), "bert", seed=1))}
    model = {**entry(checkpoints["bert"]), **change}
    assert search(place, model)["scored"] == 30


def test_another_instruction_is_another_score(place, checkpoints):
    two = {"t2m": "Find the picture", "m2t": "Find the section"}
    told: list[Any] = [{}, {"instruction": "Find the picture"}, {"instruction": two}]
    counts = [search(place, entry(checkpoints["qwen3-vl"], **each))["scored"] for each in told]
    # The third shares the instruction of one task with the second.
    assert counts == [30, 30, 15]


class Killed(Exception):
    pass


def test_a_killed_search_goes_on_after_what_it_has_scored(place, checkpoints, monkeypatch, caplog):
    model = entry(checkpoints["bert"])
    monkeypatch.setattr(pairs, "_EVERY_S", -1.0)
    real, batches = rerankers.Classifier.scores, list[int]()

    def dying(self: Any, batch: Any) -> Any:
        # The fixed pairs of the key come first.
        if len(batches) == 3 + 4:
            raise Killed
        batches.append(len(batch))
        return real(self, batch)

    with monkeypatch.context() as patch:
        patch.setattr(rerankers.Classifier, "scores", dying)
        with pytest.raises(Killed):
            search(place, model)
    assert not list(place.rglob("again.parquet"))
    skip_where_places_differ(caplog)
    assert search(place, model)["scored"] == 30 - 4 * 4
    resumed = [p.with_name("again.parquet").read_bytes() for p in first_runs(place)]
    monkeypatch.setattr(rerank, "CACHE_MB", 0)
    whole = search(place, model) and search(place, model)
    assert whole["scored"] == 30
    assert resumed == [p.with_name("again.parquet").read_bytes() for p in first_runs(place)]


def test_slices_of_the_queries_make_the_same_runs(place, checkpoints, monkeypatch):
    """A pair has another place in a batch there, which changes its score by rounding at most."""
    model, parts = entry(checkpoints["bert"]), first_runs(place)
    search(place, model, parts=parts)
    whole = [read_run(path.with_name("again.parquet")) for path in parts]
    slices = list[Path]()
    monkeypatch.setattr(rerank, "CACHE_MB", 0)
    for part in ("00000-of-00002", "00001-of-00002"):
        runs = [place / "slices" / part / cell / "again.parquet" for cell in CELLS]
        account = search(place, model, parts=parts, runs=runs)
        assert 0 < account["queries"] < 4 * (N - 1)
        slices += runs
    gathered = [place / "gathered" / cell / "again.parquet" for cell in CELLS]
    gather_runs(pieces=slices, runs=gathered)
    assert all(same(read_run(b), a.rows()) for a, b in zip(whole, gathered, strict=True))


def test_a_reranked_run_is_fused_like_any_other(place, checkpoints):
    search(place, entry(checkpoints["bert"]))
    parts = [p for q in first_runs(place) for p in (q, q.with_name("again.parquet"))]
    runs = [place / "results" / cell / "both.parquet" for cell in CELLS]
    spec = entries.system_of("wsum", of=["words", "again"], weights=[0.5, 0.5])
    search_fused(parts=parts, runs=runs, spec=spec, depth=10)
    assert all(
        read_run(p).height == read_run(q).height
        for p, q in zip(first_runs(place), runs, strict=True)
    )


def test_a_picture_that_no_shard_holds_is_named(place, checkpoints):
    shard = pl.read_parquet(place / "pixels.parquet")
    shard.filter(pl.col("image_id") != "i2").write_parquet(place / "pixels.parquet")
    with pytest.raises(MissingFile, match="image i2: none of its pixels"):
        search(place, entry(checkpoints["qwen3-vl"], images="pixels"))


def test_a_score_that_is_no_number_is_neither_written_nor_remembered(
    place, checkpoints, monkeypatch
):
    real = rerankers.Classifier.scores
    calls = iter(range(100))

    def broken(self: Any, batch: Any) -> Any:
        return real(self, batch) * (np.nan if next(calls) > 3 else 1)

    monkeypatch.setattr(rerankers.Classifier, "scores", broken)
    with pytest.raises(IntegrityError, match=r"the score nan of text '.*' and image 'i0'"):
        search(place, entry(checkpoints["bert"]))
    assert not list(place.rglob("again.parquet"))


def test_what_depends_on_its_place_in_a_batch_is_not_remembered(
    place, checkpoints, monkeypatch, caplog
):
    real = rerankers.Classifier.scores

    def uneven(self: Any, batch: Any) -> Any:
        return real(self, batch) + np.arange(len(batch), dtype=np.float32)

    monkeypatch.setattr(rerankers.Classifier, "scores", uneven)
    assert search(place, entry(checkpoints["bert"]))["scored"] == 30
    assert not list((place / ".isotope/pairs").rglob("*.parquet"))
    assert kernels.PLACES in caplog.text


def cached(root: Path, key: str, numbers: range) -> PairCache:
    cache = PairCache(key, root)
    for n in numbers:
        cache.add(n, n + 1, n / 8)
    return cache


def asked(*heads: int) -> pl.DataFrame:
    table = pl.DataFrame({"head": heads, "tail": [n + 1 for n in heads]})
    return table.cast({"head": pl.UInt64, "tail": pl.UInt64})


def test_scores_are_found_by_both_halves_of_a_digest(tmp_path):
    cached(tmp_path, "k", range(4)).close(1)
    other = asked(2).with_columns(tail=pl.lit(7, pl.UInt64))
    found = PairCache("k", tmp_path).scores(pl.concat([asked(3, 9, 1), other]))
    assert found["score"].to_list() == [3 / 8, None, 1 / 8, None]
    assert PairCache("another", tmp_path).scores(asked(3))["score"].to_list() == [None]


def test_what_was_used_longest_ago_makes_room(tmp_path):
    for key in ("old", "new"):
        cached(tmp_path, key, range(40_000)).close(100)
    [old], [new] = (list((tmp_path / key).iterdir()) for key in ("old", "new"))
    os.utime(old, (1, 1))
    least = max(old.stat().st_size, new.stat().st_size) / 1e6
    # Reading is use.
    PairCache("old", tmp_path).scores(asked(1))
    os.utime(new, (2, 2))
    pairs._prune(tmp_path, int((least + 0.01) * 1e6))
    assert old.is_file()
    assert not new.is_file()


def test_a_damaged_file_is_passed_over_with_a_warning(tmp_path, caplog):
    cached(tmp_path, "k", range(4)).close(1)
    (tmp_path / "k/bad.parquet").write_bytes(b"PAR1")
    assert PairCache("k", tmp_path).scores(asked(2))["score"].to_list() == [2 / 8]
    assert "bad.parquet is not read" in caplog.text


def test_a_job_leaves_one_file_of_all_that_it_has_scored(tmp_path, monkeypatch):
    monkeypatch.setattr(pairs, "_EVERY_S", -1.0)
    cached(tmp_path, "k", range(5)).close(1)
    assert len(list((tmp_path / "k").iterdir())) == 1
    assert PairCache("k", tmp_path).scores(asked(0, 4))["score"].to_list() == [0, 0.5]


def test_texts_and_pictures_never_share_a_digest():
    assert pairs.content("ab") != pairs.content(b"ab")
    sides = pairs.content("a"), pairs.content("b")
    assert pairs.digest("", *sides) != pairs.digest("", *sides[::-1])
    assert pairs.digest("x", *sides) != pairs.digest("", *sides)
