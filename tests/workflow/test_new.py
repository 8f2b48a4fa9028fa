"""A folder that `isotope new` makes is planned as the checkout is, by Snakemake and by DVC."""

from pathlib import Path

import pytest
from tests.workflow.test_dvc import PHASES, stages_run


@pytest.fixture(scope="module")
def made(shell, tmp_path_factory) -> Path:
    """A new folder, outside of any repository."""
    place = tmp_path_factory.mktemp("anywhere")
    shell("isotope", "new", "demo", cwd=place)
    return place / "demo"


def jobs(told: str) -> list[str]:
    """The table of rules and numbers of jobs that a dry run prints."""
    return told[told.index("Job stats:") :].partition("\n\n")[0].splitlines()


def test_snakemake_plans_there_what_it_plans_in_the_checkout(made, project, shell):
    there, here = (
        jobs(shell("snakemake", "--cores", "all", "-n", "--quiet", "rules", cwd=place))
        for place in (made, project())
    )
    assert there == here
    assert any(line.startswith("train_model") for line in there)


def test_dvc_would_run_every_phase_there_behind_the_digests_of_the_code(made, shell):
    assert stages_run(shell("dvc", "repro", "--force", "--dry", cwd=made)) == ["code", *PHASES]


def test_dvc_finds_every_digest_on_which_its_stages_depend(made, shell):
    """A stage whose dependency is not there ends `dvc repro`."""
    assert stages_run(shell("dvc", "repro", "code", cwd=made)) == ["code"]
    status = shell("dvc", "status", cwd=made)
    assert "deleted:            .isotope" not in status
    assert "code:\n\talways changed" in status
