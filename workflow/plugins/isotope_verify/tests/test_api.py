"""`isotope.verify` says of a release or a report what other people's tools find."""

import shutil
from pathlib import Path

import polars as pl
import pytest
from tests import api
from tests.once import once
from workflow.plugins.isotope_verify.tests import verify_project

import isotope
from isotope.core.errors import BadArgument, UnknownId
from isotope_verify.verify import CHECKS

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


@pytest.fixture
def project(tmp_path) -> Path:
    return shutil.copytree(once("verify", verify_project.lay), tmp_path / "project")


@pytest.fixture
def release(project) -> Path:
    return project / "results/release/toy"


def test_the_example_runs(release):
    done = api.run_examples("verify", {"release": release})
    assert done.attempted == 3
    assert done.failed == 0


def test_a_release_is_confirmed_and_a_changed_score_is_not(release):
    done = isotope.verify(release, checks="means")
    assert (done.collection, done.confirmed) == ("toy", True)
    assert done.checks["compared"].sum() > 0
    assert done.differences.is_empty()
    assert str(done).startswith("toy: confirmed\n")
    path = release / "scores/means.csv"
    rows = pl.read_csv(path, infer_schema=False)
    first = pl.int_range(pl.len()) == 0
    value = pl.when(first).then(pl.lit("0.123456")).otherwise("value").alias("value")
    rows.with_columns(value).write_csv(path)
    done = isotope.verify(release, checks=["means"])
    assert not done.confirmed
    assert done.differences.height == done.checks["different"].sum() == 1
    assert "not confirmed" in done._repr_html_()


def test_what_it_can_not_take_is_named(release, tmp_path):
    with pytest.raises(BadArgument, match=r"^verify: share = 2"):
        isotope.verify(release, share=2)
    with pytest.raises(BadArgument, match=r"^checks: 'mean'; name some of digests"):
        isotope.verify(release, checks=["mean"])
    with pytest.raises(UnknownId, match="no report, built collection or release"):
        isotope.verify(tmp_path / "nothing")
    assert len(CHECKS) == 8
