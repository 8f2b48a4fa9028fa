"""A crawl that failed, or whose settings were changed, is run again: what is asked for anew."""

import resource
import shutil
import socket
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import aiohttp
import polars as pl
import pytest
from PIL import Image
from tests.crawls import constants, crawl_of
from tests.decoding import InProcess
from tests.disks import small_disk

from isotope.core import progress, store
from isotope.core.errors import DeadCrawl, DiskFull, HostDown, StaleCrawl
from isotope.crawl import addresses, scratch, serve, shard
from isotope.crawl.earlier import EarlierCrawl
from isotope.crawl.ledger import gather_ledgers
from isotope.params import files
from isotope.schemas.crawl import LEDGER, URLS

ROOT = Path(__file__).parents[3]
OWN = {"threads": 4, "timeout_s": 5, "wait_s": 0.01, "user_agent": "isotope tests"}
SPEC = {**files.load(root=ROOT).crawl["toy"].spec(), **OWN}
FOLDER = "wikipedia/commons/a/ab"


@pytest.fixture(autouse=True)
def _no_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shard, "Decoders", InProcess)


def world(root: Path, count: int, side: int, colour: int = 0) -> Path:
    """A folder to serve, of noisy square pictures, and the list of their URLs beside it."""
    (root / "images" / FOLDER).mkdir(parents=True, exist_ok=True)
    for n in range(count):
        noise = bytes((i * i * (n + 3) * 37 + colour) % 251 for i in range(side * side * 3))
        Image.frombytes("RGB", (side, side), noise).save(root / f"images/{FOLDER}/{n}.png")
    base = f"https://upload.wikimedia.org/{FOLDER}"
    rows = [
        {"image_id": f"{n:03d}", "image_url": f"{base}/{n}.png", "shard": 0} for n in range(count)
    ]
    store.write_rows(rows, root / "urls.parquet", URLS)
    return root


