"""CLIP2CLIP and CLIP Fusion are trained whole, stop early and resume to the bit."""

import csv
import io
import json
import math
import os
import signal
from collections.abc import Callable
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import torch
from PIL import Image
from safetensors import safe_open
from safetensors.torch import load_file
from tests import forkserver, kernels, oven_pairs
from tests.models import model_of

from isotope.core.errors import EmptyTable, MissingColumn
from isotope.core.pixels import squashed
from isotope.core.vectors import load_vectors
from isotope.encode.multimodal import encode_multimodal_shard
from isotope.models import open_clip
from isotope.models.multimodal import QUERY, TARGET, MultimodalEncoder, load_multimodal
from isotope.train import data, multimodal
from isotope.train import multimodal as multimodal_measure
from isotope.train import step as train_step
from isotope.train.data import TrainingSource, Workplace
from isotope.train.multimodal import MultimodalPoint, best, combined, read_judged

BASE = {"kind": "trained", "config": "oven-clip", "fields": ["page_title"]}
FEW = {"steps": 6, "batch": 8, "learning_rate": 0.01}
SPECS: dict[str, dict[str, Any]] = {
    "clip2clip": {"kind": "clip2clip", "of": "clip", "train": FEW},
    "clip_fusion": {"kind": "clip_fusion", "of": "clip", "train": FEW},
}
EITHER = pytest.mark.parametrize("kind", SPECS)
# CLIP-Fusion takes twice the time of the other kind.
SLOWER = {"clip_fusion": pytest.mark.long}
ONE = pytest.mark.parametrize("kind", [pytest.param(k, marks=SLOWER.get(k, ())) for k in SPECS])


@pytest.fixture(autouse=True)
def tiny_clip(tmp_path_factory, monkeypatch):
    folder = tmp_path_factory.mktemp("configs")
    (folder / "oven-clip.json").write_text(json.dumps(oven_pairs.TINY))
    monkeypatch.setattr(open_clip, "CONFIGS", folder)


@pytest.fixture(autouse=True)
def measured_every_second_step(monkeypatch):
    monkeypatch.setattr(multimodal, "STEPS_A_MEASUREMENT", 2)


@pytest.fixture(scope="module")
def collection(tmp_path_factory) -> dict[str, Any]:
    return oven_pairs.collection(tmp_path_factory.mktemp("oven"))


def trained(collection: dict[str, Any], place: Path, kind: str, **more: object) -> list[bytes]:
    place.mkdir(parents=True, exist_ok=True)
    out: dict[str, Any] = {"weights": place / "model.safetensors", "curve": place / "curve.csv"}
    spec = {**SPECS[kind], "train": {**SPECS[kind]["train"], **more}}
    model, base = model_of(spec), model_of(BASE)
    multimodal.train(**collection, model=model, base=base, **out, scratch=place / "scratch")
    return [path.read_bytes() for path in out.values()]


def notes_of(weights: Path) -> dict[str, Any]:
    with safe_open(weights, framework="np") as file:
        return json.loads(file.metadata()["isotope"])


def points_of(curve: bytes) -> list[dict[str, float]]:
    rows = csv.DictReader(io.StringIO(curve.decode()))
    return [{k: float(v) for k, v in row.items()} for row in rows]


def judged(collection: dict[str, Any], folder: Path, split: str) -> Any:
    source = TrainingSource(**collection, language="")
    return read_judged(source, split, ["page_title"], squashed(16), Workplace(folder))


def test_a_pair_is_a_picture_and_its_question_with_an_entitys_picture_and_name(
    collection, tmp_path
):
    found = judged(collection, tmp_path, "train")
    assert len(found) == 3 * (oven_pairs.ENTITIES - 2)
    assert len(found.questions.pixels) == 2 * (oven_pairs.ENTITIES - 2), "one picture, once"
    rows = np.arange(len(found))
    seen = (found.questions.pictures(rows)[:, :, 8, 8] * 255).round().int().numpy()
    names = found.entities.words.to_list()
    for row, answer in enumerate(found.answers):
        entity = int(names[answer].removeprefix("entity "))
        assert np.abs(seen[row] - oven_pairs.colour(entity)).max() < 12
    assert {*found.questions.words} == {"what is this entity?", "what is this query?"}


def test_an_entity_is_its_name_alone_and_one_without_a_picture_has_a_black_one(
    collection, tmp_path
):
    """Section 2, note 2: "we only consider using the name"; section 5.1: "a black image"."""
    entities = judged(collection, tmp_path, "validation").entities
    assert entities.words.to_list() == [f"entity {n}" for n in range(oven_pairs.ENTITIES)]
    pictures = entities.pictures(np.arange(len(entities)))
    black = [n for n, picture in enumerate(pictures) if not picture.any()]
    assert black == [n for n in range(oven_pairs.ENTITIES) if n % 4 == 3]


