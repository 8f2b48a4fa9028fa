"""A loopback server of replies that are wrong in every place of HTTP, each the same for its number.

`reply(n, seed)` takes a reply as a server in use sends it and damages it by chance: bytes, status
line, header fields, addresses, lengths, chunks, what follows the end. `POISONS` are the single
faults that once ended a crawl, or might; `clean(n)` is the reply of a server without faults.
"""

import asyncio
import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress

from tests.chaos import picture
from tests.loopback import listening

Reply = Callable[[int], bytes]
# As upload.wikimedia.org has them.
FIELDS = (
    (b"Content-Type", b"image/png"),
    (b"ETag", b"0cc175b9c0f1b6a831c399e269772661"),
    (b"Last-Modified", b"Mon, 04 May 2015 12:01:30 GMT"),
    (b"Date", b"Wed, 25 Nov 2026 15:00:00 GMT"),
    (b"Server", b"ATS/9.2.11"),
    (b"Age", b"41"),
    (b"X-Cache", b"cp3081 hit, cp3081 hit/7"),
    (b"Strict-Transport-Security", b"max-age=106384710; includeSubDomains; preload"),
    (b"Report-To", b'{ "group": "wm_nel", "max_age": 604800 }'),
    (b"Timing-Allow-Origin", b"*"),
)
URLS = (
    b"http://" + b"a" * 300 + b".example/x.png",
    b"http://" + b"b" * 64 + b".example/x.png",
    b"http://" + b".".join([b"c" * 60] * 5) + b"/x.png",
    b"http://xn--a/x.png",
    b"http://xn--/x.png",
    b"http://xn--\xff/",
    b"http://a..b/",
    b"http://%00/",
    b"http://a%2f.example/",
    b"http://[::1/x",
    b"http://[fe80::1%25eth0]/x",
    b"http://[v1.x]/",
    b"http://127.0.0.1:99999999999/",
    b"http://127.0.0.1:0/",
    b"http://256.1.1.1/",
    b"http://1.2.3.4.5.6/",
    b"http://\xe9.example/caf\xe9.png",
    "http://a℀b.example/".encode(),
    "http://\uff11\uff12\uff17.0.0.1/".encode(),
    "http://\u202eexample/".encode(),
    b"http:///x",
    b"http:x",
    b"//",
    b"?",
    b"#",
    b"",
    b" ",
    b"\\\\x\\y",
    b"data:image/png;base64,AAAA",
    b"javascript:alert(1)",
    b"/%zz%",
    b"/caf\xe9.png",
    b"/" + b"y" * 8000,
    b"http://me:secret@127.0.0.1/",
)
VALUES = (
    b"\xff",
    b"caf\xe9",
    b"\xed\xa0\x80",
    b"\xf0\x9f\x98",
    b"\x01\x02\x1b[31m\x7f",
    b"\x85\xa0\xad",
    "\u2028\u202e\ufeff".encode(),
    b"",
    b" ",
    b"x" * 8000,
    b"9" * 400,
    b"-1",
    b"NaN",
    b"1e999",
    b"\xd9\xa3\xd9\xa4",
    b'"' * 99,
    b"null",
    b"a,b;c=d:e",
)
WAITS = (
    b"99999999999999999999",
    b"9" * 400,
    b"1" + b"0" * 12,
    b"Fri, 31 Dec 9999 23:59:59 GMT",
    b"Mon, 04 May 99999999 12:01:30 GMT",
    b"Mon, 04 May 2026 12:01:30 +9999",
    b"0",
    b"0.01",
    b"soon",
    b"\xff\xff",
)
LINES = (
    b"HTTP/1.1 000 Zero",
    b"HTTP/1.1 999 Request denied",
    b"HTTP/1.1 1000 X",
    b"HTTP/1.1 99999999999999999999 X",
    b"HTTP/1.1 -200 X",
    b"HTTP/1.1 20 X",
    b"HTTP/1.1 200",
    b"HTTP/1.1 200 \xff\xfe",
    b"HTTP/1.1 200 " + b"x" * 9000,
    b"HTTP/9.9 200 OK",
    b"HTTP/2 200",
    b"HTTP/1.0 200 OK",
    b"ICY 200 OK",
    b"SSH-2.0-OpenSSH_9.9",
    b"\x16\x03\x01\x02\x00",
    b"",
    b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK",
    b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: upgrade",
    b"HTTP/1.1 204 No Content",
    b"HTTP/1.1 206 Partial Content",
    b"HTTP/1.1 304 Not Modified",
    b"HTTP/1.1 407 Proxy",
)
LENGTHS = (b"0", b"1", b"-1", b"+5", b"5, 5", b"0x10", b"9" * 30, b"99999999", b"\xff", b"", b"1e3")
NAMES = (b"Content-Type", b"ETag", b"Last-Modified", b"X-Robots-Tag", b"X-Object-Meta-Sha1base36")


