"""`isotope release` shows a release and makes its small form."""

import re
from pathlib import Path

import pytest
from tests import releases

from isotope.cli.commands import main
from isotope.core import digests


@pytest.fixture(scope="module")
def root(tmp_path_factory) -> Path:
    """A project with the release of a collection, toy."""
    root = tmp_path_factory.mktemp("project")
    releases.build(root / "results/release", "toy")
    return root


@pytest.fixture(autouse=True)
def _inside(root, monkeypatch):
    monkeypatch.chdir(root)


def test_a_release_is_shown_with_its_size_and_licence(capsys, root):
    assert main(["release", "toy"]) == 0
    shown = capsys.readouterr().out
    assert re.search(r"^test +5 texts +5 images +5 pairs$", shown, re.MULTILINE)
    assert "Licence: CC-BY-SA-4.0." in shown
    assert str(root / "results/release/toy") in shown


def test_the_small_form_is_written_with_the_numbers_of_the_params_or_those_that_are_named(capsys):
    assert main(["release", "toy", "--lite"]) == 0
    assert "test/t2m: 3 queries, 9 pairs: 3 judged, 6 hard negatives" in capsys.readouterr().out
    assert main(["release", "toy", "--lite", "--negatives", "4", "--queries", "2"]) == 0
    shown = capsys.readouterr().out
    assert "test/t2m: 2 queries, 10 pairs: 2 judged, 8 hard negatives" in shown
    assert re.search(r"^validation/t2m nDCG@10: order of 3 systems .*: tau -?\d", shown, re.M)
    assert main(["release", "toy-lite"]) == 0


def test_the_small_form_is_sealed_as_what_a_job_writes(root):
    small = Path("results/release/toy-lite")
    for more in ([], ["--queries", "2"]):
        assert main(["release", "toy", "--lite", *more]) == 0
        written = digests.listed(small)
        assert written
        assert not [*digests.differing(small, written)]
        assert "manifest.json" in {Path(name).name for name in written}
    with (small / "README.md").open("a") as file:
        file.write("changed")
    [difference] = digests.differing(small, written)
    assert difference.path == small / "README.md"


def test_a_release_elsewhere_is_named_by_its_folder(capsys, root, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["release", "toy", "--releases", str(root / "results/release")]) == 0
    assert main(["release", "toy"]) == 1
    assert "run `snakemake --cores all release`" in capsys.readouterr().err


def test_numbers_need_the_small_form(capsys):
    assert main(["release", "toy", "--negatives", "3"]) == 1
    assert "BadArgument: isotope release" in capsys.readouterr().err
