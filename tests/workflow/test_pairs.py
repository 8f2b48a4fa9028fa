"""Six real forms of data go the whole road by one entry each, from their files to scored runs."""

import json
import tarfile
import zipfile
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml
from tests.pairs import FLICKR, beir, draw, flickr, karpathy, picture, sentences

pytestmark = pytest.mark.long
COCO = [f"COCO_val2014_{n:012d}.jpg" for n in (391895, 522418, 184613, 318219, 554625, 397133)]
SYSTEMS = ("random", "bm25", "words")
# A picture with captions that others represent, a folder of BEIR, a table with several captions.
REPORTED = ("flickr30k", "things", "mine")


def lay_out(root: Path) -> dict[str, dict[str, object]]:
    """Write the six data sets below a folder; return an entry of `collect` for each."""
    flickr(root / "8k", "Flickr8k.token.txt", FLICKR)
    flickr(root / "30k", "results_20130124.token", FLICKR)
    draw(root / "images", FLICKR)
    published = karpathy(COCO, ["train", "restval", "val", "val", "test", "test"], "val2014")
    (root / "dataset_coco.json").write_text(json.dumps(published))
    with zipfile.ZipFile(root / "val2014.zip", "w") as archive:
        for n, name in enumerate(COCO):
            archive.writestr(f"val2014/{name}", picture(n))
    beir(root / "things")
    with tarfile.open(root / "00000.tar", "w") as tar:
        for n in range(6):
            for suffix, content in (("jpg", picture(n)), ("txt", sentences(n, 1)[0].encode())):
                info = tarfile.TarInfo(f"{n:09d}.{suffix}")
                info.size = len(content)
                tar.addfile(info, BytesIO(content))
    rows = [f"{name},{sentences(n, 1)[0]},{n % 3},{1900 + n}" for n, name in enumerate(FLICKR)]
    (root / "mine.csv").write_text("\n".join(["photo,words,grade,year", *rows]) + "\n")
    columns = {"image": "photo", "text": "words", "relevance": "grade", "date": "year"}
    pictures = str(root / "images")
    return {
        "flickr8k": {"data": str(root / "8k/Flickr8k.token.txt"), "pictures": pictures},
        "flickr30k": {
            "data": str(root / "30k/results_20130124.token"),
            "pictures": pictures,
            "texts": "first",
        },
        "karpathy": {
            "data": str(root / "dataset_coco.json"),
            "pictures": str(root / "val2014.zip"),
        },
        "things": {"data": str(root / "things"), "pictures": "none"},
        "tars": {"data": str(root / "*.tar"), "splits": {"validation": 0.3, "test": 0.6}},
        "mine": {"data": str(root / "mine.csv"), "pictures": pictures, "columns": columns},
    }


@pytest.fixture(scope="module")
def ran(project: Callable[[], Path], shell: Callable[..., str], tmp_path_factory) -> Path:
    """The project after one run that builds and scores all six."""
    place, entries = project(), lay_out(tmp_path_factory.mktemp("upstream"))
    overlay: dict[str, Any] = {
        "build": [*entries],
        "collect": {name: {"kind": "pairs", **entry} for name, entry in entries.items()},
        "models": {"words": {"kind": "hash", "dim": 32, "images": "captions"}},
        "systems": {"words": {"kind": "dense", "model": "words"}},
        "search": {"systems": [*SYSTEMS], "settings": ["large"], "splits": ["test"]},
        "tabulate": {"system": "words", "sizes": [], "diff": [], "facts": {}},
    }
    (place / "six.yaml").write_text(yaml.safe_dump(overlay))
    targets = [f"results/score/{name}.parquet" for name in entries]
    targets += [f"results/report/{name}/index.html" for name in REPORTED]
    shell("snakemake", "--cores", "2", *targets, "--configfile", "six.yaml", cwd=place)
    return place


def scores(ran: Path, name: str) -> dict[str, float]:
    table = pl.read_parquet(ran / f"results/score/{name}.parquet").filter(
        measure="MRR@10", task="t2m"
    )
    return dict(table.group_by("system").agg(pl.col("value").mean()).rows())


@pytest.mark.parametrize(
    ("name", "judged"),
    [("flickr8k", 30), ("flickr30k", 6), ("karpathy", 12), ("things", 4), ("tars", 6), ("mine", 6)],
)
def test_every_form_goes_the_whole_road_to_scores(ran, name, judged):
    qrels = pl.read_parquet(ran / f"data/collect/{name}/qrels.parquet")
    assert qrels.height == judged
    assert {*scores(ran, name)} == {*SYSTEMS}


def test_words_find_a_picture_that_other_captions_represent(ran):
    assert scores(ran, "flickr30k")["bm25"] == pytest.approx(1.0)


@pytest.mark.parametrize("name", REPORTED)
def test_a_report_shows_the_captions_of_a_picture_that_asks(ran, name):
    images = pl.read_parquet(ran / f"data/collect/{name}/images.parquet")
    said = [text for texts in images["caption_reference_description"] for text in texts]
    pages = [p.read_text() for p in (ran / f"results/report/{name}/cases").glob("m2t-*.html")]
    assert pages
    assert not said or any(text in page for page in pages for text in said)


def test_a_finished_run_has_nothing_left_to_do_and_an_edit_of_the_table_rebuilds_its_collection(
    ran, shell
):
    words = ["--configfile", "six.yaml"]
    targets = ["results/score/mine.parquet", "results/score/tars.parquet"]
    assert "Nothing to be done" in shell("snakemake", "-n", *targets, *words, cwd=ran)
    params = yaml.safe_load((ran / "six.yaml").read_text())
    table = Path(params["collect"]["mine"]["data"])
    table.write_text(table.read_text() + f"{FLICKR[0]},One more .,1,1910\n")
    planned = shell("snakemake", "-n", *targets, *words, cwd=ran)
    assert "parse the pairs of mine" in planned
    assert "parse the pairs of tars" not in planned
