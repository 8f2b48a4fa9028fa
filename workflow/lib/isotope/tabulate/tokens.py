"""How long the fields are, in the tokens of the models that read them (AToMiC's Table 2)."""

import gzip
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from html import unescape
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from isotope.core import extras, store
from isotope.core.fields import text_of
from isotope.core.languages import is_spoken
from isotope.core.lucene import wordpiece
from isotope.core.parallel import ordered_map
from isotope.core.progress import Progress
from isotope.core.schemas import CAPTION_FIELDS, FIVE_FIELDS
from isotope.schemas.tabulate import TOKENS

Counter = Callable[[list[str]], list[int]]
CLIP = "open_clip"
_CLIP_MERGES = 49_152 - 256 - 2
_CLIP_WORDS = r"(?i)'s|'t|'re|'ve|'m|'ll|'d|\p{L}+|\p{N}|[^\s\p{L}\p{N}]+"
_SIDES = {
    "texts": ("text_id", FIVE_FIELDS),
    "images": ("image_id", CAPTION_FIELDS),
}


class _Group(NamedTuple):
    """A row group to count, for one process."""

    path: Path
    number: int
    side: str
    language: str
    tokenizers: tuple[tuple[str, str], ...]


def count_tokens(  # noqa: PLR0913
    texts: Path,
    images: Path,
    *,
    tokenizers: Mapping[str, str],
    language: str,
    out: Path,
    threads: int = 1,
) -> None:
    """Write schemas.TOKENS: the tokens of every field of every text and image, special ones apart.

    `tokenizers` maps a name to a specification of `counter`. A field that is null or empty has no
    tokens: null, not 0. Row groups are counted one by one, in `threads` processes.

    Raises:
        UnknownModel: a tokenizer that is neither built in, nor a file, nor on a hub in reach.
    """
    named = tuple(tokenizers.items())
    for _, spec in named:
        counter(spec)
    sides = {"texts": texts, "images": images}
    groups = [
        _Group(path, number, side, language, named)
        for side, path in sides.items()
        for number in range(pq.read_metadata(path).num_row_groups)
    ]
    progress = Progress("row groups", len(groups))
    with store.writer(out, TOKENS) as writer:
        for counted in ordered_map(_count, groups, threads):
            writer.write_table(counted, row_group_size=store.ROWS_PER_GROUP)
            progress.add()
    progress.finish()


@cache
def counter(spec: str) -> Counter:
    """Return the tokenizer called `spec`, which counts the tokens of each text in a list.

    `open_clip` is CLIP's lower-cased BPE (Radford et al., 2021), from open_clip's own vocabulary;
    `toy` is BERT's uncased WordPiece (Devlin et al., 2019) with the words of the embedded
    encyclopedia; a file is a WordPiece vocabulary, a token a line, or a `.json` of the tokenizers
    library; anything else is a name on the Hugging Face hub: `google-bert/bert-base-uncased`.

    Raises:
        UnknownModel: no such file, and no such name on a hub in reach.
    """
    if spec == CLIP:
        return _clip()
    return _counting(wordpiece(spec))


def _clip() -> Counter:
    import ftfy  # noqa: PLC0415

    count = _counting(_clip_bpe())

    def clean(value: str) -> str:
        return " ".join(unescape(unescape(ftfy.fix_text(value))).split()).lower()

    return lambda values: count([clean(value) for value in values])


def _clip_bpe() -> Any:  # noqa: ANN401
    """Return open_clip's tokenizer on compiled code, without the seconds that its import takes."""
    from tokenizers import Regex, Tokenizer, models, pre_tokenizers  # noqa: PLC0415

    merges = extras.folder("open_clip") / "bpe_simple_vocab_16e6.txt.gz"
    with gzip.open(merges, "rt", encoding="utf-8") as lines:
        pairs = [tuple(line.split()) for line in islice(lines, 1, _CLIP_MERGES + 1)]
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    pieces = [*letters, *(f"{c}</w>" for c in letters), *map("".join, pairs)]
    vocab = {piece: n for n, piece in enumerate(dict.fromkeys(pieces))}
    tokenizer = Tokenizer(models.BPE(vocab, pairs, end_of_word_suffix="</w>"))  # pyright: ignore[reportArgumentType]
    words = pre_tokenizers.Split(Regex(_CLIP_WORDS), behavior="removed", invert=True)
    spelt = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([words, spelt])  # pyright: ignore[reportAttributeAccessIssue]
    return tokenizer


def _counting(tokenizer: Any) -> Counter:  # noqa: ANN401
    # The file may ask for 512 tokens at most, or for all texts to be as long as the longest.
    tokenizer.no_truncation()
    tokenizer.no_padding()

    def count(values: list[str]) -> list[int]:
        encoded = tokenizer.encode_batch(values, add_special_tokens=False)
        return [len(e.ids) for e in encoded]

    return count


def _count(group: _Group) -> pa.Table:
    key, fields = _SIDES[group.side]
    listed = ["language"] if group.side == "images" else []
    with pq.ParquetFile(group.path) as file:
        rows = file.read_row_group(group.number, columns=[key, *fields, *listed])
    return pa.concat_tables(_of_fields(rows, group), promote_options="none")


def _of_fields(rows: pa.Table, group: _Group) -> Iterator[pa.Table]:
    key, fields = _SIDES[group.side]
    for field in fields:
        values = _captions(rows, field, group.language) if group.side == "images" else rows[field]
        read = pl.DataFrame({field: pl.Series(values)}).select(text_of([field])).to_series()
        # Sections of a page share its description: each distinct value is counted once.
        distinct = read.replace("", None).to_arrow().cast(pa.string()).dictionary_encode()
        for name, spec in group.tokenizers:
            counts = pa.array(counter(spec)(distinct.dictionary.to_pylist()), pa.int32())
            names = {"side": group.side, "field": field, "tokenizer": name}
            constant = {k: pa.repeat(v, rows.num_rows) for k, v in names.items()}
            columns = {**constant, "item_id": rows[key], "tokens": counts.take(distinct.indices)}
            yield pa.table({c: columns[c] for c in TOKENS.names}, schema=TOKENS)


def _captions(rows: pa.Table, field: str, language: str) -> pa.Array:
    """Return what the caption oracle reads of a field: what is in one language or all, joined."""
    # ASSUME captions of one kind are one text, as BM25 sees them (AToMiC, section 5.1); of the
    # count of tokens (section 4.3, Table 2) the paper does not say.
    pairs = zip(rows["language"].to_pylist(), rows[field].to_pylist(), strict=True)
    texts = [
        " ".join(
            v
            for k, v in zip(languages or (), values or (), strict=False)
            if v and is_spoken(k, language)
        )
        for languages, values in pairs
    ]
    return pa.array(texts, pa.string())
