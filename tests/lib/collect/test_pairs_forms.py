"""Data in the forms of its publishers becomes a collection of kind pairs by one entry.

Files are written as upstream writes them: names, ids and layout are real, words are ours.
"""

import json
import re
import tarfile
import zipfile
from io import BytesIO
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from tests.pairs import FLICKR, ROOT, beir, built, draw, flickr, karpathy, picture, sentences

from isotope.params import files

PAGE = (ROOT / "docs/pairs.md").read_text("utf-8")
BLOCKS = [yaml.safe_load(block) for block in re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)]
LISTS = {
    "train": "Flickr_8k.trainImages.txt",
    "validation": "Flickr_8k.devImages.txt",
    "test": "Flickr_8k.testImages.txt",
}


def documented(name: str, root: Path) -> dict[str, Any]:
    """Return the entry of the page's last block that has this collection, below `root`."""
    entries = [b["collect"][name] for b in BLOCKS if name in b["collect"]]
    return json.loads(json.dumps(entries[-1]).replace("upstream", str(root)))


@pytest.mark.parametrize("block", BLOCKS)
def test_every_entry_of_the_page_is_one_that_the_params_take(tmp_path, block):
    (tmp_path / "block.yaml").write_text(json.dumps({"build": [*block["collect"]], **block}))
    params = files.load([tmp_path / "block.yaml"], root=ROOT)
    [name] = params.build
    assert params.collect[name].source == name
    assert "data" in params.acquire[name].stated()


def test_the_first_table_of_the_page_is_what_its_first_entry_reads(tmp_path):
    [table] = re.findall(r"```csv\n(.*?)```", PAGE, re.DOTALL)
    (tmp_path / "captions.csv").write_text(table)
    draw(tmp_path / "pictures", ["a.jpg", "b.jpg", "c.jpg"])
    made = built(tmp_path, entry_of(BLOCKS[0], tmp_path))
    assert made.pairs() == [
        ("A dog runs .", "a.jpg", 2, "train"),
        ("A green hill .", "c.jpg", 1, "test"),
        ("A hill .", "c.jpg", 1, "test"),
        ("A wet dog .", "a.jpg", 2, "train"),
        ("Two boats .", "b.jpg", 1, "validation"),
    ]
    assert made.table("images")["camera"].sort().to_list() == ["Leica", "Zeiss", "Zeiss"]


def entry_of(block: dict[str, Any], root: Path) -> dict[str, Any]:
    [entry] = block["collect"].values()
    return json.loads(json.dumps(entry).replace("upstream", str(root)))


def flickr8k(root: Path) -> Path:
    """Lay Flickr8k out as its two archives have it: captions and lists in one, pictures in one."""
    folder = flickr(root / "Flickr8k_text", "Flickr8k.token.txt", FLICKR)
    for (_, name), own in zip(LISTS.items(), (FLICKR[:2], FLICKR[2:4], FLICKR[4:5]), strict=True):
        (folder / name).write_text("".join(f"{each}\n" for each in own))
    with zipfile.ZipFile(root / "Flickr8k_Dataset.zip", "w") as archive:
        for n, name in enumerate(FLICKR):
            archive.writestr(f"Flicker8k_Dataset/{name}", picture(n))
            archive.writestr(f"__MACOSX/Flicker8k_Dataset/._{name}", b"\0\5\26\7")
    return root


def test_flickr8k_takes_at_most_ten_lines_of_yaml():
    lines = (ROOT / "params/flickr8k.yaml").read_text("utf-8").splitlines()
    own = [line for line in lines if line.strip() and not line.lstrip().startswith("#")]
    assert len(own) <= 10
    assert yaml.safe_load("\n".join(own))["collect"]["flickr8k"]["kind"] == "pairs"


def test_flickr8k_has_its_captions_and_the_splits_of_its_lists(tmp_path):
    overlay, root = ROOT / "params/flickr8k.yaml", flickr8k(tmp_path)
    params = files.load([overlay], [f"root={root}"], root=ROOT)
    entry = params.collect["flickr8k"]
    made = built(tmp_path, {k: v for k, v in entry.spec().items() if k not in ("kind", "source")})
    pairs = made.pairs()
    assert len(pairs) == 5 * 5
    assert {(name, split) for _, name, _, split in pairs} == {
        *((name, "train") for name in FLICKR[:2]),
        *((name, "validation") for name in FLICKR[2:4]),
        (FLICKR[4], "test"),
    }
    assert made.reasons() == {"no_split": 5}
    assert f"{FLICKR[0]}#3" in made.table("texts")["text_id"].to_list()


