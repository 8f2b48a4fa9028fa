"""A rehearsal of full size is made, run, killed, resumed and measured at any size."""

import bz2
import csv
import gzip
import importlib
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image

ROOT = Path(__file__).parents[2]
TINY = 0.001


def bytes_of(folder):
    return {p.relative_to(folder): p.read_bytes() for p in folder.rglob("*.*z*")}


@pytest.fixture(autouse=True)
def _benchmarks(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "benchmarks")


@pytest.fixture
def data():
    return importlib.import_module("rehearsal_data")


@pytest.fixture
def server():
    return importlib.import_module("rehearsal_server")


@pytest.fixture
def part(data):
    return data.Part(0, 1, 0, 40, TINY)


def test_a_part_of_the_snapshot_is_the_same_whenever_it_is_made(data, part, tmp_path):
    data.write_part(tmp_path / "a", part)
    data.write_part(tmp_path / "b", part)
    assert bytes_of(tmp_path / "a") == bytes_of(tmp_path / "b") != {}


def test_a_part_that_is_there_is_left_alone(data, part, tmp_path):
    data.write_part(tmp_path, part)
    before = {p: p.stat().st_mtime_ns for p in tmp_path.rglob("*")}
    data.write_part(tmp_path, part)
    assert {p: p.stat().st_mtime_ns for p in tmp_path.rglob("*")} == before


def test_a_part_that_is_interrupted_leaves_no_file(data, part, tmp_path, monkeypatch):
    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(data, "wit_rows", stop)
    with pytest.raises(KeyboardInterrupt):
        data.write_part(tmp_path, part)
    assert [p for p in tmp_path.rglob("*") if p.is_file()] == []


def test_pages_do_not_depend_on_the_share(data):
    small, large = data.parts(TINY)[0], data.parts(10 * TINY)[0]
    pages = [data.article(0, data.Words(part)) for part in (small, large)]
    assert pages[0] == pages[1]


def test_rows_of_wit_name_sections_and_files_of_the_dump(data, part, tmp_path):
    data.write_part(tmp_path, part)
    dump, index = data.dump_files(tmp_path, part)
    text = bz2.decompress(dump.read_bytes()).decode()
    for line in bz2.decompress(index.read_bytes()).decode().splitlines():
        offset, page, title = line.split(":", 2)
        stream = bz2.BZ2Decompressor().decompress(dump.read_bytes()[int(offset) :]).decode()
        assert f"<title>{title}</title>" in stream
        assert f"<id>{page}</id>" in stream
    rows = [
        row
        for path in data.wit_files(tmp_path, part).values()
        for row in csv.DictReader(
            io.StringIO(gzip.decompress(path.read_bytes()).decode()), delimiter="\t"
        )
    ]
    english = [row for row in rows if row["language"] == "en"]
    assert {row["language"] for row in rows} == {"en", *data._LANGUAGES}
    named = [row for row in english if f"<title>{row['page_title']}</title>" in text]
    assert len(named) > 0.8 * len(english) > 0
    for row in english:
        assert row["image_url"].rsplit("/", 1)[1].replace("_", " ") in text
        assert row["section_title"] in text


def test_pictures_are_those_of_their_addresses_and_a_share_is_dead(server):
    path = "/wikipedia/commons/thumb/a/ab/Ba_River_1.jpg/250px-Ba_River_1.jpg"
    kind, body = server.picture(path)
    assert (kind, body) == server.picture(path)
    assert Image.open(io.BytesIO(body)).size == (250, 167)
    assert server.picture(path.replace("1.jpg", "1.png"))[0] == "image/png"
    assert body != server.picture(path.replace("River", "Abbey"))[1]
    faults = [server.fault(f"/{n}.jpg") for n in range(10_000)]
    for name, share in server.FAULTS.items():
        assert 0.4 < faults.count(name) / 10 / share < 2


@pytest.mark.parametrize(
    ("estimated", "measured", "answer"),
    [(75, 100, "yes"), (125, 100, "yes"), (74, 100, "no"), (126, 100, "no"), (1, 0, "no")],
)
def test_an_estimate_is_within_a_quarter_of_what_was_measured(estimated, measured, answer):
    report = importlib.import_module("rehearsal_report")
    assert report._compared(estimated, measured)[1] == answer


def ended(folder: Path, phase: str) -> list[str]:
    runs = sorted(folder.glob(f"notes/{phase}-*.json"))
    return [json.loads(path.read_text())["ended"] for path in runs]


@pytest.mark.long
def test_a_rehearsal_is_killed_three_times_and_ends_with_every_phase_measured(tmp_path):
    script = ROOT / "benchmarks/rehearsal.py"
    assert "params/rehearsal.yaml" in script.read_text("utf-8")
    command = [sys.executable, script, str(TINY), tmp_path]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "workflow/lib")}
    subprocess.run(command, env=environment, check=True, timeout=1_800)
    with (tmp_path / "rehearsal.csv").open(newline="") as file:
        rows = {row["phase"]: row for row in csv.DictReader(file)}
    rehearsal = importlib.import_module("rehearsal")
    assert tuple(rows) == rehearsal.PHASES
    for phase, row in rows.items():
        killed = ["killed"] if phase in rehearsal.KILLED else []
        assert ended(tmp_path, phase) == [*killed, "done"]
        assert float(row["wall_s"]) > 0 < float(row["cpu_s"])
        assert float(row["estimated_s"]) > 0 < float(row["peak_gib"])
        runs = [json.loads(p.read_text()) for p in sorted(tmp_path.glob(f"notes/{phase}-*.json"))]
        done = {name for run in runs[:-1] for name in run["finished"]}
        assert done.isdisjoint(runs[-1]["again"])
    assert "No job took more than it declares." in (tmp_path / "rehearsal.md").read_text()
    assert (tmp_path / "results/report/index.html").exists()
