"""Collections of kind pairs, built phase by phase in this process, and data in upstream forms."""

import io
import json
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import polars as pl
from PIL import Image
from snakemake.iocontainers import Wildcards

from isotope.acquire.fetch import acquire
from isotope.collect.build import collect_tables
from isotope.collect.kinds.pairs import Pairs
from isotope.core import store
from isotope.core.manifest import parts
from isotope.crawl.contents import crawl_contents, list_contents
from isotope.crawl.ledger import gather_ledgers, list_urls
from isotope.crawl.pictures import crawl_pictures, list_pictures
from isotope.crawl.shard import crawl_shard
from isotope.params import files
from isotope.params.acquire import DigestedSource
from isotope.params.pairs import FORM, ROWS, Rows
from isotope.params.root import Params
from isotope.parse.pairs import parse_pairs
from isotope.plan.plan import Plan
from isotope.schemas.crawl import LEDGER, URLS

ROOT = Path(__file__).parents[1]
TABLES = ("texts", "images", "qrels", "filters", "rejected")
# Real names of Flickr8k's pictures; the words below are ours.
FLICKR = (
    *("1000268201_693b08cb0e.jpg", "1001773457_577c3a7d70.jpg", "1002674143_1b742ab4b8.jpg"),
    *("1003163366_44323f5815.jpg", "1007129816_e794419615.jpg", "1007320043_627395c3d8.jpg"),
)
WORDS = (
    *("A girl climbs the stairs of a small wooden house .", "Two dogs look at each other ."),
    *("A child paints on a large sheet of glass .", "A man sleeps on a bench in the park ."),
    *("A man with an orange hat stares at something .", "A boy slides down a red rope ."),
)


@dataclass(frozen=True)
class Built:
    """The tables of a collection."""

    folder: Path

    def table(self, name: str) -> pl.DataFrame:
        """Return a table."""
        return pl.read_parquet(self.folder / f"{name}.parquet")

    def reasons(self) -> dict[str, int]:
        """Return how many rows were set aside for each reason."""
        return dict(self.table("rejected")["reason"].value_counts().rows())

    def urls(self) -> list[tuple[str, str]]:
        """Return text and the picture's address of every judgement, sorted."""
        both = self.table("qrels").join(self.table("texts").drop("split"), on="text_id")
        both = both.join(self.table("images").drop("split"), on="image_id")
        return sorted(both.select("context_section_description", "image_url").rows())

    def pairs(self) -> list[tuple[str, str, int, str]]:
        """Return text, the picture's name, grade and split of every judgement, sorted."""
        both = self.table("qrels").join(self.table("texts").drop("split"), on="text_id")
        both = both.join(self.table("images").drop("split"), on="image_id")
        columns = ("context_section_description", "source_image_id", "relevance", "split")
        return sorted(both.select(columns).rows())


def built(place: Path, entry: Mapping[str, Any], crawl: Mapping[str, Any] | None = None) -> Built:
    """Build a collection `mine` of an entry of `collect` below `place`, as the rules do."""
    overlay = {"build": ["mine"], "collect": {"mine": {"kind": "pairs", **entry}}}
    overlay |= {"crawl": {"mine": crawl}} if crawl else {}
    (place / "mine.yaml").write_text(json.dumps(overlay), "utf-8")
    params = files.load([place / "mine.yaml"], root=ROOT)
    manifest = place / "acquire/manifest.json"
    acquire(DigestedSource.of_spec(params.acquire["mine"].spec()), manifest, place / "scratch")
    spec = params.collect["mine"]
    tables = {name: place / f"{name}.parquet" for name in ("pairs", "pairs_rejected")}
    rows = Rows.of_spec(spec.spec(*ROWS))
    parse_pairs(
        manifest=manifest, spec=rows, pairs=tables["pairs"], rejected=tables["pairs_rejected"]
    )
    if "mine" in params.crawl:
        tables |= _crawled(place, manifest, params)
    outputs = {name: place / f"collect/{name}.parquet" for name in TABLES}
    collect_tables(tables, spec, outputs)
    return Built(place / "collect")


def published(
    place: Path,
    parts: Mapping[str, Mapping[str, str | bytes]],
    entry: Mapping[str, Any],
    ledger: Sequence[Mapping[str, Any]] | None = None,
) -> dict[str, pl.DataFrame]:
    """Build a collection of a source with these parts, {part: {file: content}}; return its tables.

    With rows of a ledger these pictures came along.
    """
    listed: dict[str, list[str]] = {}
    for part, own in parts.items():
        for name, content in own.items():
            path = place / "upstream" / part / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode() if isinstance(content, str) else content)
            listed.setdefault(part, []).append(str(path))
    overlay = {"build": ["mine"], "acquire": {"mine": {"files": listed}}}
    overlay |= {"collect": {"mine": {"source": "mine", **entry}}}
    (place / "mine.yaml").write_text(json.dumps(overlay), "utf-8")
    params = files.load([place / "mine.yaml"], root=ROOT)
    manifest, pairs = place / "acquire/manifest.json", place / "pairs.parquet"
    acquire(DigestedSource.of_spec(params.acquire["mine"].spec()), manifest, place / "scratch")
    sources, of = Plan(params, {}).sources, Wildcards(fromdict={"source": "mine"})
    relations = {"pairs": pairs, "pairs_rejected": place / "pairs.rejected.parquet"}
    parse_pairs(
        manifest=manifest,
        spec=Rows.of_spec(sources.rows(of)),
        parts=sources.parts(of),
        pairs=pairs,
        rejected=relations["pairs_rejected"],
    )
    if ledger is not None:
        relations |= {name: place / f"{name}.parquet" for name in ("urls", "ledger")}
        urls = [row["image_url"] for row in ledger]
        ids = [str(uuid.uuid3(uuid.NAMESPACE_URL, url)) for url in urls]
        names = [{"image_url": u, "image_id": i} for u, i in zip(urls, ids, strict=True)]
        store.write_rows(names, relations["urls"], URLS)
        store.write_rows(ledger, relations["ledger"], LEDGER)
    collect_tables(
        relations,
        params.collect["mine"],
        {name: place / f"collect/{name}.parquet" for name in TABLES},
    )
    return {name: Built(place / "collect").table(name) for name in TABLES}


