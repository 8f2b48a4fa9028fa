"""Claim: with words prepared as AToMiC's authors did, pools are indexed in 1.5 times the time.

    python benchmarks/prepare.py [TEXTS] [ROUNDS]     (default 50000 3)

As many captions as texts, drawn like those of Wikipedia (corpus.py), get marks in about the shares
that the published topics and real pages have: brackets, addresses, references, curly quotes. They
are indexed with `prepare: atomic` and with `prepare: none`, in turn, each in a process of its own.
Seconds are those of the processor, Java's too.
"""

import resource
import sys
import tempfile
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl
from common import Claim, Timing, machine, rounds, verdicts, write
from corpus import Corpus

from isotope.core.prepare import ATOMIC, NONE, prepared
from isotope.index.bm25 import index_bm25

AT_LEAST = 0.66
# What every so many texts have beside their words.
MARKS = {
    3: " (in brackets, too)",
    5: " \u201ccurly\u201d caf\u00e9",
    8: " this and/or that &amp; more",
    40: " http://example.org/a?b=c",
}


def marked(texts: Iterator[str]) -> list[str]:
    """Return texts with marks."""
    rows = enumerate(texts, 1)
    return [text + "".join(m for n, m in MARKS.items() if row % n == 0) for row, text in rows]


def make(folder: Path, texts: int) -> float:
    """Write texts and images; return the seconds in which all their words are prepared."""
    corpus, ids = Corpus(17), [f"{n:08}" for n in range(texts)]
    sections, captions = marked(corpus.sections(texts)), marked(corpus.captions(texts))
    titles = [" ".join(text.split()[:3]) for text in captions]
    contexts = [*sections[1:], sections[0]]
    named = {"page_title": titles, "section_title": "History", "hierarchy": "Life / History"}
    words = {"context_section_description": sections, "context_page_description": contexts}
    own = pl.DataFrame({"text_id": ids, "split": "other", **named, **words})
    own.write_parquet(folder / "texts.parquet")
    pictures = {"image_id": ids, "split": "other", "language": [["en"]] * texts}
    listed = {"reference": captions, "alt_text": [""] * texts, "attribution": captions[::-1]}
    fields = {f"caption_{k}_description": [[text] for text in v] for k, v in listed.items()}
    pl.DataFrame({**pictures, **fields}).write_parquet(folder / "images.parquet")
    start = time.process_time()
    for parts in (*zip(titles, sections, contexts, strict=True), *zip(captions, strict=True)):
        prepared(parts)
    return time.process_time() - start


def indexed(folder: Path, texts: int, *, prepare: str) -> Timing:
    """Return the processor seconds of an index of both sides."""
    tables = {side: folder / f"{side}.parquet" for side in ("texts", "images")}
    with tempfile.TemporaryDirectory(dir=folder) as place:
        index = Path(place) / "large/bm25"
        how: dict[str, Any] = {"splits": ["test"], "language": "en", "threads": 2}
        start = _spent()
        index_bm25(**tables, folders=[index], prepare=prepare, **how)
        seconds = _spent() - start
        size = sum(file.stat().st_size for file in index.rglob("*") if file.is_file())
    return {"s": seconds, "mb": size / 1e6, "texts": texts}


def _spent() -> float:
    who = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return sum(sum(resource.getrusage(each)[:2]) for each in who)


def main(texts: int = 50_000, times: int = 3) -> None:
    """Measure, and write the result."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        alone_s = make(folder, texts)
        tools = {way: partial(indexed, prepare=way) for way in (ATOMIC, NONE)}
        found = rounds(tools, folder, texts, times=times)
    ours, theirs = found[ATOMIC], found[NONE]
    size = f"{texts:,} texts and captions"
    claims = [Claim("index", size, "prepare: none", ours["s"], theirs["s"], AT_LEAST)]
    lines = [f"# prepare: what BM25's words cost before they are indexed, {size}", ""]
    lines += ["| prepare | processor s | index MB |", "|---|---:|---:|"]
    lines += [f"| {way} | {of['s']:.2f} | {of['mb']:.1f} |" for way, of in found.items()]
    lines += ["", verdicts(claims)]
    share = 100 * alone_s / ours["s"]
    lines += [f"Preparing alone, in one process: {alone_s:.2f} s, {share:.0f} % of the index.", ""]
    lines += [machine(["duckdb", "polars"])]
    write("prepare", "\n".join(lines), claims)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]))
