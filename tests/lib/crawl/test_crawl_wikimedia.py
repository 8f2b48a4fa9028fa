"""A crawl of Wikimedia as it is since August 2026, at a stand-in of its hosts."""

import io
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_URL, uuid3

import polars as pl
import pytest
from PIL import Image
from tests.crawls import constants, crawl_of
from tests.decoding import InProcess
from tests.wikimedia_of_2026 import COMMONS, THUMB, UPLOAD, File, standing_in

from isotope.core import store
from isotope.core.errors import HostDown, StaleCrawl
from isotope.crawl import shard
from isotope.crawl.ledger import gather_ledgers
from isotope.crawl.scratch import Scratch
from isotope.params import files
from isotope.schemas.crawl import LEDGER, URLS

ROOT = Path(__file__).parents[3]
OWN = {
    "serve": None,
    "threads": 4,
    "timeout_s": 5,
    "wait_s": 0.01,
    "rate_per_s": 500,
    "burst": 500,
    "user_agent": "isotope",
    "contact": "tests@example.org",
    "side_px": None,
}
SPEC = {**files.load(root=ROOT).crawl["toy"].spec(), **OWN}
JPEG = File("Köln_(Dom)_&_Rhein.jpg", "Wpx-Köln_(Dom)_&_Rhein.jpg")
SVG = File("Flag_of_X.svg", "Wpx-Flag_of_X.svg.png", 400)
TIFF = File("Map.tif", "lossy-page1-Wpx-Map.tif.jpg")
FILM = File("Waterfall.webm", "Wpx--Waterfall.webm.jpg")
LOCAL = File("Logo.png", "Wpx-Logo.png", repository="wikipedia/en")
SMALL = File("Small.png", "Wpx-Small.png", 200)
# 80 letters of two bytes: 160 bytes as people write them, 480 percent-encoded. One more is cut.
LONG = File(f"{'Я' * 78}.jpg", f"Wpx-{'Я' * 78}.jpg")
LONGER = File(f"{'Ю' * 79}.JPG", "Wpx-thumbnail.jpg")
EVERY = [JPEG, SVG, TIFF, FILM, LOCAL, SMALL, LONG, LONGER]


@pytest.fixture(autouse=True)
def _no_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shard, "Decoders", InProcess)


class Killed(Exception):
    """A crawl that ends at any moment."""


def listed(addresses: Sequence[str], at: Path) -> Path:
    """List addresses as the crawl of one shard."""
    at.parent.mkdir(parents=True, exist_ok=True)
    rows = [{"image_id": uid(a), "image_url": a, "shard": 0} for a in addresses]
    store.write_rows(sorted(rows, key=lambda row: row["image_id"]), at, URLS)
    return at


def uid(address: str) -> str:
    return str(uuid3(NAMESPACE_URL, address))


def crawl(root: Path, addresses: Sequence[str], name: str = "x", **more: Any) -> pl.DataFrame:
    """Crawl addresses, to tables of a source; return the ledger."""
    data = root / f"data/crawl/{name}"
    urls = listed(addresses, data / "urls.parquet")
    out = {"pixels": data / "shard-00000.parquet", "ledger": data / "ledger-00000.parquet"}
    policy = crawl_of(after=more.pop("after", None))
    with constants(SPEC, more):
        shard.crawl_shard(urls, crawl_of(SPEC, more), 0, out, root / f"scratch/{name}", policy)
    shutil.copy(out["ledger"], data / "ledger.parquet")
    return pl.read_parquet(out["ledger"])


def shown(root: Path, name: str = "x") -> dict[str, tuple[str, int, int]]:
    """Return id, width and red of each stored picture, by its address."""
    rows = pl.read_parquet(root / f"data/crawl/{name}/shard-00000.parquet")
    found = {}
    for image_id, url, webp in rows.select("image_id", "image_url", "webp").rows():
        with Image.open(io.BytesIO(webp)) as image:
            red = image.convert("RGB").getchannel("R").getpixel((5, 5))
            assert isinstance(red, int)
            found[url] = (image_id, image.width, red)
    return found


