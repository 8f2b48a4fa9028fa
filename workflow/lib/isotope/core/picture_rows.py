"""Pictures behind the rows of a table: each read and decoded once, however many rows show it."""

from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from pathlib import Path
from typing import TypeVar

import polars as pl
from PIL import Image

from isotope.core.errors import BadParams, MissingFile
from isotope.core.pixels import decode, iter_pixels

_DECODERS = 4
_AHEAD = 1
_T = TypeVar("_T")
New = Callable[[str, bytes], bool]
_Pending = tuple[str, Future[Image.Image]]


def shown_by(table: Path, key: str, ids: pl.Series) -> dict[str, list[int]]:
    """Return, for each picture of the crawl, the places in `ids` of the rows that show it.

    A row shows its `picture_id`, where `table` has that column, and nothing where it is null;
    without the column an image shows itself.
    """
    rows = pl.scan_parquet(table)
    column = "picture_id" if "picture_id" in rows.collect_schema().names() else key
    within = pl.col(key).is_in(ids.implode())
    shown = rows.filter(within).select(key, picture=column).collect()
    placed = pl.DataFrame({key: ids}).with_row_index("place").join(shown, on=key)
    places = placed.drop_nulls("picture").group_by("picture").agg(pl.col("place").sort())
    return dict(places.iter_rows())


def iter_pictures(
    wanted: Collection[str], pixels: Sequence[Path], batch: int, new: New = lambda _, __: True
) -> Iterator[list[tuple[str, Image.Image]]]:
    """Yield decoded pictures by id, the next ones being decoded while one batch is encoded.

    A picture that is not `new`, by its id and its WebP, is passed over.

    Raises:
        MissingFile: a shard that is not there, or a picture that no shard holds.
        TruncatedFile, CorruptFile: a shard that ends early, a picture that does not decode.
        BadParams: a batch below 1.
    """
    pending: deque[list[_Pending]] = deque()
    with ThreadPoolExecutor(_DECODERS) as pool:
        for some in batches((p for p in _all_of(wanted, pixels) if new(*p)), batch):
            pending.append([(i, pool.submit(decode, w, where=f"image {i}")) for i, w in some])
            if len(pending) > _AHEAD:
                yield [(i, future.result()) for i, future in pending.popleft()]
        while pending:
            yield [(i, future.result()) for i, future in pending.popleft()]


def _all_of(wanted: Collection[str], pixels: Sequence[Path]) -> Iterator[tuple[str, bytes]]:
    left = set(wanted)
    for picture, webp in iter_pixels(pixels, left.copy()):
        if picture in left:
            left.discard(picture)
            yield picture, webp
    if left:
        problem = f"none of its pixels in the crawl's shards ({len(left):,} such images)"
        remedy = "run the crawl and collect phases again"
        raise MissingFile(f"image {min(left)}", problem, remedy)


def batches(items: Iterator[_T], size: int) -> Iterator[list[_T]]:
    """Yield lists of `size` items, the last one perhaps shorter.

    Raises:
        BadParams: a size below 1.
    """
    if size < 1:
        raise BadParams("encode", f"batch {size}", "use 1 or more")
    while some := list(islice(items, size)):
        yield some
