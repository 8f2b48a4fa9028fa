from pathlib import Path

from isotope.core.progress import logged
from isotope.explain.failures import Sources, explain_failures
from isotope.judge.study import write_sheet

with logged(snakemake.log[0], snakemake.rule):
    spec = snakemake.params.spec
    objects = next(map(Path, snakemake.params.objects), None)
    tables = {name: Path(snakemake.input[name]) for name in ("texts", "images", "qrels")}
    explain_failures(
        Sources(tables["images"], tables["qrels"], objects, spec["wordnet"]),
        [Path(p) for p in snakemake.input.runs],
        threshold=spec["threshold"],
        **{name: Path(snakemake.output[name]) for name in snakemake.params.outputs},
    )
    write_sheet(
        {**tables, "failures": Path(snakemake.output.failures)},
        seed=spec["seed"],
        failures=spec["study"]["failures"],
        common_words=spec["study"].get("common_words", 0),
        sample=Path(snakemake.output.study),
        sheet=Path(snakemake.output.sheet),
    )
