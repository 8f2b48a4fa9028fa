from pathlib import Path

from isotope.core.progress import logged
from isotope.search.prompted import Reader, search_prompted

with logged(snakemake.log[0], snakemake.rule):
    weights = next(map(Path, snakemake.input.weights), None)
    fields = list(snakemake.params.fields)
    vectors = {"images": snakemake.input.vectors, "images_ids": snakemake.input.ids}
    search_prompted(
        {k: Path(snakemake.input[k]) for k in ("texts", "images", "qrels")},
        {k: list(map(Path, v)) for k, v in vectors.items()},
        [Path(p) for p in snakemake.output.runs],
        snakemake.params.spec,
        reader=Reader(snakemake.params.model, weights, fields, snakemake.params.batch),
        depth=snakemake.params.depth,
    )
