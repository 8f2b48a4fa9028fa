from pathlib import Path

from isotope.core.progress import logged
from isotope.tabulate.exhibits import tabulate_facts

with logged(snakemake.log[0], snakemake.rule):
    collected = {t: snakemake.input[t] for t in ("texts", "images")}
    tabulate_facts(
        snakemake.wildcards.table,
        {k: Path(v) for k, v in {**snakemake.params.facts, **collected}.items()},
        tables=Path(snakemake.output.tables[0]).parent,
        figures=Path(snakemake.output.figure).parent,
        params={"tail": snakemake.params.tail},
    )
