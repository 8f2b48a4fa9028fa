from pathlib import Path

from isotope.detect import detect_objects, load
from isotope.progress import logged

with logged(snakemake.log[0], snakemake.rule):
    spec = snakemake.params.spec
    detect_objects(
        [Path(p) for p in snakemake.input.pixels],
        detector=load(spec),
        threshold=spec["threshold"],
        batch=spec["batch"],
        out=Path(snakemake.output.objects),
    )