@EITHER
def test_training_writes_the_best_weights_the_curve_and_what_loads_them(collection, tmp_path, kind):
    _, curve = trained(collection, tmp_path, kind)
    points = points_of(curve)
    assert [point["step"] for point in points] == [2, 4, 6]
    notes = notes_of(tmp_path / "model.safetensors")
    means = [point["harmonic_mean"] for point in points]
    assert notes["step"] == points[means.index(max(means))]["step"]
    assert (notes["kind"], notes["recipe"]["batch"]) == (kind, 8)
    model, _ = load_multimodal(tmp_path / "model.safetensors")
    assert not model.training
    own = {*model.query.state_dict()}
    assert own == {*model.target.state_dict()}
    assert not list((tmp_path / "scratch").iterdir()), "nothing is left behind"


def test_the_four_weights_begin_at_the_grids_best(collection, tmp_path):
    """Appendix 11.2: a grid search on the training data, whose weights initialise the model."""
    trained(collection, tmp_path, "clip2clip", steps=1, learning_rate=1e-9)
    found = notes_of(tmp_path / "model.safetensors")["start"]
    assert sum(found) == pytest.approx(1)
    assert all(round(10 * weight) == pytest.approx(10 * weight) for weight in found)
    model: Any = load_multimodal(tmp_path / "model.safetensors")[0]
    assert model.weights.tolist() == pytest.approx(found, abs=1e-6)


def test_the_grid_is_searched_on_the_pairs_of_training(collection, tmp_path, monkeypatch):
    """Appendix 11.2: "a grid search on the training data", and on no pair of validation."""
    searched = []
    search = multimodal.grid_start

    def seen(model: Any, judged: Any, *others: Any) -> list[float]:
        searched.append(judged.groups)
        return search(model, judged, *others)

    monkeypatch.setattr(multimodal, "grid_start", seen)
    trained(collection, tmp_path, "clip2clip", steps=1)
    (groups,) = searched
    training = pl.read_parquet(collection["qrels"]).filter(split="train")
    assert sorted(groups["image_id"]) == sorted(training["image_id"])


@pytest.mark.parametrize(
    ("means", "chosen"),
    [
        ((0.1, 0.4, 0.3), 4),
        pytest.param((0.1, 0.2, 0.3), 6, marks=pytest.mark.long),
        pytest.param((0.3, 0.3, 0.2), 2, marks=pytest.mark.long),
        ((0.0, 0.0, 0.0), 2),
    ],
)
def test_early_stopping_keeps_the_weights_of_the_best_harmonic_mean(
    collection, tmp_path, monkeypatch, means, chosen
):
    """Section 6: "the best harmonic mean combined score on the validation set"."""
    measured = iter(means)
    monkeypatch.setattr(multimodal, "accuracies", lambda *_: [math.nan] * 4 + [next(measured)])
    trained(collection, tmp_path / "early", "clip2clip")
    assert notes_of(tmp_path / "early/model.safetensors")["step"] == chosen
    # Ended after that step on the same schedule, it has the same weights.
    measured = iter([0.9])
    monkeypatch.setattr(multimodal.EarlyStopping, "run", stopped_after(chosen, multimodal))
    monkeypatch.setattr(multimodal, "STEPS_A_MEASUREMENT", chosen)
    trained(collection, tmp_path / "there", "clip2clip")
    both = [load_multimodal(tmp_path / p / "model.safetensors")[0] for p in ("early", "there")]
    ours, theirs = (model.state_dict() for model in both)
    assert all(torch.equal(value, theirs[name]) for name, value in ours.items())


def stopped_after(steps: int, module: Any) -> Any:
    run = module.EarlyStopping.run

    def short(self: Any) -> Any:
        self.total = steps
        return run(self)

    return short


def test_the_first_of_equals_stays():
    points = [
        MultimodalPoint(1, n, 0.0, 0, 0, 0, 0, mean) for n, mean in enumerate((0.1, 0.4, 0.4))
    ]
    assert best(points).step == 1


