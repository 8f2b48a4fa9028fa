"""Names as terms for BM25: what an answer, or a label, and a name have in common."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import polars as pl

from isotope.core import lucene
from isotope.tabulate import tokens

Split = Callable[[Sequence[str]], list[str]]
WORDS = "words"
_NAMES = 10_000
# rank_bm25's defaults, with which OVEN's published mapping was made.
_K1, _B = 1.5, 0.75


def splitter(spec: str = WORDS) -> Split:
    """Return what turns texts into terms with spaces between them, lower case, without accents.

    `words` cuts at spaces and punctuation as BERT's tokenizer does first (Devlin et al., 2019);
    anything else is a WordPiece tokenizer as in `isotope.tabulate.tokens.counter`, such as
    google-bert/bert-base-uncased, which OVEN's evaluation uses (edchengg/oven_eval).

    Raises:
        UnknownModel: a tokenizer that is neither a file nor on a hub in reach.
    """
    if spec != WORDS:
        tokenizer = tokens.wordpiece(spec)
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


def model(spec: Mapping[str, Any]) -> lucene.Bm25:
    """Return BM25 over whole terms with the `k1` and `b` of `spec`, by default rank_bm25's."""
    return lucene.Bm25(spec.get("k1", _K1), spec.get("b", _B), pretokenized=True)


def index_names(
    named: Iterable[tuple[str, str]], index: Path, *, tokenizer: str = WORDS, threads: int = 1
) -> int:
    """Index (id, name) pairs by the terms of `splitter`; return how many.

    Raises:
        EmptyTable, ToolFailed: see `lucene.build_index`.
    """
    split = splitter(tokenizer)

    def terms() -> Iterator[tuple[str, str]]:
        rows = iter(named)
        while some := list(islice(rows, _NAMES)):
            yield from zip([key for key, _ in some], split([n for _, n in some]), strict=True)

    return lucene.build_index(terms(), index, threads=threads, pretokenized=True)


def find_names(
    asked: pl.DataFrame, index: Path, spec: Mapping[str, Any], *, hits: int, threads: int
) -> pl.DataFrame:
    """Return query_id, doc_id and score of the names that share most with `asked` (id, text).

    `spec` may hold k1, b and tokenizer, which must be that of the index.
    """
    terms = splitter(spec.get("tokenizer", WORDS))(asked["text"].to_list())
    pairs = zip(asked["id"].to_list(), terms, strict=True)
    return lucene.search(index, pairs, model(spec), hits=hits, threads=threads)
