"""20,000 URLs from a server that does everything wrong, and a crawl that is killed again and again.

Its ledger has every URL once, and is that of a crawl that nobody disturbed.
"""

import json
import random
import subprocess
import sys
import time
import uuid
from pathlib import Path

import polars as pl
import pytest
from tests.chaos import BODIES, CODES, ONCE, PLACES, Chaos, chaos
from tests.crawls import constants, crawl_of

from isotope.core import store
from isotope.crawl import shard
from isotope.schemas import crawl as crawl_tables

pytestmark = pytest.mark.long
URLS, OF_EACH, KILLS = 20_000, 6, 4
LIMIT_S = 240
SPEC = {
    "user_agent": "isotope tests",
    "contact": "tests@example.org",
    "threads": 32,
    "connections": 32,
    "rate_per_s": 1e5,
    "burst": 100,
    "megabits_per_s": 1e4,
    "timeout_s": 4,
    "attempts": 2,
    "wait_s": 0.1,
    "patience_s": 60,
    "breaker_failures": 50,
    "breaker_pause_s": 1,
    "breaker_openings": 3,
    "redirects": 3,
    "member_mib": 1,
    "decoders": 1,
    "decode_s": 30,
    "decode_mb": 100,
}
# What becomes of a URL with the fault: status, attempts, and where it tells more, trait or format.
EXPECTED = {
    "fine": ("success", 1, None),
    "animated": ("success", 1, "animated"),
    "cmyk": ("success", 1, "cmyk"),
    "tiff": ("success", 1, "tiff"),
    "gif_as_png": ("success", 1, "gif"),
    "untyped": ("success", 1, None),
    "redirect": ("success", 1, None),
    "limited_s": ("success", 2, None),
    "limited_date": ("success", 2, None),
    "unavailable": ("success", 2, None),
    "once_reset": ("success", 2, None),
    "once_cut": ("success", 2, None),
    "absent": ("not_found", 1, None),
    "gone": ("gone", 1, None),
    "forbidden": ("forbidden", 1, None),
    "unauthorised": ("forbidden", 1, None),
    "teapot": ("http_error", 1, None),
    "garbage": ("http_error", 1, None),
    "flood": ("http_error", 1, None),
    "error": ("server_error", 2, None),
    "cut": ("truncated", 2, None),
    "hang": ("timeout", 2, None),
    "drip": ("timeout", 2, None),
    "drip_head": ("timeout", 2, None),
    "chunks": ("timeout", 2, None),
    "latin": ("success", 1, None),
    "reset": ("connection", 2, None),
    "silence": ("connection", 2, None),
    "digest": ("checksum", 2, None),
    "robots": ("refused", 1, None),
    "huge": ("too_large", 1, None),
    "endless": ("too_large", 1, None),
    "bomb": ("too_many_pixels", 1, None),
    "too_wide": ("too_many_pixels", 1, None),
    "hungry": ("decoder_died", 1, None),
    "wrong_type": ("wrong_type", 1, None),
    "polyglot": ("polyglot", 1, None),
    "polyglot_head": ("polyglot", 1, None),
    "svg": ("svg", 1, "svg"),
    "svg_as_png": ("svg", 1, "svg"),
    "pdf": ("pdf", 1, "pdf"),
    "html": ("not_an_image", 1, None),
    "empty": ("not_an_image", 1, None),
    "cut_png": ("not_an_image", 1, None),
    "noise": ("not_an_image", 1, None),
    "gzip": ("not_an_image", 1, None),
    "loop": ("bad_redirect", 1, None),
    "to_file": ("bad_redirect", 1, None),
    "to_ftp": ("bad_redirect", 1, None),
    "to_user": ("bad_redirect", 1, None),
    "to_long": ("bad_redirect", 1, None),
    "to_puny": ("bad_redirect", 1, None),
    "to_short": ("bad_redirect", 1, None),
    "to_number": ("bad_redirect", 1, None),
    "to_metadata": ("forbidden_address", 1, None),
    "to_private": ("forbidden_address", 1, None),
    "to_mapped": ("forbidden_address", 1, None),
    "to_loopback": ("forbidden_address", 1, None),
}


def listed(path: Path, count: int) -> Path:
    """Write a shard of URLs: some with each fault, and fine ones."""
    paths = [f"{fault}/{n}" for fault in EXPECTED if fault != "fine" for n in range(OF_EACH)]
    paths += [f"fine/{n}" for n in range(count - len(paths) - 1)]
    urls = [*(f"https://pictures.example/{p}" for p in paths), "ftp://pictures.example/fine/0"]
    rows = [
        {"image_id": str(uuid.uuid3(uuid.NAMESPACE_URL, url)), "image_url": url, "shard": 0}
        for url in urls
    ]
    store.write_rows(sorted(rows, key=lambda row: row["image_id"]), path, crawl_tables.URLS)
    return path


