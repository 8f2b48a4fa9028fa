"""The `isotope` command: what people ask once the workflow has run."""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from isotope.cli import commands as cli_commands
from isotope.cli.commands import Parser
from isotope.core.errors import IsotopeError, MissingFile, Unreadable


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a subcommand; return its exit status, 1 after an error that the user can mend."""
    try:
        chosen = parser().parse_args(arguments)
        sys.stdout.write(chosen.run(chosen))
    except cli_commands.Unfit as found:
        sys.stdout.write(str(found))
        return 1
    except IsotopeError as error:
        return _refused(error)
    except OSError as error:
        if error.filename is None or error.errno is None:
            raise
        found = os.strerror(error.errno).lower()
        return _refused(Unreadable(os.fsdecode(error.filename), found, "check the path"))
    return 0


def _refused(error: IsotopeError) -> int:
    sys.stderr.write(f"{type(error).__name__}: {error}\n")
    return 1


def parser() -> argparse.ArgumentParser:
    """Return the command's arguments, with help for each."""
    top = Parser("isotope", description=__doc__)
    commands = top.add_subparsers(required=True, metavar="command")
    report = commands.add_parser("report", help="print where the reports are and their headline")
    report.add_argument("collection", nargs="*", help="collections; all that have a report if none")
    cli_commands.add_cell(report, split="validation", of="queries")
    report.set_defaults(run=headlines)
    cli_commands.add(commands)
    return top


def headlines(chosen: argparse.Namespace) -> str:
    """Return path and headline table of each report.

    Raises:
        MissingFile: no report has been written, or one without its scores.
        BadArgument: a pool that was not measured.
    """
    from isotope.params.schema import suggest  # noqa: PLC0415 (each command loads what it needs)
    from isotope.report.collection import headline  # noqa: PLC0415 (drawing libraries load slowly)

    known = sorted(p.parent.name for p in Path().glob("results/report/*/index.html"))
    if not known:
        raise MissingFile("results/report", "no report yet", "run `snakemake --cores all`")
    parts: list[str] = []
    for name in chosen.collection or known:
        page = Path("results/report") / name / "index.html"
        if name not in known:
            raise MissingFile(page, "no such report", suggest(name, known))
        scores = Path("results/score") / f"{name}.parquet"
        if not scores.is_file():
            raise MissingFile(scores, "no such scores", "run `snakemake --cores all`")
        table = headline(scores, setting=chosen.setting, split=chosen.split)
        parts.append(f"\n{name}\n{table}\n\nReport: {page.resolve()}\n")
    parts += [_changed(page) for page in sorted(Path().glob("results/report/*/since/*.html"))]
    whole = Path("results/report/index.html")
    return "".join(parts) + (f"All collections: {whole.resolve()}\n" if whole.is_file() else "")


def _changed(page: Path) -> str:
    """Return what has changed between two snapshots, and where it is shown."""
    from isotope.report.since import summary  # noqa: PLC0415 (drawing libraries load slowly)

    later, earlier = page.parents[1].name, page.stem
    table = Path("results/tables") / later / "since" / earlier / "snapshot_diff.csv"
    return f"\n{later} since {earlier}\n{summary(table)}\n\nChanges: {page.resolve()}\n"
