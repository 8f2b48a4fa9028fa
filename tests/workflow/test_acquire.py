"""What Snakemake fetches again, and what it leaves alone, after upstream files have changed."""

import hashlib
import json
import os
import re
import shutil
from pathlib import Path

import pytest
from tests import forkserver

pytestmark = pytest.mark.long
ROOT = Path(__file__).parents[2]
MANIFEST = "data/acquire/mine/manifest.json"


class Local:
    """A folder with params/local.yaml and two snapshots, `a` and `b`, of two parts each."""

    def __init__(self, folder: Path):
        self.folder = folder
        shutil.copy(ROOT / "params.yaml", folder)
        for root in "ab":
            self.put(f"{root}/wit/wit_v1.val.tsv.gz", f"wit of {root}")
            self.put(f"{root}/dump/x.xml.bz2", f"dump of {root}")
            (folder / root / "images").mkdir()

    def put(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def snakemake(self, root: str, *arguments: str) -> str:
        params = ["--configfile", str(ROOT / "params/local.yaml")]
        config = ["--config", f"root={self.folder / root}", "name=mine"]
        where = ["--snakefile", str(ROOT / "Snakefile"), "--directory", str(self.folder)]
        line = ["snakemake", "--cores", "1", *where, *arguments, *params, *config]
        done = forkserver.run(line, cwd=Path.cwd(), timeout=200, jobs=True)
        assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
        return done.stdout + done.stderr

    def acquire(self, root: str) -> dict[str, str]:
        """Run the target `acquire`; return the placed texts by address, once they are true."""
        self.snakemake(root, "acquire")
        told = {}
        for entry in json.loads((self.folder / MANIFEST).read_text())["files"]:
            data = (self.folder / MANIFEST).with_name(entry["part"]).parent / entry["path"]
            assert data.read_bytes() == Path(entry["url"]).read_bytes()
            assert hashlib.sha256(data.read_bytes()).hexdigest() == entry["sha256"]
            told[os.path.relpath(entry["url"], self.folder)] = data.read_text()
        return told

    def planned(self, root: str, *targets: str) -> set[str]:
        """The rules that a dry run would start."""
        told = self.snakemake(root, "-n", *targets)
        return set(re.findall(r"^(\w+) +\d+$", told, re.MULTILINE)) - {"total"}


@pytest.fixture(scope="module")
def local(tmp_path_factory) -> Local:
    return Local(tmp_path_factory.mktemp("local"))


def of(root: str) -> dict[str, str]:
    return {
        f"{root}/wit/wit_v1.val.tsv.gz": f"wit of {root}",
        f"{root}/dump/x.xml.bz2": f"dump of {root}",
    }


def test_another_root_of_one_name_is_acquired_and_parsed_again(local):
    assert local.acquire("a") == of("a")
    parsed = [f"data/parse/mine/{table}.parquet" for table in ("associations", "sections")]
    for table in parsed:
        local.put(table, "parsed")
    assert local.planned("a", *parsed) == set()
    assert local.acquire("b") == of("b")
    assert local.planned("b", *parsed) == {"parse_wit", "parse_dump"}


def test_an_edit_in_place_is_seen_but_no_touch_and_no_unplugged_disk(local):
    path = local.folder / "b/dump/x.xml.bz2"
    os.utime(path, (1, 1))
    assert local.planned("b", MANIFEST) == set()
    path.write_text("dump as edited")
    assert local.acquire("b")["b/dump/x.xml.bz2"] == "dump as edited"
    local.put("data/crawl/mine/ledger.parquet", "crawled")
    (local.folder / "b").rename(local.folder / "unplugged")
    assert local.planned("b", MANIFEST) == set()
