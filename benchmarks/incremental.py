"""Claim: where 5 % of an encyclopedia has changed, its next edition costs at most 10 % of a first.

    python benchmarks/incremental.py [PAGES] [BATCH]     (default 500 16)

Two editions of the embedded encyclopedia: in the later one every 20th page has other words and
other pictures. Pictures are crawled from a server on loopback, texts and pictures encoded by a
ViT-B/32 of open_clip with random weights, and both indexed for BM25; in seconds of the processors,
children included. The later edition is built twice: from nothing, and after the first. Both must
have the same pictures and vectors, byte for byte, and answer questions alike.

What the jobs take to start, whatever they do (imports, the weights, the decoders, the virtual
machine of Lucene), is measured beside, with one picture and one text, and taken off both: it is the
same for a toy and for all of Wikipedia. With starts, the costs are shown as they are.
"""

import multiprocessing
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

import polars as pl
from common import Claim, Timing, machine, spent, verdicts, write
from PIL import Image, ImageOps

MODEL, EVERY, RATIO, QUESTIONS = "ViT-B-32", 20, 10.0, 200
PHASES = ("crawl", "encode", "index")
FIELDS = ("caption_reference_description", "caption_alt_text_description")
CHANGED = " It was closed last month and opened again."


def parsed(folder: Path, pages: int) -> None:
    """Write the first edition's pictures, sections and associations."""
    from isotope.parse.dump import parse_dump  # noqa: PLC0415
    from isotope.parse.wit import parse_wit  # noqa: PLC0415
    from isotope_toy import snapshot  # noqa: PLC0415

    snapshot.generate(folder, pages=pages)
    shards = sorted((folder / "wit").glob("*.tsv.gz"))
    rejected = folder / "rejected.parquet"
    parse_wit(shards, out=folder / "associations.parquet", rejected=rejected)
    tables = ("sections", "links", "outline", "infoboxes", "pictures")
    dump = [p for p in (folder / "dump").iterdir() if p.name.endswith(".xml.bz2")]
    outs: dict[str, Any] = {
        ("out" if t == "sections" else t): folder / f"{t}.parquet" for t in tables
    }
    parse_dump(dump, **outs, rejected=rejected, counts=folder / "counts.json", workers=1)


def edited(before: Path, after: Path) -> None:
    """Write the later edition: other words and mirrored pictures on every 20th page."""
    shutil.copytree(before, after)
    sections = pl.read_parquet(before / "sections.parquet")
    titles = sections["page_title"].unique().sort().gather_every(EVERY)
    told = pl.col("context_page_description")
    now = pl.when(pl.col("page_title").is_in(titles.implode())).then(told + CHANGED).otherwise(told)
    sections.with_columns(now).write_parquet(after / "sections.parquet")
    shown = pl.read_parquet(before / "associations.parquet").filter(
        pl.col("page_title").is_in(titles.implode())
    )
    for path in sorted({_file(after, url) for url in shown["image_url"]}):
        if path.is_file():
            with Image.open(path) as image:
                kind, mirrored = image.format, ImageOps.mirror(image.convert("RGB"))
            mirrored.save(path, kind)


def _file(folder: Path, url: str) -> Path:
    from urllib.parse import unquote  # noqa: PLC0415

    return folder / "images" / unquote(url.split("/", 3)[3])


def crawled(edition: Path, out: Path, after: Path | None, most: int | None = None) -> None:
    """Crawl the pictures, or the first of them, after those of an earlier build."""
    from isotope.core import sql  # noqa: PLC0415
    from isotope.crawl import shard  # noqa: PLC0415
    from isotope.params import files as params_files  # noqa: PLC0415

    asked = {"associations": edition / "associations.parquet"}
    urls = sql.query(sql.SQL / "crawl/urls.sql", asked, {"shards": 1})
    assert urls is not None
    urls.head(most or urls.height).write_parquet(out / "urls.parquet")
    base = params_files.load(root=Path(__file__).parents[1]).crawl["toy"]
    more = {"serve": str(edition / "images"), "after": after and after.name}
    spec = base.model_copy(update=more)
    files = {name: out / f"{name}-00000.parquet" for name in ("shard", "ledger")}
    places = {"pixels": files["shard"], "ledger": files["ledger"]}
    shard.crawl_shard(out / "urls.parquet", spec, 0, places, out / "scratch", spec)
    shutil.copyfile(files["ledger"], out / "ledger.parquet")


