"""Pictures that came with a data set, from files, archives and tables into the crawl's shards."""

import hashlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast
from urllib.parse import quote

import polars as pl
import pyarrow as pa

from isotope.core import store
from isotope.core.errors import CorruptFile, EmptyTable, MissingColumn
from isotope.core.files import EntryContent, content_of, is_zim, open_zim, page_at, zim_pieces
from isotope.core.manifest import placed, placed_if_any
from isotope.core.pixels import groups_within
from isotope.core.progress import Progress, log
from isotope.core.uploads import canonical_url, file_of, local_url, upload_url
from isotope.core.wikimedia import wiki_of
from isotope.crawl.ledger import list_urls
from isotope.intake.archives import file_content, is_archive, is_picture, members, plain
from isotope.intake.limits import Refused
from isotope.intake.pictures import PictureDecoders
from isotope.intake.tables import parquet_batches, parquet_file
from isotope.intake.wiki_files import read_files
from isotope.params import crawl
from isotope.schemas.crawl import LEDGER, PIXELS


def zim_names(path: Path, files: Sequence[Path]) -> list[str]:
    """Return the address of every picture in a ZIM file, each once.

    `files` are the tables of the part `files`: what they call local has the wiki's own address.
    ASSUME that anything else is of Wikimedia Commons, as the associations do; a ZIM file does not
    say. Of a split file, the first piece has them all.

    Raises:
        MissingFile, CorruptFile: as `core.files.open_zim`, and what is damaged in it.
    """
    return list(dict.fromkeys(address for _, address in _pictures(path, files)))


def zim_contents(
    path: Path, files: Sequence[Path], is_pending: Callable[[str], bool]
) -> Iterator[tuple[str, bytes]]:
    """Yield address and bytes of the pictures that are pending, as `zim_names` calls them.

    Raises:
        MissingFile, CorruptFile: as `zim_names`.
    """
    for picture, address in _pictures(path, files):
        if is_pending(address):
            yield address, content_of(path, picture)


def _pictures(path: Path, files: Sequence[Path]) -> Iterator[tuple[EntryContent, str]]:
    if path != zim_pieces(path)[0]:
        return
    (_, host), local_files = wiki_of(path), _local(tuple(files))
    for number in range(open_zim(path).entry_count):
        _, picture = page_at(path, number)
        if picture and not picture.is_redirected and picture.kind.startswith("image/"):
            name = file_of(quote(picture.address))
            if name:
                yield picture, local_url(name, host) if name in local_files else upload_url(name)


@cache
def _local(files: tuple[Path, ...]) -> frozenset[str]:
    """Return the files that the wiki itself has."""
    if not files:
        return frozenset()
    with TemporaryDirectory() as folder:
        read_files(files, Path(folder) / "files.parquet")
        rows = pl.read_parquet(Path(folder) / "files.parquet", glob=False)
    return frozenset(rows.filter(pl.col("project") == "local")["file"].to_list())


_ROWS, _LISTED_ROWS = 64, 65_536
# An address, and what reads the picture or raises Refused.
Content = tuple[str, Callable[[], bytes]]


def list_pictures(manifest: Path, spec: crawl.Pictures, shards: int, urls: Path) -> None:
    """Write schemas.URLS for every picture of the acquired part `spec.part`.

    A picture's image_url is `spec.base` and its name: the path of the file below the part, or
    that in a zip or tar archive, below the archive's own path where two pictures have one name. The
    rows of a Parquet file bring an `image_url` of their own. Those of a ZIM file have that of their
    upload (`zim_names`). What repeats an address, or a name within one archive, is logged.

    Raises:
        MissingFile, TruncatedFile, CorruptFile: a file that is gone, changed or unreadable; a row
            of a Parquet file without an address.
        MissingColumn: a Parquet file without `image_url`, or without a column of bytes.
        EmptyTable: no picture in any of the files.
    """
    files, part = placed_if_any(manifest, "files"), manifest.parent / spec.part
    paths = placed(manifest, spec.part)
    pictures = [
        (relative, name)
        for path in paths
        for relative in [plain(path.relative_to(part).as_posix())]
        for name in _names(path, relative, files)
    ]
    if not pictures:
        raise _without_pictures(paths)
    write_listing(_addresses(spec, pictures), shards, urls)


