"""The estimate of anybody's pictures and texts counts rows and pictures before a run."""

import json
from pathlib import Path

import polars as pl
import pytest

from isotope.cli import doctor, estimate
from isotope.cli.estimate import Machine
from isotope.params import files
from isotope.params.root import Params

ROOT = Path(__file__).parents[3]


def params(folder: Path, **entry: object) -> Params:
    """Return the params of a collection `mine` without models."""
    own = {"kind": "pairs", "columns": {"image": "file", "text": "text"}, **entry}
    overlay = {"build": ["mine"], "collect": {"mine": own}, "search": {"systems": ["bm25"]}}
    (folder / "mine.yaml").write_text(json.dumps({**overlay, "tabulate": {"system": "bm25"}}))
    return files.load([folder / "mine.yaml"], root=ROOT)


def table(folder: Path, rows: int) -> Path:
    """Write a CSV file of so many captions."""
    lines = [
        "file,text",
        *(f"{n % 50:03d}.jpg,A caption of this picture {n} ." for n in range(rows)),
    ]
    (folder / "captions.csv").write_text("\n".join(lines) + "\n")
    return folder / "captions.csv"


def test_texts_are_the_rows_of_a_table_and_pictures_the_files_of_a_folder(tmp_path):
    (tmp_path / "pictures").mkdir()
    for n in range(50):
        (tmp_path / f"pictures/{n:03d}.jpg").write_bytes(bytes(1000))
    own = params(tmp_path, data=str(table(tmp_path, 300)), pictures=str(tmp_path / "pictures"))
    size = estimate.size_of(own, "mine", "mine")
    assert size.texts == pytest.approx(300, rel=0.02)
    assert size.images == 50


def test_rows_of_parquet_are_counted_and_without_pictures_each_has_one(tmp_path):
    pl.DataFrame({"file": ["a", "b"], "text": ["A .", "B ."]}).write_parquet(tmp_path / "a.parquet")
    size = estimate.size_of(params(tmp_path, data=str(tmp_path / "a.parquet")), "mine", "mine")
    assert (size.texts, size.images) == (2, 2)


def test_the_doctor_finds_a_table_that_is_not_there(tmp_path):
    machine = Machine(cores=2, gpu=False)
    absent = params(tmp_path, data=str(tmp_path / "gone.csv"), pictures="none")
    states = {f.what: (f.state, f.found) for f in doctor.findings(absent, machine)}
    assert states["source mine"][0] == "missing"
    assert "gone.csv" in states["source mine"][1]
    there = params(tmp_path, data=str(table(tmp_path, 10)), pictures="none")
    states = {f.what: f.state for f in doctor.findings(there, machine)}
    assert states["source mine"] == "ok"
