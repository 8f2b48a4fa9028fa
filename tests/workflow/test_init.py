"""`isotope init` writes an overlay, and the one command that it prints runs it to a report."""

import csv
import shlex
from pathlib import Path

import polars as pl
import pytest
from tests import own_data
from tests.pairs import draw

pytestmark = pytest.mark.long
COUNT = 12


def table(folder: Path) -> Path:
    """A user's table and pictures, of which one is missing, and a row that is too short."""
    names = [f"{n:03}.jpg" for n in range(COUNT)]
    draw(folder / "pictures", names[1:])
    path = folder / "holidays.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        out.writerow(["photo", "caption_1", "caption_2", "fold", "camera"])
        for n, name in enumerate(names):
            fold = ("train", "dev", "test")[n % 3]
            out.writerow([name, f"Beach number {n}.", f"Sand, and wave {n}.", fold, "Leica"])
        out.writerow(["short.jpg"])
    return path


def test_the_command_that_init_prints_runs_the_overlay_to_scores_and_a_report(project, shell):
    place = project()
    table(place / "mine")
    said = shell("isotope", "init", "mine/holidays.csv", "--pictures", "mine/pictures", cwd=place)
    assert "12 pictures, 11 in mine/pictures, 1 missing: 000.jpg" in said
    [command] = [line.strip() for line in said.splitlines() if "snakemake" in line]
    told = shell(*shlex.split(command), cwd=place)
    assert "holidays  11 texts, 11 images, 11 judgements; 3 systems on 1 pool" in told
    lines = [" ".join(line.split()) for line in told.splitlines()]
    assert "split read kept set aside" in lines
    why = "5 (stand for their picture: 3, missing picture: 2)"
    assert f"holidays pairs train 8 3 {why}" in lines
    assert "holidays pairs unknown 1 0 1 (unreadable: 1)" in lines
    texts = pl.read_parquet(place / "data/collect/holidays/texts.parquet")
    assert dict(texts["split"].value_counts().rows()) == {"train": 3, "validation": 4, "test": 4}
    images = pl.read_parquet(place / "data/collect/holidays/images.parquet")
    assert images["camera"].to_list() == ["Leica"] * 11
    rejected = pl.read_parquet(place / "data/collect/holidays/rejected.parquet")
    rows = rejected.filter(pl.col("file") == "holidays.csv")
    assert dict(rows["reason"].value_counts().rows()) == {"unreadable": 1, "missing_picture": 2}
    scores = pl.read_parquet(place / "results/score/holidays.parquet")
    assert {*scores["system"].unique()} == {"random", "bm25", "hash"}
    means = scores.filter(measure="MRR@10", task="t2m").group_by("system").agg(pl.mean("value"))
    by_system = dict(means.iter_rows())
    assert by_system["bm25"] > by_system["random"]
    assert "A collection of your own" in (place / "results/report/holidays/index.html").read_text()


def test_in_a_folder_that_is_no_experiment_init_leads_to_a_report_too(tmp_path, shell):
    table(tmp_path / "mine")
    empty = tmp_path / "empty"
    empty.mkdir()
    said = shell("isotope", "init", "../mine/holidays.csv", cwd=empty)
    assert "Made this folder an experiment: " in said
    [command] = [line.strip() for line in said.splitlines() if "snakemake" in line]
    told = shell(*shlex.split(command), cwd=empty)
    assert "holidays  11 texts, 11 images, 11 judgements; 3 systems on 1 pool" in told
    assert (empty / "results/report/holidays/index.html").is_file()


def test_an_experiment_beside_the_table_reads_the_pictures_and_nothing_that_it_writes(
    tmp_path, shell
):
    path = table(tmp_path)
    path.write_text(path.read_text("utf-8").replace("\n0", "\npictures/0"), "utf-8")
    said = shell("isotope", "init", "holidays.csv", cwd=tmp_path)
    assert "12 pictures, 11 in ., 1 missing: pictures/000.jpg" in said
    [command] = [line.strip() for line in said.splitlines() if "snakemake" in line]
    told = shell(*shlex.split(command), cwd=tmp_path)
    assert "holidays  11 texts, 11 images, 11 judgements; 3 systems on 1 pool" in told
    assert "Nothing to be done" in shell(*shlex.split(command), cwd=tmp_path)
    overlay = tmp_path / "params/holidays.yaml"
    overlay.write_text(overlay.read_text("utf-8").replace("MRR@10, ", "MRR@10, P@5, "), "utf-8")
    told = shell(*shlex.split(command), "-n", "--quiet", "rules", cwd=tmp_path)
    assert "score_runs" in told
    assert "acquire_source" not in told


def test_tables_as_people_have_them_run_from_init_to_a_report(project, shell):
    place = project()
    made = (own_data.dirty, own_data.figures, own_data.emoji)
    tables = [make(place / make.__name__) for make in made]
    for table in tables:
        pictures = next(path for path in table.parent.iterdir() if path.is_dir())
        named = [str(path.relative_to(place)) for path in (table, pictures)]
        said = shell("isotope", "init", named[0], "--pictures", named[1], cwd=place)
        [command] = [line.strip() for line in said.splitlines() if "snakemake" in line]
        told = shell(*shlex.split(command), cwd=place)
        name = table.stem
        built = told[told.index("Built:") :].partition("Look at:")[0]
        assert {line.split()[0] for line in built.splitlines() if line.startswith("  ")} <= {
            *(name, "split")
        }
        assert (place / f"results/report/{name}/index.html").is_file()
        assert f"Report: {place / 'results/report' / name}" in shell(
            "isotope", "report", "--collection", name, "--split", "test", cwd=place
        )