def crawl_pictures(  # noqa: PLR0913, PLR0917
    manifest: Path,
    urls: Path,
    spec: crawl.Pictures,
    limits: crawl.Crawl,
    shard: int,
    outputs: Mapping[str, Path],
) -> None:
    """Write one shard of the listed pictures: outputs `pixels` and `ledger`, one row each.

    WebP that is upright, ends where its pixels end and is no larger than `side_px` stays as it is;
    anything else becomes WebP of quality 100 at that side, or at its own size without one, by the
    crawl's decoders and with its `limits`. In the ledger a drawing is `svg` and a
    document `pdf`, as in a crawl; what can't be decoded, or is NULL in its table, is
    `not_an_image`, and a member that can't be unpacked `unreadable`.

    Raises:
        MissingFile, TruncatedFile, CorruptFile: as `list_pictures`.
    """
    files = placed_if_any(manifest, "files")
    paths = placed(manifest, spec.part)
    addresses = _Addresses(spec, manifest.parent / spec.part, paths, urls)
    ids = ids_of(urls, shard)
    write_shard(_read(paths, files, addresses, ids), ids, limits, manifest, outputs)


def ids_of(urls: Path, shard: int) -> dict[str, str]:
    """Return the ids of a shard's listed pictures by address."""
    urls_of_shard = pl.read_parquet(urls, glob=False).filter(shard=shard)
    return dict(zip(urls_of_shard["image_url"], urls_of_shard["image_id"], strict=True))


def write_shard(
    contents: Iterable[Content],
    ids: Mapping[str, str],
    limits: crawl.Crawl,
    manifest: Path,
    outputs: Mapping[str, Path],
) -> None:
    """Write pixels and ledger of pictures, which come with their address, each once."""
    progress = Progress("pictures", len(ids))
    rows: list[dict[str, object]] = []
    ledger: list[dict[str, object]] = []
    when = datetime.fromtimestamp(int(manifest.stat().st_mtime), UTC)
    decoding = {**limits.values(), "keep_webp": True}
    with PictureDecoders(decoding) as decoders:
        for url, data, (outcome, webp) in decoders.convert_all(contents):
            row = _row(url, data, outcome, webp)
            ledger.append(row | {"fetched_at": when})
            if row["status"] == "success":
                size = {side: row[f"stored_{side}"] for side in ("width", "height")}
                rows.append({"image_id": ids[url], "image_url": url, "webp": webp, **size})
            progress.add()
    progress.finish()
    store.write_rows(sorted(rows, key=lambda r: str(r["image_id"])), outputs["pixels"], PIXELS)
    by_url = sorted(ledger, key=lambda r: str(r["image_url"]))
    store.write_rows(by_url, outputs["ledger"], LEDGER)


def write_listing(names: Iterable[str], shards: int, urls: Path) -> None:
    """Write schemas.URLS of the addresses of pictures; what repeats one is logged."""
    addresses = pl.DataFrame({"image_url": list(names)}, {"image_url": pl.String})
    repeated = len(addresses) - addresses["image_url"].n_unique()
    if repeated:
        log.warning("%d pictures repeat an address; one of each is kept", repeated)
    urls.parent.mkdir(parents=True, exist_ok=True)
    listed = urls.with_name(f".{urls.name}.listed.parquet")
    try:
        addresses.write_parquet(listed)
        list_urls([listed], shards, urls)
    finally:
        listed.unlink(missing_ok=True)


def _url(spec: crawl.Pictures, name: str) -> str:
    return canonical_url(name if "://" in name else spec.base + name.removeprefix("./"))


def _addresses(spec: crawl.Pictures, pictures: Sequence[tuple[str, str]]) -> list[str]:
    """Return the address of each picture, by the place of its file and its name."""
    holders: dict[str, str] = {}
    shared: set[str] = set()
    for relative, name in pictures:
        url = _url(spec, name)
        if holders.setdefault(url, relative) != relative:
            shared.add(url)
    return [
        _within(spec, relative, name) if _url(spec, name) in shared else _url(spec, name)
        for relative, name in pictures
    ]


def _within(spec: crawl.Pictures, relative: str, name: str) -> str:
    """Return the address of a picture below that of its archive; others have just one."""
    if is_archive(Path(relative)):
        return _url(spec, f"{relative}/{name.removeprefix('./')}")
    return _url(spec, name)


class _Addresses:
    """The addresses under which the pictures of all shards were listed."""

    def __init__(self, spec: crawl.Pictures, part: Path, paths: Sequence[Path], urls: Path) -> None:
        self._spec, self._part = spec, part
        listed = pl.scan_parquet(urls, glob=False).select("image_url")
        places = (self.relative(path) for path in paths if is_archive(path))
        is_in_archive = pl.any_horizontal(
            pl.lit(value=False),
            *(
                pl.col("image_url").str.starts_with(_url(spec, f"{relative}/"))
                for relative in places
            ),
        )
        self._in_archives = frozenset(listed.filter(is_in_archive).collect()["image_url"])

    def relative(self, path: Path) -> str:
        """Return the path of a file below its part."""
        return plain(path.relative_to(self._part).as_posix())

    def url(self, path: Path, name: str) -> str:
        """Return the address that a picture in a file was listed under."""
        within = _within(self._spec, self.relative(path), name)
        return within if within in self._in_archives else _url(self._spec, name)


