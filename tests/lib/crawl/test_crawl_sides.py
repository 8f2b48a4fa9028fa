"""A crawl's pictures are brought to another side from what is there, without a request."""

import hashlib
import io
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from PIL import Image
from tests.crawls import crawl_of
from tests.decoding import InProcess, WaitedFor
from tests.lib.crawl.test_crawl_again import SPEC, world

from isotope.core import store
from isotope.core.pixels import iter_pixels
from isotope.crawl import serve, shard, sides
from isotope.crawl.ledger import gather_ledgers
from isotope.intake.convert import to_webp
from isotope.intake.decoders import Converted
from isotope.intake.pictures import PictureDecoders
from isotope.schemas.crawl import LEDGER

DECODING = crawl_of()


@pytest.fixture(autouse=True)
def _no_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shard, "Decoders", InProcess)
    monkeypatch.setattr(sides, "PictureDecoders", WaitedFor)


def crawl(root: Path, side_px: int | None, source: str = "toy", **settings: Any) -> None:
    """Crawl the URLs of a world as one shard."""
    folder = root / "data" / source
    out = {"pixels": folder / "shard-00000.parquet", "ledger": folder / "ledger-00000.parquet"}
    policy = crawl_of(side_px=side_px, after=settings.pop("after", None))
    spec = {**SPEC, "serve": str(root / "images"), **settings}
    shard.crawl_shard(
        root / "urls.parquet", crawl_of(spec), 0, out, root / "scratch" / source, policy
    )


def gather(root: Path, side_px: int | None, source: str = "toy") -> pl.DataFrame:
    """Gather the ledger as the rule does; return it."""
    folder = root / "data" / source
    out, spec = folder / "ledger.parquet", crawl_of(serve=str(root / "images"), side_px=side_px)
    gather_ledgers(root / "urls.parquet", [folder / "ledger-00000.parquet"], out, spec, DECODING)
    return pl.read_parquet(out)


def stored(root: Path, source: str = "toy") -> list[bytes]:
    return [webp for _, webp in iter_pixels([root / "data" / source / "shard-00000.parquet"])]


def sizes(root: Path, source: str = "toy") -> list[tuple[int, int]]:
    """The sizes of the stored pictures, which their table has, too."""
    told = pl.read_parquet(root / "data" / source / "shard-00000.parquet")
    every = [Image.open(io.BytesIO(webp)).size for webp in told["webp"]]
    assert every == list(zip(told["width"], told["height"], strict=True))
    return every


