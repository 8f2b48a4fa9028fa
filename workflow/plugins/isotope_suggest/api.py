"""`isotope.suggest` of the public API."""

from collections.abc import Mapping
from contextlib import closing
from dataclasses import astuple
from pathlib import Path
from typing import Any, get_type_hints

import polars as pl

from isotope.api.plugged import Suggestions
from isotope.core.errors import BadArgument
from isotope.params.files import load
from isotope_suggest.ask.answers import Answer, SectionAnswer
from isotope_suggest.ask.engine import Engine
from isotope_suggest.command import SYSTEMS, picture

_KINDS: Mapping[object, pl.DataType] = {
    str: pl.String(),
    bool: pl.Boolean(),
    int: pl.Int64(),
    float | None: pl.Float64(),
    list[str]: pl.List(pl.String()),
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
    columns = get_type_hints(Answer if content is None else SectionAnswer)
    schema = {name: _KINDS[kind] for name, kind in columns.items()}
    rows = [astuple(answer) for answer in answers]
    return Suggestions(pl.DataFrame(rows, schema, orient="row"), answers.notes)