def of_atomic(
    manifest: Path, out: Path, crawled: Mapping[str, Path] = MappingProxyType({})
) -> dict[str, pl.DataFrame]:
    """Build a collection of AToMiC's published files, acquired to a manifest; return its tables.

    The rows of its source are in `parsed`, beside `out`.
    """
    parsed = out.with_name("parsed")
    relations = {"pairs": parsed / "pairs.parquet", "pairs_rejected": parsed / "rejected.parquet"}
    entry = Pairs.of_spec({"kind": "pairs", "form": "atomic", "source": "mine"})
    parse_pairs(
        manifest=manifest,
        spec=Rows.of_spec(entry.spec(*ROWS)),
        parts=parts(manifest),
        pairs=relations["pairs"],
        rejected=relations["pairs_rejected"],
    )
    collect_tables(
        {**relations, **crawled}, entry, {name: out / f"{name}.parquet" for name in TABLES}
    )
    return {name: Built(out).table(name) for name in TABLES}


def _crawled(place: Path, manifest: Path, params: Params) -> dict[str, Path]:
    spec, entry = params.crawl["mine"], params.collect["mine"]
    names = ("urls", "ledger", "shard", "ledger-0")
    urls, ledger, pixels, part = (place / f"{name}.parquet" for name in names)
    outputs = {"pixels": pixels, "ledger": part}
    if spec.pictures is None:
        list_urls([place / "pairs.parquet"], 1, urls)
        crawl_shard(urls, spec, 0, outputs, place / "scratch", spec)
    elif spec.pictures.part == "data":
        form = Rows.of_spec(entry.spec(*FORM))
        list_contents(manifest, form, 1, urls)
        crawl_contents(manifest, urls, form, spec, 0, outputs)
    else:
        list_pictures(manifest, spec.pictures, 1, urls)
        crawl_pictures(manifest, urls, spec.pictures, spec, 0, outputs)
    gather_ledgers(urls, [part], ledger, spec, spec)
    return {"urls": urls, "ledger": ledger}


def picture(shade: int, form: str = "JPEG") -> bytes:
    """Return the bytes of a small picture; each shade is another one."""
    out = io.BytesIO()
    Image.new("RGB", (24, 16), (shade * 37 % 256, shade * 11 % 256, 90)).save(out, form)
    return out.getvalue()


def draw(folder: Path, names: Sequence[str]) -> Path:
    """Write a picture of each name into a folder; return it."""
    for n, name in enumerate(names):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(picture(n))
    return folder


def sentences(name_number: int, captions: int) -> list[str]:
    """Return captions of the picture of this number."""
    return [f"{WORDS[name_number % len(WORDS)]} ({n})" for n in range(captions)]


def flickr(folder: Path, token: str, names: Sequence[str], captions: int = 5) -> Path:
    """Write a token file as Flickr8k and Flickr30k have it, with its pictures beside."""
    lines = [
        f"{name}#{n}\t{text}\n"
        for k, name in enumerate(names)
        for n, text in enumerate(sentences(k, captions))
    ]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / token).write_text("".join(lines), "utf-8")
    return folder


def karpathy(names: Sequence[str], splits: Sequence[str], folder: str = "") -> dict[str, Any]:
    """Return Karpathy's JSON of pictures in these splits, two captions each."""
    images: list[dict[str, Any]] = []
    for n, (name, split) in enumerate(zip(names, splits, strict=True)):
        raw = [
            {"tokens": t.lower().split(), "raw": t, "imgid": n, "sentid": 2 * n + k}
            for k, t in enumerate(sentences(n, 2))
        ]
        own = {"filename": name, "imgid": n, "split": split, "sentences": raw}
        own |= {"filepath": folder, "cocoid": 391895 + n} if folder else {}
        images.append({**own, "sentids": [2 * n, 2 * n + 1]})
    return {"images": images, "dataset": "coco" if folder else "flickr8k"}


def beir(folder: Path, documents: int = 4) -> Path:
    """Write a folder of BEIR: documents that stand for pictures, queries, graded judgements."""
    (folder / "qrels").mkdir(parents=True)
    corpus = [
        {"_id": f"d{n}", "title": f"Thing {n}", "text": WORDS[n % len(WORDS)]}
        for n in range(documents)
    ]
    queries = [{"_id": f"q{n}", "text": f"which thing is it, {n}?"} for n in range(3)]
    for name, rows in (("corpus", corpus), ("queries", queries)):
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (folder / f"{name}.jsonl").write_text(text, "utf-8")
    head = "query-id\tcorpus-id\tscore\n"
    (folder / "qrels/train.tsv").write_text(f"{head}q0\td0\t1\nq0\td9\t1\n")
    (folder / "qrels/test.tsv").write_text(f"{head}q1\td1\t2\nq1\td2\t0\nq2\td2\t1\n")
    return folder
