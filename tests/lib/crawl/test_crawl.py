"""Every URL gets one row in the ledger, whatever the server does with it."""

import hashlib
import io
import shutil
import sqlite3
import urllib.error
import urllib.request
from contextlib import closing, suppress
from pathlib import Path

import polars as pl
import pytest
from PIL import Image
from tests.crawls import constants, crawl_of

from isotope.core import store
from isotope.core.errors import (
    BudgetSpent,
    HostDown,
    MissingFile,
    NoContact,
    StaleCrawl,
    ToolFailed,
)
from isotope.crawl import serve, shard
from isotope.crawl.ledger import gather_ledgers
from isotope.crawl.serve import read_faults, serving
from isotope.params import files
from isotope.schemas.crawl import LEDGER, URLS

ROOT = Path(__file__).parents[3]
OWN = {"threads": 4, "timeout_s": 5, "wait_s": 0.1, "user_agent": "isotope tests"}
SPEC = {**files.load(root=ROOT).crawl["toy"].spec(), **OWN}
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
    store.write_rows(listed, world / "urls.parquet", URLS)
    out = {"pixels": world / "pixels.parquet", "ledger": world / "ledger.parquet"}
    spec = {**SPEC, "serve": str(world / "images")}
    shard.crawl_shard(world / "urls.parquet", crawl_of(spec), 0, out, world / "scratch", crawl_of())
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
        ("html", "not_an_image", 200, 1),
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


def again(world: Path, name: str, after: str | None = None, **more: object) -> dict[str, Path]:
    """Crawl the world once more, to tables of another name; `after` names the earlier ones."""
    out = {k: world / f"data/{name}/{k}.parquet" for k in ("pixels", "ledger")}
    spec = {**SPEC, "serve": str(world / "images"), **more}
    urls, earlier = world / "urls.parquet", crawl_of(after=after)
    shard.crawl_shard(urls, crawl_of(spec), 0, out, world / "scratch", earlier)
    return out


