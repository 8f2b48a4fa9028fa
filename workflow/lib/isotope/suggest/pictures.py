"""Every picture of the collection: what kind it is, what it looks like, whose it is.

The crawl's pixels are read once, shard by shard, and what was measured is kept in a folder beside
the table until that is written: after a kill the next run goes on with the shards that are left.
"""

import hashlib
import shutil
from collections.abc import Generator, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from isotope.core import sql, store
from isotope.core.parallel import ordered_map
from isotope.core.pixels import batches, iter_pixels, ordered, repeated
from isotope.core.progress import Progress, log
from isotope.core.schemas import schema
from isotope.core.uploads import file_of
from isotope.schemas.release import PUBLISHED_ATTRIBUTIONS
from isotope.schemas.suggest import PICTURE_KINDS
from isotope.suggest import credit, looks, picture_kinds

_SQL, _RELEASE = sql.SQL / "suggest" / "pictures", sql.SQL / "release"
_NAMES = schema(image_id=pa.string(), picture_id=pa.string(), file=pa.string())
_BATCH = 64
# Starting a process takes as long as measuring some hundred pictures.
_FEW_PICTURES = 2_000
_MOST_OF_A_SIGN = 5_000
_DIGITS = 4


class _Shard(NamedTuple):
    """A shard of the crawl, the table of what was measured of it, and how many pictures it has."""

    pixels: Path
    looks: Path
    pictures: int


def describe_pictures(  # noqa: PLR0913
    *,
    images: Path,
    pixels: Sequence[Path],
    placed: Sequence[Path],
    qrels: Path,
    out: Path,
    threads: int,
    spec: dict[str, Any],
) -> None:
    """Write PICTURE_KINDS, by image_id, of all `images`, in one pass over the crawl's `pixels`.

    `placed` are parse's PICTURES of the collection's sources. Read of `spec` is `pages`. A picture
    without pixels has neither colours nor hash. What is resumed after a kill is the measuring.

    Raises:
        MissingFile, TruncatedFile, CorruptFile: a table or shard that is not there or not readable,
            a picture that does not decode.
    """
    looked = out.with_name(f".{out.name}.looks")
    with store.scratch(out) as folder:
        names = folder / "names.parquet"
        _write_names(images, names)
        measured = _measure(names, ordered(pixels), looked, threads)
        described = _describe(
            {"images": images, "qrels": qrels, "names": names, "placed": list(placed)},
            measured,
            folder,
        )
        kinds = _learned(described, int(spec["pages"]))
        _write(described, kinds, out)
    shutil.rmtree(looked, ignore_errors=True)


def _write_names(images: Path, out: Path) -> None:
    """Write the file that each image's address names, and the picture of the crawl it shows."""
    columns = pq.read_schema(images).names
    picture = [c for c in ("picture_id",) if c in columns]
    with store.writer(out, _NAMES) as file, pq.ParquetFile(images) as rows:
        for batch in rows.iter_batches(columns=["image_id", "image_url", *picture]):
            some = pl.DataFrame(batch)
            urls = some["image_url"]
            named = some.select(
                "image_id",
                pl.col("picture_id" if picture else "image_id").alias("picture_id"),
                pl.Series("file", [u and file_of(u) for u in urls], pl.String),
            )
            file.write_table(named.to_arrow().cast(_NAMES))


def _measure(names: Path, shards: Sequence[Path], folder: Path, threads: int) -> list[Path]:
    """Write LOOKS of each shard's pictures into `folder`, unless they are there; return them."""
    folder.mkdir(parents=True, exist_ok=True)
    there = [_shard(path, names, folder) for path in shards]
    left = [i for i, shard in enumerate(there) if not shard.looks.is_file()]
    progress = Progress("pictures measured", total=sum(shard.pictures for shard in there))
    progress.resume(sum(s.pictures for i, s in enumerate(there) if i not in left))
    workers = threads if sum(there[i].pictures for i in left) >= _FEW_PICTURES else 1
    pending = _batches_of([(i, there[i].pixels) for i in left], names, shards)
    for i, tables in groupby(ordered_map(_looked, pending, workers), key=lambda each: each[0]):
        parts = list[pa.Table]()
        for _, part in tables:
            parts.append(part)
            progress.add(len(part))
        store.write(pa.concat_tables(parts), there[i].looks, looks.LOOKS)
    progress.finish()
    return [shard.looks for shard in there]


def _shard(path: Path, names: Path, folder: Path) -> _Shard:
    """Return a shard with the place of its looks, which says of what and by what they are made."""
    here, code = path.stat() if path.is_file() else None, Path(looks.__file__).read_bytes()
    facts = [path, here and here.st_size, here and here.st_mtime_ns, names.stat().st_size]
    digest = hashlib.sha256(repr(facts).encode() + code).hexdigest()[:16]
    rows = pq.read_metadata(path).num_rows if here else 0
    return _Shard(path, folder / f"{path.parent.name}-{path.stem}-{digest}.parquet", rows)


