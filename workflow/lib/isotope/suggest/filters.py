"""What must not be suggested, each with its reason."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

REASONS = (
    "on the page",
    "icon",
    "flag",
    "map",
    "logo",
    "placeholder",
    "on many pages",
    "too small",
    "other aspect",
    "not free",
    "near duplicate",
    "same series",
    "rejected before",
)


class Filtered(NamedTuple):
    """Rows that pass, in the order in which they came, and REJECTED of those that do not."""

    left: pl.DataFrame
    rejected: pl.DataFrame


class Likeness:
    """How alike pictures are: their vectors where a dense system has them, and their hashes."""

    def __init__(
        self,
        pictures: pl.DataFrame,
        image_vectors: Sequence[Path] = (),
        image_ids: Sequence[Path] = (),
    ) -> None:
        """Map the shards of vectors; without any, hashes alone tell.

        `pictures` has at least `image_id` and `hash` of PICTURES.

        Raises:
            As `core.vectors.load_vectors`.
        """
        raise NotImplementedError

    def vectors(self, image_ids: pl.Series) -> npt.NDArray[np.float32]:
        """Return [n, d] of length 1, for `diversify.mmr`; pictures unlike all others where unknown.

        Without vectors these are [n, 64] of the bits of the hashes, +1/8 or -1/8, whose cosine is
        1 - 2 * bits that differ / 64.
        """
        raise NotImplementedError


class Filters:
    """The filters of a collection, made once and applied to any number of blocks of candidates."""

    def __init__(  # noqa: PLR0913
        self,
        pictures: pl.DataFrame,
        sections: pl.DataFrame,
        shown: pl.DataFrame,
        qrels: pl.DataFrame,
        rejections: pl.DataFrame,
        likeness: Likeness,
        spec: dict[str, Any],
    ) -> None:
        """Take what the collection has.

        `pictures` are PICTURES (`author` and `licence` may lack), `sections` have `text_id`,
        `language` and `page_id` (of SECTIONS; empty for the live engine's free texts), `shown` is
        of `shown(...)` (or empty, of the same columns), `qrels` those of the collection: a judged
        section's own pictures are hidden, that is, do not count as on its page, and are on one
        page less. `rejections` have `text_id` and `image_id` (`verdicts.rejections`), and perhaps
        `reason`. Keys of `spec`: pixels, pages, aspect_tail, same_bits, same_cosine, free.
        """
        raise NotImplementedError

    def reject(self, candidates: pl.DataFrame) -> Filtered:
        """Apply all filters that need no ranking; `candidates` have `text_id` and `image_id`.

        Other columns are left as they are. The first reason of REASONS counts.
        """
        raise NotImplementedError

    def one_of_a_kind(self, ranked: pl.DataFrame) -> Filtered:
        """Leave the best of near duplicates and of a series; `ranked` is best first in a section.

        Rows of a section (`text_id`) stand together; rank one system at a time.
        """
        raise NotImplementedError


def shown(placed: Sequence[Path], pictures: pl.DataFrame, spec: dict[str, Any]) -> pl.DataFrame:
    """Return which pictures of the collection each page shows, infoboxes included.

    `placed` are parse's PICTURES, one of each of spec's `sources` (with `languages`, `union`).
    Columns: language, page_id, image_id, origin (infobox, link, gallery, ...), one row for each
    page and picture.
    """
    raise NotImplementedError


def counts(rejected: pl.DataFrame | pl.LazyFrame) -> pl.DataFrame:
    """Return how much each reason removed: reason, candidates, pictures, sections.

    One row for each of REASONS, in their order, 0 where a filter removed nothing.
    """
    raise NotImplementedError
