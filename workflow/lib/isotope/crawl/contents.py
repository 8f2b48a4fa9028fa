"""Pictures within the rows of a data set, such as bytes of a column, into the crawl's shards."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from isotope.core.errors import EmptyTable
from isotope.core.uploads import canonical_url
from isotope.crawl.pictures import ids_of, write_listing, write_shard
from isotope.params.crawl import Crawl
from isotope.params.pairs import Rows
from isotope.parse.forms import Picture
from isotope.parse.pairs import paths_of, read_data


def list_contents(manifest: Path, spec: Rows, shards: int, urls: Path) -> None:
    """Write schemas.URLS for every picture within an acquired data set of kind pairs.

    A picture's image_url is the name that the rows give it (`parse.forms.base.Form.read`).

    Raises:
        EmptyTable: no picture in any of the files.
        As the form's reader.
    """
    names = dict.fromkeys(name for name, _ in _pictures(manifest, spec))
    if not names:
        name = manifest.parent.name
        remedy = (
            f"say where they lie in collect.{name}.pictures: a folder or archive, `urls` where the "
            "images are URLs, `none` to work with texts alone"
        )
        raise EmptyTable(manifest.parent, "no picture within the data", remedy)
    write_listing(names, shards, urls)


def crawl_contents(  # noqa: PLR0913, PLR0917
    manifest: Path,
    urls: Path,
    spec: Rows,
    limits: Crawl,
    shard: int,
    outputs: Mapping[str, Path],
) -> None:
    """Write one shard of the listed pictures: outputs `pixels` and `ledger`, one row each.

    What a picture becomes is as in `pictures.crawl_pictures`.

    Raises:
        As `list_contents`.
    """
    ids = ids_of(urls, shard)
    write_shard(_shipped(manifest, spec, ids), ids, limits, manifest, outputs)


def _shipped(manifest: Path, spec: Rows, ids: Mapping[str, str]) -> Iterator[Picture]:
    left = {*ids}
    for name, read in _pictures(manifest, spec):
        if name in left:
            left.discard(name)
            yield name, read


def _pictures(manifest: Path, spec: Rows) -> Iterator[Picture]:
    data = read_data(paths_of(manifest, spec), spec)
    for name, read in data.form.pictures(data.paths, data.options):
        yield canonical_url(name), read