def _names(path: Path, relative: str, files: Sequence[Path]) -> list[str]:
    """Return the names of the pictures in a file: its own place, or those of what it holds."""
    if is_archive(path):
        return [member.name for member in members(path) if is_picture(member.name)]
    if path.suffix == ".parquet":
        return _urls(path)
    if is_zim(path):
        return zim_names(path, files)
    return [relative]


def _without_pictures(paths: Sequence[Path]) -> EmptyTable:
    names = ", ".join(path.name for path in paths)
    if any(is_zim(path) for path in paths):
        problem = f"{names}: a ZIM file without pictures, as Kiwix's `nopic` and `mini` are"
        remedy = "give a `maxi`, or drop `pictures` from params crawl to download them"
    else:
        problem, remedy = (
            f"{names}: no picture in it",
            "check `crawl.<source>.pictures.part` in params",
        )
    return EmptyTable(paths[0], problem, remedy)


def _urls(path: Path) -> list[str]:
    with parquet_file(path) as file:
        schema = file.schema_arrow
    if "image_url" not in schema.names:
        problem = f"columns {', '.join(schema.names)}"
        raise MissingColumn(path, problem, "add `image_url`, the address of each picture")
    kind = schema.field("image_url").type
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
        raise MissingColumn(path, f"image_url is {kind}", "make it texts, an address a row")
    _picture_column(path, schema)
    urls: list[str] = []
    for batch in parquet_batches(path, ["image_url"], _LISTED_ROWS):
        column = batch["image_url"]
        if column.null_count:
            row = len(urls) + column.is_null().to_pylist().index(True) + 1
            problem, remedy = "image_url is NULL", "give the picture an address"
            raise CorruptFile(f"{path}, row {row}", problem, remedy)
        urls += cast(list[str], column.to_pylist())
    return urls


def _read(
    paths: Sequence[Path], files: Sequence[Path], addresses: _Addresses, ids: Mapping[str, str]
) -> Iterator[Content]:
    """Yield each picture of `ids` once, the first of its address."""
    left = set(ids)
    for path in paths:

        def is_pending(name: str, path: Path = path) -> bool:
            return addresses.url(path, name) in left

        for name, read in _contents(
            path, addresses.relative(path), files, is_pending, ids.values()
        ):
            if is_pending(name):
                left.discard(addresses.url(path, name))
                yield addresses.url(path, name), read


def _contents(
    path: Path,
    relative: str,
    files: Sequence[Path],
    is_pending: Callable[[str], bool],
    ids: Collection[str],
) -> Iterator[Content]:
    if is_archive(path):
        yield from ((m.name, m.read) for m in members(path) if is_picture(m.name))
    elif path.suffix == ".parquet":
        yield from _rows(path, ids)
    elif is_zim(path):
        yield from ((n, partial(bytes, data)) for n, data in zim_contents(path, files, is_pending))
    else:
        yield relative, partial(file_content, path)


def _rows(path: Path, ids: Collection[str]) -> Iterator[Content]:
    with parquet_file(path) as file:
        column = _picture_column(path, file.schema_arrow)
        has_ids = "image_id" in file.schema_arrow.names
        groups = groups_within(file, (min(ids), max(ids))) if has_ids and ids else None
    for batch in parquet_batches(path, ["image_url", column], _ROWS, groups):
        for name, value in zip(*batch.to_pydict().values(), strict=True):
            yield name, partial(_bytes, value["bytes"] if isinstance(value, dict) else value)


def _bytes(value: bytes | None) -> bytes:
    if value is None:
        raise Refused("no bytes: the picture is NULL", "not_an_image")
    return value


def _picture_column(path: Path, schema: pa.Schema) -> str:
    """Return the column of bytes, or of a struct with `bytes` as the hub's data sets have it."""
    for field in schema:
        inner = field.type.field("bytes").type if pa.types.is_struct(field.type) else field.type
        if pa.types.is_binary(inner) or pa.types.is_large_binary(inner):
            return field.name
    remedy = (
        "give it `image_url` and a binary `image`, or leave the source out of params crawl, as "
        "params/atomic-captions.yaml does, to work with captions alone"
    )
    raise MissingColumn(path, f"no column of pictures among {', '.join(schema.names)}", remedy)


def _row(url: str, data: bytes, outcome: Mapping[str, Any], webp: bytes) -> dict[str, object]:
    """Return the row of the ledger; pictures that came along have no address to ask again."""
    row: dict[str, object] = {"image_url": url, **outcome, "attempts": 1}
    if outcome["status"] != "success":
        return row
    digests = {"sha256": _sha256(webp), "upstream_sha256": _sha256(data)}
    return row | digests | {"bytes": len(webp)}


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
