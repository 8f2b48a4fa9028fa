"""The command `isotope verify`."""

from typing import Annotated

import typer

from isotope.cli.arguments import NONE, Configured, Overlays, Pairs, filled, one_of, share
from isotope.core import terminal

CHECKS = ("digests", "files", "means", "significance", "printed", "measures", "rankings", "vectors")


def add(app: typer.Typer) -> None:
    """Add the command."""
    app.command(cls=Configured)(verify)


def verify(  # noqa: PLR0913 (one each for what the command takes)
    report: Annotated[
        str | None,
        typer.Argument(
            help="A collection, the folder or a page of its report, or the folder of a release; "
            "without one, all built collections.",
            parser=filled,
            show_default=False,
        ),
    ] = None,
    *,
    sample: Annotated[
        float,
        typer.Option(
            help="Share of the scores, rankings and vectors that is recomputed.",
            parser=share,
            metavar="SHARE",
        ),
    ] = 0.01,
    all_items: Annotated[
        bool,
        typer.Option(
            "--all", help="Recompute all of them, as --sample 1, and read all files and pictures."
        ),
    ] = False,
    check: Annotated[
        list[str],
        typer.Option(
            help=f"Only some checks, without a record: {', '.join(CHECKS)}.",
            parser=one_of(CHECKS),
            metavar="CHECK",
            **NONE,
        ),
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print the records as JSON.")] = False,
    configfile: Overlays,
    config: Pairs,
) -> str:
    """Recompute published numbers by other people's tools."""
    from isotope.params.files import load  # noqa: PLC0415
    from isotope_verify import verify as checks  # noqa: PLC0415

    done = checks.verify(
        report, lambda: load(configfile, config), share=1.0 if all_items else sample, only=check
    )
    answer = checks.as_json(done) if as_json else "\n".join(map(checks.text, done))
    error = next(filter(None, (outcome.error for outcome in done)), None)
    if error:
        terminal.write(answer)
        raise error
    return answer
