"""Files of a data set on the hub: an address with its revision, and a pattern, as any other.

The hub is a stand-in on loopback; a process of its own asks it, as the library reads its address
when it is imported.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.hub import serving

SPEC = {"files": {"train": ["hf://datasets/wikimedia/wit_base@abc/data/train-*.parquet"]}}
ACQUIRE = """
import json, sys
from pathlib import Path
from isotope.acquire.fetch import acquire
from isotope.params.acquire import DigestedSource
spec = DigestedSource.of_plain(json.loads(sys.argv[1]))
acquire(spec, Path("data/acquire/wit/manifest.json"), Path("scratch"))
"""


@pytest.fixture
def published(tmp_path: Path) -> Path:
    folder = tmp_path / "hub"
    (folder / "data").mkdir(parents=True)
    for n in range(3):
        (folder / f"data/train-{n:05d}-of-00003.parquet").write_bytes(b"%d" % n * 3_000_000)
    (folder / "README.md").write_text("a card")
    return folder


def run(folder: Path, address: str, **spec: object) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "HF_ENDPOINT": address, "HF_HOME": str(folder / "home")}
    command = [sys.executable, "-c", ACQUIRE, json.dumps(SPEC | spec)]
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)


def test_a_pattern_of_a_data_set_names_its_files_at_a_revision(tmp_path, published):
    repositories = {"wikimedia/wit_base": {"abc": published, "main": tmp_path}}
    with serving(repositories) as (address, asked):
        done = run(tmp_path, address)
        assert done.returncode == 0, done.stderr
        folder = tmp_path / "data/acquire/wit"
        placed = {p.name: p.read_bytes() for p in (folder / "train").iterdir()}
        assert placed == {p.name: p.read_bytes() for p in (published / "data").iterdir()}
        listed = json.loads((folder / "manifest.json").read_text())["files"]
        assert [entry["version"] for entry in listed].count(None) == 0
        assert listed[0]["url"] == (
            "hf://datasets/wikimedia/wit_base@abc/data/train-00000-of-00003.parquet"
        )
        # What is there and unchanged is not fetched again.
        before = len(asked)
        (folder / "manifest.json").unlink()
        assert run(tmp_path, address).returncode == 0
        assert len(asked) == before


def test_a_data_set_that_the_hub_lacks_is_named(tmp_path, published):
    with serving({"someone/else": {"abc": published}}) as (address, _):
        done = run(tmp_path, address)
    assert done.returncode != 0
    last = done.stderr.strip().splitlines()[-1]
    assert "MissingFile" in last
    assert "hf://datasets/wikimedia/wit_base@abc" in last
