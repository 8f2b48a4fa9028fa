"""Claim: of a million pictures, 95 of 100 live answers come within 300 ms, for 8 people at once.

    python benchmarks/suggest.py [PICTURES] [SECONDS] [--at FOLDER]     (default 1000000 60)

A collection of so many pictures is written as the workflow writes it: captions of about 25 words,
drawn like real text (corpus.py) by seed 17, vectors of 512 components drawn at random, an index of
isotope.bm25, tables of the phase suggest. The model is a CLIP of ViT-B/32's size whose weights
nobody trained; it takes the time of any other. The server of `isotope suggest --serve` answers on
loopback: 8 people each send a text that is new to it, of 25 or of 120 words, read the answer, and
write for a second; then they go on without pausing, which shows where it saturates. People and
server share the machine. Memory is that of the server and of its children (proc(5): RssAnon, and
RssFile, which counts pages of files that are mapped). Start-up is from the start of the process to
the first answer, which is by words alone until the model is there. Nothing outside of this machine
is asked. The folder of --at keeps the collection for another run.
"""

import argparse
import http.client
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pools
import psutil
from common import Claim, machine, this_machine, timed, write

from isotope.bm25.postings import write_index
from isotope.core import store
from isotope.core.vectors import created, write_ids
from isotope.params import files
from isotope.params.root import Params, parse
from isotope.schemas.collect import IMAGES, QRELS, TEXTS
from isotope.schemas.parse import PICTURES as PLACED
from isotope_suggest import calibrate, score
from isotope_suggest.ask.engine import CACHE
from isotope_suggest.schemas import PICTURE_KINDS, SECTION_ROLES

PICTURES_WANTED, SECONDS, PEOPLE, PAUSE_S = 1_000_000, 60.0, 8, 1.0
LIMIT_MS, START_LIMIT_S, DIM, SEED = 300.0, 5.0, 512, 17
WORDS = (25, 120)
NAME, MODEL = "bench", "ViT-B-32"
# Texts of one run; nobody sends one twice. Judged sections, and pages of five sections.
TEXTS_SENT, JUDGED, SECTIONS_A_PAGE = 4_000, 100_000, 5
_BLOCK = 50_000
_PATIENCE_S, _SATURATED_S = 300.0, 15.0


def params() -> Params:
    """Return the params of the collection; the other sections are those of params.yaml."""
    own = {
        "build": [NAME],
        "acquire": {NAME: {"files": {"dump": ["pages"]}}},
        "crawl": {NAME: {"shards": 1}},
        "collect": {NAME: {"kind": "wikipedia", "source": NAME, "language": "en"}},
        "encode": {"shards": 1, "batch": 64},
        "models": {"clip": {"kind": "open_clip", "name": MODEL, "pretrained": "model.safetensors"}},
        "systems": {"bm25": {"kind": "bm25"}, "clip": {"kind": "dense", "model": "clip"}},
        "search": {
            "systems": ["bm25", "clip"],
            "settings": ["large"],
            "splits": ["validation", "test"],
            "tasks": ["t2m", "m2t"],
            "depth": 1000,
            "memory_mb": 512,
        },
        "tabulate": {"system": "clip", "alpha": 0.05, "tokenizers": {}},
        "suggest": {},
    }
    return parse({**files.load(root=Path(__file__).parents[1]).spec(), **own})


# The collection.


def build(root: Path, pictures: int) -> None:
    """Write a collection with its index, vectors and tables of the phase suggest."""
    pools.write_texts(root / "captions", "captions", pictures)
    captions = [text for _, text in pools.read_texts(root / "captions", pictures)]
    ids = [pools.name(n) for n in range(pictures)]
    write_tables(root, ids, captions)
    index = root / f"data/index/{NAME}/large/bm25/all/images"
    write_index(zip(ids, captions, strict=True), index, analyzer="default", threads=2)
    write_vectors(root / f"data/encode/{NAME}/clip", ids)
    write_results(root / f"results/suggest/{NAME}", pictures)
    write_model(root / "model.safetensors")


