"""Pictures that their own address does not bring are looked for elsewhere, in the params' order."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from PIL import Image
from tests.crawls import constants, crawl_of
from tests.decoding import InProcess

from isotope.core import store
from isotope.core.errors import HostDown, NoContact
from isotope.crawl import serve, shard
from isotope.crawl.alternates import alternate_url
from isotope.params import files
from isotope.schemas.crawl import URLS

ROOT = Path(__file__).parents[3]
OWN = {"threads": 4, "timeout_s": 5, "wait_s": 0.01, "user_agent": "isotope tests (a@b.org)"}
SPEC = {**files.load(root=ROOT).crawl["toy"].spec(), **OWN}
UPLOADS = "wikipedia/commons/a/ab"
BASE = f"https://upload.wikimedia.org/{UPLOADS}"
ARCHIVE, RENAMED = "web/20200801id_/https:/upload.wikimedia.org", "wiki/Special:Redirect/file"


@pytest.fixture(autouse=True)
def _no_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shard, "Decoders", InProcess)


def place(folder: Path, name: str, grey: int) -> None:
    """Put a small picture of one grey below a served folder."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("L", (4, 4), grey).save(path, format="PNG")


def wanted(root: Path, *names: str) -> Path:
    (root / "images" / UPLOADS).mkdir(parents=True)
    rows = [{"image_id": n, "image_url": f"{BASE}/{n}", "shard": 0} for n in names]
    store.write_rows(rows, root / "urls.parquet", URLS)
    return root / "images"


def crawl(root: Path, **settings: Any) -> dict[str, dict[str, Any]]:
    """Crawl the URLs of a folder; return the ledger's rows by the file's name."""
    out = {name: root / f"data/toy/{name}-00000.parquet" for name in ("pixels", "ledger")}
    spec = {**SPEC, "serve": str(root / "images"), **settings}
    with constants(settings):
        shard.crawl_shard(
            root / "urls.parquet", crawl_of(spec), 0, out, root / "scratch/toy", crawl_of()
        )
    rows = pl.read_parquet(out["ledger"]).rows(named=True)
    pixels = pl.read_parquet(out["pixels"])["image_url"].to_list()
    assert sorted(pixels) == sorted(r["image_url"] for r in rows if r["status"] == "success")
    return {row["image_url"].rpartition("/")[2]: row for row in rows}


def test_the_address_of_an_alternate_is_that_of_its_documentation():
    url = f"{BASE}/A_b%2C.jpg"
    redirect = "https://commons.wikimedia.org/wiki/Special:Redirect/file/A_b%2C.jpg"
    assert alternate_url("renamed", url) == redirect
    assert alternate_url("renamed", url, 500) == f"{redirect}?width=500"
    own = "https://upload.wikimedia.org/wikipedia/de/1/12/X.png"
    assert (
        alternate_url("renamed", own) == "https://de.wikipedia.org/wiki/Special:Redirect/file/X.png"
    )
    assert alternate_url("renamed", "https://example.org/A.jpg") is None
    assert alternate_url("archive@2020", url) == f"https://web.archive.org/web/2020id_/{url}"
    assert alternate_url("https://m.org/", url) == f"https://m.org/{UPLOADS}/A_b%2C.jpg"
    assert alternate_url("https://p.org/?u={url}", url) == f"https://p.org/?u={url}"


def test_a_picture_comes_from_the_first_alternate_that_has_it(tmp_path):
    images = wanted(tmp_path, "own.png", "both.png", "old.png", "lost.png")
    place(images, f"{UPLOADS}/own.png", 10)
    place(images, f"{RENAMED}/both.png", 20)
    place(images, f"{ARCHIVE}/{UPLOADS}/both.png", 30)
    place(images, f"{ARCHIVE}/{UPLOADS}/old.png", 40)
    (images / "faults.csv").write_text(f"path,fault\n/{RENAMED}/both.png,redirect\n")
    rows = crawl(tmp_path, alternates=["renamed", "archive@20200801"])
    assert rows["own.png"]["fetched_from"] is None
    assert rows["own.png"]["error"] is None
    # A redirect's end is what brought the bytes.
    moved = "https://commons.wikimedia.org/moved/wiki/Special%3ARedirect/file/both.png"
    assert rows["both.png"]["fetched_from"] == moved
    assert rows["both.png"]["error"] == "its own address: not_found, HTTP 404"
    archived = f"https://web.archive.org/web/20200801id_/{BASE}/old.png"
    assert rows["old.png"]["fetched_from"] == archived
    assert rows["old.png"]["attempts"] == 3
    assert {name for name, row in rows.items() if row["status"] != "success"} == {"lost.png"}


