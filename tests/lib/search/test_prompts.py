"""Dates in words: what a template becomes, and dense search with such prompts."""

import datetime as dt
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests import entries
from tests.models import loaded, model_of

from isotope.core import store
from isotope.core.errors import BadParams, MissingColumn
from isotope.core.grid import RunKey, query_ids
from isotope.core.runs import read_run
from isotope.schemas.collect import IMAGES, OPTIONAL, QRELS, TEXTS
from isotope.search import prompted
from isotope.search.kinds.prompt import Prompt
from isotope.search.prompted import search_prompted

HASH = {"kind": "hash", "dim": 16}
TEMPLATES = ["{text}, {year}", "of the {decade}: {text}"]
DATES = [dt.date(1901, 5, 31), dt.date(1901, 1, 1), dt.date(1915, 7, 4), None]
WORDS = ["a cat", "a dog", "a steam carriage", "an automobile"]


@pytest.fixture
def collected(tmp_path) -> dict[str, Path]:
    """Four texts and four pictures of 1901, 1901, 1915 and no year; the last pair is unjudged."""
    splits = ["validation"] * 3 + ["test"]
    texts = [
        {"text_id": f"t{n}", "context_section_description": w, "split": s}
        for n, (w, s) in enumerate(zip(WORDS, splits, strict=True))
    ]
    images = [
        {"image_id": f"i{n}", "image_url": f"https://x.org/{n}", "split": s, "date": d}
        for n, (d, s) in enumerate(zip(DATES, splits, strict=True))
    ]
    qrels = [
        {"text_id": f"t{n}", "image_id": f"i{n}", "relevance": 1, "split": "validation"}
        for n in range(3)
    ]
    paths = {name: tmp_path / f"{name}.parquet" for name in ("texts", "images", "qrels")}
    store.write_rows(texts, paths["texts"], TEXTS)
    schema = IMAGES.append(OPTIONAL.field("date"))
    store.write_rows(images, paths["images"], schema)
    store.write_rows(qrels, paths["qrels"], QRELS)
    return paths


@pytest.fixture
def encoded(tmp_path) -> dict[str, list[Path]]:
    """Vectors of the pictures, drawn once."""
    block = np.random.default_rng(0).normal(size=(4, 16)).astype(np.float32)
    block /= np.linalg.norm(block, axis=1, keepdims=True)
    np.save(tmp_path / "v.npy", block)
    pl.DataFrame({"id": [f"i{n}" for n in range(4)]}).write_parquet(tmp_path / "v.ids.parquet")
    return {"images": [tmp_path / "v.npy"], "images_ids": [tmp_path / "v.ids.parquet"]}


def asked(texts: list[str]) -> np.ndarray:
    return loaded(HASH).encode_texts(texts)


def expected(encoded, text: int, image: int, templates=TEMPLATES) -> float:
    """The score of a pair, straight from what a prompt is."""
    frame = prompted.frame(DATES[image], templates)
    mean = sum(asked([f.replace("{text}", WORDS[text])])[0] for f in frame)
    return float(np.load(encoded["images"][0])[image] @ (mean / np.linalg.norm(mean)))


def searched(collected, encoded, outputs, **spec) -> None:
    model: dict[str, Any] = {
        "model": model_of({**HASH, "fields": ["context_section_description"]}),
        "weights": None,
        "batch": 2,
    }
    images = {"vectors": encoded["images"], "ids": encoded["images_ids"]}
    given = entries.system_of("prompt", **{"model": "m", "templates": TEMPLATES} | spec)
    search_prompted(**collected, **images, **model, runs=outputs, spec=given, depth=10)


def test_a_date_is_told_in_several_ways():
    template = "{value} {year} {decade} {month}: {text}"
    [told] = prompted.frame(dt.date(1907, 5, 31), [template])
    assert told == "1907-05-31 1907 1900s May: {text}"
    assert prompted.frame(None, [template]) == ("{text}",)
    assert prompted.frame("Warsaw", ["{text} in {value}"]) == ("{text} in Warsaw",)


@given(st.text())
def test_a_text_is_put_in_as_it_is(text):
    assert prompted.apply("{text} (1907)", [text]) == [f"{text} (1907)"]


@pytest.mark.parametrize("template", ["no place", "{year} only", "{text} of {yaer}"])
def test_a_template_that_nothing_fills_is_refused(template):
    with pytest.raises(BadParams, match=r"use \{text\} and any of"):
        Prompt(kind="prompt", model="m", templates=[template]).check("params systems.x", {})


def test_a_year_of_what_is_no_date_is_refused():
    with pytest.raises(BadParams, match=r"\{year\} of 'Warsaw'"):
        prompted.frame("Warsaw", ["{text} of {year}"])


def test_pictures_of_one_year_share_a_frame():
    rows = [(f"i{n}", date) for n, date in enumerate(DATES)]
    found = prompted.frames(rows, ["{text} {year}"])
    assert found == {("{text} 1901",): ["i0", "i1"], ("{text} 1915",): ["i2"]} | {
        ("{text}",): ["i3"]
    }


@pytest.mark.parametrize("task", ["m2t", "t2m"])
def test_every_pair_is_scored_by_the_text_in_the_words_of_its_picture(
    collected, encoded, tmp_path, task
):
    path = tmp_path / "small/validation" / task / "p.parquet"
    searched(collected, encoded, [path])
    run = read_run(path)
    assert run.height == 9
    for query, doc, score in run.select("query_id", "doc_id", "score").iter_rows():
        text, image = (query, doc) if task == "t2m" else (doc, query)
        assert score == pytest.approx(expected(encoded, int(text[1]), int(image[1])), abs=1e-6)


def test_cells_of_one_call_have_their_own_pools_and_unjudged_pictures_ask_as_well(
    collected, encoded, tmp_path
):
    small = tmp_path / "small/validation/m2t/p.parquet"
    base = tmp_path / "base/validation/m2t/p.parquet"
    apart = tmp_path / "unjudged/base/test/m2t/p.parquet"
    searched(collected, encoded, [small, base, apart])
    assert [read_run(p).height for p in (small, base, apart)] == [9, 12, 4]
    run = read_run(apart)
    assert set(run["query_id"]) == {"i3"}
    found = dict(run.select("doc_id", "score").iter_rows())
    assert found["t0"] == pytest.approx(expected(encoded, 0, 3), abs=1e-6)


def test_a_column_that_the_images_lack_is_named(collected, encoded, tmp_path):
    with pytest.raises(MissingColumn, match="no column 'place'"):
        searched(collected, encoded, [tmp_path / "small/validation/m2t/p.parquet"], column="place")


def test_a_run_on_a_split_without_answers_lies_apart_and_all_its_items_ask(collected, tmp_path):
    path = tmp_path / "results/search/c/unjudged/small/test/m2t/p.parquet"
    cell = RunKey.from_path(path)
    assert cell == RunKey("small", "test", "m2t", judged=False)
    assert query_ids(collected["qrels"], cell) == ["i3"]
    judged = RunKey.from_path(tmp_path / "results/search/c/small/test/m2t/p.parquet")
    assert query_ids(collected["qrels"], judged) == []
