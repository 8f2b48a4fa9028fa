"""The files that `systems.bm25.k1` walks through, from the params to its effect."""

from contextlib import chdir
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import yaml
from snakemake.api import SnakemakeApi
from snakemake.settings.types import (
    ConfigSettings,
    DAGSettings,
    OutputSettings,
    Quietness,
    ResourceSettings,
)
from tests.walks import Watch

from isotope.params.sections import Section
from isotope.plan import call

K1 = 0.9137
RUN = "results/search/toy/small/test/t2m/bm25.parquet"
# Within arguments, whole params hold it: their systems, the system, its value.
DEPTH = 4
MOST_FILES = 6


class NumberWatch(Watch):
    """The files that a number has been seen in."""

    def __init__(self, number: float) -> None:
        super().__init__([])
        self._number = number
        # The numbers that frozen objects hold, or do not, by object and depth.
        self._seen = dict[tuple[int, int], tuple[object, bool]]()

    def _has(self, value: object, depth: int = DEPTH, *, is_named: bool = True) -> bool:
        if isinstance(value, float):
            return is_named and value == self._number
        if not is_named or not isinstance(value, Section):
            return super()._has(value, depth, is_named=is_named)
        key = (id(value), depth)
        if key not in self._seen:
            parts = vars(value).values() if depth else ()
            self._seen[key] = value, any(self._has(part, depth - 1) for part in parts)
        return self._seen[key][1]


def walked(project: Path, overlay: Path) -> list[str]:
    """Return the files that k1 goes through while its search is planned and done."""
    overlay.write_text(yaml.safe_dump({"systems": {"bm25": {"k1": K1}}}))
    watch = NumberWatch(K1)
    with chdir(project), SnakemakeApi(OutputSettings(quiet={Quietness.ALL})) as api, watch.on():
        loaded = api.workflow(
            ResourceSettings(cores=1),
            ConfigSettings(configfiles=[project / "params.yaml", overlay]),
            snakefile=project / "Snakefile",
            workdir=project,
        )
        settings = DAGSettings(targets={RUN}, forcerun={"search_bm25"})
        loaded.dag(settings).execute_workflow(executor="local", pseudo_executor="dryrun")
        workflow: Any = loaded._workflow
        [job] = [job for job in workflow.dag.jobs if job.rule.name == "search_bm25"]
        names = ("input", "output", "params", "wildcards")
        of = {name: getattr(job, name) for name in names}
        call.run(SimpleNamespace(**of, threads=1, config=workflow.config))
    return [*watch.files]


def test_k1_walks_through_few_files_from_the_params_to_its_effect(embedded, tmp_path):
    files = walked(embedded, tmp_path / "k1.yaml")
    assert {"params/resolve.py", "plan/call.py", "search/bm25.py", "bm25/search.py"} <= {*files}
    assert len(files) <= MOST_FILES, files