@pytest.mark.parametrize(
    ("shares", "overall"),
    [
        ((5.4, 5.3, 0.8, 1.4), 1.7),
        ((32.7, 4.3, 33.4, 2.2), 5.4),
        ((12.6, 10.1, 4.1, 2.1), 4.4),
        ((21.6, 6.6, 33.2, 14.7), 13.5),
        ((30.6, 12.4, 44.2, 22.4), 22.1),
    ],
)
def test_the_combined_score_is_table_1s_overall(shares, overall):
    """Table 1, validation: CLIP, CLIP Fusion, CLIP2CLIP, PaLI-3B and PaLI-17B."""
    assert combined(list(shares)) == pytest.approx(overall, abs=0.06)


def test_groups_without_pairs_have_no_part_in_the_combined_score():
    assert combined([0.2, 0.6, math.nan, math.nan]) == pytest.approx(0.3)
    assert combined([0.2, math.nan, 0.6, math.nan]) == pytest.approx(0.3)
    assert combined([0.5, 0.0, 0.5, 0.5]) == 0


def test_accuracies_are_shares_of_each_subset_by_what_was_seen(collection, tmp_path):
    """Counted by hand, over the scores of all pairs of validation with all of its entities."""
    trained(collection, tmp_path, "clip_fusion")
    model, _ = load_multimodal(tmp_path / "model.safetensors")
    found = judged(collection, tmp_path, "validation")
    tokens = multimodal.Tokens(open_clip.open_clip.SimpleTokenizer(context_length=16))
    rows, every = np.arange(len(found)), np.arange(len(found.entities))
    with torch.inference_mode():
        queries = model.encode(
            QUERY, found.questions.pictures(rows), found.questions.tokens(rows, tokens)
        )
        entities = model.encode(
            TARGET, found.entities.pictures(every), found.entities.tokens(every, tokens)
        )
    right = (queries @ entities.T).argmax(dim=1).numpy() == found.answers
    table = found.groups.with_columns(right=pl.Series(right))
    ours = multimodal_measure.accuracies(model, found, tokens)
    for share, (subset, seen) in zip(ours, multimodal_measure.GROUPS, strict=False):
        assert share == pytest.approx(table.filter(subset=subset, seen=seen)["right"].mean())
    assert table.height == 2 * oven_pairs.ENTITIES


class Stop(Exception):
    """What a killed machine would not even raise."""


@contextmanager
def stopping(number: int):
    """Stop in the step of this number, counted from where the training begins."""
    step, done = train_step.Stepper.step, []

    def counted(self: Any, batch: Any) -> float:
        done.append(1)
        if len(done) == number:
            raise Stop
        return step(self, batch)

    with pytest.MonkeyPatch.context() as patch, pytest.raises(Stop):  # noqa: PT012
        patch.setattr(train_step.Stepper, "step", counted)
        yield


MEANS = {"checkpoint_every": 1, "micro_batch": 3}


@pytest.fixture(scope="module")
def plain(collection, tmp_path_factory) -> Callable[[str], list[bytes]]:
    """What a training of a kind writes as its entry has it."""

    @cache
    def written(kind: str) -> list[bytes]:
        return trained(collection, tmp_path_factory.mktemp("plain"), kind)

    return written


@pytest.fixture(scope="module")
def straight(collection, tmp_path_factory) -> Callable[[str], list[bytes]]:
    """What a training of a kind writes that nothing stops."""

    @cache
    def written(kind: str) -> list[bytes]:
        return trained(collection, tmp_path_factory.mktemp("straight"), kind, **MEANS)

    return written


ANYWHERE = [4, *(pytest.param(at, marks=pytest.mark.long) for at in (2, 6))]


@ONE
@pytest.mark.parametrize("at", ANYWHERE)
def test_a_training_stopped_anywhere_resumes_to_the_same_bytes(  # noqa: PLR0913, PLR0917
    collection, tmp_path, kind, at, caplog, straight
):
    with stopping(at):
        trained(collection, tmp_path / "stopped", kind, **MEANS)
    assert not (tmp_path / "stopped/model.safetensors").exists()
    caplog.set_level("INFO")
    assert trained(collection, tmp_path / "stopped", kind, **MEANS) == straight(kind)
    assert "resumed after step" in caplog.text
    assert not list((tmp_path / "stopped/scratch").iterdir()), "nothing is left behind"


