"""Every picture of the collection: what kind it is, what it looks like, whose it is."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any


def describe_pictures(  # noqa: PLR0913
    images: Path,
    pixels: Sequence[Path],
    placed: Sequence[Path],
    qrels: Path,
    out: Path,
    threads: int,
    spec: dict[str, Any],
) -> None:
    """Write PICTURES, sorted by image_id, in one pass over the crawl's pixels."""
    raise NotImplementedError