def write_tables(root: Path, ids: Sequence[str], captions: Sequence[str]) -> None:
    """Write images with one caption each, a section for each of some, and their judgements."""
    folder = root / f"data/collect/{NAME}"
    judged = min(JUDGED, len(ids))
    rows = pl.DataFrame({"image_id": ids, "caption": captions}).select(
        "image_id",
        image_url=pl.format("https://upload.wikimedia.org/bench/{}.jpg", "image_id"),
        language=pl.lit(["en"]),
        caption_reference_description=pl.concat_list("caption"),
        caption_alt_text_description=pl.lit([""]),
        caption_attribution_description=pl.lit([""]),
        mime_type=pl.lit("image/jpeg"),
        width=pl.lit(640, pl.Int32),
        height=pl.lit(480, pl.Int32),
        sha256=pl.lit(""),
        split=pl.lit("train"),
    )
    store.write(rows.to_arrow().cast(IMAGES), folder / "images.parquet", IMAGES)
    texts = pl.DataFrame({"text_id": [f"projected-{n:08d}-000" for n in range(judged)]})
    own = texts.with_row_index("n").select(
        "text_id",
        page_id=(pl.col("n") // SECTIONS_A_PAGE).cast(pl.Int64),
        page_title=pl.format("Page {}", pl.col("n") // SECTIONS_A_PAGE),
        section_title=pl.format("Section {}", "n"),
        context_section_description=pl.Series(captions[:judged]),
        language=pl.lit("en"),
        split=pl.lit("train"),
    )
    empty = pl.DataFrame(TEXTS.empty_table())
    every = pl.concat([empty, own], how="diagonal").select(TEXTS.names)
    store.write(every.to_arrow().cast(TEXTS), folder / "texts.parquet", TEXTS)
    write_placed(root / f"data/parse/{NAME}", ids)
    pairs = texts.with_columns(
        image_id=pl.Series(ids[:judged]), relevance=pl.lit(1, pl.Int32), split=pl.lit("train")
    )
    store.write(pairs.to_arrow().cast(QRELS), folder / "qrels.parquet", QRELS)


def write_placed(folder: Path, ids: Sequence[str]) -> None:
    """Write that each picture stands on a page, five on each."""
    rows = pl.DataFrame({"image_id": ids}).with_row_index("n")
    own = rows.select(
        page_id=(pl.col("n") // SECTIONS_A_PAGE).cast(pl.Int64),
        file=pl.format("Photograph {}.jpg", "image_id"),
        origin=pl.lit("link"),
    )
    empty = pl.DataFrame(PLACED.empty_table())
    every = pl.concat([empty, own], how="diagonal").select(PLACED.names)
    store.write(every.to_arrow().cast(PLACED), folder / "pictures.parquet", PLACED)


def write_vectors(folder: Path, ids: Sequence[str]) -> None:
    """Write vectors at random, of length 1."""
    generator = np.random.default_rng(SEED)
    place = folder / "images/shard-00000.npy"
    place.parent.mkdir(parents=True, exist_ok=True)
    with created(place, (len(ids), DIM)) as block:
        for start in range(0, len(ids), _BLOCK):
            some = generator.standard_normal((min(_BLOCK, len(ids) - start), DIM), np.float32)
            some /= np.linalg.norm(some, axis=1, keepdims=True)
            block[start : start + len(some)] = some
    write_ids(pl.Series("id", ids), place.with_suffix(".ids.parquet"))


def write_results(folder: Path, pictures: int) -> None:
    """Write what the phase suggest says of pictures and sections, and a calibration."""
    generator = np.random.default_rng(SEED)
    hashes = generator.integers(0, 1 << 63, pictures, dtype=np.uint64)
    numbers = pl.DataFrame({"n": np.arange(pictures), "hash": hashes})
    named = pl.col("n").cast(pl.String).str.zfill(9)
    rows = numbers.select(
        image_id=named,
        file=pl.format("Photograph {}.jpg", named),
        kind=pl.lit("photograph"),
        illustrates=pl.lit(0.9),
        pages=pl.lit(1, pl.Int32),
        width=pl.lit(640, pl.Int32),
        height=pl.lit(480, pl.Int32),
        colours=pl.lit(900, pl.Int32),
        hash=pl.col("hash"),
        author=pl.lit("Somebody"),
        licence=pl.lit("CC BY-SA 4.0"),
        is_free=pl.lit(value=True),
        file_page=pl.format("https://commons.wikimedia.org/wiki/File:Photograph_{}.jpg", named),
    )
    store.write(rows.to_arrow().cast(PICTURE_KINDS), folder / "pictures.parquet", PICTURE_KINDS)
    store.write(SECTION_ROLES.empty_table(), folder / "sections.parquet", SECTION_ROLES)
    (folder / "calibration.json").write_text(json.dumps(calibration(generator)), "utf-8")


def calibration(generator: np.random.Generator) -> dict[str, Any]:
    """Return weights and curves like those that are learned."""
    count = len(score.FEATURES)
    ones = np.ones(count)
    weights = score.Weights(np.zeros(count), ones, 0.05 * ones, -3.0)
    logits = generator.normal(-3, 2, 2_000)
    right = generator.random(2_000) < 1 / (1 + np.exp(-logits))
    curves = calibrate.curves(logits, right, ["text"] * 2_000, [""] * 2_000)
    return {"weights": weights.record(), "curves": curves, "threshold": None}


def write_model(path: Path) -> None:
    """Write a CLIP of ViT-B/32's size; its weights are drawn by a seed."""
    import open_clip  # noqa: PLC0415 (slow to import)
    import torch  # noqa: PLC0415
    from safetensors.torch import save_file  # noqa: PLC0415

    torch.manual_seed(SEED)
    model: Any = open_clip.create_model(MODEL, pretrained_text=False)
    save_file({name: value.contiguous() for name, value in model.state_dict().items()}, path)


# The server, a process of its own.


def serve(root: Path, port: int) -> None:
    """Serve the page of live suggestions until the process is ended."""
    from isotope_judge import guards  # noqa: PLC0415
    from isotope_judge.suggestions import open_ledger  # noqa: PLC0415
    from isotope_suggest.ask.app import app  # noqa: PLC0415
    from isotope_suggest.ask.engine import Engine  # noqa: PLC0415

    os.chdir(root)
    engine = Engine.load(NAME, params(), patient=False)
    guards.serve(app(engine, open_ledger(NAME, "bench")), guards.listen("127.0.0.1", port))
    engine.close()


@dataclass
class Server:
    """A server that answers: where, what its start took, and the process."""

    port: int
    process: psutil.Process
    first_s: float = 0.0
    whole_s: float = 0.0

    def memory_gib(self) -> tuple[float, float]:
        """Return its memory and its children's: anonymous, and that of mapped files."""
        every = [self.process, *self.process.children(recursive=True)]
        parts = [_status(each.pid) for each in every]
        return sum(own for own, _ in parts), sum(mapped for _, mapped in parts)


def _status(process: int) -> tuple[float, float]:
    status = Path(f"/proc/{process}/status").read_text("ascii")
    sizes = {key: int(kb) / 2**20 for key, kb in re.findall(r"(Rss\w+):\s+(\d+) kB", status)}
    return sizes["RssAnon"] + sizes["RssShmem"], sizes["RssFile"]


@contextmanager
def served(root: Path, texts: Iterator[str]) -> Iterator[Server]:
    """Start the server; yield it once the model answers too."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    start = time.perf_counter()
    program = [sys.executable, __file__, "--serve", str(root), "--port", str(port)]
    with subprocess.Popen(program) as process:
        try:
            server = Server(port, psutil.Process(process.pid))
            while not server.whole_s:
                notes = _first_answer(port, next(texts), process)
                passed = time.perf_counter() - start
                server.first_s = server.first_s or passed
                if not any("being loaded" in note for note in notes):
                    server.whole_s = passed
                time.sleep(0.05)
            yield server
        finally:
            process.terminate()
            process.wait()


def _first_answer(port: int, text: str, process: "subprocess.Popen[bytes]") -> list[str]:
    ends = time.perf_counter() + _PATIENCE_S
    while time.perf_counter() < ends and process.poll() is None:
        try:
            return Person(port).ask(text)["notes"]
        except OSError:
            time.sleep(0.02)
    sys.exit("the server did not answer")


# The people.


@dataclass
class Person:
    """Somebody who asks the server, through one connection that stays."""

    port: int
    took_ms: list[float] = field(default_factory=list[float])

    def __post_init__(self) -> None:
        """Connect with the first question."""
        self._connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)

    def ask(self, text: str) -> dict[str, Any]:
        """Return the answer to a text; how long it took is noted."""
        head = {"Content-Type": "application/json", "Origin": f"http://127.0.0.1:{self.port}"}
        body = json.dumps({"text": text})
        start = time.perf_counter()
        self._connection.request("POST", "/api/pictures", body, head)
        with self._connection.getresponse() as response:
            answer = json.loads(response.read())
        self.took_ms.append((time.perf_counter() - start) * 1e3)
        if response.status != http.client.OK or len(answer["answers"]) == 0:
            sys.exit(f"status {response.status}: {answer}")
        return answer


def crowd(port: int, texts: Iterator[str], seconds: float, pause_s: float) -> list[float]:
    """Return what each answer took, in ms, to PEOPLE who ask for so long, pausing in between."""
    lock, people = threading.Lock(), [Person(port) for _ in range(PEOPLE)]
    ends = time.perf_counter() + seconds

    def work(person: Person, first_s: float) -> None:
        time.sleep(first_s)
        while time.perf_counter() < ends:
            with lock:
                text = next(texts)
            person.ask(text)
            time.sleep(pause_s)

    threads = [
        threading.Thread(target=work, args=(person, pause_s * n / PEOPLE))
        for n, person in enumerate(people)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [ms for person in people for ms in person.took_ms]


# The report.


def measure(root: Path, pictures: int, seconds: float) -> tuple[str, list[Claim]]:
    """Start the server twice, as the first start writes what others map; ask the second one."""
    texts = _texts()
    shutil.rmtree(root / CACHE, ignore_errors=True)
    with served(root, texts) as first:
        print(f"first start: {first.first_s:.1f} s", file=sys.stderr)
    with served(root, texts) as server:
        crowd(server.port, texts, min(5.0, seconds), 0.0)
        typing = crowd(server.port, texts, seconds, PAUSE_S)
        anonymous, mapped = server.memory_gib()
        rushing = crowd(server.port, texts, min(_SATURATED_S, seconds), 0.0)
    lines = [_row("a second of typing between", typing, seconds)]
    lines.append(_row("no pause", rushing, min(_SATURATED_S, seconds)))
    report = [
        "# Live suggestions\n",
        f"{pictures:,} pictures, {PEOPLE} people at once, each with texts of {WORDS[0]} and of "
        f"{WORDS[1]} words that the server had not seen; {seconds:g} s.\n",
        "| people | answers | a second | median ms | 95 of 100 ms | 99 of 100 ms | slowest ms |",
        "|---|---:|---:|---:|---:|---:|---:|",
        *lines,
        "",
        f"Start-up: {server.first_s:.1f} s to the first answer (words), {server.whole_s:.1f} s "
        f"until the model answers too; the first start of all, which writes codes and words, "
        f"{first.first_s:.1f} s. Memory: {anonymous:.2f} GiB, and {mapped:.2f} GiB of mapped "
        "files.\n",
    ]
    asked = f"{pictures:,} pictures, {PEOPLE} people"
    at_95 = float(np.percentile(typing, 95))
    claims = [
        Claim("suggest", asked, "the limit of 95 of 100 answers", at_95, LIMIT_MS, 1.0, unit="ms"),
        Claim("suggest", asked, "the limit of start-up", server.first_s, START_LIMIT_S, 1.0),
    ]
    return "\n".join(report), claims


def _texts() -> Iterator[str]:
    """Yield texts by turns short and long; each once."""
    some = [pools.queries(words, TEXTS_SENT)["text"].to_list() for words in WORDS]
    for both in zip(*some, strict=True):
        yield from both


def _row(name: str, took: Sequence[float], seconds: float) -> str:
    marks = [*np.percentile(took, [50, 95, 99]), max(took)]
    numbers = " | ".join(f"{ms:.0f}" for ms in marks)
    return f"| {name} | {len(took):,} | {len(took) / seconds:.1f} | {numbers} |"


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("pictures", nargs="?", type=int, default=PICTURES_WANTED)
    parser.add_argument("seconds", nargs="?", type=float, default=SECONDS)
    parser.add_argument("--at", type=Path)
    parser.add_argument("--serve", type=Path)
    parser.add_argument("--port", type=int, default=0)
    return parser.parse_args()


def main() -> None:
    """Build the collection unless it is there, and measure."""
    given = _arguments()
    if given.serve:
        serve(given.serve, given.port)
        return
    with tempfile.TemporaryDirectory() as folder:
        root = (given.at or Path(folder)) / f"suggest-{given.pictures}"
        if not (root / "model.safetensors").is_file():
            root.mkdir(parents=True, exist_ok=True)
            took, _ = timed(lambda: build(root, given.pictures))
            print(f"built in {took:.0f} s on {this_machine()}", file=sys.stderr)
        report, claims = measure(root, given.pictures, given.seconds)
    packages = ["numpy", "numba", "polars", "torch", "open_clip_torch", "starlette", "uvicorn"]
    write("suggest", f"{report}\n{machine(packages)}", claims)


if __name__ == "__main__":
    main()
