from pathlib import Path

from isotope.core.progress import logged
from isotope.core.shards import gather
from isotope.score.significance import significance_table
from isotope.score.tables import SCORES

with logged(snakemake.log[0], snakemake.rule):
    scores = Path(snakemake.output.scores)
    gather([Path(p) for p in snakemake.input.pieces], scores, SCORES)
    significance_table(scores, Path(snakemake.output.significance))