def collected(edition: Path, out: Path) -> None:
    """Write texts and images: every section, and every picture that was crawled."""
    sections = pl.read_parquet(edition / "sections.parquet")
    sections.with_columns(split=pl.lit("test")).write_parquet(out / "texts.parquet")
    there = pl.read_parquet(out / "shard-00000.parquet", columns=["image_id", "image_url"])
    captions = [pl.col(f) for f in FIELDS]
    none = pl.lit(None, pl.String).alias("caption_attribution_description")
    said = pl.read_parquet(edition / "associations.parquet").sort("file", "row")
    lists = said.group_by("image_url", maintain_order=True).agg("language", *captions, none)
    images = there.join(lists, on="image_url").sort("image_id").with_columns(split=pl.lit("test"))
    images.write_parquet(out / "images.parquet")


def encoded(out: Path, after: Path | None, weights: Path, batch: int) -> None:
    """Encode both sides, after an earlier build's."""
    from isotope.encode.cache import Encoding  # noqa: PLC0415
    from isotope.encode.shard import ShardFiles, encode_images, encode_texts  # noqa: PLC0415
    from isotope.models.kinds.open_clip import OpenClip  # noqa: PLC0415

    model = OpenClip(kind="open_clip", name=MODEL, pretrained=str(weights))
    encoding = Encoding(model, None, batch)
    texts, images = (
        ShardFiles(
            out / f"{side}.npy",
            out / f"{side}.ids.parquet",
            [after / f"{side}.npy"] if after else [],
        )
        for side in ("texts", "images")
    )
    encode_texts(out / "texts.parquet", encoding, texts)
    encode_images(out / "images.parquet", [out / "shard-00000.parquet"], encoding, images)


def indexed(out: Path, after: Path | None = None) -> None:
    """Index the words of both sides in one pool, after an earlier build's."""
    from isotope.index.bm25 import index_bm25  # noqa: PLC0415

    collection = {side: out / f"{side}.parquet" for side in ("texts", "images")}
    folder, *earlier = (p / "index/large/bm25" for p in (out, after) if p)
    how: dict[str, Any] = {"language": "en", "threads": 1, "earlier": earlier}
    index_bm25(**collection, folders=[folder], splits=["test"], **how)


def build(edition: Path, out: Path, after: Path | None, weights: Path, batch: int) -> Timing:
    """Build a collection of an edition; return each phase's seconds of the processors."""
    import torch  # noqa: PLC0415

    torch.set_num_threads(1)
    out.mkdir()
    start, found = spent(), Timing()
    crawled(edition, out, after)
    found["crawl"] = spent() - start
    collected(edition, out)
    start = spent()
    encoded(out, after, weights, batch)
    found["encode"] = spent() - start
    start = spent()
    indexed(out, after)
    found["index"] = spent() - start
    found["texts"], found["images"] = (
        pl.scan_parquet(out / f"{s}.parquet").select(pl.len()).collect().item()
        for s in ("texts", "images")
    )
    return found


def begun(edition: Path, built: Path, out: Path, weights: Path) -> Timing:
    """Start what a build starts, for one picture and one text; return the seconds likewise."""
    from isotope.models import encoders  # noqa: PLC0415
    from isotope.models.kinds.open_clip import OpenClip  # noqa: PLC0415

    out.mkdir()
    start, found = spent(), Timing()
    crawled(edition, out, None, 1)
    found["crawl"] = spent() - start
    for side in ("texts", "images"):
        pl.read_parquet(built / f"{side}.parquet").head(1).write_parquet(out / f"{side}.parquet")
    start = spent()
    for _ in ("texts", "images"):
        encoders.load(OpenClip(kind="open_clip", name=MODEL, pretrained=str(weights)))
    found["encode"] = spent() - start
    start = spent()
    indexed(out)
    found["index"] = spent() - start
    return found