@pytest.mark.gpu
@EITHER
def test_a_training_on_a_gpu_resumes_to_the_same_bytes_which_encode_there(
    collection, tmp_path, kind
):
    with stopping(4):
        trained(collection, tmp_path / "stopped", kind, **MEANS)
    written = trained(collection, tmp_path / "stopped", kind, **MEANS)
    assert written == trained(collection, tmp_path / "straight", kind, **MEANS)
    weights = tmp_path / "stopped/model.safetensors"
    shown = [(Image.new("RGB", (20, 20), oven_pairs.colour(n)), f"entity {n}") for n in range(8)]
    ours, theirs = (MultimodalEncoder(weights, device) for device in ("cuda", "cpu"))
    for side in (QUERY, TARGET):
        found, expected = ours.encode(side, shown), theirs.encode(side, shown)
        lengths = np.linalg.norm(found, axis=1) * np.linalg.norm(expected, axis=1)
        assert ((found * expected).sum(axis=1) / lengths > 0.999).all()
        assert ours.encode(side, shown).tobytes() == found.tobytes()


KILLED = """
import json, os, signal, sys
from pathlib import Path
from isotope.models import open_clip
from isotope.params.sections import ModelKind
from isotope.train import data, multimodal
from isotope.train import step as train_step

given = json.loads(sys.argv[1])
open_clip.CONFIGS = Path(given.pop("configs"))
step, done = train_step.Stepper.step, []

def counted(self, batch):
    done.append(1)
    if len(done) == 6:
        os.kill(os.getpid(), signal.SIGKILL)
    return step(self, batch)

train_step.Stepper.step = counted
multimodal.STEPS_A_MEASUREMENT = 2
told = {k: ModelKind.of_spec(given.pop(k)) for k in ("model", "base")}
pixels = [Path(p) for p in given.pop("pixels")]
multimodal.train(**{k: Path(v) for k, v in given.items()}, **told, pixels=pixels)
"""


@pytest.mark.long
def test_a_training_killed_after_it_kept_better_weights_resumes_to_the_same_bytes(
    collection, tmp_path
):
    """Killed in step 6, measured after 4, resumed after 3."""
    straight = trained(collection, tmp_path / "straight", "clip2clip", checkpoint_every=3)
    place = tmp_path / "killed"
    out = {"weights": place / "model.safetensors", "curve": place / "curve.csv"}
    spec = SPECS["clip2clip"]
    spec = {**spec, "train": {**spec["train"], "checkpoint_every": 3}}
    told = {"model": model_of(spec).spec(), "base": model_of(BASE).spec()}
    given = {**collection, **out, **told, "scratch": place / "scratch"}
    job = json.dumps({**given, "configs": open_clip.CONFIGS}, default=str)
    place.mkdir()
    done = forkserver.run(["python", "-c", KILLED, job], cwd=tmp_path, timeout=120)
    assert done.returncode == -signal.SIGKILL, done.stderr[-2000:]
    left = {path.name for path in (place / "scratch").iterdir()}
    assert {"checkpoint.pt", "best.safetensors"} <= left
    assert trained(collection, place, "clip2clip", checkpoint_every=3) == straight


def test_a_checkpoint_of_another_clip_is_not_resumed(collection, tmp_path, caplog, monkeypatch):
    with stopping(4):
        trained(collection, tmp_path, "clip2clip", checkpoint_every=1)
    monkeypatch.setitem(BASE, "fields", ["page_title", "context_page_description"])
    trained(collection, tmp_path, "clip2clip", checkpoint_every=1)
    assert "of another training" in caplog.text


@ONE
def test_the_same_input_gives_the_same_bytes_and_another_seed_others(
    collection, tmp_path, kind, plain
):
    first = plain(kind)
    assert trained(collection, tmp_path / "again", kind) == first
    assert trained(collection, tmp_path / "other", kind, seed=1)[0] != first[0]


@EITHER
def test_the_model_learns(collection, tmp_path, kind, monkeypatch):
    monkeypatch.setattr(multimodal, "STEPS_A_MEASUREMENT", 20)
    _, curve = trained(collection, tmp_path, kind, steps=40, batch=10)
    losses = [point["loss"] for point in points_of(curve)]
    assert losses[-1] < losses[0] - 0.1


def test_pictures_decoded_when_asked_for_teach_the_same(collection, tmp_path, plain, monkeypatch):
    squares = plain("clip2clip")
    monkeypatch.setattr(data, "SQUARES_GIB", 0)
    assert trained(collection, tmp_path, "clip2clip") == squares


@pytest.mark.parametrize("split", ["train", "validation"])
def test_a_collection_without_pairs_to_learn_from_or_stop_by_is_refused(
    collection, tmp_path, split
):
    qrels = tmp_path / "qrels.parquet"
    pl.read_parquet(collection["qrels"]).filter(pl.col("split") != split).write_parquet(qrels)
    with pytest.raises(EmptyTable, match=f"0 pairs in split {split}"):
        trained(collection | {"qrels": qrels}, tmp_path, "clip2clip")


