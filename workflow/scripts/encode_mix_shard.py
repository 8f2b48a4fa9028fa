from pathlib import Path

from isotope.encode_mix import encode_mix_shard
from isotope.mix_data import FILES
from isotope.progress import logged

with logged(snakemake.log[0], snakemake.rule):
    encode_mix_shard(
        Path(snakemake.input.weights),
        {side: Path(snakemake.input[side][0]) for side in FILES},
        {side: Path(path) for side, path in snakemake.output.items()},
    )