@pytest.mark.parametrize("moved", ["gone", "redirects", "not yet"])
def test_thumbnails_are_found_wherever_they_are_and_whatever_they_are_called(tmp_path, moved):
    with standing_in(EVERY, moved=moved) as wikimedia:
        ledger = crawl(tmp_path, [file.address for file in EVERY], width=330)
    assert ledger["status"].to_list() == ["success"] * len(EVERY)
    pictures = shown(tmp_path)
    for file in EVERY:
        image_id, width, red = pictures[file.address]
        assert image_id == uid(file.address)
        # None is wider than its picture: then the original is requested.
        assert width == min(330, file.width)
        assert abs(red - file.shade) <= 4
    assert wikimedia.paths(THUMB)
    originals = [path for path in wikimedia.paths(UPLOAD) if "/thumb/" not in path]
    assert originals == [SMALL.address.removeprefix(f"https://{UPLOAD}")]


def test_thumbnails_are_had_where_the_host_of_2026_is_not_there(tmp_path):
    breaker: dict[str, Any] = {
        "breaker_failures": 2,
        "breaker_pause_s": 0.01,
        "breaker_openings": 1,
    }
    with standing_in(EVERY, moved="not yet", unknown=(THUMB,)) as wikimedia:
        ledger = crawl(tmp_path, [file.address for file in EVERY], width=330, **breaker)
    assert ledger["status"].to_list() == ["success"] * len(EVERY)
    assert wikimedia.requests().keys() == {UPLOAD}
    assert {width for _, width, _ in shown(tmp_path).values()} == {200, 330}


def test_without_a_width_no_thumbnail_is_requested(tmp_path):
    with standing_in([JPEG, LOCAL, LONG]) as wikimedia:
        ledger = crawl(tmp_path, [file.address for file in (JPEG, LOCAL, LONG)])
    assert set(ledger["status"]) == {"success"}
    assert wikimedia.requests() == {UPLOAD: 3}
    assert {width for _, width, _ in shown(tmp_path).values()} == {1000}


def test_a_thumbnail_of_another_width_in_a_list_is_requested_as_its_original(tmp_path):
    with standing_in([JPEG]) as wikimedia:
        ledger = crawl(tmp_path, [JPEG.thumb(320, UPLOAD)])
    assert ledger["status"].to_list() == ["success"]
    assert wikimedia.paths(UPLOAD) == [JPEG.address.removeprefix(f"https://{UPLOAD}")]


@pytest.mark.parametrize(
    ("robots", "status"),
    [
        (("noai",), "refused"),
        (("nofollow, noimageai",), "refused"),
        (("none",), "refused"),
        (("googlebot: nofollow", "isotope: noindex"), "refused"),
        (("unavailable_after: 25 Jun 2010 15:00:00 PST",), "refused"),
        (("googlebot: noindex",), "success"),
        (("nofollow", "googlebot: none"), "success"),
    ],
)
def test_what_a_server_says_to_robots_is_respected(tmp_path, robots, status):
    told = File("A.png", "Wpx-A.png", robots=robots)
    with standing_in([told, SMALL]):
        rows = crawl(tmp_path, [told.address, SMALL.address]).rows(named=True)
    row = next(row for row in rows if row["image_url"] == told.address)
    assert row["status"] == status
    assert (row["error"] or "").startswith("X-Robots-Tag: ") is (status == "refused")


def test_an_owner_may_take_a_picture_back_that_has_not_changed(tmp_path):
    said = File(JPEG.name, JPEG.thumbnail, robots=("noai",))
    with standing_in([JPEG, SMALL]):
        crawl(tmp_path, [JPEG.address, SMALL.address], "old")
    with standing_in([said, SMALL]):
        rows = crawl(tmp_path, [JPEG.address, SMALL.address], "new", after="old")
    told = {row["image_url"]: (row["status"], row["http_status"]) for row in rows.rows(named=True)}
    assert told == {JPEG.address: ("refused", 304), SMALL.address: ("success", 304)}
    assert {*shown(tmp_path, "new")} == {SMALL.address}


