"""A training on a corpus that splits share says what the splits that measure it share with it."""

import logging
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.lib.collect.test_shared_corpus import shared_beir
from tests.models import model_of
from tests.pairs import built

from isotope.train import clip, frozen, loop, multimodal
from isotope.train.overlap import shared_with, warn_of_shared

Row = tuple[str, str, int, str]
SPLITS = ("train", "validation", "test")
COLUMNS = ["text_id", "image_id", "relevance", "split"]


def table(rows: list[Row]) -> pl.DataFrame:
    return pl.DataFrame(rows, dict(zip(COLUMNS, (str, str, int, str), strict=True)), orient="row")


def test_grades_of_nothing_and_other_splits_are_no_overlap():
    rows: list[Row] = [
        *(("t1", "i1", 1, "train"), ("t2", "i2", 0, "train"), ("t3", "i1", 2, "test")),
        *(("t2", "i2", 1, "test"), ("t1", "i1", 1, "validation")),
    ]
    assert shared_with(table(rows), "test") == {"texts": 0, "images": 1, "pairs": 0}
    assert shared_with(table(rows), "validation") == {"texts": 1, "images": 1, "pairs": 1}


ITEMS = st.sampled_from("abcd")


@given(st.lists(st.tuples(ITEMS, ITEMS, st.integers(0, 2), st.sampled_from(SPLITS)), max_size=30))
def test_what_is_shared_is_the_intersection_of_the_splits(rows: list[Row]):
    right = {s: {(t, i) for t, i, g, split in rows if g > 0 and split == s} for s in SPLITS}
    for split in SPLITS[1:]:
        texts, images = (
            {pair[n] for pair in right["train"]} & {pair[n] for pair in right[split]}
            for n in (0, 1)
        )
        pairs = right["train"] & right[split]
        counts = {"texts": len(texts), "images": len(images), "pairs": len(pairs)}
        assert shared_with(table(rows), split) == counts


def said(caplog: pytest.LogCaptureFixture, qrels: Path) -> list[str]:
    with caplog.at_level(logging.WARNING, "isotope"):
        warn_of_shared(qrels)
    return [record.getMessage() for record in caplog.records]


@pytest.mark.parametrize("corpus", ["shared", "split"])
def test_a_beir_folder_warns_of_documents_of_test_unless_it_is_split(tmp_path, caplog, corpus):
    folder = shared_beir(tmp_path / "things")
    entry: dict[str, Any] = {"data": str(folder), "pictures": "none", "corpus": corpus}
    qrels = built(tmp_path, entry).folder / "qrels.parquet"
    lines = said(caplog, qrels)
    if corpus == "split":
        assert lines == []
        return
    validation, test = lines
    both = shared_with(pl.read_parquet(qrels), "test")
    assert both["images"] > 0
    assert f"{both['images']} images of the training pairs are judged in test too" in test
    assert "judged in validation too" in validation


class Warned(Exception):
    """Raised in the place of the warning."""


PLACES = dict.fromkeys(("texts", "images", "qrels", "weights", "curve", "scratch"), Path("none"))
CLIP = {"kind": "open_clip", "name": "ViT-B-32"}
STARTS = {
    "train.clip:train": lambda: clip.train(
        **PLACES,
        pixels=[],
        model=model_of({"kind": "trained", "config": "tiny-clip"}),
        language="en",
    ),
    "train.multimodal:train": lambda: multimodal.train(
        **PLACES, pixels=[], model=model_of({"kind": "clip2clip"}), base=model_of(CLIP)
    ),
    "train.frozen:train_heads": lambda: frozen.train_heads(
        **{name: PLACES[name] for name in ("texts", "images", "qrels", "weights", "curve")},
        **dict.fromkeys(("features", "features_ids"), Path("none")),
        pixels=[],
        batch=1,
        model=model_of({"kind": "lit"}),
        language="en",
    ),
    "train.frozen:learn_mix": lambda: frozen.learn_mix(
        model=model_of({"kind": "clip2clip"}),
        inputs={},
        qrels=Path("none"),
        weights=Path(),
        curve=Path(),
    ),
    "train.frozen:train_dates": lambda: frozen.train_dates(
        **{name: PLACES[name] for name in ("texts", "images", "qrels", "weights")},
        model=model_of({"kind": "dates"}),
    ),
}


@pytest.mark.parametrize("call", STARTS)
def test_every_training_looks_for_it_before_it_begins(monkeypatch, call):
    def warned(_: Path) -> None:
        raise Warned

    for module in (loop, frozen):
        monkeypatch.setattr(module, "warn_of_shared", warned)
    monkeypatch.setattr(frozen, "Frozen", lambda _: None)
    with pytest.raises(Warned):
        STARTS[call]()


def test_these_are_the_trainings_that_rules_call():
    rules = Path(__file__).parents[3] / "workflow/rules"
    text = "".join(path.read_text() for path in rules.glob("*.smk"))
    called = {part.split('"')[0] for part in text.split('call="')[1:]}
    assert {call for call in called if call.startswith("train.")} <= {*STARTS}