def clean(n: int) -> bytes:
    """Return a reply without fault: the picture `n`."""
    return written(b"HTTP/1.1 200 OK", [*FIELDS, length(picture(n))], picture(n))


def length(body: bytes) -> tuple[bytes, bytes]:
    """Return the field that announces a body."""
    return b"Content-Length", str(len(body)).encode()


def written(
    line: bytes, fields: Sequence[tuple[bytes, bytes]], body: bytes, after: bytes = b""
) -> bytes:
    """Return a reply as it is sent."""
    return b"\r\n".join([line, *(b": ".join(f) for f in fields), b"", body]) + after


def chunked(body: bytes, chance: random.Random) -> bytes:
    """Return a body in chunks, not always rightly."""
    sizes = [b"%x", b"%X", b"0%x", b"%x;a=b", b"-%x", b"ffffffffff%x", b"%xg", b"\xff%x"]
    parts = []
    for at in range(0, len(body), 40):
        part = body[at : at + 40]
        form = sizes[0] if chance.random() < 0.9 else chance.choice(sizes)
        parts.append(form % len(part) + b"\r\n" + part + b"\r\n")
    ends = [b"0\r\n\r\n", b"0\r\nX-Trailer: \xff\r\n\r\n", b"0\r\n", b"", b"0" * 99 + b"\r\n\r\n"]
    return b"".join(parts) + chance.choice(ends)


def reply(n: int, seed: int = 0) -> bytes:
    """Return a damaged reply, which `n` and `seed` decide."""
    chance = random.Random(f"{seed} {n}")
    line, fields, body = b"HTTP/1.1 200 OK", [*FIELDS], picture(n)
    kind = chance.randrange(9)
    if kind == 0:
        line = b"HTTP/1.1 %d Moved" % chance.choice([301, 302, 303, 307, 308])
        fields.append((b"Location", chance.choice([*URLS, b"/%d" % (n + 1), b"../%d" % n])))
    elif kind == 1:
        line = b"HTTP/1.1 %d X" % chance.choice([429, 503])
        fields.append((b"Retry-After", chance.choice(WAITS[6:] if n % 50 else WAITS)))
    elif kind == 2:
        line = chance.choice(LINES)
    elif kind == 3:
        line = b"HTTP/1.1 %d X" % chance.randrange(100, 1000)
    for _ in range(chance.randrange(4)):
        _damage(fields, chance)
    way = chance.randrange(6)
    if way == 0:
        fields.append((b"Transfer-Encoding", chance.choice([b"chunked"] * 6 + [b"gzip, chunked"])))
        body = chunked(body, chance)
    elif way == 1:
        fields.append((b"Content-Length", chance.choice(LENGTHS)))
    elif way != 2:
        fields.append(length(body))
    after = chance.choice([b""] * 6 + [b"\r\n\r\n", b"junk" * 99, clean(n + 1), b"\x00" * 999])
    return _struck(written(line, fields, body, after), chance)


def _damage(fields: list[tuple[bytes, bytes]], chance: random.Random) -> None:
    """Change, add, repeat or fold a field."""
    act = chance.randrange(6)
    at = chance.randrange(len(fields))
    name, value = fields[at]
    if act == 0:
        fields[at] = name, chance.choice(VALUES)
    elif act == 1:
        fields.append((chance.choice(NAMES), chance.choice(VALUES)))
    elif act == 2:
        fields.extend([fields[at]] * chance.choice([1, 50, 2000]))
    elif act == 3:
        fields[at] = name, value + b"\r\n " + chance.choice(VALUES)
    elif act == 4:
        fields[at] = chance.choice([b"", b" ", b"a b", b"\xff", b"x" * 9000, b":"]), value
    else:
        fields.append((b"Content-Encoding", chance.choice([b"gzip", b"br", b"\xff", b"identity"])))


