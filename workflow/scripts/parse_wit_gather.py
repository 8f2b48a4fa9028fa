from pathlib import Path

from isotope.core.progress import log, logged
from isotope.core.shards import gather
from isotope.parse.tables import ASSOCIATIONS, REJECTED

with logged(snakemake.log[0], snakemake.rule):
    kept = gather(
        [Path(p) for p in snakemake.input.associations],
        Path(snakemake.output.associations),
        ASSOCIATIONS,
    )
    rejected = gather(
        [Path(p) for p in snakemake.input.rejected], Path(snakemake.output.rejected), REJECTED
    )
    log.info("WIT: %d records, %d rejected", kept + rejected, rejected)