def same(one: Path, other: Path) -> None:
    """Hold that two builds have the same bytes, and that their indexes answer alike."""
    from isotope.core.lucene import Bm25Parameters, search  # noqa: PLC0415

    files = ["shard-00000.parquet"]
    files += [f"{s}.{kind}" for s in ("texts", "images") for kind in ("npy", "contents.parquet")]
    for name in files:
        assert (one / name).read_bytes() == (other / name).read_bytes(), name
    said = pl.read_parquet(one / "texts.parquet").head(QUESTIONS)
    for side in ("texts", "images"):
        asked = list(said.select("text_id", "context_section_description").iter_rows())
        found = [
            search(
                p / f"index/large/bm25/all/{side}",
                asked,
                Bm25Parameters(0.9, 0.4, memory_mb=512),
                hits=100,
                threads=1,
            )
            for p in (one, other)
        ]
        assert found[0].height
        assert found[0].equals(found[1])


def weighted(path: Path) -> None:
    """Write random weights, the same for all builds."""
    import open_clip  # noqa: PLC0415
    import torch  # noqa: PLC0415
    from safetensors.torch import save_model  # noqa: PLC0415

    torch.manual_seed(0)
    save_model(open_clip.create_model(MODEL, pretrained=None), str(path))


def measured(place: Path, pages: int, batch: int) -> dict[str, Timing]:
    """Build both editions from nothing, side by side, then the later one after the first."""
    weights = place / "model.safetensors"
    with multiprocessing.get_context("spawn").Pool(2, maxtasksperchild=1) as pool:
        pool.apply(weighted, (weights,))
        pool.apply(parsed, (place / "first", pages))
        pool.apply(edited, (place / "first", place / "second"))
        given = {
            "first": (place / "first", place / "built-first", None),
            "cold": (place / "second", place / "built-cold", None),
        }
        jobs = {n: pool.apply_async(build, (*a, weights, batch)) for n, a in given.items()}
        found = {name: job.get() for name, job in jobs.items()}
        after = (place / "second", place / "built-after", place / "built-first")
        found["after"] = pool.apply(build, (*after, weights, batch))
        alone = (place / "second", place / "built-cold", place / "begun", weights)
        found["start"] = pool.apply(begun, alone)
        pool.apply(same, (place / "built-cold", place / "built-after"))
    return found


def report(found: dict[str, Timing], pages: int, batch: int) -> tuple[str, list[Claim]]:
    """Return the page and its claim."""
    lines = ["| phase | from nothing, s | after the first, s | share | start, s |"]
    lines.append("|---|---:|---:|---:|---:|")
    rows = {p: tuple(found[n][p] for n in ("cold", "after", "start")) for p in PHASES}
    rows["together"] = tuple(sum(column) for column in zip(*rows.values(), strict=True))
    for name, (cold, after, start) in rows.items():
        told = f"{cold:.1f} | {after:.1f} | {after / cold:.1%} | {start:.1f}"
        lines.append(f"| {name} | {told} |")
    cold, after, start = rows["together"]
    size = f"{pages:,} pages, 1 of {EVERY} changed"
    peer = "the same edition from nothing"
    claims = [
        Claim("snapshots", size, peer, after - start, cold - start, RATIO),
        Claim("snapshots", size, f"{peer}, starts included", after, cold, None),
    ]
    counts = found["cold"]
    text = (
        f"# The next edition, after the first\n\n{size}: {counts['texts']:,} texts and"
        f" {counts['images']:,} pictures; {MODEL}, batches of {batch}, one thread. Pictures and"
        " vectors are the same as from nothing, byte for byte, and BM25 answers alike. Seconds of"
        " the processors, children included; a start is the same jobs with one picture and one"
        " text.\n\n"
        + "\n".join(lines)
        + f"\n\n{verdicts(claims)}\n"
        + machine(["torch", "open_clip_torch", "aiohttp", "pyserini"])
    )
    return text, claims


def main(pages: int = 500, batch: int = 16) -> None:
    """Measure, compare and report."""
    with tempfile.TemporaryDirectory() as name:
        found = measured(Path(name), pages, batch)
    print(found, file=sys.stderr)
    write("incremental", *report(found, pages, batch))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
