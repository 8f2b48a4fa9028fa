"""`isotope init` writes an overlay, and the one command that it prints runs it to a report."""

import csv
import shlex
from pathlib import Path

import polars as pl
import pytest
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
    assert "holidays  22 texts, 11 images, 22 judgements; 3 systems on 1 pool" in told
    texts = pl.read_parquet(place / "data/collect/holidays/texts.parquet")
    assert dict(texts["split"].value_counts().rows()) == {"train": 6, "validation": 8, "test": 8}
    images = pl.read_parquet(place / "data/collect/holidays/images.parquet")
    assert images["camera"].to_list() == ["Leica"] * 11
    rejected = pl.read_parquet(place / "data/collect/holidays/rejected.parquet")
    rows = rejected.filter(pl.col("file") == "holidays.csv")
    assert dict(rows["reason"].value_counts().rows()) == {"unreadable": 1, "missing_picture": 2}
    scores = pl.read_parquet(place / "results/score/holidays.parquet")
    assert {*scores["system"].unique()} == {"random", "bm25", "hash"}
    assert (place / "results/report/holidays/index.html").is_file()
