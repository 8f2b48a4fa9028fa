"""The command `isotope geval`."""

from pathlib import Path
from typing import Annotated

import typer

from isotope.cli.arguments import Collection, Setting, Split


def add(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(geval)


def geval(
    collection: Collection,
    challenge: Annotated[Path, typer.Argument(help="Its folder with in.tsv and captions.tsv.")],
    folder: Annotated[Path, typer.Argument(help="Where to write <system>/<challenge>/out.tsv.")],
    setting: Setting = "small",
    split: Split = "test",
) -> str:
    """Write runs as submissions to a GEval challenge."""
    from isotope_papers.geval import submissions  # noqa: PLC0415

    return submissions(collection, challenge, folder, setting=setting, split=split)
