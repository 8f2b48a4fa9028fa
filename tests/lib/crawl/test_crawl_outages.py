"""A host that is gone for good costs its own pictures and no other's; a crawl that loses too much
fails."""

import asyncio
import json
import shutil
import socket
import time
from pathlib import Path
from typing import Any

import aiohttp
import polars as pl
import pytest
from tests.crawls import constants, crawl_of
from tests.decoding import InProcess
from tests.hostile import Hostile, clean, hostile, written

from isotope.cli.commands import main
from isotope.core import store
from isotope.core.errors import BadArgument, HostDown, LossyCrawl, MissingFile
from isotope.crawl import addresses, again, shard
from isotope.crawl.hosts import Host, HostLimits
from isotope.crawl.ledger import check_share, gather_ledgers
from isotope.crawl.outages import Outages
from isotope.params import files
from isotope.schemas.crawl import LEDGER, URLS

ROOT = Path(__file__).parents[3]
SPEC: dict[str, Any] = {
    **files.load(root=ROOT).crawl["toy"].spec(),
    **{"serve": None, "contact": "tests@example.org", "user_agent": "isotope tests"},
    **{"rate_per_s": 1e5, "burst": 1000, "timeout_s": 5, "attempts": 1, "wait_s": 0.01},
    **{"breaker_failures": 2, "breaker_pause_s": 0.01, "breaker_openings": 1, "threads": 4},
    **{"connections": 1},
}
POLICY = {"outage_tries": 3, "outage_hours": 24, "lost_share": 1.0}
URL_COUNT = 24
LOST = URL_COUNT // 2 - 2


@pytest.fixture(autouse=True)
def _loopback_only(monkeypatch: pytest.MonkeyPatch) -> None:
    resolve = aiohttp.resolver.ThreadedResolver.resolve

    async def numeric(
        self: Any, host: str, port: int = 0, family: Any = socket.AF_INET
    ) -> list[Any]:
        if not host.startswith("127.0.1."):
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return await resolve(self, host, port, family)

    monkeypatch.setattr(aiohttp.resolver.ThreadedResolver, "resolve", numeric)
    monkeypatch.setattr(addresses, "is_public", lambda address: address.startswith("127.0.1."))
    monkeypatch.setattr(shard, "Decoders", InProcess)


