"""A crawl keeps to its pace, also over several jobs, and does what a host asks for."""

import asyncio
import itertools
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest
import yaml
from tests.crawls import crawl_of
from tests.entries import resolved

from isotope.core import contact as contacts
from isotope.core.errors import BadParams, NoContact
from isotope.core.uploads import WIDTHS
from isotope.crawl import addresses
from isotope.crawl.hosts import Host, HostLimits
from isotope.params import files

ROOT = Path(__file__).parents[3]


class Clock(asyncio.SelectorEventLoop):
    """Time that stands still while anything works and jumps to the end of the next sleep."""

    now = 1.7e9

    def time(self) -> float:
        return Clock.now

    monotonic = time

    def _run_once(self) -> None:
        if not self._ready and self._scheduled:  # type: ignore[attr-defined]
            # At least a microsecond, as a sleep of less would be lost in seconds since 1970.
            Clock.now = max(Clock.now + 1e-6, self._scheduled[0].when())  # type: ignore[attr-defined]
        super()._run_once()  # type: ignore[misc]


@pytest.fixture
def clock(monkeypatch):
    """A clock by which a host waits, whatever else the machine does."""
    made = Clock()
    monkeypatch.setattr("isotope.crawl.hosts.time", made)
    yield made
    made.close()


def turns(
    host: Host, count: int, at_once: int = 1, loop: Callable[[], Clock] | None = None
) -> list[float]:
    """Take turns with so many tasks; return when they came, in seconds since the first."""
    came: list[float] = []

    async def run() -> None:
        async def work() -> None:
            while len(came) < count:
                async with host.turn() as started:
                    came.append(started)

        await asyncio.gather(*(work() for _ in range(at_once)))

    with asyncio.Runner(loop_factory=loop) as runner:
        runner.run(run())
    return [one - came[0] for one in came][:count]


def test_after_a_burst_requests_keep_to_the_rate(clock):
    host = Host("h", HostLimits(4, rate_per_s=50, burst=5), None)
    came = turns(host, 15, at_once=4, loop=Clock)
    assert came == pytest.approx([max(0, n - 4) / 50 for n in range(15)], abs=1e-5)


def test_a_host_has_no_more_connections_than_allowed(tmp_path):
    host, now, most = Host("h", HostLimits(3, rate_per_s=1e6, burst=100), tmp_path), 0, 0

    async def ask() -> None:
        nonlocal now, most
        async with host.turn():
            now += 1
            most = max(most, now)
            await asyncio.sleep(0.01)
            now -= 1

    async def run() -> None:
        await asyncio.gather(*(ask() for _ in range(12)))

    asyncio.run(run())
    assert most == 3


JOB = """
import asyncio, sys, time
from pathlib import Path
from isotope.crawl.hosts import Host, HostLimits
host = Host("h", HostLimits(1, rate_per_s=100, burst=1), Path(sys.argv[1]))
async def run():
    for _ in range(30):
        before = time.time()
        async with host.turn():
            start = time.time()
            await asyncio.sleep(0.002)
            print(before, start, time.time())
asyncio.run(run())
"""


def test_two_jobs_together_keep_to_one_rate_and_one_connection(tmp_path):
    command = [sys.executable, "-c", JOB, str(tmp_path)]
    jobs = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    said = [line.split() for job in jobs for line in job.communicate(timeout=60)[0].splitlines()]
    spans = sorted((float(start), float(end)) for _, start, end in said)
    assert len(spans) == 60
    assert all(end <= start + 1e-3 for (_, end), (start, _) in itertools.pairwise(spans))
    # From before the first turn, as a busy machine may be late to look at the clock within it.
    assert spans[-1][0] - min(float(before) for before, _, _ in said) >= 59 / 100 - 0.02


def test_a_killed_job_leaves_its_connections_to_others(tmp_path):
    holding = JOB.replace("asyncio.sleep(0.002)", "asyncio.sleep(60)").replace(
        "start = time.time()", "print('in', flush=True); start = 0"
    )
    with subprocess.Popen(
        [sys.executable, "-c", holding, str(tmp_path)], stdout=subprocess.PIPE, text=True
    ) as job:
        assert job.stdout is not None
        assert job.stdout.readline() == "in\n"
        job.kill()
    host = Host("h", HostLimits(1, rate_per_s=100, burst=1), tmp_path)
    assert len(turns(host, 2)) == 2


def test_a_host_that_sent_much_is_asked_later(clock):
    host = Host("h", HostLimits(1, rate_per_s=1e6, burst=1, megabits_per_s=8), None)
    started = clock.time()
    host.received(10_050_000)
    turns(host, 1, loop=Clock)
    assert clock.time() - started == pytest.approx(0.05, abs=1e-5)