def test_a_collection_without_questions_is_refused(collection, tmp_path):
    images = tmp_path / "images.parquet"
    pl.read_parquet(collection["images"]).drop("question").write_parquet(images)
    with pytest.raises(MissingColumn, match="no column 'question'"):
        trained(collection | {"images": images}, tmp_path, "clip2clip")


def encoded(collection: dict[str, Any], place: Path, shards: int) -> dict[str, np.ndarray]:
    """Both sides by all shards, in order of id."""
    found: dict[str, list[np.ndarray]] = {"images": [], "texts": []}
    for shard in range(shards):
        names = ("text_vectors", "text_ids", "image_vectors", "image_ids")
        out = {name: place / f"{name}{shard}" for name in names}
        encode_multimodal_shard(
            **{k: collection[k] for k in ("texts", "images", "pixels")},
            fields=["page_title"],
            weights=place / "model.safetensors",
            shard=shard,
            shards=shards,
            batch=4,
            outputs=out,
        )
        for side, parts in found.items():
            parts.append(
                load_vectors([out[f"{side[:-1]}_vectors"]], [out[f"{side[:-1]}_ids"]]).blocks[0]
            )
    return {side: np.concatenate(parts) for side, parts in found.items()}


@EITHER
def test_a_collection_is_encoded_as_the_model_was_measured(collection, tmp_path, kind, monkeypatch):
    """Inner products of what the phase encode writes give the accuracies of the last step."""
    monkeypatch.setattr(multimodal, "STEPS_A_MEASUREMENT", 4)
    _, curve = trained(collection, tmp_path, kind, steps=4)
    vectors = encoded(collection, tmp_path, 1)
    images = pl.read_parquet(collection["images"]).sort("image_id").with_row_index()
    qrels = pl.read_parquet(collection["qrels"]).select("image_id", "text_id")
    first = (vectors["images"] @ vectors["texts"].T).argmax(axis=1)
    asked = images.filter(split="validation").join(qrels, on="image_id")
    right = [f"Q{first[row]:02}" == text for row, text in asked.select("index", "text_id").rows()]
    table = asked.with_columns(right=pl.Series(right))
    for subset, seen in multimodal_measure.GROUPS:
        share = table.filter(subset=subset, seen=seen)["right"].mean()
        assert points_of(curve)[-1][f"{subset}_{seen}"] == pytest.approx(share, abs=1e-6)


def test_an_entity_without_a_picture_is_encoded_with_a_black_one(collection, tmp_path):
    """Section 5.1: "a black image"; the model is shown one beside the names, and a white one."""
    trained(collection, tmp_path, "clip2clip", steps=1)
    rows = encoded(collection, tmp_path, 1)["texts"]
    bare = [n for n in range(oven_pairs.ENTITIES) if n % 4 == 3]
    encoder = MultimodalEncoder(tmp_path / "model.safetensors", "cpu")
    black, white = (
        encoder.encode(TARGET, [(Image.new("RGB", (20, 20), c), f"entity {n}") for n in bare])
        for c in ("black", "white")
    )
    np.testing.assert_allclose(rows[bare], black, atol=1e-5)
    assert not np.allclose(black, white, atol=1e-2)


def test_shards_hold_the_rows_of_one_but_for_rounding(collection, tmp_path):
    trained(collection, tmp_path, "clip_fusion", steps=1)
    for kind in kernels.KINDS:
        with kernels.processor(kind):
            one, three = (encoded(collection, tmp_path, shards) for shards in (1, 3))
        for side, rows in one.items():
            kernels.assert_same_but_for_rounding(three[side], rows)
            np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)


@pytest.mark.long
def test_two_processes_train_the_weights_of_one(collection, tmp_path, monkeypatch):
    """With the project's own configuration, which the processes can see."""
    monkeypatch.undo()
    monkeypatch.setitem(os.environ, "PYTHONWARNINGS", "default")
    monkeypatch.setitem(BASE, "config", "tiny-clip")
    trained(collection, tmp_path / "alone", "clip2clip", steps=2, batch=7, micro_batch=4)
    trained(collection, tmp_path / "both", "clip2clip", steps=2, batch=7, processes=2)
    ours, theirs = (load_file(tmp_path / p / "model.safetensors") for p in ("both", "alone"))
    for name, value in theirs.items():
        torch.testing.assert_close(ours[name], value, rtol=0, atol=1e-3, msg=name)
    losses = [points_of((tmp_path / p / "curve.csv").read_bytes()) for p in ("both", "alone")]
    assert losses[0][0]["loss"] == pytest.approx(losses[1][0]["loss"], abs=1e-4)
