from pathlib import Path

from isotope.core import sql
from isotope.core.progress import logged
from isotope.tabulate.side_by_side import correlations
from isotope.tabulate.table import tabulate

with logged(snakemake.log[0], snakemake.rule):
    choices, captioners = (list(map(Path, snakemake.input[k])) for k in ("choices", "captioners"))
    correlations(choices, captioners, Path(snakemake.output.correlations))
    tabulate(
        sql.SQL / "tabulate/tables/side_by_side.sql",
        {"side_by_side": choices, "captioners": captioners},
        {"systems": snakemake.params.systems},
        Path(snakemake.output.tables[0]).with_suffix(""),
    )
    tabulate(
        sql.SQL / "tabulate/tables/correlation.sql",
        {"correlations": Path(snakemake.output.correlations)},
        {},
        Path(snakemake.output.correlation[0]).with_suffix(""),
    )
