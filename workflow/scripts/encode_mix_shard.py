from pathlib import Path

from isotope.core.progress import logged
from isotope.encode.multimodal import encode_mix_shard
from isotope.models.mix import FILES

with logged(snakemake.log[0], snakemake.rule):
    encode_mix_shard(
        Path(snakemake.input.weights),
        {side: Path(snakemake.input[side][0]) for side in FILES},
        {side: Path(path) for side, path in snakemake.output.items()},
    )
