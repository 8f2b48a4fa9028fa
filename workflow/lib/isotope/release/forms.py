"""The forms of a release that are made of its own Parquet files: BEIR, MTEB, card, Croissant."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from isotope.core import store
from isotope.release.about import write_about
from isotope.release.beir import write_beir
from isotope.release.card import card
from isotope.release.croissant import write_croissant
from isotope.release.mteb import write_mteb
from isotope.release.statistics import statistics
from isotope.release.words import Pools, collect_words


def write_forms(
    folder: Path,
    about: Mapping[str, Any],
    columns: Mapping[str, Mapping[str, int]],
    pools: Pools | None = None,
) -> dict[str, Any]:
    """Write `beir/`, `mteb/`, about.json, README.md and croissant.json of the release in `folder`.

    `about` is what `about.describe` returns, `columns` are as for `statistics`, `pools` those of a
    small release. What the release says of itself is returned.

    Raises:
        MissingFile, CorruptFile: a table of the release that is not there or not readable.
        DiskFull: no room for them.
    """
    with store.scratch(folder) as scratch:
        words = collect_words(folder, scratch, about["captions"], pools or {})
        counted = {**about, "statistics": statistics(words, columns)}
        write_beir(words)
        counted["evaluated"] = write_mteb(words, counted)
    write_about(folder, counted)
    (folder / "README.md").write_text(card(folder, counted), encoding="utf-8")
    write_croissant(counted, folder)
    return counted
