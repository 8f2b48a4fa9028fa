"""Names that share terms: BM25 over whole terms, as BERT's tokenizer or a WordPiece one cuts them.

There is no stemming, and there are no stop words: terms are what spaces separate once a tokenizer
has cut the names.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import polars as pl

from isotope.bm25.postings import open_index, write_index
from isotope.bm25.search import search
from isotope.bm25.words import HEAP_MB, SPACES
from isotope.core import lucene

WORDS = "words"
# Those of rank_bm25, with which OVEN's published mapping of answers to entities was made.
K1, B = 1.5, 0.75
_NAMES = 10_000
Split = Callable[[Sequence[str]], list[str]]


def index_names(
    named: Iterable[tuple[str, str]], index: Path, *, tokenizer: str = WORDS, threads: int = 1
) -> int:
    """Index (id, name) pairs, whose ids rise, by the terms of `splitter`; return how many.

    Raises:
        As `splitter` and `postings.write_index`.
    """
    split = splitter(tokenizer)

    def terms() -> Iterator[tuple[str, str]]:
        rows = iter(named)
        while some := list(islice(rows, _NAMES)):
            yield from zip([key for key, _ in some], split([n for _, n in some]), strict=True)

    return write_index(terms(), index, analyzer=SPACES, threads=threads)


def find_names(
    names: pl.DataFrame,
    index: Path,
    *,
    tokenizer: str = WORDS,
    hits: int,
    threads: int,
) -> pl.DataFrame:
    """Return query_id, doc_id and score of the names that share most with `names` (id, text).

    The tokenizer must be that of the index.

    Raises:
        As `splitter`, `postings.open_index` and `search.search`.
    """
    terms = splitter(tokenizer)(names["text"].to_list())
    pairs = zip(names["id"].to_list(), terms, strict=True)
    limits: dict[str, Any] = {"threads": threads, "memory_mb": HEAP_MB}
    opened = open_index(index, analyzer=SPACES)
    hits_of_names = search(opened, pairs, k1=K1, b=B, hits=hits, **limits)
    return pl.concat([pl.DataFrame(schema=lucene.HITS), *hits_of_names])


def splitter(spec: str = WORDS) -> Split:
    """Return what turns texts into terms with spaces between them, lower case, without accents.

    `words` cuts at spaces and punctuation as BERT's tokenizer does first (Devlin et al., 2019);
    anything else is a WordPiece tokenizer of `lucene.wordpiece`, such as
    google-bert/bert-base-uncased, which OVEN's evaluation uses (edchengg/oven_eval).

    Raises:
        UnknownModel: a tokenizer that is neither a file nor on a hub in reach.
    """
    if spec != WORDS:
        tokenizer = lucene.wordpiece(spec)
        tokenizer.no_truncation()
        return lambda texts: [
            " ".join(e.tokens)
            for e in tokenizer.encode_batch(list(texts), add_special_tokens=False)
        ]
    from tokenizers import normalizers, pre_tokenizers  # noqa: PLC0415

    clean = normalizers.BertNormalizer(lowercase=True)
    cut = pre_tokenizers.BertPreTokenizer()

    def words(text: str) -> str:
        return " ".join(w for w, _ in cut.pre_tokenize_str(clean.normalize_str(text)))

    return lambda texts: [words(text) for text in texts]
