"""Pictures that came with a data set, from files, archives and tables into the crawl's shards."""

import hashlib
import io
import tarfile
import zipfile
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import cast
from urllib.parse import quote

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image

from isotope.acquire.manifest import placed, placed_if_any
from isotope.core import store
from isotope.core.errors import CorruptFile, EmptyTable, MissingColumn
from isotope.core.files import Page, content_of, is_zim, open_zim, page_at, zim_pieces
from isotope.core.pixels import groups_within
from isotope.core.progress import Progress, log
from isotope.core.wikimedia import file_of, local_url, read_files, upload_url, wiki_of
from isotope.crawl.ledger import list_urls
from isotope.crawl.tables import LEDGER, PIXELS
from isotope.intake.decode import IMAGE_LIMIT_PIXELS, NO_PIXELS, image_format, to_webp


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


def _pictures(path: Path, files: Sequence[Path]) -> Iterator[tuple[Page, str]]:
    if path != zim_pieces(path)[0]:
        return
    (_, host), own = wiki_of(path), _local(tuple(files))
    for number in range(open_zim(path).entry_count):
        _, picture = page_at(path, number)
        if picture and not picture.is_redirected and picture.kind.startswith("image/"):
            name = file_of(quote(picture.address))
            if name:
                yield picture, local_url(name, host) if name in own else upload_url(name)


@cache
def _local(files: tuple[Path, ...]) -> frozenset[str]:
    """Return the files that the wiki itself has."""
    if not files:
        return frozenset()
    with TemporaryDirectory() as folder:
        read_files(files, Path(folder) / "files.parquet")
        rows = pl.read_parquet(Path(folder) / "files.parquet")
    return frozenset(rows.filter(pl.col("project") == "local")["file"].to_list())


_SUFFIXES = (".jpg", ".jpeg", ".png", ".webp", ".gif", ".bmp", ".tif", ".tiff")
_ROWS = 64


def list_pictures(manifest: Path, spec: Mapping[str, str], shards: int, urls: Path) -> None:
    """Write tables.URLS for every picture of the acquired part `spec["part"]`.

    A picture's image_url is `spec["base"]` and its name: the path of the file below the part, or
    that in a zip or tar archive, below the archive's own path where two pictures have one name. The
    rows of a Parquet file bring an `image_url` of their own. Those of a ZIM file have that of their
    upload (`zim_names`). What repeats an address, or a name within one archive, is logged.

    Raises:
        MissingFile, TruncatedFile, CorruptFile: a file that is gone, changed or unreadable; a row
            of a Parquet file without an address.
        MissingColumn: a Parquet file without `image_url`, or without a column of bytes.
        EmptyTable: no picture in any of the files.
    """
    files, part = placed_if_any(manifest, "files"), manifest.parent / spec["part"]
    paths = placed(manifest, spec["part"])
    pictures = [
        (place, name)
        for path in paths
        for place in [path.relative_to(part).as_posix()]
        for name in _names(path, place, files)
    ]
    if not pictures:
        raise _without_pictures(paths)
    write_listing(_addresses(spec, pictures), shards, urls)


def crawl_pictures(
    manifest: Path, urls: Path, spec: Mapping[str, str], shard: int, outputs: Mapping[str, Path]
) -> None:
    """Write one shard of the listed pictures: outputs `pixels` and `ledger`, one row each.

    WebP stays as it is; anything else becomes WebP of quality 100 at its own size, through
    the crawl's converter. In the ledger a drawing is `svg` and a document `pdf`, as in a crawl;
    what can't be decoded, or is NULL in its table, is `not_an_image`.

    Raises:
        MissingFile, TruncatedFile, CorruptFile: as `list_pictures`.
    """
    files = placed_if_any(manifest, "files")
    paths = placed(manifest, spec["part"])
    addresses = _Addresses(spec, manifest.parent / spec["part"], paths, urls)
    ids = ids_of(urls, shard)
    write_shard(_read(paths, files, addresses, ids), ids, manifest, outputs)


def ids_of(urls: Path, shard: int) -> dict[str, str]:
    """Return the ids of a shard's listed pictures by address."""
    own = pl.read_parquet(urls).filter(shard=shard)
    return dict(zip(own["image_url"], own["image_id"], strict=True))