def _batches_of(
    shards: Sequence[tuple[int, Path]], names: Path, every: Sequence[Path]
) -> Generator[tuple[int, list[looks.Picture]]]:
    """Yield the pictures of shards that images show, in batches; at least one a shard."""
    for i, path in shards:
        ids = frozenset[str]()
        if path.is_file():
            shown = pl.scan_parquet(names).select(image_id="picture_id")
            here = pl.scan_parquet(path).select("image_id")
            found = here.join(shown, on="image_id", how="semi").collect()["image_id"]
            ids = frozenset[str](found.to_list()) - repeated(path, every)
        yield i, []
        for some in batches(_pixels(path, ids), _BATCH):
            yield i, some


def _pixels(path: Path, ids: frozenset[str]) -> Iterator[looks.Picture]:
    """Yield the pictures of one shard; one that is not there is an error."""
    yield from iter_pixels([path], ids if path.is_file() else None)


def _looked(item: tuple[int, list[looks.Picture]]) -> tuple[int, pa.Table]:
    return item[0], looks.looks_of(item[1])


def _describe(relations: dict[str, sql.Files], measured: list[Path], folder: Path) -> Path:
    """Write what is known of every picture before its kind is told; return the table."""
    if not measured:
        measured = [folder / "looks.parquet"]
        store.write(looks.LOOKS.empty_table(), measured[0], looks.LOOKS)
    out, credits = folder / "described.parquet", _credits(Path(str(relations["images"])), folder)
    more: dict[str, sql.Files] = {"looks": measured, "credits": credits}
    sql.query(_SQL / "described.sql", {**relations, **more}, {}, out=out)
    return out


def _credits(images: Path, folder: Path) -> Path:
    """Write licences and file pages as a release has them; return the table."""
    read, stated = folder / "attributions.parquet", folder / "stated.parquet"
    of: dict[str, sql.Files] = {"images": images}
    sql.query(_RELEASE / "attributions.sql", of, {}, out=read, schema=PUBLISHED_ATTRIBUTIONS)
    if "licence" not in pq.read_schema(images).names:
        return read
    with_read = {**of, "attributions": read}
    sql.query(_RELEASE / "attributions_stated.sql", with_read, {}, out=stated)
    return stated


def _learned(described: Path, pages: int) -> picture_kinds.Kinds:
    """Return the classifier, of the pictures of which the collection says something."""
    limits = {
        "tiny_side_px": picture_kinds.TINY_SIDE_PX,
        "tiny_colours": picture_kinds.TINY_COLOURS,
    }
    params = {**limits, "pages": pages, "most": _MOST_OF_A_SIGN}
    signed = sql.query(_SQL / "signs.sql", {"described": described}, params)
    if signed is None or signed.is_empty():
        log.info("no picture says of what kind it is: kinds are told by the classifier's priors")
        return picture_kinds.prior()
    may_be = picture_kinds.may_be(signed["sign"])
    kinds = picture_kinds.learn(picture_kinds.features(signed), may_be)
    log.info("kinds of pictures learned of %d chosen and %d blank ones", kinds.chosen, kinds.blank)
    return kinds


def _write(described: Path, kinds: picture_kinds.Kinds, out: Path) -> None:
    counts = dict.fromkeys(picture_kinds.KINDS, 0)
    with store.writer(out, PICTURE_KINDS) as file, pq.ParquetFile(described) as rows:
        progress = Progress("pictures described", total=rows.metadata.num_rows)
        for group in range(rows.num_row_groups):
            some = _classified(pl.DataFrame(rows.read_row_group(group)), kinds)
            file.write_table(some.select(PICTURE_KINDS.names).to_arrow().cast(PICTURE_KINDS))
            for kind in some["kind"]:
                counts[kind] += 1
            progress.add(len(some))
        progress.finish()
    log.info("%s", ", ".join(f"{kind} {n:,}" for kind, n in counts.items()))


def _classified(some: pl.DataFrame, kinds: picture_kinds.Kinds) -> pl.DataFrame:
    found = picture_kinds.probabilities(kinds, picture_kinds.features(some))
    names, illustrates = picture_kinds.most_probable(found)
    licence = some.select(
        pl.when(pl.col("licence") != credit.UNKNOWN).then("licence").alias("licence")
    ).to_series()
    free = map(credit.is_free, licence, some["file_page"])
    return some.with_columns(
        licence,
        pl.Series("kind", names, pl.String),
        pl.Series("illustrates", illustrates.round(_DIGITS), pl.Float64),
        pl.Series("author", [credit.author(a) for a in some["attribution"]], pl.String),
        pl.Series("is_free", list(free), pl.Boolean),
    )
