"""What comes from the network is judged before it is connected to, decoded or believed."""

import asyncio
import os
import shutil
import signal
import socket
import ssl
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import psutil
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from hypothesis import given
from hypothesis import strategies as st
from tests import chaos
from tests import decoding as decoders
from tests.crawls import crawl_of

from isotope.core.errors import ToolFailed
from isotope.crawl.addresses import PublicResolver, is_public
from isotope.crawl.fetch import BadUrl, Fetcher, Response, authority, parse_url
from isotope.intake.decoders import Decoder
from isotope.intake.formats import judge
from isotope.params import files

ROOT = Path(__file__).parents[3]
SPEC = {**files.load(root=ROOT).crawl["toy"].spec(), "contact": "tests@example.org"}
PUBLIC = ("93.184.216.34", "208.80.154.240", "2620:0:861:ed1a::2:b", "2a02:ec80:300:ed1a::1")
NOT_PUBLIC = (
    *("127.0.0.1", "127.8.8.8", "0.0.0.0", "10.0.0.1", "172.16.0.1", "192.168.1.1", "100.64.0.1"),
    *("169.254.169.254", "224.0.0.1", "239.1.1.1", "240.0.0.1", "255.255.255.255", "192.0.2.1"),
    *("168.63.129.16", "100.100.100.200", "::", "::1", "fe80::1", "fe80::1%eth0", "fd00:ec2::254"),
    *("ff02::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::a00:1", "2002:7f00:1::"),
    *("fec0::1", "2001:db8::1", "127.1", "2130706433", "0x7f000001", "localhost", ""),
)


@pytest.mark.parametrize("address", PUBLIC)
def test_addresses_of_the_public_internet_are_open(address):
    assert is_public(address)


@pytest.mark.parametrize("address", NOT_PUBLIC)
def test_no_other_address_is(address):
    assert not is_public(address)


@given(st.integers(0, 2**32 - 1))
def test_an_ipv6_address_that_carries_an_ipv4_address_is_judged_by_it(number):
    plain = socket.inet_ntoa(number.to_bytes(4))
    assert is_public(f"::ffff:{plain}") == is_public(f"64:ff9b::{plain}") == is_public(plain)


@pytest.mark.parametrize(
    "url",
    [
        *("file:///etc/passwd", "ftp://x.org/a", "gopher://x.org/", "data:image/png;base64,AA"),
        *("//x.org/a", "https://", "http://u:p@x.org/", "http://x.org/a\r\nHost: y", "", "a"),
        *("http://[::1", "http://x.org:99999/", "javascript:alert(1)"),
    ],
)
def test_only_http_and_https_with_a_host_and_no_user_are_asked(url):
    with pytest.raises(BadUrl):
        parse_url(url)


HARD = st.text(alphabet="http:/.@%[]#?x0e-\\\uff0e\u2100\xe9 \t", max_size=40)


@given(st.one_of(st.text(max_size=40), HARD, HARD.map("http://{}".format)), st.booleans())
def test_any_text_is_a_url_with_a_host_that_names_a_file_or_is_refused(text, is_redirect):
    try:
        url = parse_url(text, parse_url("http://x.org/a/") if is_redirect else None)
    except BadUrl:
        return
    assert url.scheme in ("http", "https")
    assert url.host
    assert len(url.raw_host or "") <= 255
    assert authority(text) in ("", url.authority.lower()) or is_redirect


@pytest.mark.parametrize(
    "url",
    [
        *("http://xn--a/", "http://xn--/", "http://a..b/", "http://.a/", "http://a\u2100b/"),
        *(f"http://{'a' * 64}/", f"http://{'.'.join(['a' * 60] * 5)}/", f"http://{'%41' * 90}/"),
    ],
)
def test_a_name_that_no_name_server_can_know_is_no_url(url):
    with pytest.raises(BadUrl):
        parse_url(url)
    assert fetch(url).status == "bad_url"


def test_a_url_is_asked_for_as_it_is_written():
    url = "https://upload.wikimedia.org/wikipedia/commons/a/ab/X%28y%29_%C3%A9.png?z=%20"
    assert str(parse_url(url)) == url


def test_a_redirect_never_leaves_tls():
    with pytest.raises(BadUrl, match="from https to http"):
        parse_url("http://x.org/", parse_url("https://x.org/"))
    assert str(parse_url("../b", parse_url("https://x.org/a/c"))) == "https://x.org/b"