def write_shard(
    contents: Iterable[tuple[str, bytes | None]],
    ids: Mapping[str, str],
    manifest: Path,
    outputs: Mapping[str, Path],
) -> None:
    """Write pixels and ledger of pictures, which come with their address, each once."""
    progress = Progress("pictures", len(ids))
    rows: list[dict[str, object]] = []
    ledger: list[dict[str, object]] = []
    when = datetime.fromtimestamp(int(manifest.stat().st_mtime), UTC)
    for url, data in contents:
        entry, webp = _convert(url, data)
        ledger.append(entry | {"fetched_at": when})
        if webp is not None:
            size = {k: entry[k] for k in ("width", "height")}
            rows.append({"image_id": ids[url], "image_url": url, "webp": webp, **size})
        progress.add()
    progress.finish()
    store.write_rows(sorted(rows, key=lambda r: str(r["image_id"])), outputs["pixels"], PIXELS)
    by_url = sorted(ledger, key=lambda r: str(r["image_url"]))
    store.write_rows(by_url, outputs["ledger"], LEDGER)


def write_listing(names: Iterable[str], shards: int, urls: Path) -> None:
    """Write tables.URLS of the addresses of pictures; what repeats one is logged."""
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


def _url(spec: Mapping[str, str], name: str) -> str:
    return name if "://" in name else spec.get("base", "") + name.removeprefix("./")


def _addresses(spec: Mapping[str, str], pictures: Sequence[tuple[str, str]]) -> list[str]:
    """Return the address of each picture, by the place of its file and its name."""
    holders: dict[str, str] = {}
    shared: set[str] = set()
    for place, name in pictures:
        url = _url(spec, name)
        if holders.setdefault(url, place) != place:
            shared.add(url)
    return [
        _within(spec, place, name) if _url(spec, name) in shared else _url(spec, name)
        for place, name in pictures
    ]


def _within(spec: Mapping[str, str], place: str, name: str) -> str:
    """Return the address of a picture below that of its archive; others have just one."""
    if _is_archive(Path(place)):
        return _url(spec, f"{place}/{name.removeprefix('./')}")
    return _url(spec, name)


class _Addresses:
    """The addresses under which the pictures of all shards were listed."""

    def __init__(
        self, spec: Mapping[str, str], part: Path, paths: Sequence[Path], urls: Path
    ) -> None:
        self._spec, self._part = spec, part
        listed = pl.scan_parquet(urls).select("image_url")
        places = (self.place(path) for path in paths if _is_archive(path))
        own = pl.any_horizontal(
            pl.lit(value=False),
            *(pl.col("image_url").str.starts_with(_url(spec, f"{place}/")) for place in places),
        )
        self._in_archives = frozenset(listed.filter(own).collect()["image_url"])

    def place(self, path: Path) -> str:
        """Return the path of a file below its part."""
        return path.relative_to(self._part).as_posix()

    def url(self, path: Path, name: str) -> str:
        """Return the address that a picture in a file was listed under."""
        within = _within(self._spec, self.place(path), name)
        return within if within in self._in_archives else _url(self._spec, name)


def _names(path: Path, place: str, files: Sequence[Path]) -> list[str]:
    """Return the names of the pictures in a file: its own place, or those of what it holds."""
    with _opening(path):
        if path.suffix == ".zip":
            with zipfile.ZipFile(path) as archive:
                return [n for n in archive.namelist() if _is_picture(n)]
        if _is_tar(path):
            with tarfile.open(path) as archive:
                return [m.name for m in archive if m.isfile() and _is_picture(m.name)]
        if path.suffix == ".parquet":
            return _urls(path)
        if is_zim(path):
            return zim_names(path, files)
    return [place]


def _without_pictures(paths: Sequence[Path]) -> EmptyTable:
    names = ", ".join(path.name for path in paths)
    if any(is_zim(path) for path in paths):
        found = f"{names}: a ZIM file without pictures, as Kiwix's `nopic` and `mini` are"
        remedy = "give a `maxi`, or drop `pictures` from params crawl to download them"
    else:
        found, remedy = (
            f"{names}: no picture in it",
            "check `crawl.<source>.pictures.part` in params",
        )
    return EmptyTable(paths[0], found, remedy)


