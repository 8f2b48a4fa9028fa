"""TREC's AToMiC track of 2023 from files in NIST's form to the tables, held against trec_eval."""

import gzip
import json
import random
import uuid
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests import trec_eval

from isotope.core.schemas import PUBLISHED_IMAGES as IMAGES
from isotope.core.schemas import PUBLISHED_TEXTS as TEXTS

THINGS = (
    *("harbour", "glacier", "violin", "cathedral", "orchard", "locomotive", "falcon", "volcano"),
    *("lighthouse", "tapestry", "windmill", "compass", "aqueduct", "lantern", "sundial", "kayak"),
)
URL = "https://upload.wikimedia.org/wikipedia/commons/{}.jpg"
# trec_eval's names of the overlays' measures.
MEASURES = {"nDCG@10": "ndcg_cut_10", "MAP": "map", "R@1000": "recall_1000"}
pytestmark = pytest.mark.long


def text(n: int) -> dict[str, Any]:
    thing, next_one = THINGS[n], THINGS[(n + 1) % len(THINGS)]
    words = f"The {thing} stands near a {next_one}."
    return {
        "text_id": f"projected-{n:08d}-002",
        "page_url": f"https://en.wikipedia.org/wiki/{thing}",
        "page_title": thing.capitalize(),
        "section_title": "History",
        "hierachy": ["History"],
        "context_page_description": f"A {thing} is a thing.",
        "context_section_description": words,
        "category": ["Things"],
        "source_id": "",
    }


def image(n: int) -> dict[str, Any]:
    url, thing = URL.format(THINGS[n]), THINGS[n]
    return {
        "image_id": str(uuid.uuid3(uuid.NAMESPACE_URL, url)),
        "image_url": url,
        "language": ["en"],
        "caption_reference_description": [f"a {thing} by the road"],
        "caption_alt_text_description": [thing],
        "caption_attribution_description": ["by a photographer"],
    }


EVERY = range(len(THINGS))
TEXT_IDS = [text(n)["text_id"] for n in EVERY]
IMAGE_IDS = [image(n)["image_id"] for n in EVERY]
ASKING = (1, 4, 6, 9)


def table(rows: list[dict[str, Any]], schema: pa.Schema, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    blank = {field.name: [] if pa.types.is_list(field.type) else None for field in schema}
    pq.write_table(pa.Table.from_pylist([{**blank, **row} for row in rows], schema=schema), path)


def submit(path: Path, tag: str, asking: list[str], found: list[str], seed: int) -> None:
    """A participant's run of NIST's: every document for every topic, in some order, packed."""
    draw = random.Random(seed)
    lines = []
    for topic in asking:
        order = draw.sample(found, len(found))
        scores = ((rank, doc, 1 / rank) for rank, doc in enumerate(order, 1))
        lines += [f"{topic} Q0 {doc} {rank} {score:.6f} {tag}\n" for rank, doc, score in scores]
    path.write_bytes(gzip.compress("".join(lines).encode()))


@pytest.fixture(scope="module")
def nist(tmp_path_factory) -> Path:
    """The folder that docs/track.md describes, of sixteen things and four topics a task."""
    root = tmp_path_factory.mktemp("nist")
    table([text(n) for n in EVERY], TEXTS, root / "texts/train-00000-of-00001.parquet")
    columns = pa.schema([field for field in IMAGES if field.name != "image"])
    table([image(n) for n in EVERY], columns, root / "images/train-00000-of-00001.parquet")
    (root / "trec2023/runs").mkdir(parents=True)
    suggest, promote = [text(n) for n in ASKING], [image(n) for n in ASKING]
    (root / "trec2023/TREC-2023-Text-to-Image.json").write_text(json.dumps(suggest))
    lines = "".join(f"{json.dumps(topic)}\n" for topic in promote)
    (root / "trec2023/TREC-2023-Image-to-Text.json").write_text(lines)
    draw = random.Random(0)
    for task, own, other in (("t2i", TEXT_IDS, IMAGE_IDS), ("i2t", IMAGE_IDS, TEXT_IDS)):
        judged = [
            f"{own[n]} 0 {other[m]} {2 if m == n else draw.choice((0, 0, 1))}\n"
            for n in ASKING
            for m in draw.sample(EVERY, 9)
        ]
        judged += [f"{own[n]} 0 {other[n]} 2\n" for n in ASKING]
        (root / f"trec2023/qrels.2023.{task}").write_text("".join(dict.fromkeys(judged)))
    runs = root / "trec2023/runs"
    for seed, name in enumerate(("b_flava", "UvA-IRLab-mlp-mlm-img_cap")):
        submit(runs / f"input.{name}.gz", name, [TEXT_IDS[n] for n in ASKING], IMAGE_IDS, seed)
    submit(
        runs / "input.b_flava_i2t.gz", "b_flava_i2t", [IMAGE_IDS[n] for n in ASKING], TEXT_IDS, 7
    )
    return root


# Of each overlay: its task, the ending of its judgements, and whose runs are read.
OVERLAYS = {
    "trec2023": ("t2m", "t2i", ["UvA-IRLab-mlp-mlm-img_cap", "b_flava"]),
    "trec2023-promotion": ("m2t", "i2t", ["b_flava_i2t"]),
}


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_nists_judgements_score_the_participants_and_us(project, shell, nist, tmp_path, overlay):
    place, (task, side, participants) = project(), OVERLAYS[overlay]
    config = ["--configfile", f"params/{overlay}.yaml", "--config", f"root={nist}"]
    shell("snakemake", "--cores", "2", "all", *config, f"name={overlay}", cwd=place)
    scores = pl.read_parquet(place / f"results/score/{overlay}.parquet")
    assert set(scores["system"]) == {"bm25", *participants}
    assert set(scores.select("setting", "split", "task").unique().rows()) == {
        ("large", "test", task)
    }
    qrels = nist / f"trec2023/qrels.2023.{side}"
    for name in participants:
        run = tmp_path / f"{name}.trec"
        run.write_bytes(gzip.decompress((nist / f"trec2023/runs/input.{name}.gz").read_bytes()))
        theirs = trec_eval.values(qrels, run, "ndcg_cut.10", "map", "recall.1000")
        assert len(theirs) == len(ASKING) * len(MEASURES)
        for measure, called in MEASURES.items():
            own = scores.filter(system=name, measure=measure)
            ours = dict(own.select("query_id", "value").iter_rows())
            assert ours == pytest.approx(
                {topic: float(v) for (topic, m), v in theirs.items() if m == called}, abs=1e-4
            )
    means = dict(
        scores.filter(measure="nDCG@10").group_by("system").agg(pl.col("value").mean()).iter_rows()
    )
    assert means["bm25"] > max(means[name] for name in participants), "captions name the thing"
    shown = (place / f"results/tables/{overlay}/table3.csv").read_text()
    assert all(name in shown for name in participants)
