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
    folder = tmp_path_factory.mktemp("verify") / "project"
    shutil.copytree(embedded, folder, symlinks=True)
    shell(*SNAKEMAKE, "release", cwd=folder)
    return folder


def lines(printed: str) -> dict[str, str]:
    """The lines of the checks, by name and tool."""
    form = r"^(\w+ +(?:the )?[\w.-]+) .*\d %.*$"
    return {" ".join(match[1].split()): match[0] for match in re.finditer(form, printed, re.M)}


def test_the_demo_ends_by_verifying_itself_and_its_first_page_says_by_what(embedded):
    report = embedded / "results/report/toy"
    sentence = "Verified by trec_eval, ranx, scipy, Pyserini and numpy: "
    assert sentence in (report / "index.html").read_text("utf-8")
    assert sentence in (report / "cite.html").read_text("utf-8")
    printed = (embedded / "results/tables/toy/verified.txt").read_text()
    assert lines(printed).keys() == COMPARED - {"vectors the models"}, printed


def test_the_command_confirms_the_demo_and_changes_nothing_that_is_built(released, shell):
    printed = shell("isotope", "verify", "toy", cwd=released)
    assert lines(printed).keys() == COMPARED, printed
    assert all(re.search(r" %  +0  ", line) for line in lines(printed).values()), printed
    assert "Nothing to be done" in shell(*SNAKEMAKE, "--dry-run", cwd=released)


def test_a_number_that_differs_stands_on_the_page_and_fails_the_run(released, shell):
    table, page = (released / f"results/{name}" for name in ("tables/toy", "report/toy/index.html"))
    # As a job would that makes a table wrongly: the file, and the digest of what it has written.
    headline = (table / "headline.csv").read_text()
    (table / "headline.csv").write_text(re.sub(r"(?<=^rrf,)[\d.]+", "0.987", headline, flags=re.M))
    shell("python", "-c", SEAL, "results/tables/toy/headline.csv", cwd=released)
    log = shell(*SNAKEMAKE, cwd=released, check=False)
    assert "Unconfirmed: toy: headline.csv row" in log
    assert 'data-verified="failed"' in page.read_text("utf-8")
    assert not (table / "verified.txt").exists()


SEAL = "import sys, pathlib, isotope.core.digests as d; d.write(pathlib.Path(sys.argv[1]))"


def test_the_demos_release_is_confirmed_alone(released, tmp_path, shell):
    release = shutil.copytree(released / "results/release/toy", tmp_path / "toy")
    printed = shell("isotope", "verify", "toy", cwd=tmp_path)
    assert "measures" in printed
    assert "different:" not in printed
    qrels = release / "qrels/validation/m2t.qrels"
    qrels.write_text(qrels.read_text().replace(" 1\n", " 0\n", 1))
    refused = shell("isotope", "verify", "toy", "--check", "digests", cwd=tmp_path, check=False)
    assert re.search(r"^Unconfirmed: toy: .*toy/qrels/validation/m2t\.qrels", refused, re.M)
