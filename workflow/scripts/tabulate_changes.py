from pathlib import Path

from isotope.core.progress import logged
from isotope.tabulate.since import tabulate_changes, write_changes

with logged(snakemake.log[0], snakemake.rule):
    before, after = (
        {Path(p).stem: Path(p) for p in snakemake.input[when]} for when in ("before", "after")
    )
    changes = Path(snakemake.output.changes)
    write_changes(before, after, changes, Path(snakemake.output.identities))
    tabulate_changes(changes, [changes.parent / t for t in ("snapshot_diff", "snapshot_survival")])
