"""How well the pictures of a snapshot's wikitext agree with those of WIT."""

from collections.abc import Sequence
from pathlib import Path

from isotope.core import sql
from isotope.tabulate.table import tabulate

_SQL = sql.SQL / "tabulate"
_SECTIONS = 25


def tabulate_agreement(
    associations: Path, rejected: Path, sections: Path, *, language: str, stems: Sequence[Path]
) -> None:
    """Write two tables (csv, md, tex): agreement over all and by section, and each picture missed.

    Only articles that both have count. A picture is its page, its section's title and the name of
    its file; precision and recall are those of the snapshot, if WIT were right.

    Raises:
        MissingFile: a table that was not parsed.
    """
    both = {"associations": associations, "sections": sections}
    tabulate(
        _SQL / "associations.sql", both, {"language": language, "sections": _SECTIONS}, stems[0]
    )
    told = {**both, "rejected": rejected}
    tabulate(_SQL / "associations_missed.sql", told, {"language": language}, stems[1])