def count_requests(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """Return a list to which the server adds (path, bytes sent) of what it answers."""
    asked: list[tuple[str, int]] = []
    finish = serve._Handler
    answer = finish._answer

    def told(self, code: int, kind: str, body: bytes, **more: str) -> None:
        asked.append((self.path, len(body)))
        answer(self, code, kind, body, **more)

    monkeypatch.setattr(finish, "_answer", told)
    return asked


def test_a_run_after_a_kill_asks_for_nothing_it_has(crawled, world, monkeypatch):
    for path in (world / "scratch").glob("*.sqlite"):
        with closing(sqlite3.connect(path)) as con:
            con.execute("PRAGMA user_version = 0")
    asked = count_requests(monkeypatch)
    out = again(world, "again")
    assert asked == []
    assert out["pixels"].read_bytes() == crawled["pixels"].read_bytes()
    assert out["ledger"].read_bytes() == crawled["ledger"].read_bytes()


def test_a_crawl_that_goes_on_counts_what_it_has(crawled, world, caplog):
    caplog.set_level("INFO", "isotope")
    again(world, "once-more", attempts=1)
    [line] = [text for text in caplog.messages if text.startswith("images: ")]
    assert line.startswith(f"images: {len(FAULTS)} of {len(FAULTS)} (100%), ")


def test_a_crawl_that_is_asked_for_again_retries_only_what_may_have_passed(
    crawled, world, monkeypatch
):
    asked = count_requests(monkeypatch)
    out = again(world, "once-more", attempts=1)
    assert {path.rpartition("(")[2] for path, _ in asked} == {"4).png"}
    assert out["pixels"].read_bytes() == crawled["pixels"].read_bytes()


def test_a_crawl_of_an_unchanged_world_fetches_no_picture_twice(crawled, world, monkeypatch):
    first = {name: world / f"data/first/{name}" for name in ("pixels", "ledger")}
    for name, path in (("pixels", "shard-00000"), ("ledger", "ledger")):
        first[name].parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(crawled[name], world / f"data/first/{path}.parquet")
    asked = count_requests(monkeypatch)
    shutil.copytree(world / "scratch", world / "before")
    shutil.rmtree(world / "scratch")
    out = again(world, "second", after="first")
    whole = pl.read_parquet(crawled["ledger"]).filter(pl.col("status") == "success")
    pages = ("2).png", "4).png", "5).png")
    sent = sum(size for path, size in asked if not path.endswith(pages))
    assert 0 < sent <= 0.05 * sum(whole["upstream_bytes"])
    assert out["pixels"].read_bytes() == crawled["pixels"].read_bytes()
    fresh = pl.read_parquet(out["ledger"]).filter(pl.col("status") == "success")
    assert set(fresh["http_status"]) == {304}
    told = ["image_url", "sha256", "bytes", "width", "upstream_sha256", "etag", "content_type"]
    before = pl.read_parquet(crawled["ledger"]).filter(pl.col("status") == "success")
    assert fresh.select(told).equals(before.select(told))
    shutil.rmtree(world / "scratch")
    shutil.move(world / "before", world / "scratch")


def test_a_changed_picture_is_fetched_anew(crawled, world, monkeypatch, tmp_path):
    changed = tmp_path / "images"
    shutil.copytree(world / "images", changed)
    path = changed / "wikipedia/commons/a/ab/Ball & ring (0).png"
    Image.new("RGB", (30, 20), "red").save(path)
    (tmp_path / "data/first").mkdir(parents=True)
    shutil.copy(crawled["pixels"], tmp_path / "data/first/shard-00000.parquet")
    shutil.copy(crawled["ledger"], tmp_path / "data/first/ledger.parquet")
    out = {k: tmp_path / f"data/second/{k}.parquet" for k in ("pixels", "ledger")}
    spec = {**SPEC, "serve": str(changed), "attempts": 1}
    after = {"after": "first"}
    shard.crawl_shard(
        world / "urls.parquet", crawl_of(spec), 0, out, tmp_path / "scratch", crawl_of(after)
    )
    sizes = dict(pl.read_parquet(out["pixels"]).select("image_id", "width").rows())
    assert sizes["id-0"] == 30
    assert sizes["id-3"] == 64


def test_wikimedia_is_not_asked_without_a_contact(world, tmp_path):
    out = {k: tmp_path / f"{k}.parquet" for k in ("pixels", "ledger")}
    for mirror in (None, "https://upload.wikimedia.org", "https://commons.wikimedia.org"):
        spec = {**SPEC, "serve": None, "mirror": mirror}
        with pytest.raises(NoContact, match=r"wikimedia\.org.*crawl\.<source>\.contact"):
            shard.crawl_shard(
                world / "urls.parquet", crawl_of(spec), 0, out, tmp_path / "scratch", crawl_of()
            )
    assert not out["ledger"].exists()


@pytest.mark.parametrize(
    "url", ["https://upload.\uff57ikimedia.org/x.png", "HTTPS://UPLOAD.Wikimedia.ORG./x.png"]
)
def test_a_host_of_wikimedia_in_other_letters_needs_a_contact_as_well(tmp_path, url):
    rows = [{"image_id": "a", "image_url": url, "shard": 0}]
    store.write_rows(rows, tmp_path / "urls.parquet", URLS)
    out = {k: tmp_path / f"{k}.parquet" for k in ("pixels", "ledger")}
    with pytest.raises(NoContact, match=r"wikimedia\.org"):
        shard.crawl_shard(
            tmp_path / "urls.parquet",
            crawl_of(SPEC, serve=None),
            0,
            out,
            tmp_path / "scratch",
            crawl_of(),
        )


def test_a_spent_budget_ends_the_crawl_and_a_larger_one_goes_on(world, crawled, tmp_path):
    out = {k: tmp_path / f"{k}.parquet" for k in ("pixels", "ledger")}
    spec = {**SPEC, "serve": str(world / "images"), "attempts": 1, "threads": 1}

    def run(**more: float) -> None:
        shard.crawl_shard(
            world / "urls.parquet",
            crawl_of(spec, more),
            0,
            out,
            tmp_path / "scratch/toy",
            crawl_of(),
        )

    for limits in ({"budget_gib": 1e-6}, {"budget_hours": 1e-6}):
        with suppress(BudgetSpent):
            run(**limits)
        for path in (tmp_path / "scratch/toy").glob("*.sqlite*"):
            path.unlink()
        with pytest.raises(BudgetSpent, match=next(iter(limits))):
            run(**limits)
    run(budget_gib=1, budget_hours=1)
    assert out["pixels"].is_file()


def test_a_host_that_nobody_reaches_stops_the_crawl_and_is_asked_again(world, tmp_path):
    out = {k: tmp_path / f"{k}.parquet" for k in ("pixels", "ledger")}
    limits = {"breaker_failures": 2, "breaker_pause_s": 0.01, "breaker_openings": 1, "threads": 1}
    spec = {**SPEC, **limits, "serve": None, "mirror": "http://127.0.0.1:9", "attempts": 1}
    refused = pytest.raises(HostDown, match=r"127\.0\.0\.1.*run again later")
    with constants(limits), refused:
        shard.crawl_shard(
            world / "urls.parquet", crawl_of(spec), 0, out, tmp_path / "scratch/toy", crawl_of()
        )
    assert not out["ledger"].exists()
    served = {**SPEC, "serve": str(world / "images"), "attempts": 1}
    shard.crawl_shard(
        world / "urls.parquet", crawl_of(served), 0, out, tmp_path / "scratch/toy", crawl_of()
    )
    found = pl.read_parquet(out["ledger"])["status"].to_list()
    assert "host_down" not in found
    assert "success" in found


def test_a_mirror_changes_scheme_and_host_only():
    url = "https://upload.wikimedia.org/wikipedia/en/a/ab/X%20y.png?z=1"
    mirrored = shard.mirrored(url, "http://127.0.0.1:8000")
    assert mirrored == "http://127.0.0.1:8000/wikipedia/en/a/ab/X%20y.png?z=1"


def test_a_mirror_leaves_what_is_no_web_address_alone():
    for url in ("ftp://x.org/a.png", "http://[::1", "nonsense"):
        assert shard.mirrored(url, "http://127.0.0.1:8000") == url


def test_a_url_without_an_outcome_is_an_error(tmp_path):
    wanted = pl.DataFrame({"image_id": ["a"], "image_url": ["https://x.org/a.png"]})
    with pytest.raises(ToolFailed, match=r"x\.org/a\.png"):
        shard.demand_all(wanted, pl.DataFrame(LEDGER.empty_table()))


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
    store.write_rows(urls, tmp_path / "urls.parquet", URLS)
    store.write_rows(rows, tmp_path / "ledger-00000.parquet", LEDGER)
    ledgers = [tmp_path / "ledger-00000.parquet"]
    with pytest.raises(StaleCrawl, match=r"1 wanted URLs were never crawled, 1 are wanted no more"):
        gather_ledgers(
            tmp_path / "urls.parquet", ledgers, tmp_path / "ledger.parquet", crawl_of(), crawl_of()
        )
    assert not (tmp_path / "ledger.parquet").exists()
