"""Every URL gets one row in the ledger, whatever the server does with it."""

import hashlib
import io
import urllib.error
import urllib.request
from pathlib import Path

import polars as pl
import pytest
from PIL import Image

from isotope import crawl, crawl_outcome, crawl_tool, store, tables
from isotope.crawl_ledger import gather_ledgers
from isotope.errors import MissingFile, StaleCrawl, ToolFailed
from isotope.serve import read_faults, serving

SPEC = {"threads": 4, "timeout_s": 5, "attempts": 3, "wait_s": 0.1, "user_agent": "isotope tests"}
FAULTS = ["", "not_found", "gone", "rate_limited", "truncated", "html", "redirect"]


@pytest.fixture(scope="module")
def world(tmp_path_factory) -> Path:
    """A folder of pictures under their upload paths, one for each fault."""
    root = tmp_path_factory.mktemp("world")
    rows = ["path,fault"]
    for n, fault in enumerate(FAULTS):
        path = root / f"images/wikipedia/commons/a/ab/Ball & ring ({n}).png"
        path.parent.mkdir(parents=True, exist_ok=True)
        noise = bytes((i * (n + 3) * 37) % 251 for i in range(64 * 48 * 3))
        Image.frombytes("RGB", (64, 48), noise).save(path)
        if fault:
            rows.append(f"/wikipedia/commons/a/ab/Ball & ring ({n}).png,{fault}")
    (root / "faults.csv").write_text("\n".join(rows) + "\n")
    return root


@pytest.fixture(scope="module")
def crawled(world) -> dict[str, Path]:
    base = "https://upload.wikimedia.org/wikipedia/commons/a/ab/Ball_%26_ring_"
    urls = [base.replace("_", "%20") + f"({n}).png" for n in range(len(FAULTS))]
    listed = [{"image_id": f"id-{n}", "image_url": u, "shard": 0} for n, u in enumerate(urls)]
    listed.append({"image_id": "id-9", "image_url": "https://elsewhere.org/x.png", "shard": 1})
    store.write_rows(listed, world / "urls.parquet", tables.URLS)
    out = {"pixels": world / "pixels.parquet", "ledger": world / "ledger.parquet"}
    spec = {**SPEC, "serve": str(world / "images")}
    crawl.crawl_shard(world / "urls.parquet", spec, 0, out, world / "scratch")
    return out


def ledger(crawled) -> dict[str, dict]:
    rows = pl.read_parquet(crawled["ledger"]).sort("image_url").rows(named=True)
    return dict(zip([f or "fine" for f in FAULTS], rows, strict=True))


def test_the_ledger_has_one_row_for_each_url_of_the_shard(crawled):
    assert set(ledger(crawled)) == {f or "fine" for f in FAULTS}


@pytest.mark.parametrize(
    ("fault", "status", "http_status", "attempts"),
    [
        ("fine", "success", 200, 1),
        ("redirect", "success", 200, 1),
        ("rate_limited", "success", 200, 2),
        ("not_found", "not_found", 404, 1),
        ("gone", "gone", 410, 1),
        ("truncated", "truncated", None, 3),
        ("html", "not_an_image", None, 1),
    ],
)
def test_what_happened_is_told_honestly(crawled, fault, status, http_status, attempts):
    row = ledger(crawled)[fault]
    assert (row["status"], row["http_status"], row["attempts"]) == (status, http_status, attempts)


def test_the_pictures_of_all_passes_are_stored_as_webp_by_id(crawled):
    pixels = pl.read_parquet(crawled["pixels"])
    assert pixels["image_id"].to_list() == ["id-0", "id-3", "id-6"]
    for webp in pixels["webp"]:
        with Image.open(io.BytesIO(webp)) as picture:
            assert (picture.format, picture.size) == ("WEBP", (64, 48))


def test_bytes_and_digest_of_the_ledger_are_those_of_the_stored_picture(crawled):
    stored = pl.read_parquet(crawled["pixels"]).join(
        pl.read_parquet(crawled["ledger"]), on="image_url"
    )
    for webp, size, digest in stored.select("webp", "bytes", "sha256").rows():
        assert (len(webp), hashlib.sha256(webp).hexdigest()) == (size, digest)


def test_a_run_after_a_kill_asks_for_nothing_it_has(crawled, world, monkeypatch):
    def fail(*_):
        raise AssertionError("img2dataset ran again")

    monkeypatch.setattr(crawl_tool, "downloader", fail)
    again = {"pixels": world / "again.parquet", "ledger": world / "again-ledger.parquet"}
    spec = {**SPEC, "serve": str(world / "images")}
    crawl.crawl_shard(world / "urls.parquet", spec, 0, again, world / "scratch")
    assert again["pixels"].read_bytes() == crawled["pixels"].read_bytes()
    assert again["ledger"].read_bytes() == crawled["ledger"].read_bytes()


def test_a_mirror_changes_scheme_and_host_only():
    url = "https://upload.wikimedia.org/wikipedia/en/a/ab/X%20y.png?z=1"
    mirrored = crawl.mirrored(url, "http://127.0.0.1:8000")
    assert mirrored == "http://127.0.0.1:8000/wikipedia/en/a/ab/X%20y.png?z=1"


def test_a_url_that_img2dataset_forgot_is_an_error(tmp_path):
    wanted = pl.DataFrame({"image_id": ["a"], "image_url": ["https://x.org/a.png"]})
    nothing = crawl_outcome.outcome(pl.DataFrame(schema=crawl_outcome.COLUMNS))
    with pytest.raises(ToolFailed, match=r"x\.org/a\.png"):
        crawl.write_ledger(wanted, nothing, pl.DataFrame(), tmp_path / "l.parquet")


def test_the_server_never_leaves_its_folder(tmp_path):
    (tmp_path / "images").mkdir()
    (tmp_path / "secret.png").write_bytes(b"secret")
    with serving(tmp_path / "images") as url:
        for path in ("/../secret.png", "/%2e%2e/secret.png"):
            with pytest.raises(urllib.error.HTTPError) as told:
                urllib.request.urlopen(url + path, timeout=5)
            told.value.close()
            assert told.value.code == 404


def test_serving_a_folder_that_is_absent_names_it(tmp_path):
    with pytest.raises(MissingFile, match="nowhere"), serving(tmp_path / "nowhere"):
        pass


def test_a_folder_without_faults_serves_everything(tmp_path):
    assert read_faults(tmp_path) == {}


def test_a_list_of_urls_that_was_not_the_one_crawled_is_refused(tmp_path):
    urls = [{"image_id": i, "image_url": f"https://x.org/{i}.png", "shard": 0} for i in "abc"]
    rows = [{"image_url": f"https://x.org/{i}.png", "status": "success"} for i in "abd"]
    store.write_rows(urls, tmp_path / "urls.parquet", tables.URLS)
    store.write_rows(rows, tmp_path / "ledger-00000.parquet", tables.LEDGER)
    ledgers = [tmp_path / "ledger-00000.parquet"]
    with pytest.raises(StaleCrawl, match=r"1 wanted URLs were never crawled, 1 are wanted no more"):
        gather_ledgers(tmp_path / "urls.parquet", ledgers, tmp_path / "ledger.parquet")
    assert not (tmp_path / "ledger.parquet").exists()
