"""Claim: a crawl with all protections on costs at most 10 % more than bare img2dataset.

    python benchmarks/crawl.py [IMAGES] [ROUNDS] [SIDE]     (default 20000 3 330)

SIDE is a width that Wikimedia gives thumbnails in: what is checked for each picture costs the same
for a stamp as for a poster, converting it does not.

Both fetch the same pictures from a server on loopback and convert them with the same settings, in
two processes that share the URLs, as two jobs of the workflow would. Imports don't count: each
process has made its own before the clock starts, and the seconds that isotope's decoders take to
start, measured beside, are taken off those of the processors (not off those by the clock). The
pictures of both must be the same, byte for byte.

Ours goes through every check (addresses, redirects, pace and connections shared by the jobs, caps,
sifting, a decoder that may die, the ledger); the limits are so wide that they never make it wait.
"""

import asyncio
import hashlib
import io
import json
import multiprocessing
import resource
import statistics
import sys
import tempfile
import time
import uuid
from collections.abc import Callable
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
from common import Claim, machine, verdicts, write
from PIL import Image

JOBS, THREADS, DISTINCT, QUALITY, DIGITS = 2, 16, 200, 100, 5
WIDE = {"connections": THREADS, "rate_per_s": 1e5, "megabits_per_s": 1e5}
AT_LEAST = 0.91
SPAWN = multiprocessing.get_context("spawn")


