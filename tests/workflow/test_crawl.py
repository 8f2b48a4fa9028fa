"""A crawl that is fetched again, or from elsewhere, as the documentation says."""

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml
from PIL import Image
from tests import forkserver

from isotope.core.digests import forget

pytestmark = pytest.mark.long
ROOT = Path(__file__).parents[2]
LIMIT_S = 400
FOLDER = "data/crawl/toy"
SOURCES = ("toy", "toy-later")


def snakemake(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    where = ["--snakefile", str(ROOT / "Snakefile"), "--directory", str(folder)]
    line = ["snakemake", *arguments[:2], *where, *arguments[2:]]
    return forkserver.run(line, cwd=Path.cwd(), timeout=LIMIT_S, jobs=True)


def crawl(folder: Path) -> str:
    """Run the phase; return what was said, or raise it."""
    done = snakemake(folder, "--cores", "2", "crawl")
    assert done.returncode == 0, done.stderr[-3_000:]
    return done.stderr


def write_params(folder: Path, **toy: Any) -> None:
    params = yaml.safe_load((ROOT / "params.yaml").read_text())
    for name in SOURCES:
        params["acquire"][name]["generate"]["pages"] = 15
    params["crawl"]["toy"] = {"serve": "data/acquire/toy/images", "attempts": 1, "shards": 2, **toy}
    params["crawl"]["toy-later"] |= {"attempts": 1}
    (folder / "params.yaml").write_text(yaml.safe_dump(params))


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two small editions, crawled, the second after the first."""
    folder = tmp_path_factory.mktemp("crawled")
    write_params(folder)
    crawl(folder)
    return folder


@pytest.fixture
def place(crawled: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of it, at the same depth."""
    folder = tmp_path_factory.mktemp("copy")
    shutil.copytree(crawled, folder, dirs_exist_ok=True)
    return folder


def ledger(folder: Path, source: str = "toy") -> pl.DataFrame:
    return pl.read_parquet(folder / f"data/crawl/{source}/ledger.parquet")


def digests(folder: Path) -> set[str]:
    return set(ledger(folder).filter(status="success")["sha256"])


def reddened(images: Path) -> int:
    """Paint every PNG of a folder red; return how many there are."""
    paths = [p for p in images.rglob("*.png") if p.is_file()]
    for path in paths:
        path.chmod(0o644)
        Image.new("RGB", (31, 17), "red").save(path)
    # They are what the world has now, no damage of what was acquired.
    forget(images)
    return len(paths)


def documented() -> list[str]:
    """The commands of docs/dvc.md that fetch the pictures of a source again."""
    page = (ROOT / "docs/dvc.md").read_text()
    told = page[page.index("To fetch the pictures again") :]
    return re.findall(r"```sh\n(.*?)```", told, re.DOTALL)[0].strip().splitlines()


def removed(place: Path) -> list[str]:
    """Run the documented commands but the last one, which is returned in words."""
    *remove, again = (line.replace("<source>", "toy") for line in documented())
    assert (remove, again.split()[0]) != ([], "snakemake")
    for line in remove:
        subprocess.run(["bash", "-ec", line], cwd=place, check=True)
    return again.split()[1:]


def test_the_documented_commands_fetch_write_protected_pictures_again(place: Path) -> None:
    """The last one is carried out as far as the ledger; the rest of its plan is looked at."""
    before, later = digests(place), (place / "data/crawl/toy-later/shard-00000.parquet").stat()
    protected = [p for p in (place / FOLDER).iterdir() if not p.stat().st_mode & 0o222]
    assert len(protected) == 4
    assert reddened(place / "data/acquire/toy/images")
    again = removed(place)
    plan = snakemake(place, *again, "--dry-run").stdout
    assert {"crawl_shard", "crawl_ledger", "collect_tables", "tabulate_overview"} <= {*plan.split()}
    done = snakemake(place, *again, "--omit-from", "collect_tables", "parse_dump")
    assert done.returncode == 0, done.stderr[-3_000:]
    assert "crawl toy, shard 00001" in done.stderr
    assert "crawl toy-later, shard" not in done.stderr
    assert digests(place) != before
    sizes = {(r["width"], r["height"]) for r in ledger(place).to_dicts() if r["format"] == "png"}
    assert sizes == {(31, 17)}
    assert all(not p.stat().st_mode & 0o222 for p in (place / FOLDER).glob("shard-*"))
    assert (place / "data/crawl/toy-later/shard-00000.parquet").stat() == later


def test_all_misses_a_deleted_crawl_although_its_last_result_is_there(place: Path) -> None:
    """The catalog stands for everything that was built from the pictures."""
    write_params(place)
    (place / "results").mkdir(exist_ok=True)
    (place / "results/catalog.duckdb").touch()
    for folder in ("data/crawl/toy", "data/crawl/toy-later"):
        shutil.rmtree(place / folder)
        plan = snakemake(place, "--cores", "1", "--dry-run", "--rerun-triggers", "mtime").stdout
        assert f"{folder}/ledger.parquet" in plan


def changed(place: Path, **toy: Any) -> str:
    """Change settings and crawl; where Snakemake refuses, do what the page says about it."""
    write_params(place, **toy)
    done = snakemake(place, "--cores", "2", "crawl")
    if "Write-protected output files" in done.stderr:
        removed(place)
        return crawl(place)
    assert done.returncode == 0, done.stderr[-3_000:]
    return done.stderr


def test_another_folder_that_is_served_gives_its_own_pictures(place: Path) -> None:
    before = digests(place)
    assert set(ledger(place)["origin"]) == {"data/acquire/toy/images"}
    shutil.copytree(place / "data/acquire/toy/images", place / "other")
    assert reddened(place / "other")
    changed(place, serve="other")
    assert set(ledger(place)["origin"]) == {"other"}
    found = pl.concat(pl.read_parquet(p) for p in (place / FOLDER).glob("shard-*.parquet"))
    drawn = ledger(place).filter(format="png")
    assert drawn.height
    assert {*drawn["width"]} == {31}
    urls = drawn["image_url"].implode()
    assert {*found.filter(pl.col("image_url").is_in(urls))["width"]} == {31}
    assert digests(place) != before


def test_a_wrong_folder_is_named_and_a_right_one_is_all_that_it_takes(place: Path) -> None:
    removed(place)
    (place / "empty").mkdir()
    write_params(place, serve="empty")
    failed = snakemake(place, "--cores", "2", "crawl")
    assert failed.returncode != 0
    urls = pl.read_parquet(place / "data/crawl/toy/urls.parquet").height
    said = (place / "logs/crawl_ledger/toy.log").read_text()
    assert f"DeadCrawl: data/crawl/toy: no picture: {urls} of {urls} URLs answered 404" in said
    assert "crawl.toy.serve" in said
    assert "Traceback" not in said
    write_params(place)
    crawl(place)
    assert ledger(place).filter(status="success").height


def test_a_ledger_whose_shards_came_from_elsewhere_is_refused(place: Path) -> None:
    """As after `make pull`, where Snakemake has no settings to compare with."""
    shutil.rmtree(place / ".snakemake")
    (place / "data/crawl/toy/ledger.parquet").unlink()
    write_params(place, serve="data/acquire/toy-later/images")
    failed = snakemake(place, "--cores", "1", "crawl", "--rerun-triggers", "mtime")
    assert failed.returncode != 0
    said = (place / "logs/crawl_ledger/toy.log").read_text()
    assert "URLs were asked for at data/acquire/toy/images, and not at data/acquire/toy-l" in said
    assert "rm -rf data/crawl/toy" in said


def test_another_side_requests_nothing_and_what_follows_is_made_of_the_new_pictures(
    place: Path,
) -> None:
    """The shards are write-protected and older than the side, as after an update of isotope."""
    before, shards = ledger(place), [*(place / FOLDER).glob("shard-*")]
    assert before["width"].equals(before["stored_width"].alias("width"))
    write_params(place, side_px=64)
    plan = snakemake(place, "--cores", "2", "--dry-run").stdout
    assert "crawl_ledger" in plan
    assert {"collect_tables", "encode_shard"} <= {*plan.split()}
    assert "crawl_shard" not in plan
    crawl(place)
    after = ledger(place)
    kept = ["image_url", "status", "width", "height", "fetched_at", "attempts", "upstream_sha256"]
    assert after.select(kept).equals(before.select(kept))
    own, stored = (
        after.filter(status="success").select(pl.min_horizontal(f"{of}width", f"{of}height"))
        for of in ("", "stored_")
    )
    own, stored = own.to_series(), stored.to_series()
    assert stored.to_list() == [min(side, 64) for side in own]
    assert own.max() == 128
    assert all(not p.stat().st_mode & 0o222 for p in shards)
    again = snakemake(place, "--cores", "2", "--dry-run", "crawl").stdout
    assert "crawl_ledger" not in again
    write_params(place, side_px=None)
    crawl(place)
    told = (place / "logs/crawl_ledger/toy.log").read_text()
    assert "were stored at a smaller side than crawl.toy.side_px; they are kept" in told
    assert ledger(place).equals(after)


def test_a_crawl_that_is_to_go_on_from_elsewhere_is_not_made_anew(place: Path) -> None:
    params = yaml.safe_load((place / "params.yaml").read_text())
    del params["crawl"]["toy-later"]["after"]
    (place / "params.yaml").write_text(yaml.safe_dump(params))
    plan = snakemake(place, "--cores", "1", "--dry-run", "crawl").stdout
    assert "crawl_shard" not in plan


def planned(place: Path) -> dict[str, int]:
    """The jobs that the phase crawl would run, by rule."""
    done = snakemake(place, "--cores", "1", "--dry-run", "--quiet", "rules", "--", "crawl")
    assert done.returncode == 0, done.stderr[-3_000:]
    found = re.findall(r"^((?:crawl|acquire|parse)_\w+) +(\d+)$", done.stdout, re.MULTILINE)
    return {rule: int(count) for rule, count in found}


def publish(place: Path, pictures: dict[str, bytes]) -> None:
    """Write pictures as others publish them whole."""
    (place / "published").mkdir(exist_ok=True)
    rows = {"image_url": [*pictures], "image": [*pictures.values()]}
    pl.DataFrame(rows).write_parquet(place / "published/train.parquet")


def write_bulk(folder: Path, *bulk: dict[str, str], **toy: Any) -> None:
    """Write the params of one edition, with bulk sources."""
    write_params(folder, bulk=list(bulk), **toy)
    params = yaml.safe_load((folder / "params.yaml").read_text())
    params["acquire"]["whole"] = {"files": {"train": ["published/*.parquet"]}}
    del params["crawl"]["toy-later"]
    params |= {"build": ["toy"], "collect": {"toy": params["collect"]["toy"]}}
    params["tabulate"] |= {"diff": [], "temporal": []}
    (folder / "params.yaml").write_text(yaml.safe_dump(params))


FIRST, SECOND = {"source": "whole", "part": "train"}, {"folder": "mirror"}


@pytest.fixture(scope="module")
def half(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small edition of whose pictures every second came from a bulk source."""
    folder = tmp_path_factory.mktemp("half")
    publish(folder, {})
    write_bulk(folder, FIRST)
    done = snakemake(folder, "--cores", "2", "data/acquire/toy/manifest.json")
    assert done.returncode == 0, done.stderr[-3_000:]
    images = folder / "data/acquire/toy/images"
    own = sorted(p for p in images.rglob("*.png") if p.is_file())[::2]
    hosts = "http://upload.wikimedia.org"
    publish(folder, {f"{hosts}/{p.relative_to(images)}": p.read_bytes() for p in own})
    crawl(folder)
    return folder


def test_a_bulk_source_is_read_before_the_network_is_asked(half: Path) -> None:
    found = ledger(half)
    taken = found.filter(pl.col("bulk").is_not_null())
    assert taken["bulk"].str.starts_with("whole/train/train.parquet, row ").all()
    fetched = found.filter(status="success").join(taken, on="image_url", how="anti")
    assert taken.height > 3
    assert fetched["http_status"].to_list() == [200] * fetched.height
    assert fetched.height > 3
    assert planned(half) == {}


def test_a_bulk_source_that_is_added_runs_what_follows_and_nothing_else(half: Path) -> None:
    before = ledger(half)
    shutil.copytree(half / "data/acquire/toy/images", half / "mirror")
    write_bulk(half, FIRST, SECOND)
    assert planned(half) == {"crawl_bulk": 1, "crawl_ledger": 1, "crawl_rest": 2}
    crawl(half)
    # What had come stays as it was; what the server had refused is in the folder.
    came = before.filter(status="success")
    after = ledger(half)
    assert came.equals(after.join(came, on="image_url", how="semi"))
    rest = after.filter(status="success").join(came, on="image_url", how="anti")
    assert rest["bulk"].str.starts_with("mirror, row ").all()
    assert rest.height > 0
    assert planned(half) == {}
    # Another side reads and requests nothing.
    write_bulk(half, FIRST, SECOND, side_px=64)
    assert planned(half) == {"crawl_ledger": 1}
    write_bulk(half, {**FIRST, "licence": "image_url"}, SECOND)
    assert planned(half) == {"crawl_bulk": 2, "crawl_ledger": 1, "crawl_rest": 2}
