"""The commands `isotope estimate` and `isotope doctor`."""

from typing import Annotated

import typer

from isotope.cli.arguments import Configured, Overlays, Pairs, integer_between
from isotope.core import terminal


def add(app: typer.Typer) -> None:
    """Add the commands."""
    app.command(cls=Configured)(doctor)
    app.command(cls=Configured)(estimate)


def doctor(configfile: Overlays, config: Pairs) -> str:
    """Name what is missing here for the configured run, and the remedy."""
    from isotope.params.files import load  # noqa: PLC0415
    from isotope_estimate import doctor as checks  # noqa: PLC0415
    from isotope_estimate.estimate import machine  # noqa: PLC0415

    findings = checks.findings(load(configfile, config), machine())
    report = checks.text(findings)
    if any(finding.state == "missing" for finding in findings):
        terminal.write(report)
        raise typer.Exit(1)
    return report


def estimate(
    configfile: Overlays,
    config: Pairs,
    *,
    cores: Annotated[
        int | None,
        typer.Option(
            help="As in snakemake; the default is this machine's.",
            parser=integer_between(1),
            metavar="NUMBER",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON: bytes and seconds.")] = False,
) -> str:
    """Print what a run will cost, phase by phase: network, disk, hours and memory."""
    from isotope.params.files import load  # noqa: PLC0415
    from isotope_estimate import estimate as costs  # noqa: PLC0415
    from isotope_estimate.sizes import sizes  # noqa: PLC0415

    params, machine = load(configfile, config), costs.machine(cores)
    source_counts = sizes(params)
    phases = costs.run(params, machine, source_counts)
    ways = {
        name: costs.bulk(params, name, counts, machine.cores)
        for name, counts in source_counts.items()
    }
    describe = costs.as_json if as_json else costs.text
    return describe(phases, machine, {name: way for name, way in ways.items() if way})
