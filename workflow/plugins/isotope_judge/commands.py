"""The command `isotope judge`."""

from contextlib import closing
from typing import Annotated

import typer

from isotope.cli.arguments import (
    LOOPBACK,
    Configured,
    Host,
    Overlays,
    Pairs,
    Port,
    Remote,
    words,
)

SHEETS = ("failures", "mistakes", "suggestions")


def add(app: typer.Typer) -> None:
    """Add the command."""
    app.command(cls=Configured)(judge)


def judge(  # noqa: PLR0913 (one each for what the command takes)
    collection: Annotated[
        str, typer.Argument(help="A collection with a pool: `judge` in the params.")
    ],
    *,
    assessor: Annotated[str, typer.Option(help="Who grades.", metavar="NAME")],
    sheet: Annotated[
        str | None,
        typer.Option(help="A sheet, not the pool.", **words(SHEETS)),
    ] = None,
    host: Host = LOOPBACK,
    port: Port = 8000,
    remote: Remote = False,
    configfile: Overlays,
    config: Pairs,
) -> str:
    """Serve a page on which an assessor grades a collection's pool, or judges a sheet."""
    from isotope.params.files import load  # noqa: PLC0415
    from isotope_judge import app as pages  # noqa: PLC0415
    from isotope_judge import guards, session, suggestion_session, suggestions  # noqa: PLC0415
    from isotope_judge.params import Judge  # noqa: PLC0415

    params = load(configfile, config)
    at = collection, assessor
    with closing(guards.listen(host, port, remote=remote)) as listening:
        address = listening.getsockname()[0]
        if sheet == suggestions.SHEET:
            current = suggestion_session.open_suggestions(*at, params)
            page = pages.suggestions_app(current, address)
        elif sheet:
            current = session.open_sheet(*at, sheet, params)
            page = pages.sheet_app(current, address)
        else:
            current = session.open_pool(*at, params)
            page = pages.pool_app(current, pages.scale(params.section("judge", Judge)), address)
        return pages.serve(current, page, listening)
