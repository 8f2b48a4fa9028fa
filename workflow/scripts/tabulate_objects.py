from pathlib import Path

from isotope.detect import Detector, detect_objects
from isotope.progress import logged

with logged(snakemake.log[0], snakemake.rule):
    spec = snakemake.params.spec
    detect_objects(
        [Path(p) for p in snakemake.input.pixels],
        detector=Detector(spec["name"], spec.get("revision")),
        threshold=spec["threshold"],
        batch=spec["batch"],
        out=Path(snakemake.output.objects),
    )
