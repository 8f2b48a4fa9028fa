"""`isotope.suggest` of the public API."""

from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import Any

import polars as pl

from isotope.api.plugged import Suggestions
from isotope.core.errors import BadArgument
from isotope.params.files import load
from isotope_suggest.ask.engine import Engine
from isotope_suggest.command import SYSTEMS, picture

_KINDS = {
    **dict.fromkeys(("probability", "low", "high"), pl.Float64()),
    **dict.fromkeys(("pages", "reasons"), pl.List(pl.String())),
}


def suggest(  # noqa: PLR0913 (as `isotope.suggest`)
    collection: str,
    *,
    text: str | None,
    section: str | None,
    image: str | Path | bytes | None,
    top: int,
    system: str,
    root: Path,
) -> Suggestions:
    """Ask a built collection, as `isotope.suggest` says.

    Raises:
        BadArgument: another system.
        As `Engine.load`, and its questions.
    """
    if system not in SYSTEMS:
        raise BadArgument("system", f"{system!r}", f"name one of {', '.join(SYSTEMS)}")
    content = image if isinstance(image, bytes | None) else picture(str(image))
    with closing(Engine.load(collection, load(root=root), root, system=system)) as engine:
        if content is not None:
            answers: Any = engine.sections(content, top=top)
        elif section is not None:
            answers = engine.pictures_of_section(section, top=top)
        else:
            answers = engine.pictures(text or "", top=top)
    rows = [asdict(answer) for answer in answers]
    kinds = {name: kind for name, kind in _KINDS.items() if rows and name in rows[0]}
    return Suggestions(pl.DataFrame(rows, schema_overrides=kinds), answers.notes)