def test_a_pause_that_a_host_asks_for_holds_for_all_its_urls(clock):
    host = Host("h", HostLimits(2), None)
    started = clock.time()
    host.pause(0.2)
    turns(host, 2, loop=Clock)
    assert clock.time() - started == pytest.approx(0.2, abs=1e-5)


def test_a_host_that_asks_for_more_patience_than_we_have_is_given_up():
    host = Host("h", HostLimits(2, patience_s=10), None)
    host.pause(11)
    assert host.down


def test_the_breaker_opens_after_failures_in_a_row_and_closes_on_success(clock):
    host = Host("h", HostLimits(1, failures=3, pause_s=0.1, openings=2), None)
    started = clock.time()
    for failed in (True, True, False, True, True):
        host.report(failed, fresh=True, started=started)
    turns(host, 1, loop=Clock)
    assert clock.time() == started
    host.report(True, fresh=True, started=started)
    turns(host, 1, loop=Clock)
    assert clock.time() - started == pytest.approx(0.1, abs=1e-5)
    assert not host.down
    host.report(False, fresh=True, started=clock.time())
    again = clock.time()
    turns(host, 1, loop=Clock)
    assert clock.time() == again


def test_the_breaker_counts_urls_and_not_their_retries_or_what_was_on_its_way(clock):
    host = Host("h", HostLimits(1, failures=3, pause_s=0.05, openings=2), None)
    now = clock.time()
    for _ in range(50):
        host.report(True, fresh=False, started=now)
    for _ in range(50):
        host.report(True, fresh=True, started=now)
    assert not host.down
    for _ in range(2):
        turns(host, 1, loop=Clock)
        host.report(True, fresh=False, started=clock.time())
    assert host.down


@pytest.mark.parametrize("contact", ["me@example.org", "https://example.org/crawl", "(a@b.org)"])
def test_a_mail_address_or_a_page_is_a_contact(contact):
    spec = crawl_of(contact=contact)
    contacts.require_contact(["upload.wikimedia.org"], spec)
    assert contact in contacts.user_agent(spec)


@pytest.mark.parametrize("contact", ["", "me", "put your address here", "@", "http://"])
def test_anything_else_is_none_for_wikimedia(contact):
    spec = crawl_of(contact=contact)
    for host in ("upload.wikimedia.org", "EN.wikipedia.org.", "wikimedia.org"):
        with pytest.raises(NoContact):
            contacts.require_contact(["x.org", host], spec)
    contacts.require_contact(["x.org", "notwikimedia.org", None], spec)


def test_the_store_of_wikimedia_tells_sha1_in_base_36():
    # The digest of nothing, as MediaWiki writes it.
    assert addresses.sha1_of_base36("phoiac9h4m842xq45sp7s6u21eteeq1") == (
        "da39a3ee5e6b4b0d3255bfef95601890afd80709"
    )
    assert addresses.sha1_of_base36("not!") is None


def test_the_schema_permits_the_widths_that_wikimedia_does():
    schema = yaml.safe_load((ROOT / "workflow/schemas/params.schema.yaml").read_text())
    width = schema["$defs"]["Crawl"]["properties"]["width"]
    assert tuple(width["enum"]) == WIDTHS
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(300, width)


def test_a_crawl_goes_on_from_one_of_the_same_width_only():
    assert resolved(crawl={"toy-later": {"after": "toy"}}).crawl["toy-later"].after == "toy"
    with pytest.raises(BadParams, match="unknown name 'toy'") as caught:
        resolved(crawl={"toy-later": {"after": "toy", "width": 960}})
    assert caught.value.where == "params crawl.toy-later.after"


def test_a_crawl_goes_on_from_one_whose_pictures_were_made_alike():
    later = {"after": "toy", "as_img2dataset": True}
    with pytest.raises(BadParams, match="unknown name 'toy'") as caught:
        resolved(crawl={"toy-later": later})
    assert caught.value.where == "params crawl.toy-later.after"
    assert resolved(crawl={"toy-later": later, "toy": {"as_img2dataset": True}})


def test_the_full_size_crawl_names_no_contact_that_is_not_the_users():
    text = (ROOT / "params/enwiki.yaml").read_text()
    assert not re.search(r"^\s+contact:", text, re.MULTILINE)
    spec = files.load([ROOT / "params/enwiki.yaml"], root=ROOT).crawl["enwiki-20221101"]
    assert not contacts.has_contact(spec)
    assert (spec.connections, spec.megabits_per_s) == (2, 25)
