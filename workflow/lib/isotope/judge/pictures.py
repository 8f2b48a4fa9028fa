"""What an assessor sees: small pictures of pooled images, from the shards of the crawl."""

import io
from collections.abc import Collection, Sequence
from pathlib import Path

import polars as pl
from PIL import Image

from isotope.core.pixels import decode, iter_pixels

SIDE_PX = 480
_QUALITY = 80


class Pictures:
    """Pooled images as small WebP pictures, from the shards of the crawl."""

    def __init__(self, shards: Sequence[Path], ids: Collection[str]) -> None:
        """Find which shard has each of `ids`."""
        self._shards: dict[str, str] = {}
        if shards:
            lazy = pl.scan_parquet(list(shards), include_file_paths="shard").select(
                "image_id", "shard"
            )
            self._shards = dict(lazy.filter(pl.col("image_id").is_in(ids)).collect().iter_rows())

    def __contains__(self, image_id: object) -> bool:
        """Tell whether the picture's pixels were crawled."""
        return image_id in self._shards

    def webp(self, image_id: str) -> bytes:
        """Return the picture within SIDE_PX squared.

        Raises:
            KeyError: no pixels of that image.
            CorruptFile, TruncatedFile, MissingFile: as `pixels`.
        """
        shard = Path(self._shards[image_id])
        _, found = next(iter_pixels([shard], {image_id}))
        picture, small = decode(found, where=f"{shard}: {image_id}"), io.BytesIO()
        picture.thumbnail((SIDE_PX, SIDE_PX), Image.Resampling.LANCZOS)
        picture.save(small, "WEBP", quality=_QUALITY)
        return small.getvalue()
