from pathlib import Path

from isotope.core.progress import logged
from isotope.explain.objects import detect_objects, load

with logged(snakemake.log[0], snakemake.rule):
    spec = snakemake.params.spec
    detect_objects(
        [Path(p) for p in snakemake.input.pixels],
        detector=load(spec),
        threshold=spec["threshold"],
        batch=spec["batch"],
        out=Path(snakemake.output.objects),
    )