def run(root: Path, data: Path | None = None, **settings: Any) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Crawl the URLs of a world as source `toy`; return its ledger and its pictures."""
    place = data or root
    out = {
        name: place / f"data/toy/{file}-00000.parquet"
        for name, file in (("pixels", "shard"), ("ledger", "ledger"))
    }
    policy = crawl_of(after=settings.pop("after", None))
    spec = {**SPEC, "serve": str(root / "images"), **settings}
    urls, scratch = root / "urls.parquet", place / "scratch/toy"
    with constants(settings):
        shard.crawl_shard(urls, crawl_of(spec), 0, out, scratch, policy)
    return pl.read_parquet(out["ledger"]), pl.read_parquet(out["pixels"])


def statuses(ledger: pl.DataFrame) -> set[str]:
    return set(ledger["status"])


def test_a_contact_that_was_added_is_told_to_the_server_that_had_refused(tmp_path, monkeypatch):
    root, answer = world(tmp_path, 3, 16), serve._Handler._file

    def picky(self, path: str) -> None:
        known = "me@example.org" in self.headers["User-Agent"] or path.endswith("0.png")
        return answer(self, path) if known else self._answer(403, "text/plain", b"who?")

    monkeypatch.setattr(serve._Handler, "_file", picky)
    first, _ = run(root)
    assert statuses(first) == {"success", "forbidden"}
    again, pixels = run(root, contact="me@example.org")
    assert statuses(again) == {"success"}
    assert pixels.height == 3


def test_settings_of_pace_ask_for_nothing_again(tmp_path, monkeypatch):
    root = world(tmp_path, 3, 16)
    before = run(root)
    monkeypatch.setattr(serve._Handler, "do_GET", lambda self: pytest.fail("asked again"))
    after = run(root, threads=8, rate_per_s=3, decoders=2)
    assert before[0].equals(after[0])
    assert before[1].equals(after[1])


def test_after_another_folder_was_served_no_picture_of_the_first_is_kept(tmp_path):
    one, other = world(tmp_path / "one", 3, 16), world(tmp_path / "other", 3, 16, colour=99)
    data = tmp_path / "project"
    before, old = run(one, data)
    after, new = run(other, data)
    assert set(before["origin"]) == {str(one / "images")}
    assert set(after["origin"]) == {str(other / "images")}
    assert not {*before["sha256"]} & {*after["sha256"]}
    assert not {*old["webp"]} & {*new["webp"]}
    _, fresh = run(other, tmp_path / "fresh")
    assert fresh["webp"].to_list() == new["webp"].to_list()


def test_after_a_crawl_that_failed_another_folder_is_asked_for_every_url(tmp_path):
    empty, root = tmp_path / "empty", world(tmp_path / "root", 3, 16)
    (empty / "images").mkdir(parents=True)
    shutil.copy(root / "urls.parquet", empty / "urls.parquet")
    assert statuses(run(empty, tmp_path)[0]) == {"not_found"}
    assert statuses(run(root, tmp_path)[0]) == {"success"}


def test_a_shard_in_which_nothing_lived_is_asked_for_anew_though_no_setting_changed(tmp_path):
    root = world(tmp_path, 3, 16)
    (root / "images").rename(root / "away")
    (root / "images").mkdir()
    assert statuses(run(root)[0]) == {"not_found"}
    (root / "images").rmdir()
    (root / "away").rename(root / "images")
    assert statuses(run(root)[0]) == {"success"}


def test_dates_and_tags_of_one_origin_are_not_shown_to_another(tmp_path):
    wanted = pl.DataFrame({"image_id": ["a"], "image_url": ["https://x.org/a.svg"]})
    row = {"image_url": "https://x.org/a.svg", "status": "svg", "etag": '"1"'}
    for place in (None, "own host", "https://mirror.example.org", "images"):
        store.write_rows([{**row, "origin": place}], tmp_path / "ledger.parquet", LEDGER)
        told = [
            bool(EarlierCrawl(tmp_path, wanted, origin).headers("https://x.org/a.svg"))
            for origin in ("own host", "https://mirror.example.org", "images", "images-later")
        ]
        assert (
            told
            == {
                None: [True, False, False, False],
                "own host": [True, False, False, False],
                "https://mirror.example.org": [False, True, False, False],
                "images": [False, False, True, True],
            }[place]
        )


def test_a_picture_that_the_earlier_crawl_has_no_more_is_fetched(tmp_path):
    root = world(tmp_path, 3, 16)
    run(root)
    (root / "data/toy").rename(root / "data/first")
    (root / "data/first/ledger-00000.parquet").rename(root / "data/first/ledger.parquet")
    shutil.rmtree(root / "scratch")
    assert set(run(root, after="first")[0]["http_status"]) == {304}
    shutil.rmtree(root / "data/toy")
    ledger, pixels = run(root)
    assert set(ledger["http_status"]) == {200}
    assert pixels.height == 3


def gathered(root: Path, **spec: object) -> None:
    folder = root / "data/toy"
    ledgers = [folder / "ledger-00000.parquet"]
    gather_ledgers(
        root / "urls.parquet", ledgers, folder / "ledger.parquet", crawl_of(spec), crawl_of()
    )


def test_pictures_of_another_origin_are_refused_by_the_ledger(tmp_path):
    root = world(tmp_path, 3, 16)
    run(root)
    gathered(root, serve=str(root / "images"))
    assert set(pl.read_parquet(root / "data/toy/ledger.parquet")["origin"]) == {f"{root}/images"}
    for other, said in (({"serve": "b"}, "not at b"), ({}, "not at their own hosts")):
        with pytest.raises(StaleCrawl, match=f"3 URLs were asked for at {root}/images.*{said}"):
            gathered(root, **other)


def test_a_ledger_that_tells_no_origin_is_taken_as_it_is(tmp_path):
    root = world(tmp_path, 2, 16)
    run(root)
    path = root / "data/toy/ledger-00000.parquet"
    pl.read_parquet(path).drop("origin").write_parquet(path)
    gathered(root, serve="anywhere")
    assert pl.read_parquet(root / "data/toy/ledger.parquet")["origin"].to_list() == [None, None]


def test_a_crawl_without_a_living_picture_says_what_was_answered_and_what_to_do(tmp_path):
    root = world(tmp_path, 3, 16)
    shutil.rmtree(root / "images")
    (root / "images").mkdir()
    run(root)
    said = r"data/toy: no picture: 3 of 3 URLs answered 404; the first is .*0\.png"
    with pytest.raises(DeadCrawl, match=rf"{said}; .*crawl\.toy\.serve .*run again") as told:
        gathered(root, serve=str(root / "images"))
    assert str(root / "images") in told.value.remedy
    assert not list((root / "data/toy").glob("*.parquet"))
    run(root)
    with pytest.raises(StaleCrawl):
        gathered(root)


def test_several_kinds_of_failure_are_told_the_most_frequent_first(tmp_path):
    root = world(tmp_path, 5, 16)
    faults = ["path,fault", *(f"/{FOLDER}/{n}.png,gone" for n in (0, 1, 2))]
    faults += [f"/{FOLDER}/3.png,html", f"/{FOLDER}/4.png,truncated"]
    (root / "faults.csv").write_text("\n".join([*faults, ""]))
    run(root, attempts=1)
    with pytest.raises(DeadCrawl) as told:
        gathered(root, serve=str(root / "images"))
    found = told.value.problem
    assert found.startswith("no picture: 3 of 5 URLs answered 410, 1 of 5 URLs ")
    assert "1 of 5 URLs answered 200 with not_an_image" in found
    assert "1 of 5 URLs failed with truncated (fewer bytes than announced)" in found


# No network.


def unresolved(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Let no name resolve; return the list that gets those that were looked up."""
    names = list[str]()

    async def resolve(self, host: str, port: int = 0, family: int = 0) -> list[Any]:
        names.append(host)
        raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")

    monkeypatch.setattr(aiohttp.resolver.ThreadedResolver, "resolve", resolve)
    assert addresses.PublicResolver.__mro__[1] is aiohttp.resolver.ThreadedResolver
    return names


