"""The demo and its release are confirmed as a user would, and one changed byte is not."""

import re
import shutil

import pytest

pytestmark = pytest.mark.long
SNAKEMAKE = ["snakemake", "--cores", "2"]
COMPARED = {
    "digests SHA-256",
    "means math.fsum",
    "significance scipy",
    "letters scipy",
    "printed read",
    "measures pytrec-eval-terrier",
    "measures ranx",
    "ranks by",
    "orders pytrec-eval-terrier",
    "rankings Pyserini",
    "rankings numpy",
    "rankings ranx",
    "vectors the models",
}


@pytest.fixture(scope="module")
def released(embedded, tmp_path_factory, shell):
    """The project after the demo and `snakemake release`."""
    place = tmp_path_factory.mktemp("verify") / "project"
    shutil.copytree(embedded, place, symlinks=True)
    shell(*SNAKEMAKE, "release", cwd=place)
    return place


def lines(printed: str) -> dict[str, str]:
    """The lines of the checks, by name and tool."""
    form = r"^(\w+ +(?:the )?[\w.-]+) .*\d %.*$"
    return {" ".join(found[1].split()): found[0] for found in re.finditer(form, printed, re.M)}


def test_the_demo_is_confirmed_and_its_report_says_so(released, shell):
    printed = shell("isotope", "verify", "toy", cwd=released)
    assert lines(printed).keys() == COMPARED, printed
    assert all(re.search(r" %  +0  ", line) for line in lines(printed).values()), printed
    page = (released / "results/report/toy/cite.html").read_text("utf-8")
    assert 'data-verified="yes"' in page
    assert "Pyserini" in page
    assert "Nothing to be done" in shell(*SNAKEMAKE, "--dry-run", cwd=released)


def test_a_page_that_is_built_again_still_says_so(released, shell):
    page = released / "results/report/toy/index.html"
    page.unlink()
    shell(*SNAKEMAKE, "results/report/toy/index.html", cwd=released)
    assert 'data-verified="yes"' in page.read_text("utf-8")


def test_the_demos_release_is_confirmed_alone(released, tmp_path, shell):
    release = shutil.copytree(released / "results/release/toy", tmp_path / "toy")
    printed = shell("isotope", "verify", "toy", cwd=tmp_path)
    assert "measures" in printed
    assert "different:" not in printed
    qrels = release / "qrels/validation/m2t.qrels"
    qrels.write_text(qrels.read_text().replace(" 1\n", " 0\n", 1))
    refused = shell("isotope", "verify", "toy", "--check", "digests", cwd=tmp_path, check=False)
    assert re.search(r"^Unconfirmed: toy: .*toy/qrels/validation/m2t\.qrels", refused, re.M)