def test_flickr30k_has_its_token_file_and_a_folder_of_pictures(tmp_path):
    flickr(tmp_path, "results_20130124.token", FLICKR[:3])
    draw(tmp_path / "flickr30k-images", FLICKR[:3])
    made = built(tmp_path, documented("flickr30k", tmp_path))
    assert made.table("qrels").height == 15
    assert made.table("images")["mime_type"].to_list() == ["image/jpeg"] * 3
    assert made.table("images")["split"].to_list() == ["test"] * 3


def test_coco_has_the_splits_of_karpathys_file(tmp_path):
    names = [f"COCO_val2014_{n:012d}.jpg" for n in (391895, 522418, 184613, 318219)]
    published = karpathy(names, ["train", "restval", "val", "test"], "val2014")
    (tmp_path / "dataset_coco.json").write_text(json.dumps(published))
    for folder in ("train2014", "val2014"):
        with zipfile.ZipFile(tmp_path / f"{folder}.zip", "w") as archive:
            for n, name in enumerate(names):
                archive.writestr(f"{folder}/{name.replace('val2014', folder)}", picture(n))
    made = built(tmp_path, documented("coco", tmp_path))
    qrels = made.table("qrels").group_by("split").len().sort("split").rows()
    assert qrels == [("test", 2), ("train", 4), ("validation", 2)]
    assert made.table("texts")["text_id"].sort().to_list() == [str(n) for n in range(8)]
    assert made.reasons() == {}


def test_a_beir_folder_has_graded_judgements_and_documents_that_nobody_judged(tmp_path):
    beir(tmp_path / "things")
    made = built(tmp_path, documented("things", tmp_path))
    assert [(name, grade, split) for _, name, grade, split in made.pairs()] == [
        ("d0", 1, "train"),
        ("d1", 2, "test"),
        ("d2", 0, "test"),
        ("d2", 1, "test"),
    ]
    images = made.table("images").sort("source_image_id")
    assert images["split"].to_list() == ["train", "test", "test", "other"]
    assert images["caption_reference_description"][3].to_list() == [
        "Thing 3 A man sleeps on a bench in the park ."
    ]
    unknown = made.table("rejected").select("file", "row", "reason", "detail").rows()
    assert unknown == [("train.tsv", 3, "no_picture", "d9")]


def test_a_webdataset_has_pictures_and_texts_in_tars(tmp_path):
    for shard in range(2):
        with tarfile.open(tmp_path / f"{shard:05d}.tar", "w") as tar:
            for n in range(2):
                key = f"{shard:05d}{n:04d}"
                fields = {"fold": ["train", "test"][n], "license": "CC0", "width": 24}
                members = {
                    "jpg": picture(2 * shard + n),
                    "txt": sentences(2 * shard + n, 1)[0].encode(),
                    "json": json.dumps(fields).encode(),
                }
                for suffix, content in members.items():
                    info = tarfile.TarInfo(f"{key}.{suffix}")
                    info.size = len(content)
                    tar.addfile(info, BytesIO(content))
    made = built(tmp_path, documented("tars", tmp_path))
    assert sorted(split for *_, split in made.pairs()) == ["test", "test", "train", "train"]
    images = made.table("images").sort("image_url")
    assert images["image_url"][0] == "00000.tar/000000000.jpg"
    assert images["licence"].to_list() == ["CC0"] * 4
    assert images["width"].to_list() == [24] * 4


def test_a_folder_has_captions_beside_its_pictures(tmp_path):
    folder = draw(tmp_path / "holidays", ["a.jpg", "b/c.jpg", "d.jpg"])
    (folder / "a.txt").write_text("A beach .\nThe same beach .\n")
    (folder / "b/c.txt").write_text("A tent .\n")
    made = built(tmp_path, documented("holidays", tmp_path))
    assert [text for text, *_ in made.pairs()] == ["A beach .", "A tent .", "The same beach ."]
    images = made.table("images").sort("source_image_id")
    assert images.select("source_image_id", "split").rows() == [
        ("a", "test"),
        ("b/c", "test"),
        ("d", "other"),
    ]


