from pathlib import Path

from isotope.core.progress import logged
from isotope.encode.multimodal import Part, encode_multimodal

with logged(snakemake.log[0], snakemake.rule):
    encode_multimodal(
        {side: Path(snakemake.input[side]) for side in ("texts", "images")},
        [Path(p) for p in snakemake.params.pixels],
        list(snakemake.params.fields),
        weights=Path(snakemake.input.weights[0]),
        part=Part(
            int(snakemake.wildcards.shard),
            snakemake.params.shards,
            snakemake.params.batch,
            snakemake.params.precision,
        ),
        out={name: Path(path) for name, path in snakemake.output.items()},
    )
