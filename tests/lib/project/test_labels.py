"""Labels of a data set find articles: by title, by redirect, by name; never a disambiguation."""

import json
from pathlib import Path

import polars as pl
import pytest

from isotope.core import store
from isotope.core.errors import EmptyTable, MissingFile
from isotope.project import match
from isotope.schemas.parse import REJECTED, SECTIONS

TITLES = ["Ceviche", "Boeing 747", "House cat", "Crane (bird)", "iPod", "CEVICHE (band)"]
LEFT_OUT = [
    ("redirect", "Jumbo Jet", "Boeing 747"),
    ("redirect", "Cat", "House cat"),
    ("redirect", "Gone", "Nowhere"),
    ("redirect", "Cranes", "Crane"),
    ("redirect", "Ceviche", "Boeing 747"),
    ("disambiguation", "Crane", ""),
]
LABELS = ["ceviche", "jumbo_jet", "cat", "crane", "cranes", "IPod", "gone", "747 of boeing", "???"]


def manifest(folder: Path, part: str, lines: list[str]) -> Path:
    (folder / part).mkdir(parents=True)
    path = folder / part / "labels.tsv"
    path.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    entry = {"part": part, "path": f"{part}/labels.tsv", "url": str(path)}
    entry |= {"bytes": path.stat().st_size}
    (folder / "manifest.json").write_text(json.dumps({"files": [entry]}))
    return folder / "manifest.json"


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("snapshot")
    blank = dict.fromkeys(SECTIONS.names)
    sections = [
        blank | {"text_id": f"projected-{n:08d}-{s:03d}", "page_title": title, "section": s}
        for n, title in enumerate(TITLES)
        for s in (0, 1)
    ]
    store.write_rows(sections, folder / "sections", SECTIONS)
    rows = [{"file": "d", "row": 1, "reason": r, "detail": t, "raw": x} for r, t, x in LEFT_OUT]
    store.write_rows(rows, folder / "left_out", REJECTED)
    return {"sections": folder / "sections", "left_out": folder / "left_out"}


def test_each_label_has_its_article_the_way_there_and_a_score(snapshot, tmp_path):
    lines = ["image\tlabel", *(f"{n}.jpg\t{label}" for n, label in enumerate([*LABELS, "cat"]))]
    out = tmp_path / "projection.parquet"
    listed = manifest(tmp_path / "acquired", "labels", lines)
    match.project_labels(manifest=listed, **snapshot, projection=out, threads=1)
    written = pl.read_parquet(out)
    title = {f"projected-{n:08d}-000": t for n, t in enumerate(TITLES)} | {None: None}
    links = {label: (title[text], method) for label, text, method, _ in written.rows()}
    assert links == {
        "ceviche": ("Ceviche", "title"),
        "jumbo jet": ("Boeing 747", "redirect"),
        "cat": ("House cat", "redirect"),
        "crane": ("Crane (bird)", "bm25"),
        "cranes": (None, "none"),
        "IPod": ("iPod", "title"),
        "gone": (None, "none"),
        "747 of boeing": ("Boeing 747", "bm25"),
        "???": (None, "none"),
    }
    scored = dict(written.select("source_text_id", pl.col("score") > 0).rows())
    assert {label for label, positive in scored.items() if positive} == {"crane", "747 of boeing"}


def test_a_source_without_labels_is_named(snapshot, tmp_path):
    listed = manifest(tmp_path / "acquired", "other", ["image\tlabel"])
    with pytest.raises(MissingFile, match="part `labels`"):
        match.project_labels(manifest=listed, **snapshot, projection=tmp_path / "out", threads=1)


@pytest.mark.parametrize("lines", [["image\tlabel"], ["image\tname", "a\tb"]])
def test_a_table_without_labels_is_named(snapshot, tmp_path, lines):
    listed = manifest(tmp_path / "acquired", "labels", lines)
    with pytest.raises(EmptyTable, match="no label"):
        match.project_labels(manifest=listed, **snapshot, projection=tmp_path / "out", threads=1)
