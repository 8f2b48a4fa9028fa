"""Counting tokens as the models see them."""

from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from open_clip import tokenizer as judge
from tokenizers import BertWordPieceTokenizer

from isotope.core import lucene, sql, store
from isotope.core.errors import UnknownModel
from isotope.schemas.collect import IMAGES, TEXTS
from isotope.tabulate import table, tokens
from isotope_toy import words as toy_words

# Code points that are no characters yet: each library has its own Unicode version.
UNKNOWN = ("Cs", "Cn", "Co")
JUDGE = judge.SimpleTokenizer()
VOCAB = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "un", "##aff", "##able", "naive", ",", "the"]


@pytest.fixture
def vocab(tmp_path):
    path = tmp_path / "vocab.txt"
    path.write_text("\n".join(VOCAB) + "\n")
    return str(path)


@pytest.fixture
def collected(tmp_path):
    rows = [
        {"text_id": "a", "page_title": "A photo of a cat", "section_title": ""},
        {"text_id": "b", "page_title": "A dog", "section_title": None},
    ]
    images = [
        {
            "image_id": "i",
            "language": ["en", "de", "en"],
            "caption_reference_description": ["a cat", "eine Katze im Haus", "a dog"],
            "caption_alt_text_description": ["", "Katze", ""],
        }
    ]
    store.write_rows(rows, tmp_path / "texts.parquet", TEXTS)
    store.write_rows(images, tmp_path / "images.parquet", IMAGES)
    return tmp_path


def count(collected, **options):
    out = collected / "tokens.parquet"
    given: Any = {"tokenizers": {"clip": "open_clip"}, "language": "en", "out": out} | options
    tokens.count_tokens(collected / "texts.parquet", collected / "images.parquet", **given)
    return pl.read_parquet(out)


def test_clip_counts_the_published_tokens_of_a_photo_of_a_cat_without_start_and_end():
    texts = ["a photo of a cat", "Llanfairpwllgwyngyll &amp; Zürich!"]
    padded = [int((row != 0).sum()) for row in judge.tokenize(texts)]
    assert tokens.counter("open_clip")(texts) == [n - 2 for n in padded]
    assert tokens.counter("open_clip")(texts)[0] == 5


@settings(max_examples=300, deadline=None)
@given(st.text(st.characters(exclude_characters="<", exclude_categories=UNKNOWN), max_size=60))
def test_clip_counts_what_open_clip_counts(text):
    assert tokens.counter("open_clip")([text]) == [len(JUDGE.encode(text))]


def test_clip_counts_beyond_the_77_tokens_that_the_model_reads():
    assert tokens.counter("open_clip")(["cat " * 300]) == [300]


@pytest.mark.parametrize(
    ("text", "n"),
    [
        ("unaffable", 3), ("The NAÏVE", 2), ("the, the", 3), ("zebra", 1), ("  ", 0),
        ("the " * 600, 600),
    ],
)  # fmt: skip
def test_wordpiece_takes_the_longest_piece_lower_case_without_accents(vocab, text, n):
    assert tokens.counter(vocab)([text]) == [n]


def test_a_tokenizer_file_counts_as_its_vocabulary_does(vocab, tmp_path):
    saved = BertWordPieceTokenizer(vocab)
    saved.enable_truncation(4)
    saved.enable_padding(length=9)
    saved.save(str(tmp_path / "tokenizer.json"))
    texts = ["unaffable, the unaffable", "the"]
    counted = tokens.counter(str(tmp_path / "tokenizer.json"))(texts)
    assert counted == tokens.counter(vocab)(texts) == [8, 1]


def test_the_embedded_vocabulary_knows_its_own_words():
    words = [w.lower() for w in (*toy_words.MEDIA, *toy_words.KINDS)]
    assert tokens.counter("toy")(words) == [1] * len(words)
    assert list(toy_words.wordpieces().values()) == list(range(len(toy_words.wordpieces())))
    assert lucene.toy_vocabulary() == toy_words.wordpieces()


def test_a_tokenizer_that_is_nowhere_is_refused_before_anything_is_written(collected, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(UnknownModel, match="vocabulary file"):
        count(collected, tokenizers={"x": "no/such.json"})
    assert not (collected / "tokens.parquet").exists()


def test_an_empty_field_has_no_tokens_and_captions_of_one_language_are_joined(collected):
    found = count(collected).select("item_id", "field", "tokens").rows()
    assert ("a", "page_title", 5) in found
    assert ("a", "section_title", None) in found
    assert ("b", "section_title", None) in found
    assert ("i", "caption_reference_description", 4) in found
    assert ("i", "caption_alt_text_description", None) in found
    assert len(found) == 2 * 5 + 3


def test_more_processes_write_the_same_bytes(collected):
    count(collected)
    one = (collected / "tokens.parquet").read_bytes()
    count(collected, threads=2)
    assert (collected / "tokens.parquet").read_bytes() == one


def test_table_2_leaves_empty_values_out_of_the_mean(collected):
    count(collected)
    relations = {"tokens": collected / "tokens.parquet"}
    same = {"field_names": [], "field_words": []}
    table.tabulate(sql.SQL / "tabulate/tables/table2.sql", relations, same, collected / "table2")
    printed = (collected / "table2.md").read_text().splitlines()
    assert printed[2] == "| texts | page title | clip | 2 | 0.0 | 3.500 ± 1.500 | 5 |"
    # Fields that nothing has are left out.
    assert not any("section title" in line for line in printed)
    assert printed[3].startswith("| images | caption reference description | clip | 1 | 0.0 | 4.0")
