"""The road of the competition, on its first pictures, from the published files to submissions."""

import json
import random
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from isotope.cli.commands import main
from isotope_papers import geval

pytestmark = pytest.mark.long
PICTURES = {"train": ("train", 40), "dev-0": ("validation", 24), "test-A": ("test", 8)}
SYSTEMS = {
    "small": {"kind": "dense", "model": "small"},
    "told": {"kind": "prompt", "model": "small", "templates": ["{text} ({decade})"]},
    "dated": {
        "kind": "wsum",
        "of": ["small", "dates"],
        "tune": {"grid": {"step": 0.25}, "measure": "MRR", "split": "train"},
    },
}

PARAMS = "workflow/plugins/isotope_papers/params"
TEST_A = {"kind": "ticrc", "source": "ticrc", "language": "en", "source_splits": ["test-A"]}


def first_lines(root: Path, folder: Path) -> dict[str, list[str]]:
    """Cut the challenge to its first pictures; their captions keep their numbers, in new order."""
    (folder / "in-header.tsv").write_bytes((root / "in-header.tsv").read_bytes())
    files: dict[str, list[str]] = {"header": [str(folder / "in-header.tsv")], "pictures": []}
    for name, (split, n) in PICTURES.items():
        set_folder = folder / name
        set_folder.mkdir()
        asked = (root / name / "in.tsv").read_text("utf-8").splitlines()[:n]
        captions = (root / name / "captions.tsv").read_text("utf-8").splitlines()
        numbers = [str(i) for i in range(1, n + 1)]
        if name != "test-A":
            numbers = (root / name / "expected.tsv").read_text("utf-8").splitlines()[:n]
            (set_folder / "expected.tsv").write_text("\n".join(numbers) + "\n")
        shuffled = [captions[int(number) - 1] for number in sorted(numbers)]
        random.Random(0).shuffle(shuffled)
        (set_folder / "captions.tsv").write_text("\n".join(shuffled) + "\n", "utf-8")
        (set_folder / "in.tsv").write_text("\n".join(asked) + "\n")
        files[split] = sorted(map(str, set_folder.glob("*.tsv")))
        files["pictures"] += [str(root / name / "pictures" / a.split("\t")[0]) for a in asked]
    return files


@pytest.fixture(scope="module")
def built(
    shared: Path, project: Callable[[], Path], shell: Callable[..., str], tmp_path_factory
) -> Path:
    """The project after a run on the first pictures, with a model that sees nothing."""
    challenge = tmp_path_factory.mktemp("challenge")
    files = first_lines(shared / "collections/ticrc", challenge)
    folder = project()
    (folder / "challenge").symlink_to(challenge)
    overlay = {
        "acquire": {"ticrc": {"files": files}},
        "models": {"small": {"kind": "hash", "dim": 16}},
        "systems": SYSTEMS,
        "search": {"systems": ["random", "dates", *SYSTEMS]},
        "tabulate": {"system": "dated", "gains": [["dates", "small"]]},
        "collect": {"ticrc-test-a": TEST_A},
    }
    (folder / "few.yaml").write_text(json.dumps(overlay))
    targets = ["results/tables/ticrc/intervals.parquet", "results/tables/ticrc/split_years.md"]
    targets += [f"results/tables/ticrc/{t}.md" for t in ("source_splits", "group_statistics")]
    targets += ["results/search/ticrc-test-a/unjudged/small/test/m2t/small.parquet"]
    config = [
        "--configfile",
        "params.yaml",
        f"{PARAMS}/ticrc.yaml",
        "few.yaml",
    ]
    asked = ["snakemake", "--cores", "all", *targets, *config]
    shell(*asked, "--config", f"root={shared / 'collections'}", cwd=folder)
    return folder


def test_every_split_is_answered_and_only_judged_ones_are_scored(built):
    runs = sorted(p.relative_to(built) for p in built.glob("results/search/ticrc/**/dated.parquet"))
    top = "results/search/ticrc"
    assert list(map(str, runs)) == [
        f"{top}/small/train/m2t/dated.parquet",
        f"{top}/small/validation/m2t/dated.parquet",
        f"{top}/unjudged/small/test/m2t/dated.parquet",
    ]
    assert [pl.read_parquet(built / r).height for r in runs] == [40 * 40, 24 * 24, 8 * 8]
    scores = pl.read_parquet(built / "results/score/ticrc.parquet")
    assert set(scores["split"]) == {"train", "validation"}
    assert set(scores["system"]) == {"random", "dates", *SYSTEMS}


def test_the_gain_of_the_date_has_an_interval_over_all_pictures_and_by_decade(built):
    intervals = pl.read_parquet(built / "results/tables/ticrc/intervals.parquet")
    gains = intervals.filter(system="dates - small", measure="MRR", split="validation")
    parts = gains.filter(pl.col("kind") == "decade", pl.col("stratum") != "macro")
    [overall] = gains.filter(kind="all").rows(named=True)
    assert overall["low"] < overall["value"] < overall["high"]
    assert parts["queries"].sum() == overall["queries"] == 24
    weighed = (parts["value"] * parts["queries"]).sum() / 24
    assert weighed == pytest.approx(overall["value"])


def test_submissions_have_gevals_score_where_the_folder_has_the_answers(
    built, capsys, monkeypatch, tmp_path
):
    monkeypatch.chdir(built)
    command = ["geval", "ticrc", "challenge/dev-0", str(tmp_path), "--split", "validation"]
    assert main(command) == 0
    printed = {line.split(":")[0]: line for line in capsys.readouterr().out.splitlines()}
    scores = pl.read_parquet("results/score/ticrc.parquet").filter(
        measure="MRR", split="validation"
    )
    for system in ("dates", "told", "random"):
        value = scores.filter(system=system)["value"].to_numpy().mean()
        assert f"MAP {value:.6f}" in printed[system]
    assert main(["geval", "ticrc", "challenge/test-A", str(tmp_path)]) == 0
    assert "answers withheld" in capsys.readouterr().out
    lines = geval.lines(tmp_path / "dated/test-A/out.tsv")
    assert all(sorted(line) == sorted(map(str, range(1, 9))) for line in lines)
    assert len(lines) == 8


def test_the_statistics_of_the_kind_are_tables(built):
    table = (built / "results/tables/ticrc/split_years.md").read_text()
    assert "| validation | 1" in table
    assert "decade" in table.splitlines()[0]


def test_the_tables_of_the_sets_are_made_by_the_workflow(built):
    sizes = pl.read_csv(built / "results/tables/ticrc/source_splits.csv")
    assert sizes.select("source_split", "pictures", "answers").rows() == [
        ("train", 40, 40),
        ("dev-0", 24, 24),
        ("test-A", 8, 0),
    ]
    years = pl.read_csv(built / "results/tables/ticrc/group_statistics.csv")
    assert years["pictures_of"].to_list() == ["train", "dev-0", "test-A", "training", "testing"]
    assert years["pictures"].to_list() == [40, 24, 8, 64, 8]


def test_a_test_set_whose_answers_are_withheld_is_searched_as_a_collection(
    built, capsys, monkeypatch, tmp_path
):
    monkeypatch.chdir(built)
    assert main(["geval", "ticrc-test-a", "challenge/test-A", str(tmp_path)]) == 0
    assert "answers withheld" in capsys.readouterr().out
    lines = geval.lines(tmp_path / "small/test-A/out.tsv")
    assert len(lines) == 8
    assert all(sorted(line) == sorted(map(str, range(1, 9))) for line in lines)
