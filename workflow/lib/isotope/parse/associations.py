"""Associations that a snapshot itself has: the pictures of its sections, in WIT's columns."""

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from isotope.acquire.manifest import placed_if_any
from isotope.core import sql, store
from isotope.core.store import gather
from isotope.core.wikimedia import read_files
from isotope.parse.tables import ASSOCIATIONS, REJECTED

_STEPS = sql.SQL / "parse" / "wikitext"


def associate(
    parsed: Mapping[str, Path],
    known: Mapping[str, Sequence[Path]],
    files: Sequence[Path],
    ratios: Mapping[str, float],
    outputs: Mapping[str, Path],
) -> None:
    """Write what WIT would say of a snapshot: tables.ASSOCIATIONS, and tables.REJECTED.

    `parsed` are `pictures` and `sections`; `known` are the tables of WIT's own rows, `wit` and
    `wit_rejected`, or nothing: they come first, and their splits win. `files` are tables as
    `file_tables` reads them. `ratios` are the shares of test and validation among the pages that
    WIT does not know; the rest trains. `outputs` are `associations` and `rejected`.

    Raises:
        MissingColumn, CorruptFile: as `file_tables.read_files`.
        MissingFile: a table that was not parsed.
    """
    parent = outputs["associations"].parent
    parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=parent, prefix=".associations-") as folder:
        made: dict[str, sql.Files] = {**parsed, "wit": _wit(known["wit"], Path(folder))}
        made["files"] = Path(folder) / "files.parquet"
        is_complete = read_files(files, Path(folder) / "files.parquet")
        params = {"is_complete": is_complete, **ratios}
        sql.run_chain(sorted(_STEPS.glob("*.sql")), made, Path(folder), params=params)
        for name, table, schema in (
            ("associations", "wit", ASSOCIATIONS),
            ("rejected", "wit_rejected", REJECTED),
        ):
            own = Path(folder) / f"{'left_out' if name == 'rejected' else name}.parquet"
            gather([*known[table], own], outputs[name], schema)


def _wit(known: Sequence[Path], folder: Path) -> Sequence[Path]:
    if known:
        return known
    empty = folder / "wit.parquet"
    store.write_rows([], empty, ASSOCIATIONS)
    return [empty]


def associate_source(  # noqa: PLR0913
    *,
    manifest: Path,
    pictures: Path,
    sections: Path,
    wit: Sequence[Path],
    wit_rejected: Sequence[Path],
    splits: Mapping[str, float],
    outputs: Mapping[str, Path],
) -> None:
    """Write the associations of a source's own pictures: see `associate`.

    Its file tables are those of the acquired part `files`.
    """
    parsed = {"pictures": pictures, "sections": sections}
    of_wit = {"wit": wit, "wit_rejected": wit_rejected}
    associate(parsed, of_wit, placed_if_any(manifest, "files"), splits, outputs)