def test_a_pause_that_one_of_its_hosts_asks_for_is_kept_by_all(tmp_path):
    some = [File(f"{n}.png", f"Wpx-{n}.png", 60 + n) for n in range(8)]
    # What is narrower than 120 px is requested from the other host after the first has refused.
    with standing_in(some, limited={THUMB: [1]}) as wikimedia:
        ledger = crawl(tmp_path, [file.address for file in some], width=120, connections=1)
    assert set(ledger["status"]) == {"success"}
    assert wikimedia.requests()[UPLOAD] == len(some)
    (first, host, _), *rest = wikimedia.asked
    assert host == THUMB
    assert min(when for when, *_ in rest) - first >= 0.95


def test_hosts_of_one_owner_share_their_connections(tmp_path):
    some = [File(f"{n}.png", f"Wpx-{n}.png", 60) for n in range(6)]
    pages = [f"https://{COMMONS}/wiki/Special:Redirect/file/{file.name}" for file in some]
    addresses = [f.address for f in some[:3]] + pages[3:] + [SMALL.thumb(60), SMALL.thumb(120)]
    with standing_in([*some, SMALL], slow_s=0.03) as wikimedia:
        ledger = crawl(tmp_path, addresses, connections=1)
    assert set(ledger["status"]) == {"success"}
    assert {UPLOAD, THUMB} <= wikimedia.requests().keys()
    assert wikimedia.most_at_once == 1


def test_a_host_that_asks_for_too_long_a_pause_ends_the_requests_to_all(tmp_path):
    with standing_in([SMALL, JPEG, SVG], limited={THUMB: [7200] * 9}) as wikimedia:
        wanted = [SMALL.address, SMALL.thumb(120), JPEG.thumb(60)]
        with pytest.raises(HostDown, match=r"a pause of .*, the most is"):
            crawl(tmp_path, wanted, connections=1)
    asked = wikimedia.asked[[host for _, host, _ in wikimedia.asked].index(THUMB) + 1 :]
    assert asked == []


def test_a_killed_crawl_goes_on_and_asks_for_no_picture_twice(tmp_path, monkeypatch):
    some = [File(f"{n}.png", f"Wpx-{n}.png") for n in range(9)]
    addresses = [file.address for file in some]
    add, kept = Scratch.add, list[str]()

    def killed(scratch: Scratch, image_id: str, row: dict[str, Any], webp: bytes | None) -> None:
        if len(kept) == 4:
            raise Killed
        kept.append(row["image_url"])
        add(scratch, image_id, row, webp)

    with standing_in(some) as wikimedia:
        with monkeypatch.context() as patch:
            patch.setattr(Scratch, "add", killed)
            with pytest.raises(Killed):
                crawl(tmp_path, addresses, width=330)
        wikimedia.asked.clear()
        ledger = crawl(tmp_path, addresses, width=330)
        left = {file.thumb(330) for file in some if file.address not in kept}
        assert {f"https://{THUMB}{path}" for path in wikimedia.paths(THUMB)} == left
        assert len(left) == 5
    assert set(ledger["status"]) == {"success"}


def old(file: File, kind: int) -> str:
    """Return an address of a file as lists of before had it."""
    spellings = [
        file.address.replace("https:", "http:"),
        file.thumb(320, UPLOAD),
        f"{file.address}?download",
        file.address.replace("%28", "(").replace("%29", ")").replace("_", "%20"),
    ]
    return spellings[kind % len(spellings)]


def test_a_later_crawl_takes_pictures_that_had_another_address(tmp_path):
    some = [File(f"A_({n}).png", f"Wpx-A_({n}).png") for n in range(8)]
    with standing_in(some) as wikimedia:
        crawl(tmp_path, [old(file, n) for n, file in enumerate(some)], "old")
        wikimedia.asked.clear()
        now = [file.address for file in some]
        ledger = crawl(tmp_path, now, "new", after="old", ask_again=False)
        assert wikimedia.asked == []
        assert set(ledger["status"]) == {"success"}
        assert set(ledger["image_url"]) == {*now}
        pictures = shown(tmp_path, "new")
        for file in some:
            image_id, _, red = pictures[file.address]
            assert image_id == uid(file.address)
            assert abs(red - file.shade) <= 4
        # Servers that are asked say that nothing changed.
        again = crawl(tmp_path, now, "asked", after="old")
        assert set(again["http_status"]) == {304}
        assert shown(tmp_path, "asked") == pictures