class Clock:
    """The time of day, as outages see it."""

    def __init__(self) -> None:
        self.now = 1.7e9

    def time(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr("isotope.crawl.outages.time", made)
    return made


def failing(at: str, after: int = 2) -> Any:
    """Replies of two hosts, of which the second stops to answer after some pictures."""
    asked: list[int] = []

    def reply(n: int) -> bytes:
        if n % 2 == 0:
            return clean(n)
        asked.append(n)
        return (
            clean(n)
            if len(asked) <= after
            else b""
            if at == "cut"
            else (written(b"HTTP/1.1 503 Away", [], b""))
        )

    return reply


def crawl(server: Hostile, folder: Path, **policy: Any) -> pl.DataFrame:
    urls = [server.url(n) for n in range(URL_COUNT)]
    rows = [{"image_id": f"{n:05d}", "image_url": u, "shard": 0} for n, u in enumerate(urls)]
    store.write_rows(rows, folder / "urls.parquet", URLS)
    data = folder / "data/crawl/one"
    out = {"ledger": data / "ledger-00000.parquet", "pixels": data / "shard-00000.parquet"}
    scratch = folder / ".isotope/crawl/one"
    with constants(SPEC, POLICY, policy):
        shard.crawl_shard(
            folder / "urls.parquet", crawl_of(SPEC), 0, out, scratch, crawl_of(POLICY, policy)
        )
    ledger = pl.read_parquet(out["ledger"])
    assert ledger["image_url"].to_list() == sorted(urls)
    return ledger


@pytest.mark.parametrize("at", ["cut", "503"])
def test_a_host_that_is_gone_for_good_loses_its_pictures_and_no_others(tmp_path, clock, at):
    with hostile(failing(at), 2) as server:
        host = f"127.0.1.2:{server.port}"
        for attempt, hours in enumerate((0, 13, 13), 1):
            clock.now += hours * 3600
            if attempt < 3:
                with pytest.raises(HostDown, match=rf"{host}: .*try {attempt} over .*after 3 over"):
                    crawl(server, tmp_path)
        ledger = crawl(server, tmp_path)
        lost = ledger.filter(status="host_gone")
        assert ledger["status"].value_counts().sort("count").rows() == [
            ("host_gone", LOST),
            ("success", URL_COUNT - LOST),
        ]
        assert set(lost["image_url"].str.contains(host)) == {True}
        assert lost["error"].str.contains("no answer in 3 tries since 2023-11-14 22:13 UTC").all()


def test_many_tries_in_a_short_time_lose_nothing_and_nor_does_a_long_time_with_few(tmp_path, clock):
    with hostile(failing("cut"), 2) as server:
        for hours in (0, 1, 1, 1, 20):
            clock.now += hours * 3600
            with pytest.raises(HostDown):
                crawl(server, tmp_path)
    outages = Outages(tmp_path / "other")
    outages.note("a:80")
    clock.now += 1e6
    outages.note("a:80")
    assert outages.gone("a:80") is None


def test_a_clock_that_is_set_back_shortens_no_outage(tmp_path, clock):
    outages = Outages(tmp_path)
    for hours in (0, 20, -500_000, 5):
        clock.now += hours * 3600
        outages.note("a:80")
    assert outages.gone("a:80")


def test_a_host_that_is_gone_gets_no_request_by_other_jobs_until_a_command(
    tmp_path, clock, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    with hostile(failing("cut"), 2) as server:
        first = crawl(server, tmp_path, outage_tries=1, outage_hours=0)
        assert "host_gone" in set(first["status"])
        server.replies, before = clean, server.requests.total()
        assert crawl(server, tmp_path).drop("fetched_at").equals(first.drop("fetched_at"))
        assert server.requests.total() == before
        assert main(["recrawl", "one"]) == 0
        assert (
            f"{LOST} host_gone are requested again by `snakemake --cores all crawl`; "
            f"hosts that were down: 127.0.1.2:{server.port}"
        ) in capsys.readouterr().out
        assert not list((tmp_path / "data/crawl/one").glob("*.parquet"))
        assert set(crawl(server, tmp_path)["status"]) == {"success"}
        # Only what was lost.
        assert server.requests.total() == before + LOST


def test_a_host_that_answers_again_has_no_outage(tmp_path, clock):
    with hostile(failing("cut"), 2) as server:
        with pytest.raises(HostDown):
            crawl(server, tmp_path)
        recorded = tmp_path / ".isotope/crawl/one/outages.json"
        assert [*json.loads(recorded.read_text())] == [f"127.0.1.2:{server.port}"]
        server.replies = clean
        assert set(crawl(server, tmp_path)["status"]) == {"success"}
        assert json.loads(recorded.read_text()) == {}


def test_without_any_network_no_host_is_gone(tmp_path, clock):
    """Neither the host nor a witness answers: the server itself is away."""
    with hostile(failing("cut"), 2) as server, pytest.raises(HostDown):
        crawl(server, tmp_path)
    recorded = tmp_path / ".isotope/crawl/one/outages.json"
    before = recorded.read_text()
    for _ in range(3):
        clock.now += 1e6
        with pytest.raises(HostDown, match=r"run again later.*--gone HOST"):
            crawl(server, tmp_path)
    assert recorded.read_text() == before


def test_an_operator_may_say_that_a_host_is_gone(tmp_path, clock, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    with hostile(failing("cut"), 2) as server, pytest.raises(HostDown):
        crawl(server, tmp_path)
    assert main(["recrawl", "one", "--gone", f"127.0.1.2:{server.port}"]) == 0
    assert "its pictures are lost in the next" in capsys.readouterr().out
    lost = crawl(server, tmp_path).filter(status="host_gone")
    assert lost.height == LOST
    assert set(lost["error"]) == {"said to be gone by `isotope recrawl --gone`"}


def test_what_is_not_crawled_or_no_outcome_can_not_be_requested_again(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(MissingFile, match="no crawl of this source"):
        again.recrawl("one")
    with pytest.raises(BadArgument, match="no status sucess; one of"):
        again.recrawl("one", ["sucess"])
    with hostile(clean, 2) as server:
        crawl(server, tmp_path)
    assert again.recrawl("one") == "one: no picture to request again\n"
    [path] = (tmp_path / ".isotope/crawl/one").glob("*.sqlite")
    rows = pl.read_parquet("data/crawl/one/ledger-00000.parquet").with_columns(
        status=pl.lit("timeout")
    )
    store.write(rows.to_arrow(), Path("data/crawl/one/ledger-00000.parquet"), LEDGER)
    path.rename(path.with_name("00001-0.sqlite"))
    with pytest.raises(MissingFile, match="what shard 00000 had fetched is gone"):
        again.recrawl("one")
    assert Path("data/crawl/one/shard-00000.parquet").exists()


@pytest.mark.parametrize("content", ["", "[]", "{", '{"a": 1}', '{"a": {"b": 1}}', "null"])
def test_a_record_of_outages_that_is_none_begins_anew(tmp_path, content, caplog):
    (tmp_path / "outages.json").write_text(content)
    with constants({"outage_tries": 1, "outage_hours": 0}):
        outages = Outages(tmp_path)
    assert outages.gone("a:80") is None
    outages.note("a:80")
    assert outages.gone("a:80")
    assert "it begins anew" in caplog.text


# Too many losses.


def test_a_shard_that_loses_more_than_its_share_fails_and_says_what_was_lost(tmp_path, monkeypatch):
    monkeypatch.setattr("isotope.crawl.ledger._FEW_URLS", 4)
    gone = written(b"HTTP/1.1 410 Gone", [(b"Content-Length", b"0")], b"")
    later = written(b"HTTP/1.1 500 X", [(b"Content-Length", b"0")], b"")
    with hostile(lambda n: gone if n < 5 else later if n == 5 else clean(n)) as server:
        said = "6 of 24 URLs brought no picture: 5 gone, 1 server_error; .*one.lost_share .0.2.$"
        with pytest.raises(LossyCrawl, match=said):
            crawl(server, tmp_path, lost_share=0.2)
        assert not list(tmp_path.glob("data/crawl/one/*.parquet"))
        # More losses are accepted: nothing is requested again.
        shutil.copytree(tmp_path / ".isotope", tmp_path / "kept")
        server.requests.clear()
        assert crawl(server, tmp_path, lost_share=0.25).filter(status="gone").height == 5
        assert not server.requests
        # The cause is mended: what was lost is, and nothing else.
        shutil.rmtree(tmp_path / ".isotope")
        shutil.copytree(tmp_path / "kept", tmp_path / ".isotope")
        server.replies = clean
        assert set(crawl(server, tmp_path, lost_share=0.2)["status"]) == {"success"}
        assert sorted(server.requests) == [f"/{n}" for n in range(6)]


def test_a_ledger_of_all_shards_that_lost_more_than_its_share_is_not_written(tmp_path):
    urls = [f"https://x.org/{n}.png" for n in range(200)]
    rows = [{"image_id": u, "image_url": u, "shard": 0} for u in urls]
    store.write_rows(rows, tmp_path / "urls.parquet", URLS)
    statuses = ["success"] * 90 + ["svg"] * 30 + ["not_found"] * 80
    told = [{"image_url": u, "status": s} for u, s in zip(urls, statuses, strict=True)]
    store.write_rows(told, tmp_path / "ledger-00000.parquet", LEDGER)
    shards = [tmp_path / "ledger-00000.parquet"]
    at = tmp_path / "ledger.parquet"
    with pytest.raises(
        LossyCrawl, match="80 of 200 URLs brought no picture: 80 not_found; open the first"
    ):
        gather_ledgers(tmp_path / "urls.parquet", shards, at, crawl_of(lost_share=0.39), crawl_of())
    assert not at.exists()
    assert shards[0].exists()
    gather_ledgers(tmp_path / "urls.parquet", shards, at, crawl_of(lost_share=0.4), crawl_of())
    assert pl.read_parquet(at).height == 200


def test_few_urls_and_documents_without_pixels_tell_nothing(tmp_path):
    check_share({"not_found": 99}, 0.0, tmp_path, "")
    check_share({"svg": 90, "pdf": 10}, 0.0, tmp_path, "")
    with pytest.raises(LossyCrawl):
        check_share({"not_found": 100}, 0.99, tmp_path, "")


# Pauses.


def test_a_worker_does_not_wait_for_a_host_that_was_given_up():
    host = Host("h", HostLimits(1, patience_s=5_000), None)

    async def run() -> float:
        host.pause(4_000)
        began = time.monotonic()

        async def give_up() -> None:
            await asyncio.sleep(0.05)
            host.pause(6_000)

        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(give_up())
            async with host.turn():
                return time.monotonic() - began
        return 0.0

    assert asyncio.run(run()) < 60
    assert host.down


def test_a_pause_beyond_patience_is_kept_for_no_later_crawl(tmp_path):
    host = Host("h", HostLimits(1, rate_per_s=100, patience_s=10), tmp_path)
    host.pause(1e10)
    assert host.down
    later = Host("h", HostLimits(1, rate_per_s=100, patience_s=10), tmp_path)
    assert later._pause_left() <= 0


def test_a_long_pause_is_said_and_ends(tmp_path, caplog, monkeypatch):
    clock = Clock()
    clock.monotonic = clock.time  # type: ignore[attr-defined]
    monkeypatch.setattr("isotope.crawl.hosts.time", clock)
    limits = HostLimits(1, rate_per_s=100, patience_s=3600)
    Host("h", limits, tmp_path).pause(1200)
    later = Host("h", limits, tmp_path)
    assert later._pause_left() == pytest.approx(1200)
    assert caplog.text.count("h: asks for a pause; 20 min are left") == 2
    clock.now += 1200
    assert later._pause_left() <= 0


@pytest.mark.parametrize("back", [60, 86_400, 30 * 365 * 86_400])
def test_a_clock_that_is_set_back_is_no_reason_to_wait(tmp_path, monkeypatch, back):
    clock = Clock()
    clock.monotonic = clock.time  # type: ignore[attr-defined]
    monkeypatch.setattr("isotope.crawl.hosts.time", clock)
    limits = HostLimits(1, rate_per_s=1, burst=1, megabits_per_s=1, patience_s=3600)
    host = Host("h", limits, tmp_path)
    assert host._wait() == 0
    host.received(10**6)
    host.pause(3)
    clock.now -= back
    waits = [Host("h", limits, tmp_path)._wait() for _ in range(2)]
    assert waits == [pytest.approx(3), pytest.approx(3)]
    clock.now += 4
    assert Host("h", limits, tmp_path)._wait() == 0
