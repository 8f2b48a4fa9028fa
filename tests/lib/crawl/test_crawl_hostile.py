"""Whatever a server sends, a crawl ends with a row for every address, and no later one suffers."""

import asyncio
import json
import socket
import sqlite3
import struct
import time
from contextlib import closing, nullcontext, suppress
from pathlib import Path
from typing import Any

import aiohttp
import polars as pl
import pytest
from tests.crawls import constants, crawl_of
from tests.decoding import InProcess
from tests.hostile import POISONS, Hostile, clean, hostile, reply

from isotope.core import store
from isotope.core.errors import HostDown
from isotope.crawl import addresses, requests, shard
from isotope.crawl.ledger import STATUSES
from isotope.params import files
from isotope.schemas.crawl import URLS

ROOT = Path(__file__).parents[3]
SPEC: dict[str, Any] = {
    **files.load(root=ROOT).crawl["toy"].spec(),
    **{"serve": None, "contact": "tests@example.org", "user_agent": "isotope tests"},
    **{"threads": 32, "connections": 8, "rate_per_s": 1e5, "burst": 1000, "megabits_per_s": 1e5},
    **{"timeout_s": 5, "attempts": 2, "wait_s": 0.01, "patience_s": 0.1, "member_mib": 1},
    **{"breaker_failures": 10_000},
}
HOSTS = 40


@pytest.fixture(autouse=True)
def _loopback_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take the test's addresses for public ones; no name resolves, and no process decodes."""

    async def resolve(_self: object, host: str, port: int = 0, family: int = 0) -> list[Any]:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(aiohttp.resolver.ThreadedResolver, "resolve", resolve)
    monkeypatch.setattr(addresses, "is_public", lambda address: address.startswith("127.0.1."))
    monkeypatch.setattr(shard, "Decoders", InProcess)


