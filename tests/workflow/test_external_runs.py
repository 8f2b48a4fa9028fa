"""An external run may be in one cell of the grid only: the plan reads it there and nowhere else."""

import re
import shutil
from itertools import chain
from pathlib import Path

import pytest
import yaml
from tests import forkserver

ROOT = Path(__file__).parents[2]
# Both collections are built: a system may be external to one of them altogether.
BOTH = {
    "build": ["toy", "toy-later"],
    "tabulate": {"temporal": ["bm25"]},
    "explain": {"mistakes": {"seed": 0, "examples": 5, "classes": ["correct", "other"]}},
    "judge": {"depth": 3, "setting": "small", "split": "test", "measures": ["MAP"]},
}
# The runs of a system each.
SHAPES = {
    "both tasks of one cell": [
        "toy/small/validation/t2m/both.trec",
        "toy/small/validation/m2t/both.trec",
    ],
    "one task on the largest pool": ["toy/large/validation/m2t/largest.trec.gz"],
    "one task here, the other on a later collection": [
        "toy/small/test/t2m/later.trec",
        "toy-later/large/validation/m2t/later.trec",
    ],
}


@pytest.fixture(scope="module")
def readers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, list[str]]]:
    """The rules that read each external run, by its system and cell, in a plan of everything."""
    place = tmp_path_factory.mktemp("planned")
    shutil.copy(ROOT / "params.yaml", place)
    (place / "both.yaml").write_text(yaml.safe_dump(BOTH))
    for name in chain(*SHAPES.values()):
        (place / "runs" / name).parent.mkdir(parents=True, exist_ok=True)
        (place / "runs" / name).touch()
    where = ["--snakefile", str(ROOT / "Snakefile"), "--directory", str(place)]
    line = ["snakemake", *where, "--dag", "--configfile", "params.yaml", "both.yaml"]
    done = forkserver.run(line, cwd=place)
    assert done.returncode == 0, (done.stdout + done.stderr)[-4_000:]
    labels = dict(re.findall(r'^\t(\d+)\[label = "([^"]*)"', done.stdout, re.MULTILINE))
    edges = re.findall(r"^\t(\d+) -> (\d+)$", done.stdout, re.MULTILINE)
    rules = {job: label.partition(r"\n")[0] for job, label in labels.items()}
    reading: dict[str, dict[str, list[str]]] = {}
    for job in (job for job, rule in rules.items() if rule == "search_trec"):
        wildcards = dict(part.split(": ") for part in labels[job].split(r"\n")[1:])
        cell = "/".join(wildcards[key] for key in ("setting", "split", "task"))
        own = reading.setdefault(wildcards["system"], {})
        own[cell] = sorted(rules[other] for one, other in edges if one == job)
    return reading


def test_the_plan_has_no_other_external_system(readers):
    names = {Path(run).name.partition(".")[0] for runs in SHAPES.values() for run in runs}
    assert set(readers) == names


@pytest.mark.parametrize("shape", SHAPES)
def test_an_external_run_in_one_cell_is_read_wherever_that_cell_is_and_nowhere_else(readers, shape):
    everywhere = ["all", "score_runs", "tabulate_report"]
    everywhere += ["tabulate_front_pages", "verify_collection"]
    of_setting = {
        "small/validation": ["explain_failures"],
        "small/test": ["judge_pool"],
        "large/validation": ["tabulate_largest_pool"],
    }
    cells = [name.partition("/")[2].rpartition("/")[0] for name in SHAPES[shape]]
    (system,) = {Path(run).name.partition(".")[0] for run in SHAPES[shape]}
    assert set(readers[system]) == set(cells)
    for cell, rules in readers[system].items():
        own = [*everywhere, *of_setting[cell.rpartition("/")[0]]]
        own += ["explain_mistakes"] if cell == "large/validation/m2t" else []
        assert rules == sorted(own), cell