def _urls(path: Path) -> list[str]:
    with pq.ParquetFile(path) as file:
        if "image_url" not in file.schema_arrow.names:
            found = f"columns {', '.join(file.schema_arrow.names)}"
            raise MissingColumn(path, found, "add `image_url`, the address of each picture")
        _picture_column(path, file.schema_arrow)
        urls = file.read(["image_url"])["image_url"]
    if urls.null_count:
        row = urls.is_null().to_pylist().index(True) + 1
        raise CorruptFile(f"{path}, row {row}", "image_url is NULL", "give the picture an address")
    return cast(list[str], urls.to_pylist())


def _is_picture(name: str) -> bool:
    return name.lower().endswith(_SUFFIXES)


def _is_archive(path: Path) -> bool:
    return path.suffix == ".zip" or _is_tar(path)


def _is_tar(path: Path) -> bool:
    return ".tar" in path.suffixes or path.suffix in (".tgz", ".tbz2", ".txz")


def _read(
    paths: Sequence[Path], files: Sequence[Path], addresses: _Addresses, ids: Mapping[str, str]
) -> Iterator[tuple[str, bytes | None]]:
    """Yield each picture of `ids` once, the first of its address; None where it has no bytes."""
    left = set(ids)
    for path in paths:

        def is_pending(name: str, path: Path = path) -> bool:
            return addresses.url(path, name) in left

        with _opening(path):
            contents = _contents(path, addresses.place(path), is_pending, ids.values())
            for name, data in zim_contents(path, files, is_pending) if is_zim(path) else contents:
                left.discard(addresses.url(path, name))
                yield addresses.url(path, name), data


def _contents(
    path: Path, place: str, is_pending: Callable[[str], bool], ids: Collection[str]
) -> Iterator[tuple[str, bytes | None]]:
    if path.suffix == ".zip":
        with zipfile.ZipFile(path) as archive:
            for name in filter(_is_picture, archive.namelist()):
                if is_pending(name):
                    yield name, archive.read(name)
    elif _is_tar(path):
        with tarfile.open(path) as archive:
            for member in archive:
                file = archive.extractfile(member) if is_pending(member.name) else None
                if file is not None:
                    yield member.name, file.read()
    elif path.suffix == ".parquet":
        yield from ((n, data) for n, data in _rows(path, ids) if is_pending(n))
    elif is_pending(place):
        yield place, path.read_bytes()


def _rows(path: Path, ids: Collection[str]) -> Iterator[tuple[str, bytes | None]]:
    with pq.ParquetFile(path) as file:
        column = _picture_column(path, file.schema_arrow)
        has_ids = "image_id" in file.schema_arrow.names
        groups = groups_within(file, (min(ids), max(ids))) if has_ids and ids else None
        for batch in file.iter_batches(_ROWS, groups, ["image_url", column]):
            for name, value in zip(*batch.to_pydict().values(), strict=True):
                yield name, value["bytes"] if isinstance(value, dict) else value


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


def _convert(url: str, data: bytes | None) -> tuple[dict[str, object], bytes | None]:
    entry: dict[str, object] = {"image_url": url, "status": "success", "attempts": 1}
    if data is None:
        return entry | {"status": "not_an_image", "error": "no bytes: the picture is NULL"}, None
    kind = image_format(data)
    if kind in NO_PIXELS:
        return entry | {"status": kind, "format": kind, "error": "no picture of pixels"}, None
    try:
        webp, width, height = (data, *_webp_size(data)) if _is_webp(data) else to_webp(data)
    except (OSError, ValueError, Image.DecompressionBombError, Warning) as error:
        return entry | {"status": "not_an_image", "error": str(error)}, None
    digests = {"sha256": _sha256(webp), "upstream_sha256": _sha256(data)}
    return entry | digests | {"bytes": len(webp), "width": width, "height": height}, webp


def _is_webp(data: bytes) -> bool:
    return data[:4] == b"RIFF" and data[8:12] == b"WEBP"


def _webp_size(data: bytes) -> tuple[int, int]:
    with Image.open(io.BytesIO(data), formats=["WEBP"]) as image:
        if image.width * image.height > IMAGE_LIMIT_PIXELS:
            raise ValueError(f"{image.width} x {image.height} pixels are too many")
        image.load()
        return image.size


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


class _opening:  # noqa: N801 (a context manager that reads as a verb)
    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> None: ...

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        broken = (zipfile.BadZipFile, tarfile.TarError, pa.ArrowInvalid, EOFError)
        if isinstance(error, broken):
            remedy = "replace the file upstream, delete the manifest, and run again"
            raise CorruptFile(self._path, f"can't be read: {error}", remedy) from error