@pytest.fixture
def requests(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The paths that are requested."""
    asked: list[str] = []
    answer = serve._Handler.do_GET

    def noting(self: Any) -> None:
        asked.append(self.path)
        answer(self)

    monkeypatch.setattr(serve._Handler, "do_GET", noting)
    return asked


def test_a_crawl_at_a_side_stores_what_img2dataset_makes_of_the_bytes_that_came(tmp_path):
    root = world(tmp_path, 2, 80)
    crawl(root, 64)
    ledger = gather(root, 64)
    files = [root / f"images/wikipedia/commons/a/ab/{n}.png" for n in range(2)]
    assert stored(root) == [to_webp(file.read_bytes(), side_px=64)[0] for file in files]
    assert ledger.select("width", "stored_width").rows() == [(80, 64)] * 2
    assert ledger["trait"].to_list() == [None, None]


def test_a_crawl_at_full_size_is_reduced_from_what_is_there(tmp_path, requests, monkeypatch):
    """By decoders in processes, as in a job."""
    monkeypatch.setattr(sides, "PictureDecoders", PictureDecoders)
    root = world(tmp_path, 3, 80)
    crawl(root, None)
    whole, asked = stored(root), len(requests)
    for name in ("shard", "ledger"):
        (root / f"data/toy/{name}-00000.parquet").chmod(0o444)
    ledger = gather(root, 64)
    assert len(requests) == asked
    assert stored(root) == [to_webp(webp, side_px=64)[0] for webp in whole]
    assert sizes(root) == [(64, 64)] * 3
    assert ledger.select("width", "height", "stored_width").rows() == [(80, 80, 64)] * 3
    assert ledger["trait"].to_list() == ["reduced"] * 3
    assert ledger["sha256"].to_list() == [hashlib.sha256(w).hexdigest() for w in stored(root)]
    assert ledger["bytes"].to_list() == [len(w) for w in stored(root)]
    for name in ("shard", "ledger"):
        assert (root / f"data/toy/{name}-00000.parquet").stat().st_mode & 0o777 == 0o444


def test_what_is_small_enough_keeps_its_bytes_beside_what_is_reduced(tmp_path):
    root = world(tmp_path, 2, 80)
    Image.new("RGB", (50, 90), "red").save(root / "images/wikipedia/commons/a/ab/1.png")
    crawl(root, None)
    whole = stored(root)
    ledger = gather(root, 64)
    assert stored(root)[1] == whole[1]
    assert sizes(root) == [(64, 64), (50, 90)]
    assert ledger["trait"].to_list() == ["reduced", None]


def test_pictures_are_reduced_once(tmp_path, monkeypatch):
    root = world(tmp_path, 2, 80)
    crawl(root, None)
    before = gather(root, 64)
    monkeypatch.setattr(sides, "_reduce", lambda *_: pytest.fail("reduced again"))
    assert gather(root, 64).equals(before)


def test_a_job_that_was_killed_between_pictures_and_ledger_goes_on(tmp_path, monkeypatch):
    root = world(tmp_path, 2, 80)
    crawl(root, None)
    with monkeypatch.context() as patch:
        patch.setattr(store, "write_rows", lambda *_: pytest.fail("killed"))
        with pytest.raises(pytest.fail.Exception, match="killed"):
            gather(root, 64)
    half = stored(root)
    assert sizes(root) == [(64, 64)] * 2
    ledger = gather(root, 64)
    assert stored(root) == half
    assert ledger.select("width", "stored_width").rows() == [(80, 64)] * 2
    assert ledger["sha256"].to_list() == [hashlib.sha256(w).hexdigest() for w in half]


def test_a_ledger_of_before_there_were_sides_is_one_of_full_size(tmp_path):
    root = world(tmp_path, 2, 80)
    crawl(root, None)
    path = root / "data/toy/ledger-00000.parquet"
    old = pl.read_parquet(path).drop("stored_width", "stored_height")
    old.write_parquet(path)
    assert gather(root, None).select("width", "stored_width").rows() == [(80, 80)] * 2
    ledger = gather(root, 64)
    assert ledger.select("width", "stored_width").rows() == [(80, 64)] * 2
    assert sizes(root) == [(64, 64)] * 2


@pytest.mark.parametrize("side_px", [None, 70])
def test_pictures_of_a_smaller_side_are_kept_and_told(tmp_path, requests, caplog, side_px):
    root = world(tmp_path, 2, 80)
    crawl(root, 64)
    before, asked = stored(root), len(requests)
    with caplog.at_level("WARNING"):
        gather(root, side_px)
    assert "2 of 2 pictures were stored at a smaller side than crawl.toy.side_px" in caplog.text
    assert (stored(root), len(requests)) == (before, asked)


@pytest.mark.parametrize("side_px", [None, 64, 256])
def test_pictures_of_the_side_that_is_wanted_are_not_told(tmp_path, caplog, side_px):
    root = world(tmp_path, 2, 80)
    crawl(root, side_px)
    with caplog.at_level("WARNING"):
        gather(root, side_px)
    assert "smaller side" not in caplog.text


def test_a_picture_that_can_not_be_reduced_is_a_row_with_the_reason(tmp_path, monkeypatch):
    root = world(tmp_path, 2, 80)
    crawl(root, None)
    reason = {"status": "not_resized", "error": "80 x 80 pixels: no WebP came of it"}

    class Failing(WaitedFor):
        def convert(self, name: str, data: bytes) -> Converted:
            return (reason, b"") if name.endswith("0.png") else super().convert(name, data)

    monkeypatch.setattr(sides, "PictureDecoders", Failing)
    ledger = gather(root, 64)
    told = ledger.select("status", "error", "sha256").rows()
    assert told[0] == (reason["status"], reason["error"], None)
    assert told[1][0] == "success"
    assert sizes(root) == [(64, 64)]


def test_a_killed_crawl_at_full_size_goes_on_at_a_side_without_a_request(tmp_path, requests):
    """What it had finished is in its scratch, at full size."""
    root = world(tmp_path, 2, 80)
    crawl(root, None)
    for path in (root / "data/toy").iterdir():
        path.unlink()
    asked = len(requests)
    crawl(root, 64)
    gather(root, 64)
    assert len(requests) == asked
    assert sizes(root) == [(64, 64)] * 2


def later(root: Path, side_px: int | None) -> pl.DataFrame:
    crawl(root, side_px, "later", after="toy")
    return gather(root, side_px, "later")


def test_a_later_crawl_reduces_what_an_earlier_one_has_at_full_size(tmp_path):
    root = world(tmp_path, 2, 80)
    crawl(root, None)
    gather(root, None)
    ledger = later(root, 64)
    assert set(ledger["http_status"]) == {304}
    assert sizes(root, "later") == [(64, 64)] * 2
    assert sizes(root) == [(80, 80)] * 2


def test_a_later_crawl_fetches_what_an_earlier_one_has_at_a_smaller_side(tmp_path):
    root = world(tmp_path, 2, 80)
    crawl(root, 64)
    gather(root, 64)
    ledger = later(root, None)
    assert set(ledger["http_status"]) == {200}
    assert sizes(root, "later") == [(80, 80)] * 2


def test_a_later_crawl_goes_on_although_the_earlier_one_was_reduced_meanwhile(tmp_path, requests):
    root = world(tmp_path, 2, 80)
    crawl(root, None)
    gather(root, None)
    later(root, None)
    gather(root, 64)
    asked = len(requests)
    ledger = later(root, 64)
    assert len(requests) == asked
    assert sizes(root, "later") == [(64, 64)] * 2
    digests = [hashlib.sha256(webp).hexdigest() for webp in stored(root, "later")]
    assert ledger["sha256"].to_list() == digests
    assert ledger.select("width", "stored_width").rows() == [(80, 64)] * 2


def test_rows_of_any_age_can_be_told_apart_by_their_side(tmp_path):
    rows = [
        {"image_url": "old", "status": "success", "width": 400, "height": 300},
        {"image_url": "new", "status": "success", "width": 400, "height": 300}
        | {"stored_width": 341, "stored_height": 256},
        {"image_url": "small", "status": "success", "width": 90, "height": 300}
        | {"stored_width": 90, "stored_height": 300},
        {"image_url": "lost", "status": "gone"},
    ]
    store.write_rows(rows, tmp_path / "ledger.parquet", LEDGER)
    ledger = sides.with_all_columns(tmp_path / "ledger.parquet")

    def smaller(side_px: int | None) -> list[str]:
        return ledger.filter(sides.is_smaller(side_px)).collect()["image_url"].to_list()

    assert smaller(256) == []
    assert smaller(280) == ["new"]
    assert smaller(None) == ["new"]
