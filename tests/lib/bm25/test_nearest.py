"""The best document is that of exhaustive search, whatever a query and the texts are."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from isotope.bm25 import postings
from isotope.bm25.nearest import bounds, find_nearest, nearest
from isotope.bm25.postings import open_index, write_index
from isotope.bm25.search import answers, in_terms, postings_of, search
from isotope.bm25.words import counted
from isotope.core import lucene

K1, B = 0.9, 0.4
LIMITS: dict[str, Any] = {"threads": 1, "memory_mb": 512}


def written(folder: Path, texts: list[str], *, by_bound: bool = True) -> postings.Index:
    rows = ((f"d{n:06}", text) for n, text in enumerate(texts))
    write_index(rows, folder, analyzer="spaces", by_bound=by_bound, **LIMITS)
    return open_index(folder, analyzer="spaces")


def both(
    index: postings.Index, queries: list[str]
) -> tuple[list[tuple[int, float]], list[tuple[int, float]]]:
    """Document and score of the best, found either way; no document is -1."""
    with counted(queries, index.folder, words="spaces", **LIMITS) as counts:
        terms = in_terms(index, counts)
    lists = postings_of(index, K1, B)
    best = nearest(index, lists, terms, bounds(index, lists, 2), 2)
    scores, documents, number = answers(lists, terms, 1, 1)
    expected = [
        (int(d), float(s)) if n else (-1, 0.0)
        for d, s, n in zip(documents[:, 0], scores[:, 0], number, strict=True)
    ]
    ours = zip(best.documents.tolist(), best.scores.tolist(), strict=True)
    return list(ours), list(expected)


def drawn(seed: int, number: int, words: int, longest: int) -> list[str]:
    generator = np.random.default_rng(seed)
    lengths = generator.integers(0, longest, number)
    return [" ".join(f"w{w}" for w in generator.zipf(1.4, n) % words) for n in lengths]


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 2**20),
    words=st.sampled_from([2, 40, 5000]),
    longest=st.sampled_from([3, 30, 200]),
    block=st.sampled_from([16, 100, postings.BLOCK]),
    by_bound=st.booleans(),
)
# An earlier document that comes later, with a sum that is less and is rounded to the same score.
@example(seed=1756, words=2, longest=200, block=16, by_bound=True)
def test_the_best_is_that_of_exhaustive_search(  # noqa: PLR0913, PLR0917
    tmp_path_factory, seed, words, longest, block, by_bound
):
    folder = tmp_path_factory.mktemp("nearest")
    texts = ["w0", *drawn(seed, 300, words, longest)]
    generator = np.random.default_rng(seed)
    # Edited copies, other texts, none at all, and one of a thousand terms.
    edited = [
        " ".join(
            w if generator.random() < 0.8 else f"w{generator.integers(words)}" for w in t.split()
        )
        for t in texts[:40]
    ]
    long = " ".join(f"w{n}" for n in range(1_000))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(postings, "BLOCK", block)
        index = written(folder / "i", texts, by_bound=by_bound)
    ours, exhaustive = both(index, [*edited, *drawn(seed + 1, 40, words, longest), "", "no", long])
    assert ours == exhaustive


def test_of_equal_documents_the_first_is_the_best(tmp_path):
    index = written(tmp_path / "i", ["a b", "c d e", "c d e", "a b", "e d c"])
    ours, exhaustive = both(index, ["c d", "a", "e e d c", "b a b a"])
    assert ours == exhaustive
    assert [document for document, _ in ours] == [1, 0, 1, 0]


STOP = ["the", "of", "and", "in", "a", "is"]
THOUSAND = [f"v{n}" for n in range(1_000)]


def sections() -> list[str]:
    """Sections of a title, frequent words and rare ones; copies, empty ones and stop words too."""
    generator = np.random.default_rng(5)
    texts = []
    for n in range(400):
        frequent = generator.choice(STOP, 40)
        common = [f"c{w}" for w in generator.zipf(1.3, 30) % 60]
        texts.append(" ".join([f"title{n // 4}", *frequent, *common, *THOUSAND[n : n + 3]]))
    repeated = [" ".join(THOUSAND[n : n + 60] * 20) for n in (0, 30, 500)]
    return [*texts, *texts[:50], *["", "the of", "of the"] * 3, " ".join(THOUSAND), *repeated]


ADVERSARIES = {
    "no title": " ".join(sections()[7].split()[1:]),
    "a title alone": "title3",
    "another's title": " ".join(["title9", *sections()[7].split()[1:]]),
    "all stop words": " ".join(STOP * 20),
    "one stop word": "the",
    "a stop word a thousand times": "of " * 1_000,
    "a thousand terms": " ".join(THOUSAND),
    "more terms than Lucene takes": " ".join([*THOUSAND, *STOP, "title1"] * 2),
    "a thousand terms that no section has": " ".join(f"u{n}" for n in range(1_000)),
    "a rare word of each of many sections": " ".join(THOUSAND[:400:7]),
    "a tie of copies": sections()[20],
    "a tie of all sections": "c1",
    "terms that a section repeats": " ".join(THOUSAND[:70]),
    "an empty text": "",
    "blanks": " \t ",
    "words that no section has": "unheard unseen unsaid",
    "signs": "!!! ??? ...",
}


@pytest.mark.parametrize(("analyzer", "by_bound"), [("spaces", False), ("default", True)])
def test_adversaries_find_what_exhaustive_search_and_lucene_find(
    tmp_path, monkeypatch, analyzer, by_bound
):
    monkeypatch.setattr(postings, "BLOCK", 97)
    rows = [(f"d{n:06}", text) for n, text in enumerate(sections())]
    write_index(rows, tmp_path / "own", analyzer=analyzer, by_bound=by_bound, **LIMITS)
    is_cut = analyzer == "spaces"
    lucene.build_index(rows, tmp_path / "lucene", threads=1, memory_mb=512, pretokenized=is_cut)
    index = open_index(tmp_path / "own", analyzer=analyzer)
    queries = [(key.replace(" ", "-"), text) for key, text in ADVERSARIES.items()]
    best = find_nearest(index, queries, k1=K1, b=B, **LIMITS)
    exhaustive = pl.concat(search(index, queries, k1=K1, b=B, hits=1, **LIMITS))
    model = lucene.Bm25Parameters(K1, B, memory_mb=512, pretokenized=is_cut)
    theirs = lucene.search(tmp_path / "lucene", queries, model, hits=1, threads=1)
    assert best.equals(exhaustive)
    assert best.equals(theirs)
    silent = {"an-empty-text", "blanks", "a-thousand-terms-that-no-section-has"}
    silent |= {"words-that-no-section-has"} if is_cut else {"all-stop-words", "one-stop-word"}
    assert silent.isdisjoint(best["query_id"])
    answered = dict(best.select("query_id", "doc_id").iter_rows())
    assert answered["a-tie-of-copies"] == "d000020"