def fetch(url: str, mirror: str | None = None, **more: object) -> Response:
    """Ask once for a URL."""

    async def run() -> Response:
        fetcher = Fetcher(crawl_of(SPEC, more), mirror, None)
        try:
            async with fetcher.fetched(url, {}, fresh=True) as answer:
                return answer
        finally:
            await fetcher.close()

    return asyncio.run(run())


def test_a_name_that_resolves_to_this_machine_is_not_connected_to(monkeypatch):
    asked: list[object] = []
    monkeypatch.setattr(socket.socket, "connect", lambda *a: asked.append(a))
    for url in ("http://localhost:9/", "http://127.0.0.1:9/", "http://[::1]:9/", "http://0x7f.1/"):
        assert fetch(url).status == "forbidden_address", url
    assert asked == []


def test_a_name_that_changes_between_check_and_connection_gains_nothing(monkeypatch):
    """The classic rebinding: a public address for the check, a private one for the connection."""
    answers = iter([["93.184.216.34"], ["127.0.0.1"], ["127.0.0.1"]])

    async def resolve(_self: Any, host: str, port: int = 0, family: int = 0) -> list[Any]:
        return [
            {"hostname": host, "host": one, "port": port, "family": socket.AF_INET, "proto": 6}
            | {"flags": socket.AI_NUMERICHOST}
            for one in next(answers)
        ]

    async def run() -> list[str]:
        guard = PublicResolver()
        first = await guard.resolve("x.org", 80)
        opened = [guard.open((socket.AF_INET, socket.SOCK_STREAM, 6, "", (first[0]["host"], 80)))]
        for one in opened:
            one.close()
        with pytest.raises(OSError, match="not on the public internet"):
            await guard.resolve("x.org", 80)
        with pytest.raises(OSError, match="not on the public internet"):
            guard.open((socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", 80)))
        return [first[0]["host"]]

    monkeypatch.setattr("aiohttp.resolver.ThreadedResolver.resolve", resolve)
    assert asyncio.run(run()) == ["93.184.216.34"]


def test_a_mirror_opens_its_own_port_and_no_other():
    with chaos.chaos() as server:
        assert fetch(f"{server.url}/fine/1", server.url).status == "arrived"
        assert fetch(f"{server.url}/fine/1").status == "forbidden_address"
        with chaos.chaos() as other:
            assert fetch(f"{other.url}/fine/1", server.url).status == "forbidden_address"
            assert not other.requests


def test_a_redirect_to_wikimedia_needs_a_contact_as_well(monkeypatch):
    places = {"to_metadata": "http://upload.wikimedia.org/x.png"}
    monkeypatch.setattr(chaos, "PLACES", places)
    with chaos.chaos() as server:
        answer = fetch(f"{server.url}/to_metadata/1", server.url, contact="")
    assert (answer.status, "contact" in str(answer.error)) == ("bad_redirect", True)


class Quiet(HTTPServer):
    """A server that says nothing of a client that hangs up."""

    def handle_error(self, request: object, client_address: object) -> None:
        """Stay silent."""


@contextmanager
def https(folder: Path) -> Iterator[str]:
    """A server on loopback with a certificate that nobody signed."""
    key, name = ec.generate_private_key(ec.SECP256R1()), x509.Name([])
    now = datetime.now(UTC)
    built = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
    built = built.not_valid_before(now - timedelta(1)).not_valid_after(now + timedelta(1))
    signed = built.sign(key, hashes.SHA256())
    pem, plain = serialization.Encoding.PEM, serialization.NoEncryption()
    form = serialization.PrivateFormat.PKCS8
    (folder / "a.pem").write_bytes(key.private_bytes(pem, form, plain) + signed.public_bytes(pem))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "a.pem")
    server = Quiet(("127.0.0.1", 0), BaseHTTPRequestHandler)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield f"https://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_a_certificate_that_nobody_signed_is_refused(tmp_path):
    with https(tmp_path) as url:
        assert fetch(f"{url}/a.png", url).status == "tls"


@given(
    st.binary(max_size=300), st.sampled_from([b"", b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n", b"BM"])
)
def test_no_bytes_make_the_sifting_fail(data, head):
    found = judge(head + data, "image/png", 10**6)
    assert (
        found.status is None
        or found.status in ("not_an_image", "polyglot", "svg", "pdf")
        or (found.status == "too_many_pixels")
    )


LIMITS = {"max_pixels": 64_000_000, "decode_s": 20, "decode_mb": 1000}


@pytest.fixture(params=["forked", "anew"])
def worker(request, monkeypatch):
    """How a worker starts: as on Linux, or as on macOS."""
    if request.param == "anew":
        decoders.start_anew(monkeypatch)


def decoding(work: Callable[[Decoder], Awaitable[None]], **limits: float) -> None:
    """Run `work` with a decoder that has decoded one picture."""

    async def run() -> None:
        decoder = Decoder({**LIMITS, **limits})
        try:
            assert (await decoder.convert(chaos.picture(0), "image/png"))[0]["width"] == 8
            await work(decoder)
        finally:
            await decoder.close()

    asyncio.run(run())


@pytest.mark.usefixtures("worker")
def test_a_decoder_that_dies_while_idle_costs_nothing():
    async def work(decoder: Decoder) -> None:
        for number in (signal.SIGSEGV, signal.SIGKILL):
            dead = psutil.Process(decoder.pid).children()[0]
            dead.send_signal(number)
            dead.wait(20)
            told, webp = await decoder.convert(chaos.picture(1), "image/png")
            assert (told["status"], told["width"], webp[:4]) == ("success", 9, b"RIFF")

    decoding(work)


@pytest.mark.usefixtures("worker")
def test_a_picture_that_kills_its_decoder_is_an_outcome_and_the_next_is_decoded():
    async def kill(decoder: Decoder) -> None:
        while True:
            # The process itself is gone for a moment if its child died while it read.
            with suppress(psutil.NoSuchProcess):
                for child in psutil.Process(decoder.pid).children():
                    # It has loaded all, and has pixels.
                    if child.memory_info().rss > 250 * 10**6:
                        child.send_signal(signal.SIGSEGV)
            await asyncio.sleep(0.005)

    async def work(decoder: Decoder) -> None:
        killer = asyncio.create_task(kill(decoder))
        told, webp = await decoder.convert(chaos.png(7000, 7000), "image/png")
        assert not killer.done()
        killer.cancel()
        # "gone": it died while the picture was on its way to it.
        assert (told["status"], webp) == ("decoder_died", b"")
        assert told["error"] in ("SIGSEGV", "gone")
        assert (await decoder.convert(chaos.picture(2), "image/png"))[0]["width"] == 10

    decoding(work, decode_mb=8_000)


@pytest.mark.usefixtures("worker")
def test_a_picture_that_needs_more_memory_than_there_may_be_is_an_outcome():
    async def work(decoder: Decoder) -> None:
        told, webp = await decoder.convert(chaos.png(6000, 6000), "image/png")
        assert (told["status"], told["error"], webp) == ("decoder_died", "out of memory", b"")
        assert (await decoder.convert(chaos.picture(2), "image/png"))[0]["width"] == 10

    # The pixels alone are 144 MB.
    decoding(work, decode_mb=100)


@pytest.mark.usefixtures("worker")
def test_a_picture_that_takes_too_long_is_an_outcome_and_its_neighbours_are_decoded():
    async def work(decoder: Decoder) -> None:
        sent = [chaos.picture(1), chaos.png(4000, 4000), chaos.picture(2)]
        found = await asyncio.gather(*(decoder.convert(one, "image/png") for one in sent))
        assert [told["status"] for told, _ in found] == ["success", "decode_timeout", "success"]
        assert [told.get("width") for told, _ in found] == [9, None, 10]

    # Memory for it, and 6 s of the processor without the limit.
    decoding(work, decode_s=0.5, decode_mb=8_000)


@pytest.mark.usefixtures("worker")
def test_a_decoder_whose_process_is_gone_is_replaced():
    async def work(decoder: Decoder) -> None:
        os.killpg(decoder.pid, signal.SIGKILL)
        assert (await decoder.convert(chaos.picture(3), "image/png"))[0]["status"] == "success"

    decoding(work)


def test_a_decoder_that_can_not_start_is_an_error(monkeypatch):
    monkeypatch.setattr("sys.executable", shutil.which("false"))

    async def work() -> None:
        decoder = Decoder(LIMITS)
        await decoder.convert(b"", None)

    with pytest.raises(ToolFailed, match="ended with status 1"):
        asyncio.run(work())