def test_a_picture_that_no_address_has_keeps_its_own_outcome_and_tells_the_others(tmp_path):
    images = wanted(tmp_path, "lost.png", "own.png")
    place(images, f"{UPLOADS}/own.png", 10)
    row = crawl(tmp_path, alternates=["renamed", "archive@2020"])["lost.png"]
    assert (row["status"], row["http_status"], row["fetched_from"]) == ("not_found", 404, None)
    tried = ("commons.wikimedia.org", "web.archive.org")
    assert row["error"] == "; ".join(f"{host}: not_found, HTTP 404" for host in tried)


def test_a_mirror_in_the_params_may_be_on_this_machine(tmp_path):
    wanted(tmp_path, "a.png", "b.png")
    place(tmp_path / "first", f"{UPLOADS}/a.png", 10)
    place(tmp_path / "second", f"{UPLOADS}/b.png", 20)
    with serve.serving(tmp_path / "first") as first, serve.serving(tmp_path / "second") as second:
        rows = crawl(tmp_path, serve=None, mirror=first, alternates=[second])
    assert {row["status"] for row in rows.values()} == {"success"}
    assert rows["a.png"]["fetched_from"] is None
    assert rows["b.png"]["fetched_from"] == f"{second}/{UPLOADS}/b.png"


def test_wikimedia_is_asked_for_no_renamed_file_without_a_contact(tmp_path):
    urls = ["https://example.org/a.png", f"{BASE}/b.png"]
    rows = [{"image_id": url, "image_url": url, "shard": 0} for url in urls]
    store.write_rows(rows, tmp_path / "urls.parquet", URLS)
    settings = {"serve": None, "mirror": "http://127.0.0.1:9", "user_agent": "isotope tests"}
    with pytest.raises(NoContact, match=r"commons\.wikimedia\.org"):
        crawl(tmp_path, alternates=["renamed"], **settings)


def test_what_an_owner_refuses_is_not_sought_elsewhere(tmp_path, monkeypatch):
    images = wanted(tmp_path, "a.png", "own.png")
    place(images, f"{UPLOADS}/own.png", 10)
    place(images, f"{UPLOADS}/a.png", 10)
    place(images, f"{ARCHIVE}/{UPLOADS}/a.png", 30)
    answer, requested = serve._Handler._answer, list[str]()

    def refuse(self: Any, code: int, kind: str, body: bytes, **more: str) -> None:
        requested.append(self.path)
        tag = {"X_Robots_Tag": "noai"} if self.path.endswith("/a.png") else {}
        answer(self, code, kind, body, **more, **tag)

    monkeypatch.setattr(serve._Handler, "_answer", refuse)
    assert crawl(tmp_path, alternates=["archive@20200801"])["a.png"]["status"] == "refused"
    assert sorted(requested) == [f"/{UPLOADS}/a.png", f"/{UPLOADS}/own.png"]


def test_an_outage_of_a_host_sends_no_picture_to_an_archive(tmp_path, monkeypatch):
    images = wanted(tmp_path, *(f"{n}.png" for n in range(6)))
    place(images, f"{UPLOADS}/0.png", 10)
    answer, requested = serve._Handler._file, list[str]()

    def fail(self: Any, path: str) -> None:
        requested.append(path)
        if path.endswith("0.png"):
            return answer(self, path)
        return self._answer(503, "text/plain", b"down\n")

    monkeypatch.setattr(serve._Handler, "_file", fail)
    breaker = {"breaker_failures": 2, "breaker_pause_s": 0, "breaker_openings": 1}
    settings = {"attempts": 1, "alternates": ["archive@20200801"], "threads": 1, **breaker}
    with pytest.raises(HostDown, match="stopped to answer"):
        crawl(tmp_path, **settings)
    assert not [path for path in requested if "web" in path]


