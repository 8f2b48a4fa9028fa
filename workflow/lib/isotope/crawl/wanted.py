"""The pictures that a crawl wants, found by the files that addresses show: many rows at a time."""

import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl

from isotope.crawl.identity import files_of

_ADDRESS = r"^(?i:https?:)?//[^/]+/."


def shown(addresses: Sequence[str | None]) -> pl.Series:
    """Return which file each address shows (`identity.files_of`); NULL for what is no address."""
    rows = pl.DataFrame({"url": addresses}, {"url": pl.String})
    urls = rows.select(pl.when(pl.col("url").str.contains(_ADDRESS)).then("url"))
    return files_of(urls.to_series())


class WantedUrls:
    """The URLs that are wanted and not there yet, each with a place from 0.

    In memory are the list and, for each URL, 8 bytes by which its file is looked up.
    """

    def __init__(self, urls: Path, taken: Sequence[Path] = ()) -> None:
        """Read schemas.URLS; `taken` are ledgers whose pictures are wanted no more."""
        rows = pl.scan_parquet(urls, glob=False).select("image_id", "image_url")
        for ledger in taken:
            available = (
                pl.scan_parquet(ledger, glob=False).filter(status="success").select("image_url")
            )
            rows = rows.join(available, on="image_url", how="anti")
        listed = rows.collect()
        keys = files_of(listed["image_url"]).hash().to_numpy()
        order = np.argsort(keys, kind="stable")
        self._keys, self._rows = keys[order], listed[order]

    def __len__(self) -> int:
        return self._rows.height

    @property
    def digest(self) -> str:
        """A digest of what is wanted."""
        return hashlib.sha256(self._keys.tobytes()).hexdigest()

    def row(self, index: int) -> tuple[str, str]:
        """Return image_id and image_url."""
        image_id, image_url = self._rows.row(index)
        return image_id, image_url

    def index_of(self, image_url: str) -> int | None:
        """Return the place of a URL itself; None for one that is not wanted."""
        indexes = self.find(shown([image_url])).get(0, [])
        return next((index for index in indexes if self.row(index)[1] == image_url), None)

    def find(self, files: pl.Series) -> dict[int, list[int]]:
        """Return the places of the URLs that show the same files, by the place among `files`."""
        keys = files.hash().to_numpy()
        low = np.searchsorted(self._keys, keys, "left")
        high = np.searchsorted(self._keys, keys, "right")
        pairs = [
            (at, index)
            for at in np.flatnonzero((high > low) & files.is_not_null().to_numpy()).tolist()
            for index in range(low[at], high[at])
        ]
        # Keys of 8 bytes may be equal by chance.
        urls = self._rows["image_url"].gather([index for _, index in pairs])
        same = files_of(urls) == files.gather([at for at, _ in pairs])
        matches = dict[int, list[int]]()
        for (at, index), is_same in zip(pairs, same, strict=True):
            if is_same:
                matches.setdefault(at, []).append(index)
        return matches
