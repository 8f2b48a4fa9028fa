from pathlib import Path

from isotope import report_since
from isotope.progress import logged

with logged(snakemake.log[0], snakemake.rule):
    before, after = (
        report_since.Side(
            snakemake.wildcards[name],
            {Path(p).stem: Path(p) for p in snakemake.input[when]},
            [Path(p) for p in snakemake.input[f"{when}_pixels"]],
        )
        for name, when in (("earlier", "before"), ("collection", "after"))
    )
    page = Path(snakemake.output.page)
    report_since.build(before, after, Path(snakemake.input.changes), page)