def photograph(n: int, side: int) -> bytes:
    """Return a JPEG as a photograph has it: smooth, with some noise."""
    random = np.random.default_rng(n)
    coarse = random.integers(0, 256, (6, 8, 3), dtype=np.uint8)
    smooth = Image.fromarray(coarse).resize((side, side * 3 // 4), Image.Resampling.BICUBIC)
    noise = random.normal(0, 4, (side * 3 // 4, side, 3))
    pixels = np.clip(np.asarray(smooth) + noise, 0, 255).astype(np.uint8)
    out = io.BytesIO()
    Image.fromarray(pixels).save(out, "JPEG", quality=90)
    return out.getvalue()


class Pictures(asyncio.Protocol):
    """Answers `/<n>.jpg`, also over a connection that stays open."""

    def __init__(self, answers: list[bytes]) -> None:
        """Take the answers, head and body in one."""
        self.answers, self.left = answers, b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the way back."""
        self.way: Any = transport

    def data_received(self, data: bytes) -> None:
        """Answer each request that is whole."""
        *requests, self.left = (self.left + data).split(b"\r\n\r\n")
        for request in requests:
            n = int(request.split(b" ", 2)[1].removeprefix(b"/").partition(b".")[0])
            self.way.write(self.answers[n % len(self.answers)])
            if b"connection: close" in request.lower():
                self.way.close()


def serve(side: int, port: Any) -> None:  # noqa: ANN401
    """Serve until killed; tell the port."""
    answers: list[bytes] = []
    for n in range(DISTINCT):
        body = photograph(n, side)
        tag = hashlib.md5(body, usedforsecurity=False).hexdigest()
        head = f'Content-Type: image/jpeg\r\nContent-Length: {len(body)}\r\nETag: "{tag}"'
        answers.append(f"HTTP/1.1 200 OK\r\n{head}\r\n\r\n".encode() + body)

    async def run() -> None:
        loop = asyncio.get_running_loop()
        server = await loop.create_server(lambda: Pictures(answers), "127.0.0.1", 0, backlog=1000)
        port.put(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(run())


def spent() -> float:
    """Return the processor seconds of this process and those that it has waited for."""
    both = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(used.ru_utime + used.ru_stime for used in both)


async def started(decoder: Any) -> None:  # noqa: ANN401
    """Start a decoder, use it once, and end it."""
    await decoder.convert(photograph(0, 16), "image/jpeg")
    await decoder.close()


def by_isotope(urls: Path, job: int, folder: Path, ready: Barrier) -> float:
    """Crawl one shard; return the processor seconds."""
    from isotope.crawl import shard as crawl  # noqa: PLC0415
    from isotope.intake.decoders import Decoder  # noqa: PLC0415
    from isotope.params import files as params_files  # noqa: PLC0415

    rows = pl.read_parquet(urls)
    mirror = "/".join(rows["image_url"][0].split("/")[:3])
    base = params_files.load(root=Path(__file__).parents[1]).crawl["toy"]
    more = {**WIDE, "serve": None, "mirror": mirror, "threads": THREADS}
    more |= {"contact": "bench@example.org", "budget_gib": 1e6, "budget_hours": 1e6}
    spec = base.model_copy(update=more)
    out = {name: folder / f"{name}-{job}.parquet" for name in ("pixels", "ledger")}
    before = spent()
    asyncio.run(started(Decoder(spec.values())))
    imports = spent() - before
    ready.wait()
    start = spent()
    crawl.crawl_shard(urls, spec, job, out, folder / "scratch", spec)
    return spent() - start - imports


def by_img2dataset(urls: Path, job: int, folder: Path, ready: Barrier) -> float:
    """Download one shard with img2dataset's own downloader; return the processor seconds."""
    from img2dataset.downloader import Downloader  # noqa: PLC0415
    from img2dataset.resizer import Resizer  # noqa: PLC0415
    from img2dataset.writer import ParquetSampleWriter  # noqa: PLC0415

    rows = pl.read_parquet(urls).filter(pl.col("shard") == job)
    listed = folder / f"{job}.feather"
    table = rows.select("image_id", "image_url", url="image_url").to_arrow()
    with pa.ipc.new_file(listed, table.schema) as file:
        file.write_table(table)
    resize = Resizer(0, "no", False, encode_quality=QUALITY, encode_format="webp")
    columns = ["image_id", "image_url", "url"]
    download = Downloader(
        ParquetSampleWriter, resize, THREADS, False, False, folder.as_posix(), columns, 20,
        rows.height, DIGITS, "sha256", None, "webp", 0, "isotope", ["noai"],
    )  # fmt: skip
    ready.wait()
    start = spent()
    download.download_shard((job, listed.as_posix()))
    return spent() - start


def _job(work: Callable[..., float], told: tuple[Any, ...], ready: Barrier, said: Any) -> None:  # noqa: ANN401
    said.put(work(*told, ready))


def timed(work: Callable[..., float], urls: Path, folder: Path) -> dict[str, float]:
    """Run the jobs side by side; return seconds by the clock and of the processors."""
    folder.mkdir()
    ready, said = SPAWN.Barrier(JOBS + 1), SPAWN.Queue()
    tasks = [((urls, job, folder), ready, said) for job in range(JOBS)]
    jobs = [SPAWN.Process(target=_job, args=(work, *task)) for task in tasks]
    for job in jobs:
        job.start()
    ready.wait()
    start = time.perf_counter()
    cpu = sum(said.get() for _ in jobs)
    wall = time.perf_counter() - start
    for job in jobs:
        job.join()
    return {"wall": wall, "cpu": cpu}


def answer(folder: Path) -> dict[str, str]:
    """Return the digest of each URL's picture."""
    files = [p for p in folder.glob("*.parquet") if "ledger" not in p.name]
    found: dict[str, str] = {}
    for path in files:
        for url, webp in zip(*pq.read_table(path, columns=["image_url", "webp"]), strict=True):
            found[url.as_py()] = hashlib.sha256(webp.as_py()).hexdigest()
    return found


def measured(images: int, rounds: int, side: int, place: Path) -> list[dict[str, Any]]:
    """Run both, turn about, and compare what they found."""
    port = SPAWN.Queue()
    server = SPAWN.Process(target=serve, args=(side, port), daemon=True)
    server.start()
    base = f"http://127.0.0.1:{port.get()}"
    urls = pl.DataFrame({"image_url": [f"{base}/{n}.jpg" for n in range(images)]})
    ids = [str(uuid.uuid3(uuid.NAMESPACE_URL, url)) for url in urls["image_url"]]
    shard = (pl.int_range(pl.len()) % JOBS).cast(pl.Int32)
    urls.insert_column(0, pl.Series("image_id", ids)).with_columns(shard=shard).write_parquet(
        place / "urls.parquet"
    )
    found: list[dict[str, Any]] = []
    for n in range(rounds):
        pair: dict[str, Any] = {}
        order = [("isotope", by_isotope), ("img2dataset", by_img2dataset)]
        for name, work in order[:: 1 if n % 2 else -1]:
            pair[name] = timed(work, place / "urls.parquet", place / f"{name}-{n}")
            print(name, json.dumps(pair[name]), file=sys.stderr, flush=True)
        ours, theirs = (answer(place / f"{name}-{n}") for name, _ in order)
        assert ours == theirs
        assert len(ours) == images
        found.append(pair)
    server.terminate()
    return found


def claims(found: list[dict[str, Any]], images: int, side: int) -> list[Claim]:
    """Return the medians by the clock and of the processors."""
    told = []
    for kind, unit in (("wall", "s"), ("cpu", "CPU s")):
        ours, theirs = (
            statistics.median(pair[name][kind] for pair in found)
            for name in ("isotope", "img2dataset")
        )
        given = f"{images:,} pictures of {side} x {side * 3 // 4} pixels"
        told.append(Claim("crawl", given, "img2dataset", ours, theirs, AT_LEAST, unit=unit))
    return told


def report(told: list[Claim], images: int, rounds: int, side: int) -> str:
    """Return the table."""
    words = (
        f"{images:,} JPEG pictures of {side} x {side * 3 // 4} pixels from loopback, to WebP of "
        f"quality {QUALITY}; {JOBS} processes with {THREADS} downloads at a time each; medians of "
        f"{rounds} rounds. All pictures of both are the same, byte for byte. isotope has all "
        "protections on and writes its ledger. Imports are not counted, but by the clock those of "
        "isotope's decoders are."
    )
    packages = ["aiohttp", "img2dataset", "opencv-python-headless", "pillow"]
    title = "# A crawl, beside bare img2dataset"
    return "\n\n".join([title, words, verdicts(told), machine(packages)])


def main(images: int = 20_000, rounds: int = 3, side: int = 330) -> None:
    """Measure and report."""
    with tempfile.TemporaryDirectory() as name:
        found = measured(images, rounds, side, Path(name))
    told = claims(found, images, side)
    write("crawl", report(told, images, rounds, side), told)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
