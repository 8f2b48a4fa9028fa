"""MTEB evaluates a release as one of its own tasks, and measures what isotope measures."""

import json
import runpy
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow.parquet as pq
import pytest
from tests import releases

from isotope.core.measures import score_run
from isotope.core.runs import ranked
from isotope.release.lite import PoolLimits, write_lite

pytestmark = pytest.mark.filterwarnings("ignore")
_WORDS = {name: n for n, name in enumerate(releases.COLOURS)}


class Eyes:
    """A text is the colour that it names, a picture its middle; some colours are mistaken."""

    def __init__(self, *_: object, **__: object) -> None:
        from mteb.models import ModelMeta  # noqa: PLC0415

        own = {"name": "isotope/eyes", "revision": "1", "modalities": ["text", "image"]}
        self.mteb_model_meta = ModelMeta.create_empty(overwrites=own)
        self.seen: list[set[str]] = []

    def encode(self, inputs: Any, **_: Any) -> Any:
        rows = []
        for batch in inputs:
            self.seen.append(set(batch))
            for n in range(len(batch["id"])):
                rows.append(self._row({key: values[n] for key, values in batch.items()}))
        return np.asarray(rows, np.float32)

    def _row(self, item: dict[str, Any]) -> Any:
        vector = np.zeros(16)
        if "image" in item:
            vector[:3] = np.asarray(item["image"].convert("RGB"))[3, 4] / 255 + 0.1
        if "text" in item:
            named = [n for word, n in _WORDS.items() if word in item["text"]]
            vector[[n % 5 for n in named]] += 0.7
            vector[len(item["text"]) % 7] += 0.01
        return vector

    def similarity(self, embeddings1: Any, embeddings2: Any) -> Any:
        return np.asarray(embeddings1) @ np.asarray(embeddings2).T

    def similarity_pairwise(self, embeddings1: Any, embeddings2: Any) -> Any:
        return (np.asarray(embeddings1) * np.asarray(embeddings2)).sum(1)


def tasks(release: Path) -> dict[str, Any]:
    return runpy.run_path(str(release / "mteb/tasks.py"))


def evaluate(made: list[Any], folder: Path) -> tuple[Eyes, list[Any]]:
    """Evaluate some tasks, rankings to `folder`; return the model, and mteb's results."""
    import mteb  # noqa: PLC0415

    model: Any = Eyes()
    quiet: dict[str, Any] = {"cache": None, "co2_tracker": False, "show_progress_bar": False}
    return model, mteb.evaluate(model, made, prediction_folder=folder, **quiet).task_results


def check(result: Any, subset: str, release: Path, folder: Path) -> None:
    """MTEB's measures are ours of the ranking that it has written."""
    (scores,) = result.scores["test"]
    own = ours(folder / f"{result.task_name}_predictions.json", release, subset)
    assert scores["hf_subset"] == subset
    assert own == {
        "nDCG@10": pytest.approx(scores["ndcg_at_10"], abs=1e-5),
        "R@3": pytest.approx(scores["recall_at_3"], abs=1e-5),
        "MRR@10": pytest.approx(scores["mrr_at_10"], abs=1e-5),
    }
    assert 0 < own["nDCG@10"] < 1


def test_mteb_evaluates_both_directions_and_its_measures_are_ours(released, hub_cache, tmp_path):
    model, results = evaluate(tasks(released)["TASKS"], tmp_path)
    assert [r.task_name for r in results] == ["ToyT2IRetrieval", "ToyI2TRetrieval"]
    for result, subset in zip(results, ("t2m", "m2t"), strict=True):
        check(result, subset, released, tmp_path)
    assert any("image" in seen and "text" not in seen for seen in model.seen)


@pytest.mark.long
def test_mteb_shows_captions_beside_pictures(released, hub_cache, tmp_path):
    model, results = evaluate(tasks(released)["CAPTIONED"], tmp_path)
    assert [r.task_name for r in results] == ["ToyT2ITRetrieval", "ToyIT2TRetrieval"]
    for result, subset in zip(results, ("t2m", "m2t"), strict=True):
        check(result, subset, released, tmp_path)
    assert any({"image", "text"} <= seen for seen in model.seen)


