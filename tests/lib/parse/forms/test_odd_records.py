"""An odd value in one record costs no other record, in whatever form the data are."""

import io
import json
import tarfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

from isotope.parse.forms import form_of
from isotope.parse.forms.base import Rejection

Record = dict[str, object]
Write = Callable[[Path, Mapping[str, Record]], Path]
ODD: dict[str, object] = {
    **{"beyond 64 bits": 2**63, "beyond all": 10**30, "negative": -1, "nought": 0, "true": True},
    **{"a fraction": 1.5, "no number": float("nan"), "nothing": None, "empty": "", "a list": [1]},
    **{"a record": {"a": 1}, "NUL": "a\0b", "a bell": "\x07", "two lines": "a\nb"},
    **{"half an emoji": "a dog \ud83d", "long": "x" * 100_000},
}
HALF = "half of a surrogate pair (\\ud83d), which is no letter"


def coco(folder: Path, own: Mapping[str, Record]) -> Path:
    image = {"id": 1, "file_name": "a.jpg", "width": 3, "license": 1, "coco_url": "u"}
    content = {
        "images": [image | own.get("image", {}), {"id": 2, "file_name": "b.jpg"}],
        "annotations": [
            {"id": 5, "image_id": 1, "caption": "x"} | own.get("note", {}),
            {"id": 6, "image_id": 2, "caption": "good"},
        ],
        "licenses": [{"id": 1, "name": "n", "url": "u"} | own.get("licence", {})],
    }
    path = folder / "captions_val.json"
    path.write_text(json.dumps(content))
    return path


def karpathy(folder: Path, own: Mapping[str, Record]) -> Path:
    sentence = {"raw": "x", "sentid": 0} | own.get("sentence", {})
    image = {"filename": "a.jpg", "split": "train", "imgid": 0, "sentences": [sentence]}
    other = {"filename": "b.jpg", "imgid": 1, "sentences": [{"raw": "good", "sentid": 1}]}
    path = folder / "dataset_x.json"
    path.write_text(json.dumps({"images": [image | own.get("image", {}), other], "dataset": "x"}))
    return path


def jsonl(folder: Path, own: Mapping[str, Record]) -> Path:
    records = [{"image": "a.jpg", "caption": "x", "id": 1} | own["record"], {"caption": "good"}]
    path = folder / "x.jsonl"
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records))
    return path


def beside(own: Mapping[str, Record]) -> dict[str, bytes]:
    records = [{"caption": "x", "id": 1} | own["record"], {"caption": "good", "id": 2}]
    files = {f"{n}.json": json.dumps(record).encode() for n, record in enumerate(records)}
    return {"0.jpg": b"x", "0.json": files["0.json"], "1.jpg": b"x", "1.json": files["1.json"]}


def folder_of(folder: Path, own: Mapping[str, Record]) -> Path:
    (folder / "f").mkdir()
    for name, content in beside(own).items():
        (folder / "f" / name).write_bytes(content)
    return folder / "f"


def webdataset(folder: Path, own: Mapping[str, Record]) -> Path:
    with tarfile.open(folder / "a.tar", "w") as tar:
        for name, content in beside(own).items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return folder / "a.tar"


def beir(folder: Path, own: Mapping[str, Record]) -> Path:
    parts = {
        "queries": [{"_id": "q1", "text": "x"} | own.get("query", {}), {"_id": "q2", "text": "a"}],
        "corpus": [{"_id": "d1", "text": "y"} | own.get("text", {}), {"_id": "d2", "text": "good"}],
    }
    (folder / "b/qrels").mkdir(parents=True)
    for name, records in parts.items():
        lines = "".join(f"{json.dumps(record)}\n" for record in records)
        (folder / f"b/{name}.jsonl").write_text(lines)
    (folder / "b/qrels/test.tsv").write_text("query-id\tcorpus-id\tscore\nq2\td2\t1\n")
    return folder / "b"


FIELDS: list[tuple[str, Write, str, Sequence[str]]] = [
    ("coco", coco, "image", ("id", "file_name", "width", "license", "coco_url")),
    ("coco", coco, "note", ("id", "image_id", "caption")),
    ("coco", coco, "licence", ("id", "name")),
    ("karpathy", karpathy, "image", ("filename", "imgid", "split", "sentences")),
    ("karpathy", karpathy, "sentence", ("raw", "sentid")),
    ("jsonl", jsonl, "record", ("image", "caption", "id")),
    ("folder", folder_of, "record", ("caption", "id")),
    ("webdataset", webdataset, "record", ("caption", "id")),
    ("beir", beir, "query", ("_id", "text")),
    ("beir", beir, "text", ("_id", "text")),
]
PLACES = {f"{p[0]}-{p[2]}-{name}": (*p[:3], name) for p in FIELDS for name in p[3]}


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("place", PLACES)
def test_an_odd_value_costs_no_other_record(place, odd, tmp_path):
    form, write, record, name = PLACES[place]
    paths, rejected = [write(tmp_path, {record: {name: ODD[odd]}})], list[Rejection]()
    read = form_of(paths, form).read(paths, {}, rejected)
    rows = [row for batch in read for row in batch.to_pylist()]
    assert sum("good" in row.values() for row in rows) == 1
    if odd == "half an emoji":
        assert HALF in str(rejected[0]["detail"])
        assert rejected[0]["file"]
        assert rejected[0]["row"] == 1
        assert not [row for row in rows if ODD[odd] in row.values()]