def _struck(data: bytes, chance: random.Random) -> bytes:
    """Change some bytes, or cut some off, of about half of the replies."""
    damaged, head = bytearray(data), max(1, min(len(data), 500))
    for _ in range(chance.choice([0, 0, 0, 1, 2, 8])):
        damaged[chance.randrange(head)] = chance.randrange(256)
    if chance.random() < 0.1:
        del damaged[chance.randrange(len(damaged) + 1) :]
    return bytes(damaged)


def _with(name: bytes, value: bytes, line: bytes = b"HTTP/1.1 200 OK") -> Reply:
    def poisoned(n: int) -> bytes:
        fields = [f for f in FIELDS if f[0] != name]
        return written(line, [*fields, (name, value), length(picture(n))], picture(n))

    return poisoned


def _moved(where: bytes) -> Reply:
    return _with(b"Location", where, b"HTTP/1.1 302 Found")


def _later(wait: bytes) -> Reply:
    return _with(b"Retry-After", wait, b"HTTP/1.1 503 Later")


POISONS: dict[str, Reply] = {
    **{f"{name.decode()} {value[:9]!r}": _with(name, value) for name in NAMES for value in VALUES},
    **{f"to {url[:30]!r}": _moved(url) for url in URLS},
    **{f"wait {wait[:30]!r}": _later(wait) for wait in WAITS},
    **{
        f"line {line[:30]!r}": lambda n, line=line: written(line, FIELDS, picture(n))
        for line in LINES
    },
    **{f"length {text[:9]!r}": _with(b"Content-Length", text) for text in LENGTHS},
    "many fields": lambda n: written(b"HTTP/1.1 200 OK", [*FIELDS * 5000], picture(n)),
    "many trailers": lambda n: written(
        b"HTTP/1.1 200 OK",
        [*FIELDS, (b"Transfer-Encoding", b"chunked")],
        b"0\r\n" + b"X: y\r\n" * 100_000,
    ),
    "extensions": lambda n: written(
        b"HTTP/1.1 200 OK",
        [*FIELDS, (b"Transfer-Encoding", b"chunked")],
        (b"1;" + b"x" * 100_000 + b"\r\n\x89\r\n") * 20,
    ),
    "early end": lambda n: b"",
    "1xx": lambda n: b"HTTP/1.1 102 Processing\r\n\r\n" * 50_000 + clean(n),
}


class Hostile:
    """The server; `replies` may be another one at any moment, and `clean` is one without faults."""

    def __init__(self, replies: Reply, addresses: Sequence[str]) -> None:
        self.replies, self.addresses, self.port = replies, addresses, 0
        self.requests = Counter[str]()
        # Replies by path, before all others.
        self.at: dict[str, bytes] = {}

    def url(self, n: int) -> str:
        """Return the address of a picture; neighbours are on different hosts."""
        return f"http://{self.addresses[n % len(self.addresses)]}:{self.port}/{n}"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one request, and hang up."""
        try:
            with suppress(ConnectionError, asyncio.IncompleteReadError, ValueError):
                head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 20)
                path = head.split(b" ")[1].decode()
                self.requests[path] += 1
                number = path.strip("/").partition("?")[0]
                n = int(number) if number.isdecimal() else 0
                writer.write(self.at[path] if path in self.at else self.replies(n))
                await writer.drain()
            with suppress(ConnectionError):
                writer.close()
                await writer.wait_closed()
        finally:
            writer.transport.abort()


@contextmanager
def hostile(replies: Reply, hosts: int = 1) -> Iterator[Hostile]:
    """Serve on a free port of so many loopback addresses for the duration of the block."""
    addresses = [f"127.0.1.{n}" for n in range(1, hosts + 1)]
    server = Hostile(replies, addresses)

    async def start() -> list[asyncio.Server]:
        first = await asyncio.start_server(server.serve, addresses[0], 0, backlog=1000)
        server.port = first.sockets[0].getsockname()[1]
        rest = [
            await asyncio.start_server(server.serve, a, server.port, backlog=1000)
            for a in addresses[1:]
        ]
        return [first, *rest]

    with listening(start):
        yield server
