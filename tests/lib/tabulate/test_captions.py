"""Captions by language: known answers of the published data set, tokens by script, agreement."""

from pathlib import Path

import polars as pl
import pytest
from pycocoevalcap.cider.cider_scorer import CiderScorer

from isotope.core import sql, store
from isotope.core.errors import EmptyTable
from isotope.schemas.collect import QRELS, TEXTS
from isotope.tabulate.captions import agreement, captions_table

TOKENS = sql.SQL / "tabulate/captions/tokens.sql"


def collection(folder: Path, said: list[tuple[str, str, str]]) -> tuple[Path, Path]:
    """Write texts and qrels of (image, language, caption)."""
    empty = dict.fromkeys(TEXTS.names)
    ids = [f"t{n:02d}" for n in range(len(said))]
    texts = [
        {**empty, "text_id": i, "language": language, "context_section_description": caption}
        for i, (_, language, caption) in zip(ids, said, strict=True)
    ]
    pairs = [
        {"text_id": i, "image_id": image, "relevance": 1, "split": "test"}
        for i, (image, _, _) in zip(ids, said, strict=True)
    ]
    store.write_rows(texts, folder / "texts.parquet", TEXTS)
    store.write_rows(pairs, folder / "qrels.parquet", QRELS)
    return folder / "texts.parquet", folder / "qrels.parquet"


def told(folder: Path, said: list[tuple[str, str, str]]) -> pl.DataFrame:
    texts, qrels = collection(folder, said)
    found = sql.query(TOKENS, {"texts": texts, "qrels": qrels}, {})
    assert found is not None
    return found.sort("text_id")


@pytest.mark.parametrize(
    ("caption", "words", "tokens"),
    [
        ("A dog's ball, 2 red-blue ones.", 6, ["a", "dog's", "ball", "2", "red", "blue", "ones"]),
        ("Ishqay ch\u00b4umpi wallpakuna", 3, ["ishqay", "ch\u00b4umpi", "wallpakuna"]),
        ("ديك و فرخة، علي", 4, ["ديك", "و", "فرخة", "علي"]),
        ("किताब पढ़ना", 2, ["किताब", "पढ़ना"]),
        ("می‌رود خانه", 2, ["می‌رود", "خانه"]),
        ("两只鸡。A4纸", None, ["两", "只", "鸡", "a4", "纸"]),
        ("ケーキと猫", None, ["ケ", "ー", "キ", "と", "猫"]),
        ("ไก่ 3 ตัว", None, ["ไ", "ก่", "3", "ตั", "ว"]),
        ("두 마리 닭", 3, ["두", "마리", "닭"]),
    ],
)
def test_tokens_follow_the_script(caption, words, tokens, tmp_path):
    row = told(tmp_path, [("i", "xx", caption)]).row(0, named=True)
    assert (row["words"], row["tokens"]) == (words, tokens)
    assert row["characters"] == len(caption)


def test_equal_captions_in_other_unicode_forms_have_equal_tokens(tmp_path):
    rows = told(tmp_path, [("i", "fr", "Été"), ("i", "fr", "E\u0301te\u0301")])
    assert rows["tokens"].to_list() == [["été"], ["été"]]


def test_each_caption_is_held_against_the_others_of_its_image_and_language(tmp_path):
    said = [
        ("i", "en", "a red boat"),
        ("i", "en", "a boat"),
        ("i", "de", "ein Boot"),
        ("j", "en", "two dogs run"),
        ("j", "en", "two dogs"),
        ("j", "en", "dogs run fast"),
        ("k", "en", "alone here"),
    ]
    texts, qrels = collection(tmp_path, said)
    captions_table(texts, qrels, tmp_path / "captions.parquet")
    own = pl.read_parquet(tmp_path / "captions.parquet").sort("text_id")
    scorer = CiderScorer(n=4, sigma=6.0)
    english = [(i, c) for i, language, c in said if language == "en" and i != "k"]
    for n, (image, caption) in enumerate(english):
        others = [c for m, (i, c) in enumerate(english) if i == image and m != n]
        scorer += (caption, others)
    scorer.compute_doc_freq()
    expected = scorer.compute_cider()
    found = own.filter(pl.col("cider").is_not_null())
    assert found["text_id"].to_list() == ["t00", "t01", "t03", "t04", "t05"]
    assert found["cider"].to_list() == pytest.approx(expected, abs=1e-9)


def test_agreement_does_not_depend_on_the_order_of_rows():
    images = pl.Series(["i", "j", "i", "j", "k"])
    tokens = pl.Series([["a", "boat"], ["dogs", "run"], ["boat"], ["dogs"], ["x"]])
    order = [4, 2, 0, 3, 1]
    told = agreement(images, tokens).gather(order).to_list()
    assert agreement(images[order], tokens[order]).to_list() == told
    assert told[0] is None


def test_a_collection_without_a_pair_is_an_error(tmp_path):
    texts, qrels = collection(tmp_path, [])
    with pytest.raises(EmptyTable, match="no captions"):
        captions_table(texts, qrels, tmp_path / "captions.parquet")
