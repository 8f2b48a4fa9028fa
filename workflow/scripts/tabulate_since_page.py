from pathlib import Path

from isotope.core.progress import logged
from isotope.report import since

with logged(snakemake.log[0], snakemake.rule):
    before, after = (
        since.Side(
            snakemake.wildcards[name],
            {Path(p).stem: Path(p) for p in snakemake.input[when]},
            [Path(p) for p in snakemake.input[f"{when}_pixels"]],
        )
        for name, when in (("earlier", "before"), ("collection", "after"))
    )
    page = Path(snakemake.output.page)
    since.build(before, after, Path(snakemake.input.changes), page)
