from pathlib import Path

from isotope.core.progress import logged
from isotope.explain.perturb import Settings
from isotope.explain.ranks import perturb_texts

with logged(snakemake.log[0], snakemake.rule):
    spec = snakemake.params.spec
    perturb_texts(
        *(Path(snakemake.input[name]) for name in ("texts", "images", "qrels")),
        split=snakemake.params.split,
        wordnet=spec["wordnet"],
        settings=Settings(spec["seed"], spec["colour_distance"]),
        out=Path(snakemake.output.perturbed),
    )