DIRECT: dict[str, Any] = {
    "serve": None,
    "contact": "me@example.org",
    "rate_per_s": 1000,
    "burst": 1000,
}


def test_without_a_network_a_crawl_ends_at_the_first_pause_and_says_why(tmp_path, monkeypatch):
    names, root = unresolved(monkeypatch), world(tmp_path, 60, 2)
    settings: dict[str, Any] = {
        **DIRECT,
        "breaker_failures": 20,
        "breaker_pause_s": 2,
        "wait_s": 60,
    }
    said = r"upload\.wikimedia\.org:443: no answer.*the name does not resolve.*nothing"
    with pytest.raises(HostDown, match=said):
        run(root, **settings)
    assert 0 < len(names) < 40
    assert not (root / "data").exists()


def test_few_urls_without_a_network_are_an_outage_too_and_are_asked_for_again(
    tmp_path, monkeypatch
):
    root = world(tmp_path, 3, 16)
    with monkeypatch.context() as patch:
        unresolved(patch)
        with pytest.raises(HostDown, match="the name does not resolve"):
            run(root, **DIRECT)
    assert not (root / "data").exists()
    assert statuses(run(root)[0]) == {"success"}


def test_a_server_that_was_away_is_asked_for_everything_when_it_is_back(tmp_path):
    root = world(tmp_path, 30, 4)
    with serve.serving(root / "images") as address:
        pass
    settings: dict[str, Any] = {**DIRECT, "mirror": address, "attempts": 1, "breaker_pause_s": 0.5}
    with pytest.raises(HostDown, match=r"127\.0\.0\.1:\d+: .*Connection refused.*run again later"):
        run(root, **settings)
    with back(root, address):
        ledger, pixels = run(root, **settings)
    assert statuses(ledger) == {"success"}
    assert set(ledger["origin"]) == {address}
    assert pixels.height == 30