def gathered(root: Path, addresses: Sequence[str], shards: int) -> pl.DataFrame:
    """List addresses anew, and gather the finished shards of before."""
    data = root / "data/crawl/old"
    ids = sorted((uid(a), a) for a in addresses)
    rows = [
        {"image_id": i, "image_url": a, "shard": n * shards // len(ids)}
        for n, (i, a) in enumerate(ids)
    ]
    store.write_rows(rows, data / "urls.parquet", URLS)
    ledgers = sorted(data.glob("ledger-*.parquet"))
    spec = crawl_of(SPEC)
    gather_ledgers(data / "urls.parquet", ledgers, data / "ledger.parquet", spec, spec)
    return pl.read_parquet(data / "ledger.parquet")


def test_a_collection_with_old_addresses_gets_those_of_now_and_is_not_crawled_again(tmp_path):
    some = [File(f"B_({n}).png", f"Wpx-B_({n}).png", 100 + n) for n in range(9)]
    # One file had two addresses: the one of now, and another.
    addresses = [*(old(file, n) for n, file in enumerate(some)), some[0].address]
    data = tmp_path / "data/crawl/old"
    with standing_in(some) as wikimedia:
        urls = listed(addresses, data / "urls.parquet")
        rows = pl.read_parquet(urls).with_row_index("n")
        halved = rows.with_columns(shard=(pl.col("n") * 2 // len(addresses)).cast(pl.Int32)).drop(
            "n"
        )
        store.write(halved.to_arrow(), urls, URLS)
        for n in range(2):
            out = {
                "pixels": data / f"shard-0000{n}.parquet",
                "ledger": data / f"ledger-0000{n}.parquet",
            }
            shard.crawl_shard(urls, crawl_of(SPEC), n, out, tmp_path / "scratch/old", crawl_of())
            for path in out.values():
                path.chmod(0o444)
        wikimedia.asked.clear()
        ledger = gathered(tmp_path, [file.address for file in some], 2)
        assert wikimedia.asked == []
    assert ledger["image_url"].to_list() == sorted(file.address for file in some)
    assert set(ledger["status"]) == {"success"}
    own = pl.read_parquet(data / "urls.parquet")
    for n in range(2):
        pixels = pl.read_parquet(data / f"shard-0000{n}.parquet")
        assert pixels["image_id"].to_list() == own.filter(shard=n)["image_id"].to_list()
        assert (data / f"shard-0000{n}.parquet").stat().st_mode & 0o777 == 0o444
        widths = dict(pixels.select("image_url", "width").rows())
        assert all(widths[f.address] == f.width for f in some if f.address in widths)
    assert not list(data.glob(".respelled*"))


def test_a_crawl_that_lacks_a_picture_is_stale_and_keeps_its_addresses(tmp_path):
    some = [File(f"D_({n}).png", f"Wpx-D_({n}).png") for n in range(4)]
    data = tmp_path / "data/crawl/old"
    with standing_in(some):
        crawl(tmp_path, [old(file, n) for n, file in enumerate(some[:3])], "old")
    before = {path: path.read_bytes() for path in data.glob("*-00000.parquet")}
    with pytest.raises(StaleCrawl, match="never crawled"):
        gathered(tmp_path, [file.address for file in some], 1)
    assert {path: path.read_bytes() for path in data.glob("*-00000.parquet")} == before


def test_addresses_of_a_finished_crawl_change_wholly_or_not_at_all(tmp_path, monkeypatch):
    some = [File(f"C_({n}).png", f"Wpx-C_({n}).png") for n in range(5)]
    data = tmp_path / "data/crawl/old"
    with standing_in(some):
        crawl(tmp_path, [old(file, n) for n, file in enumerate(some)], "old")
    replace = Path.replace

    def killed(path: Path, to: Path) -> Path:
        if path.name.startswith(".respelled-shard"):
            raise Killed
        return replace(path, to)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", killed)
        with pytest.raises(Killed):
            gathered(tmp_path, [file.address for file in some], 1)
    assert set(gathered(tmp_path, [file.address for file in some], 1)["status"]) == {"success"}
    assert set(shown(tmp_path, "old")) == {file.address for file in some}
    assert pl.read_parquet(data / "ledger-00000.parquet").columns == LEDGER.names
