"""How BM25's words are prepared touches what reads them, and nothing else of a run."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
import yaml
from snakemake.api import SnakemakeApi
from snakemake.settings.types import (
    ConfigSettings,
    DAGSettings,
    OutputSettings,
    Quietness,
    ResourceSettings,
)

from isotope.core.plugins import phase_of

ROOT = Path(__file__).parents[2]


def jobs(place: Path, *overlays: Path) -> dict[tuple[str, str], dict[str, Any]]:
    """The params of every job of a plan in an empty folder, by rule and outputs."""
    with (
        pytest.MonkeyPatch.context() as patch,
        SnakemakeApi(OutputSettings(quiet={Quietness.ALL})) as api,
    ):
        patch.chdir(place)
        planned = api.workflow(
            ResourceSettings(cores=1),
            ConfigSettings(configfiles=[ROOT / "params.yaml", *overlays]),
            snakefile=ROOT / "Snakefile",
            workdir=place,
        )
        settings = DAGSettings(targets={"all", "release"})
        planned.dag(settings).execute_workflow(executor="local", pseudo_executor="dryrun")
        made: Any = planned._workflow.dag
        return {
            (job.rule.name, " ".join(map(str, job.output))): dict(job.params.items())
            for job in made.jobs
        }


def phases(names: Iterable[str]) -> set[str]:
    return {*map(phase_of, names)}


@pytest.fixture(scope="module")
def before(tmp_path_factory) -> dict[tuple[str, str], dict[str, Any]]:
    """The params of every job of the demo."""
    return jobs(tmp_path_factory.mktemp("before"))


def is_plain(value: Any) -> bool:
    if type(value) in (dict, list, tuple):
        inner = value.values() if isinstance(value, dict) else value
        return all(map(is_plain, inner))
    return type(value) in (str, int, float, bool, type(None))


def test_all_that_a_job_is_given_is_plain_data_since_snakemake_compares_no_other(before):
    given = {rule: params["given"] for (rule, _), params in before.items() if "given" in params}
    assert len(given) > 30
    assert {rule for rule, values in given.items() if not is_plain(values)} == set()


def test_only_what_reads_prepared_words_is_made_anew_when_they_are_prepared_otherwise(
    before, tmp_path_factory, tmp_path
):
    overlay = tmp_path / "plain.yaml"
    overlay.write_text(yaml.safe_dump({"systems": {"bm25": {"prepare": "none"}}}))
    after = jobs(tmp_path_factory.mktemp("after"), overlay)
    assert before.keys() == after.keys()
    changed = {key[0] for key, params in before.items() if params != after[key]}
    assert {"index_bm25", "search_bm25", "explain_perturbed_bm25", "suggest_candidates"} <= changed
    assert {"release_collection", "tabulate_report"} <= changed
    # All that searches and indexes by vectors, and all before them, is left alone.
    assert phases(changed) <= {"index", "search", "suggest", "tabulate", "release"}
    assert {name for name in changed if name.startswith(("index", "search"))} == {
        "index_bm25",
        "search_bm25",
    }
    of_before = {name for name, _ in before}
    assert {"search_dense", "encode_shard", "project_source", "score_runs"} <= of_before - changed
