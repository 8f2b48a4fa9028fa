"""The pictures within a Kiwix ZIM file, by the addresses that the associations give them."""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import quote, urlsplit

import polars as pl

from isotope.core.zim import Page, content_of, opened, page_at, pieces
from isotope.parse.file_tables import read_files
from isotope.parse.html_media import file_of
from isotope.parse.infobox import upload_url
from isotope.parse.zim_wiki import site_of


def zim_names(path: Path, files: Sequence[Path]) -> list[str]:
    """Return the address of every picture in a ZIM file, each once.

    `files` are the tables of the part `files`: what they call local has the wiki's own address.
    ASSUME that anything else is of Wikimedia Commons, as the associations do; a ZIM file does not
    say. Of a split file, the first piece has them all.

    Raises:
        MissingFile, CorruptFile: as `zim_file.opened`, and what is damaged in it.
    """
    return list(dict.fromkeys(address for _, address in _pictures(path, files)))


def zim_contents(
    path: Path, files: Sequence[Path], wanted: Callable[[str], bool]
) -> Iterator[tuple[str, bytes]]:
    """Yield address and bytes of the wanted pictures, as `zim_names` calls them.

    Raises:
        MissingFile, CorruptFile: as `zim_names`.
    """
    for picture, address in _pictures(path, files):
        if wanted(address):
            yield address, content_of(path, picture)


def _pictures(path: Path, files: Sequence[Path]) -> Iterator[tuple[Page, str]]:
    if path != pieces(path)[0]:
        return
    base, own = urlsplit(site_of(path).base_url), _local(tuple(files))
    for number in range(opened(path).entry_count):
        _, picture = page_at(path, number)
        if picture and not picture.is_redirected and picture.kind.startswith("image/"):
            name = file_of(quote(picture.address))
            if name:
                yield picture, local_url(name, base.netloc) if name in own else upload_url(name)


@cache
def _local(files: tuple[Path, ...]) -> frozenset[str]:
    """Return the files that the wiki itself has."""
    if not files:
        return frozenset()
    with TemporaryDirectory() as folder:
        read_files(files, Path(folder) / "files.parquet")
        told = pl.read_parquet(Path(folder) / "files.parquet")
    return frozenset(told.filter(pl.col("project") == "local")["file"].to_list())


def local_url(name: str, host: str) -> str:
    """Return the address of a file that a wiki has uploaded itself."""
    digest = hashlib.md5(name.replace(" ", "_").encode(), usedforsecurity=False).hexdigest()
    folder = f"{_uploads_of(host)}/{digest[0]}/{digest[:2]}"
    return f"https://upload.wikimedia.org/{folder}/{quote(name.replace(' ', '_'), safe='')}"


def _uploads_of(host: str) -> str:
    """Return the folder of a wiki's own uploads, as Wikimedia's $wgUploadPath composes it.

    A wiki of a language has `<project>/<language>`, one that stands alone `wikipedia/<name>`.
    """
    language, project, *_ = host.split(".")
    if language == "www":
        return f"wikipedia/{'sources' if project == 'wikisource' else project}"
    return f"wikipedia/{language}" if project == "wikimedia" else f"{project}/{language}"