def out(folder: Path) -> dict[str, Path]:
    return {name: folder / f"{name}.parquet" for name in ("pixels", "ledger")}


PROGRAM = """
import json, sys
from pathlib import Path
from isotope.crawl import shard
from isotope.params.crawl import Crawl
from tests.crawls import constants
urls, folder, scratch, spec, settings = sys.argv[1:]
out = {name: Path(folder, f"{name}.parquet") for name in ("pixels", "ledger")}
own = Crawl.of_spec(json.loads(spec))
with constants(json.loads(settings)):
    shard.crawl_shard(Path(urls), own, 0, out, Path(scratch), own)
"""


def kill_after(requests: int, server: Chaos, command: list[str]) -> None:
    """Start a crawl, and kill it -9 when the server has been asked so many times more."""
    wanted, end = server.requests.total() + requests, time.monotonic() + LIMIT_S
    with subprocess.Popen(command) as run:
        while server.requests.total() < wanted and run.poll() is None:
            assert time.monotonic() < end
            time.sleep(0.005)
        run.kill()
    while server.now:
        assert time.monotonic() < end
        time.sleep(0.005)
    server.forget()


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> dict[str, pl.DataFrame | int]:
    """An undisturbed crawl, and one that is killed at random, of the same URLs."""
    place = tmp_path_factory.mktemp("chaos")
    urls = listed(place / "urls.parquet", URLS)
    chance = random.Random()
    found: dict[str, pl.DataFrame | int] = {}
    with chaos() as server:
        spec = crawl_of(SPEC, mirror=server.url)
        with constants(SPEC):
            shard.crawl_shard(urls, spec, 0, out(place / "calm"), place / "scratch/calm", spec)
        found["bodies"], server.bodies = server.bodies, 0
        server.forget()
        told = [urls, place / "killed", place / "scratch/killed"]
        told += [json.dumps(spec.spec()), json.dumps(SPEC)]
        command = [sys.executable, "-c", PROGRAM, *map(str, told)]
        for _ in range(KILLS):
            kill_after(chance.randrange(1, 2 * URLS // (KILLS + 1)), server, command)
        subprocess.run(command, check=True, timeout=LIMIT_S)
        found["bodies_again"] = server.bodies
    for name in ("calm", "killed"):
        for table, path in out(place / name).items():
            found[f"{name} {table}"] = pl.read_parquet(path)
    found["urls"] = pl.read_parquet(urls)
    return found


def test_every_fault_of_the_server_is_expected_to_be_something():
    own = ("answer", "plain")
    acts = {m.removeprefix("_") for m in vars(Chaos) if m.startswith("_") and "__" not in m}
    known = {*BODIES, *CODES, *ONCE, *PLACES, *acts} - {*own, "short_length"}
    assert known <= set(EXPECTED)


def test_the_ledger_of_the_killed_crawl_has_every_url_exactly_once(crawled):
    ledger = crawled["killed ledger"]
    assert ledger.height == URLS
    assert ledger["image_url"].to_list() == sorted(crawled["urls"]["image_url"])


def test_the_killed_crawl_ends_with_the_tables_of_the_undisturbed_one(crawled):
    calm, killed = (crawled[f"{name} ledger"].drop("fetched_at") for name in ("calm", "killed"))
    assert calm.equals(killed)
    assert crawled["calm pixels"].equals(crawled["killed pixels"])


def test_a_kill_loses_only_what_was_in_flight(crawled):
    from isotope.crawl.scratch import _ROWS_AT_ONCE  # noqa: PLC0415

    lost = crawled["bodies_again"] - crawled["bodies"]
    assert 0 <= lost <= KILLS * (_ROWS_AT_ONCE + 2 * int(SPEC["threads"]))


def test_every_fault_has_its_outcome_and_none_is_a_crash(crawled):
    ledger = crawled["killed ledger"].with_columns(
        fault=pl.col("image_url").str.split("/").list.get(3),
        scheme=pl.col("image_url").str.split(":").list.first(),
    )
    over_http = ledger.filter(pl.col("scheme") == "https")
    found = over_http.select("fault", "status", "attempts").unique().rows()
    assert sorted(found) == sorted((f, s, a) for f, (s, a, _) in EXPECTED.items())
    told = over_http.select("fault", "trait", "format").unique().rows()
    more = {fault: {trait, form} for fault, trait, form in told}
    assert [f for f, (_, _, word) in EXPECTED.items() if word and word not in more[f]] == []
    assert ledger.filter(pl.col("scheme") == "ftp")["status"].to_list() == ["bad_url"]


def test_what_was_not_a_picture_is_not_among_the_pictures(crawled):
    alive = crawled["killed ledger"].filter(pl.col("status") == "success")
    pixels = crawled["killed pixels"]
    assert sorted(pixels["image_url"]) == sorted(alive["image_url"])
    assert pixels["image_id"].is_sorted()
    assert pixels["image_id"].is_unique().all()