@pytest.mark.long
def test_mteb_evaluates_a_small_release(released, hub_cache, tmp_path):
    lite = tmp_path / "toy-lite"
    write_lite(released, lite, PoolLimits(negatives=3, queries=5))
    folder = tmp_path / "predictions"
    _, results = evaluate(tasks(lite)["TASKS"], folder)
    for result, subset in zip(results, ("t2m", "m2t"), strict=True):
        check(result, subset, lite, folder)


def ours(predictions: Path, release: Path, task: str) -> dict[str, float]:
    """Our means of the ranking that mteb has written."""
    rankings = json.loads(predictions.read_text())[task]["test"]
    hits = [(q, d, s) for q, of in rankings.items() for d, s in of.items()]
    run = ranked(pl.DataFrame(hits, ["query_id", "doc_id", "score"], orient="row"))
    query, doc = ("text_id", "image_id") if task == "t2m" else ("image_id", "text_id")
    qrels = pl.read_parquet(release / "qrels/test.parquet")
    qrels = qrels.select(query_id=query, doc_id=doc, relevance="rel")
    values = score_run(run, qrels, ["nDCG@10", "R@3", "MRR@10"])
    return dict(values.group_by("measure").agg(pl.col("value").mean()).iter_rows())


def test_the_tasks_say_what_they_are(released):
    one, two = tasks(released)["TASKS"]
    assert (one.metadata.category, two.metadata.category) == ("t2i", "i2t")
    assert one.metadata.eval_langs == {"t2m": ["eng-Latn", "deu-Latn"]}
    assert one.metadata.eval_splits == ["test"]
    assert str(one.metadata.license) == "https://creativecommons.org/licenses/by-sa/4.0/"
    assert one.metadata.type == "Any2AnyRetrieval"
    assert one.metadata.modalities == ["text", "image"]


def test_the_pool_is_that_of_the_split_and_every_picture_is_there_once(released):
    for side in ("texts", "images"):
        for split, numbers in (("validation", (2, 3)), ("test", range(4, 9))):
            ids = pl.read_parquet(released / f"mteb/{side}/{split}.parquet")["id"].to_list()
            assert ids == [f"{side[0]}{n}" for n in numbers]
    assert not (released / "mteb/images/train.parquet").exists()


def test_without_pictures_captions_stand_for_them(tmp_path):
    release = releases.build(tmp_path, "words", pictures=[], runs=False)
    assert pq.read_schema(release / "mteb/images/test.parquet").names == ["id", "text"]
    made = tasks(release)
    assert [t.metadata.category for t in made["TASKS"]] == ["t2t", "t2t"]
    assert [t.metadata.name for t in made["TASKS"]] == ["WordsT2MRetrieval", "WordsM2TRetrieval"]
    assert made["CAPTIONED"] == []


def test_an_image_without_a_picture_is_left_out_with_its_judgements(tmp_path):
    release = releases.build(tmp_path, "some", pictures=[1, 2, 3, 4, 5, 6, 7], runs=False)
    assert pl.read_parquet(release / "mteb/images/test.parquet")["id"].to_list() == [
        *("i4", "i5", "i6", "i7")
    ]
    qrels = pl.read_parquet(release / "mteb/qrels/t2m/test.parquet")
    assert qrels["corpus-id"].to_list() == ["i4", "i5", "i6", "i7"]
    rows = pl.concat(pl.read_parquet(p) for p in sorted(release.glob("images/*.parquet")))
    assert rows.filter(pl.col("image").is_null())["image_id"].to_list() == ["i9", "i8"]


def test_without_a_test_split_the_validation_split_is_evaluated(tmp_path):
    release = releases.build(tmp_path, "two", splits=["train", "validation"], runs=False)
    assert tasks(release)["TASKS"][0].metadata.eval_splits == ["validation"]
    assert json.loads((release / "about.json").read_text())["evaluated"] == ["validation"]


def test_with_nothing_but_a_train_split_that_one_is_evaluated(tmp_path):
    release = releases.build(tmp_path, "one", splits=["train"], runs=False)
    assert tasks(release)["TASKS"][0].metadata.eval_splits == ["train"]


def test_with_neither_pictures_nor_captions_there_is_no_task(tmp_path):
    release = releases.build(tmp_path, "none", pictures=[], captions=False, runs=False)
    assert not (release / "mteb").exists()
    assert "mteb" not in (release / "README.md").read_text()