def test_after_a_kill_only_what_was_not_tried_elsewhere_is(tmp_path, monkeypatch):
    images = wanted(tmp_path, *(f"{n}.png" for n in range(4)), "own.png")
    place(images, f"{UPLOADS}/own.png", 10)
    for n in range(4):
        place(images, f"{ARCHIVE}/{UPLOADS}/{n}.png", n)
    answer, requested = serve._Handler._file, list[str]()

    def count(self: Any, path: str) -> None:
        requested.append(path)
        return answer(self, path)

    monkeypatch.setattr(serve._Handler, "_file", count)
    elsewhere = shard._elsewhere

    async def kill(*arguments: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(shard, "_elsewhere", kill)
    with pytest.raises(KeyboardInterrupt):
        crawl(tmp_path, alternates=["archive@20200801"])
    monkeypatch.setattr(shard, "_elsewhere", elsewhere)
    assert len(requested) == 5
    rows = crawl(tmp_path, alternates=["archive@20200801"])
    assert {row["status"] for row in rows.values()} == {"success"}
    assert sorted(requested[5:]) == [
        f"/{ARCHIVE.replace(':/', '://')}/{UPLOADS}/{n}.png" for n in range(4)
    ]


def test_an_alternate_that_is_added_later_is_tried_for_what_was_lost(tmp_path):
    images = wanted(tmp_path, "a.png", "own.png")
    place(images, f"{UPLOADS}/own.png", 10)
    place(images, f"{ARCHIVE}/{UPLOADS}/a.png", 30)
    assert crawl(tmp_path)["a.png"]["status"] == "not_found"
    assert crawl(tmp_path, alternates=["archive@20200801"])["a.png"]["status"] == "success"


def test_pictures_that_another_source_has_are_not_requested(tmp_path, monkeypatch):
    images = wanted(tmp_path, "a.png", "b.png")
    place(images, f"{UPLOADS}/a.png", 10)
    place(images, f"{UPLOADS}/b.png", 20)
    first = crawl(tmp_path)
    rows = pl.read_parquet(tmp_path / "urls.parquet")
    row = {"image_id": "c.png", "image_url": f"{BASE}/c.png", "shard": 0}
    more = pl.DataFrame([row], schema=rows.schema)
    store.write(rows.vstack(more).to_arrow(), tmp_path / "urls.parquet", URLS)
    place(images, f"{UPLOADS}/c.png", 30)
    # The shards of the source, and its gathered ledger, lie beside those of the next crawl.
    (tmp_path / "data/toy/pixels-00000.parquet").rename(tmp_path / "data/toy/shard-00000.parquet")
    (tmp_path / "data/toy/ledger-00000.parquet").rename(tmp_path / "data/toy/ledger.parquet")
    answer, requested = serve._Handler._file, list[str]()

    def count(self: Any, path: str) -> None:
        requested.append(path)
        return answer(self, path)

    monkeypatch.setattr(serve._Handler, "_file", count)
    out = {name: tmp_path / f"data/next/{name}-00000.parquet" for name in ("pixels", "ledger")}
    spec = {**SPEC, "serve": str(images), "ask_again": False}
    scratch = tmp_path / "scratch/next"
    shard.crawl_shard(
        tmp_path / "urls.parquet", crawl_of(spec), 0, out, scratch, crawl_of(after="toy")
    )
    assert requested == [f"/{UPLOADS}/c.png"]
    ledger = pl.read_parquet(out["ledger"])
    assert ledger["attempts"].to_list() == [0, 0, 1]
    assert ledger["fetched_at"][0] == first["a.png"]["fetched_at"]
    assert pl.read_parquet(out["pixels"]).height == 3
