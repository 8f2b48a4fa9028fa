from pathlib import Path

from isotope.core.progress import logged
from isotope.tabulate.answered import tabulate_agreement

with logged(snakemake.log[0], snakemake.rule):
    tabulate_agreement(
        *(Path(p) for p in snakemake.input[:3]),
        language=snakemake.params.language,
        stems=[Path(snakemake.output[n][0]).with_suffix("") for n in ("agreed", "missed")],
    )