def test_an_imagefolder_has_a_table_beside_its_pictures_and_folders_of_splits(tmp_path):
    for split, lines in (
        ("train", "1.jpg,A cat .\nb/1.jpg,A dog .\n"),
        ("test", "1.jpg,A hen .\n"),
    ):
        folder = draw(
            tmp_path / "pets" / split, [line[:-1] for line in re.findall(r"\S+g,", lines)]
        )
        (folder / "metadata.csv").write_text(f"file_name,text\n{lines}")
    made = built(tmp_path, documented("pets", tmp_path))
    assert [(text, split) for text, *_, split in made.pairs()] == [
        *(("A cat .", "train"), ("A dog .", "train"), ("A hen .", "test"))
    ]
    assert sorted(made.table("images")["image_url"]) == [
        *("test/1.jpg", "train/1.jpg", "train/b/1.jpg")
    ]


def test_an_mteb_folder_has_pictures_as_bytes(tmp_path):
    folder = tmp_path / "set"
    images = [{"bytes": picture(n), "path": f"{n}.jpg"} for n in range(3)]
    tables = {
        "corpus": {"id": ["d0", "d1", "d2"], "modality": ["image"] * 3, "image": images},
        "queries": {"id": ["q0", "q1"], "modality": ["text"] * 2, "text": ["A .", "B ."]},
        "qrels": {"query-id": ["q0", "q1"], "corpus-id": ["d0", "d2"], "score": [1, 2]},
    }
    for name, columns in tables.items():
        (folder / name).mkdir(parents=True)
        pq.write_table(pa.table(columns), folder / name / "test-00000-of-00001.parquet")
    made = built(tmp_path, {"data": str(folder)})
    assert made.pairs() == [("A .", "d0", 1, "test"), ("B .", "d2", 2, "test")]
    assert made.table("images").sort("source_image_id")["width"].to_list() == [24, 24, 24]


def test_an_id_of_ir_datasets_is_read_from_this_machine(tmp_path):
    import ir_datasets  # noqa: PLC0415 (a package of users)
    from ir_datasets.formats import TrecQrels, TsvDocs, TsvQueries  # noqa: PLC0415
    from ir_datasets.util import Cache, Download, RequestsDownload  # noqa: PLC0415

    files = {"docs": "d1\tA dog .\nd2\tA sea .\n", "queries": "q1\twhich dog?\n"}
    files |= {"qrels": "q1 0 d1 2\nq1 0 d2 0\n"}
    nowhere = Download([RequestsDownload("http://nowhere.invalid/x")])
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    docs, queries, qrels = (Cache(nowhere, tmp_path / name) for name in files)
    data = ir_datasets.Dataset(
        TsvDocs(docs, namespace="mine"), TsvQueries(queries), TrecQrels(qrels, {0: "no", 2: "yes"})
    )
    ir_datasets.registry.register("mine/test", data)
    try:
        made = built(tmp_path, {"data": "ir_datasets:mine/test", "pictures": "none"})
    finally:
        del ir_datasets.registry._registered["mine/test"]
    assert made.pairs() == [("which dog?", "d1", 2, "test"), ("which dog?", "d2", 0, "test")]
    captions = made.table("images").sort("source_image_id")["caption_reference_description"]
    assert captions.to_list() == [["A dog ."], ["A sea ."]]


def test_rows_of_several_files_and_columns_keep_their_types(tmp_path):
    for n, rows in enumerate(([(1, 0.5)], [(2, None)])):
        frame = pl.DataFrame(
            {"file": [f"{n}.jpg"], "text": [f"Text {n} ."], "likes": [rows[0][0]]}
            | {"score": pl.Series([rows[0][1]], dtype=pl.Float64), "tags": [["x", "y"]]}
        )
        frame.write_parquet(tmp_path / f"part-{n}.parquet")
    entry = {
        "data": str(tmp_path / "part-*.parquet"),
        "pictures": "none",
        "columns": {"image": "file", "text": "text"},
        "keep": {"image": ["likes", "tags"], "text": ["score"]},
    }
    made = built(tmp_path, entry)
    images = made.table("images").sort("source_image_id")
    assert images.select("likes", "tags").rows() == [(1, ["x", "y"]), (2, ["x", "y"])]
    assert images.schema["likes"] == pl.Int64()
    assert made.table("texts").sort("text_id")["score"].to_list() == [0.5, None]