@pytest.fixture(autouse=True)
def unheard(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What the event loop hears of errors that nobody waited for."""
    heard: list[dict[str, Any]] = []
    crawl = shard._crawl

    async def listening(*arguments: Any) -> None:
        handler = lambda _, context: heard.append(context)  # noqa: E731
        asyncio.get_running_loop().set_exception_handler(handler)
        return await crawl(*arguments)

    monkeypatch.setattr(shard, "_crawl", listening)
    return heard


def crawl(
    server: Hostile, count: int, folder: Path, source: str = "one", **policy: Any
) -> pl.DataFrame:
    """Crawl the first pictures of a server; return the ledger after looking at every row."""
    place = folder / source
    urls = [server.url(n) for n in range(count)]
    rows = [{"image_id": f"{n:05d}", "image_url": u, "shard": 0} for n, u in enumerate(urls)]
    store.write_rows(rows, folder / f"{source}.parquet", URLS)
    out = {name: place / f"{name}-00000.parquet" for name in ("ledger", "pixels")}
    scratch = folder / "scratch" / source
    with constants(SPEC, policy):
        shard.crawl_shard(
            folder / f"{source}.parquet",
            crawl_of(SPEC),
            0,
            out,
            scratch,
            crawl_of(policy, lost_share=1.0),
        )
    ledger, pixels = pl.read_parquet(out["ledger"]), pl.read_parquet(out["pixels"])
    assert ledger["image_url"].to_list() == sorted(urls)
    assert set(ledger["status"]) <= set(STATUSES)
    alive = ledger.filter(status="success")
    assert sorted(pixels["image_url"]) == alive["image_url"].to_list()
    for text in ("error", "content_type", "etag", "last_modified", "fetched_from"):
        assert all(value.isprintable() for value in ledger[text].drop_nulls()), text
    return ledger


def apart_from_time(ledger: pl.DataFrame) -> list[dict[str, Any]]:
    return ledger.drop("fetched_at").rows(named=True)


@pytest.mark.parametrize(
    ("count", "seed"),
    [
        (300, 0),
        pytest.param(2_500, 1, marks=pytest.mark.long),
        *(pytest.param(2_500, seed, marks=pytest.mark.exhaustive) for seed in range(2, 6)),
    ],
)
def test_every_address_has_a_row_whatever_was_sent(tmp_path, unheard, count, seed):
    with hostile(lambda n: reply(n, seed), HOSTS) as server:
        # Who wants more patience than there is, is given up at once.
        ledger = crawl(server, count, tmp_path, outage_tries=1, outage_hours=0)
        assert len(server.requests) >= count / 2
        # The damage is such that many kinds of outcome come, pictures among them.
        assert {"success", "http_error", "bad_redirect"} <= set(ledger["status"])
        assert len(set(ledger["status"])) >= 8
    assert unheard == []


def test_the_mutated_replies_are_the_same_each_time_and_differ():
    assert [reply(n, 3) for n in range(99)] == [reply(n, 3) for n in range(99)]
    assert len({reply(n, 3) for n in range(999)}) > 950


SOME = [name for n, name in enumerate(POISONS) if n % 9 == 0]


@pytest.mark.parametrize(
    "name", [n if n in SOME else pytest.param(n, marks=pytest.mark.exhaustive) for n in POISONS]
)
def test_no_poison_outlives_the_server_that_sent_it(tmp_path, unheard, name):
    """Poisoned, mended and crawled again: from what there is, and as another source."""
    with hostile(clean) as server:
        wanted = apart_from_time(crawl(server, 3, tmp_path / "calm"))
        server.replies = lambda n: POISONS[name](n) if n == 1 else clean(n)
        # A host that had answered and wants more patience than there is: an outage.
        with suppress(HostDown) if name.startswith("wait") else nullcontext():
            poisoned = crawl(server, 3, tmp_path).filter(pl.col("image_url") != server.url(1))
            assert set(poisoned["status"]) == {"success"}
        server.replies = clean
        began = time.monotonic()
        again = crawl(server, 3, tmp_path)
        assert "host_down" not in again["status"].to_list()
        assert apart_from_time(crawl(server, 3, tmp_path, "two")) == wanted
        assert time.monotonic() - began < 20
    assert unheard == []


def test_a_scratch_that_was_poisoned_by_an_older_version_ends_with_its_rows(tmp_path):
    with hostile(clean) as server:
        crawl(server, 3, tmp_path)
        [path] = (tmp_path / "scratch/one").glob("*.sqlite")
        with closing(sqlite3.connect(path)) as con:
            [told] = con.execute("SELECT told FROM done WHERE image_id = '00001'").fetchone()
            row = json.loads(told) | {"etag": "\udce9", "content_type": "image/\udcff\x1b"}
            con.execute("UPDATE done SET told = ? WHERE image_id = '00001'", [json.dumps(row)])
            con.commit()
        ledger = crawl(server, 3, tmp_path)
    row = ledger.filter(image_url=server.url(1)).row(0, named=True)
    assert (row["etag"], row["content_type"]) == ("é", r"image/ÿ\x1b")


@pytest.mark.parametrize(
    "content",
    [
        struct.pack("<3d", 0, 0, 1e300),
        struct.pack("<4d", float("nan"), float("inf"), float("inf"), 0),
        struct.pack("<4d", 1e12, 1e12, 1e12, 1e12),
        b"\xff" * 32,
        b"",
        b"x" * 5,
    ],
)
def test_no_number_that_jobs_share_keeps_a_crawl_waiting(tmp_path, content):
    with hostile(clean) as server:
        shared = tmp_path / "scratch/.hosts"
        shared.mkdir(parents=True)
        (shared / f"127.0.1.1%3A{server.port}").write_bytes(content)
        began = time.monotonic()
        assert set(crawl(server, 3, tmp_path)["status"]) == {"success"}
        assert time.monotonic() - began < 5


def test_a_fault_of_isotope_is_no_outcome_of_a_url_and_names_it(tmp_path, monkeypatch):
    monkeypatch.setattr(requests, "_columns", lambda answer: answer.colour)
    with hostile(clean) as server, pytest.raises(AttributeError) as fault:
        crawl(server, 3, tmp_path)
    assert [note for note in fault.value.__notes__ if f"http://127.0.1.1:{server.port}/" in note]


def test_what_the_http_library_raises_is_an_outcome_whatever_it_is(tmp_path, monkeypatch):
    async def odd(*_: object, **__: object) -> None:
        raise IndexError("list index out of range")

    with hostile(clean) as server:
        monkeypatch.setattr(aiohttp.ClientSession, "get", odd)
        ledger = crawl(server, 3, tmp_path)
    assert set(ledger["status"]) == {"http_error"}
    assert set(ledger["error"]) == {"an answer that is not HTTP"}