@contextmanager
def back(root: Path, address: str) -> Iterator[None]:
    """Serve at an address that was served before."""
    place = serve.ThreadingHTTPServer.server_bind

    def bind(server: serve.ImageServer) -> None:
        server.server_address = ("127.0.0.1", int(address.rpartition(":")[2]))
        place(server)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(serve.ImageServer, "server_bind", bind, raising=False)
        with serve.serving(root / "images"):
            yield


def test_one_dead_host_among_living_ones_does_not_end_the_crawl(tmp_path):
    """The names of `.invalid` never resolve (RFC 6761); the breaker has its pause."""
    root = world(tmp_path, 3, 16)
    with serve.serving(root / "images") as address:
        rows = pl.read_parquet(root / "urls.parquet")
        urls = [f"{address}/{FOLDER}/{n}.png" for n in range(3)]
        dead = [f"http://127.0.0.2:9/{n}.png" for n in range(12)]
        both = pl.DataFrame(
            {"image_id": [f"{n:02d}" for n in range(15)], "image_url": [*urls, *dead]}
        )
        table = both.with_columns(shard=pl.lit(0, pl.Int32)).select(rows.columns)
        store.write(table.to_arrow(), root / "urls.parquet", URLS)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(addresses, "is_public", lambda _: True)
            limits: dict[str, Any] = {
                "breaker_failures": 2,
                "breaker_pause_s": 0.01,
                "breaker_openings": 1,
            }
            ledger, pixels = run(root, **DIRECT, **limits, attempts=1)
    assert pixels.height == 3
    down = ledger.filter(status="host_down")
    assert down.height
    assert down["error"].str.contains(r"\d failures in a row, the last: .*Connection refused").all()


# No room.


@contextmanager
def small_files(folder: Path, kib: int) -> Iterator[None]:
    folder.mkdir(parents=True)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (kib * 1024, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize(
    ("limit", "kib", "file"),
    [
        pytest.param(small_disk, 300, "scratch/toy/00000-", marks=pytest.mark.long),
        (small_disk, 1_000, "data/toy/shard-00000.parquet"),
        pytest.param(small_files, 300, "scratch/toy/00000-", marks=pytest.mark.long),
    ],
)
def test_a_full_disk_is_one_short_error_and_the_crawl_goes_on_with_room(
    tmp_path, capsys, limit, kib, file
):
    """The smaller ones are full in the middle of the crawl, the larger one when tables are made."""
    root, place = world(tmp_path / "root", 100, 64), tmp_path / "place"
    with limit(place, kib):
        with pytest.raises(SystemExit), progress.logged(place / "logs/00000.log", "crawl_shard"):
            run(root, place)
        said = capsys.readouterr().err.splitlines()
        assert not list(place.glob("data/toy/[!.]*.parquet"))
        shutil.copytree(place / "scratch", tmp_path / "kept")
    error = said[-1]
    assert f"crawl_shard: DiskFull: {place / file}" in error
    assert "MiB are free; free space or raise the limit, then run again" in error
    assert len(said) < 5
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(tmp_path / "kept", tmp_path / "again/scratch")
    ledger, pixels = run(root, tmp_path / "again")
    assert statuses(ledger) == {"success"}
    assert pixels.height == 100


def test_a_full_disk_in_the_numbers_that_jobs_share_is_named(tmp_path, monkeypatch):
    root = world(tmp_path, 3, 16)

    def refuse(*_: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("isotope.crawl.hosts.os.pwrite", refuse)
    with pytest.raises(
        DiskFull, match=r"scratch/toy/spent: .*No space left on device.*MiB are free"
    ):
        run(root)


def test_a_scratch_that_cannot_be_opened_is_closed_again(tmp_path, monkeypatch):
    opened, connect = [], sqlite3.connect

    def small(*given: object, **options: object) -> sqlite3.Connection:
        opened.append(connect(*given, **options))  # type: ignore[arg-type]
        opened[-1].execute("PRAGMA max_page_count = 1")
        return opened[-1]

    monkeypatch.setattr(scratch.sqlite3, "connect", small)
    with pytest.raises(DiskFull, match="00000"):
        scratch.Scratch(tmp_path / "00000.sqlite")
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        opened[0].execute("SELECT 1")
