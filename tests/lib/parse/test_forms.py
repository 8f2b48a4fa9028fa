"""Forms of published data sets: files that their own packages write, or in their own format."""

import io
import json
import sys
import tarfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

from isotope.core.errors import (
    BadParams,
    CorruptFile,
    EmptyTable,
    MissingColumn,
    MissingExtra,
    MissingFile,
)
from isotope.parse.forms import form_of, forms, lists
from isotope.parse.forms.base import FILE, ROW
from isotope.parse.forms.texts import files_of


def read(path: Path, rejected=None, **options):
    """The rows of a path, by the form that recognises it."""
    form = form_of([path])
    batches = list(form.read([path], options, rejected))
    assert len({str(batch.schema) for batch in batches}) == 1
    assert {*form.roles.values()} <= {*batches[0].schema.names}
    return [row for batch in batches for row in batch.to_pylist()]


def pictures(path: Path, **options):
    return {name: load() for name, load in form_of([path]).pictures([path], options)}


def written(path: Path, data) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    if not isinstance(data, str | bytes):
        data = json.dumps(data)
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


def picture(color: str, kind: str = "PNG") -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (4, 3), color).save(out, kind)
    return out.getvalue()


# A folder of pictures


def test_a_folder_has_a_row_for_each_line_beside_a_picture(tmp_path):
    for name, data in {
        "dogs/a.jpg": picture("red", "JPEG"),
        "dogs/a.txt": "A dog.\n\nA red dog.\n",
        "b.png": picture("blue"),
        "b.txt": "A sea.",
        "b.json": {"text": "kept", "width": 4},
        "c.png": picture("green"),
        "left.txt": "Nothing beside.",
    }.items():
        written(tmp_path / "data" / name, data)
    rejected = []
    rows = read(tmp_path / "data", rejected)
    assert form_of([tmp_path / "data"]).name == "folder"
    assert [(r[FILE], r[ROW], r["image"], r["folder"], r["text"]) for r in rows] == [
        ("b.txt", 1, "b.png", None, "A sea."),
        ("c.png", 1, "c.png", None, None),
        ("dogs/a.txt", 1, "dogs/a.jpg", "dogs", "A dog."),
        ("dogs/a.txt", 3, "dogs/a.jpg", "dogs", "A red dog."),
    ]
    assert (rows[0]["width"], rows[0]["json.text"]) == (4, "kept")
    assert pictures(tmp_path / "data")["b.png"] == picture("blue")
    assert [(r["file"], r["detail"]) for r in rejected] == [
        ("left.txt", "no picture of this name beside it")
    ]
    whole = read(tmp_path / "data", [], lines=False)
    assert [r["text"] for r in whole] == ["A sea.", None, "A dog.\n\nA red dog."]


# Flickr8k and Flickr30k

TOKENS = (
    "1000268201_693b08cb0e.jpg#0\tA child in pink goes up some steps .\n"
    '1000268201_693b08cb0e.jpg#1\t" Girl " at a hut\t.\n'
    "2258277193_586949ec62.jpg.1#0\tPeople wait .\n"
    "\n"
    "no tab here\n"
)


def test_a_token_file_has_a_row_for_each_caption(tmp_path):
    rejected = []
    rows = read(written(tmp_path / "Flickr8k.token.txt", TOKENS), rejected)
    assert rows[1] == {
        **{FILE: "Flickr8k.token.txt", ROW: 2, "id": "1000268201_693b08cb0e.jpg#1"},
        **{"image": "1000268201_693b08cb0e.jpg", "number": 1, "caption": '" Girl " at a hut .'},
        "query_id": "flickr-1000268201_693b08cb0e-1",
        "source_text_id": "1000268201_693b08cb0e.jpg#1",
    }
    # The real file has this name, of which there is no picture.
    assert rows[2]["image"] == "2258277193_586949ec62.jpg.1"
    assert [(r["row"], r["raw"]) for r in rejected] == [(5, "no tab here")]
    assert form_of([written(tmp_path / "results_20130124.token", TOKENS)]).name == "flickr"


# COCO

CAPTIONS = {
    "info": {"year": 2017, "description": "COCO 2017 Dataset"},
    "licenses": [{"id": 1, "name": "Attribution License", "url": "http://l/by/2.0/"}],
    "images": [
        {"id": 139, "file_name": "000000000139.jpg", "license": 1, "width": 640, "height": 426},
        {"id": 285, "file_name": "000000000285.jpg", "license": 9, "width": 586, "height": 640},
    ],
    "annotations": [
        {"id": 1, "image_id": 139, "caption": "A room."},
        {"id": 2, "image_id": 139, "caption": "A television."},
        {"id": 3, "image_id": 7, "caption": "Elsewhere."},
        {"id": 4, "image_id": 139},
    ],
}


@pytest.mark.parametrize("order", [[*CAPTIONS], [*reversed(CAPTIONS)]])
def test_coco_has_a_row_for_each_annotation_whatever_the_order_of_its_lists(order, tmp_path):
    said = {key: CAPTIONS[key] for key in order}
    rejected = []
    rows = read(written(tmp_path / "captions_val2017.json", said), rejected)
    assert [(r[ROW], r["file_name"], r["caption"], r["split"]) for r in rows] == [
        (1, "000000000139.jpg", "A room.", "val"),
        (2, "000000000139.jpg", "A television.", "val"),
        (2, "000000000285.jpg", None, "val"),
    ]
    licences = [(r["license"], r["width"]) for r in (rows[0], rows[2])]
    assert licences == [("Attribution License", 640), (None, 586)]
    assert [(r["row"], r["detail"]) for r in rejected] == [
        (3, "no image 7 in this file"),
        (4, "an annotation without caption"),
    ]


def test_a_coco_file_without_images_or_that_ends_early_is_a_named_error(tmp_path):
    file = written(tmp_path / "captions.json", CAPTIONS | {"images": []})
    with pytest.raises(EmptyTable, match="no images in it"):
        read(file)
    text = json.dumps(CAPTIONS)
    with pytest.raises(CorruptFile, match=r"captions.json, item 4 of 'annotations': no JSON"):
        read(written(file, text[:-10]))


def test_real_captions_of_coco_are_all_read(shared):
    files = sorted((shared / "collections/coco-mini").glob("captions_*.json"))
    for file in files:
        said = json.loads(file.read_text())
        names = {image["id"]: image["file_name"] for image in said["images"]}
        rows = read(file)
        assert [(r["caption_id"], r["file_name"], r["caption"]) for r in rows if r["caption"]] == [
            (str(a["id"]), names[a["image_id"]], " ".join(a["caption"].split()))
            for a in said["annotations"]
        ]
        assert {r["split"] for r in rows} == {"val" if "val" in file.name else "train"}


KARPATHY = {
    "images": [
        {
            **{"filepath": "val2014", "sentids": [770337, 771687], "imgid": 0, "split": "test"},
            **{"filename": "COCO_val2014_000000391895.jpg", "cocoid": 391895},
            "sentences": [
                {"tokens": ["a", "man"], "raw": "A man.", "imgid": 0, "sentid": 770337},
                {"tokens": ["a", "hill"], "raw": "A hill.", "imgid": 0, "sentid": 771687},
            ],
        },
        {
            **{"filename": "b.jpg", "imgid": 1, "split": "restval", "sentids": [3]},
            "sentences": [{"tokens": ["a"], "raw": "A", "imgid": 1, "sentid": 3}],
        },
    ],
    "dataset": "coco",
}


def test_karpathys_splits_are_read_and_restval_is_trained_on(tmp_path):
    rows = read(written(tmp_path / "dataset_coco.json", KARPATHY))
    assert form_of([tmp_path / "dataset_coco.json"]).name == "karpathy"
    assert [(r["image"], r["sentid"], r["raw"], r["split"], r["source_split"]) for r in rows] == [
        ("val2014/COCO_val2014_000000391895.jpg", "770337", "A man.", "test", "test"),
        ("val2014/COCO_val2014_000000391895.jpg", "771687", "A hill.", "test", "test"),
        ("b.jpg", "3", "A", "train", "restval"),
    ]
    assert (rows[0]["cocoid"], rows[2]["cocoid"]) == ("391895", None)


@pytest.mark.parametrize("block", [1, 7, 1 << 20])
def test_lists_of_a_record_are_walked_in_pieces_of_any_size(block, tmp_path, monkeypatch):
    monkeypatch.setattr(lists, "_BLOCK", block)
    said = {"a": [1, {"b": "é]"}, [2, 3]], "c": {"d": [4]}, "e": [], "f": 12, "g": ["x"]}
    found = list(lists.items(written(tmp_path / "a.json", json.dumps(said, indent=1))))
    assert found == [
        *(("a", 1, 1), ("a", 2, {"b": "é]"}), ("a", 3, [2, 3])),
        *(("c", 0, {"d": [4]}), ("f", 0, 12), ("g", 1, "x")),
    ]


@pytest.mark.parametrize("block", [1 << 20, 40, 7])
def test_records_of_a_list_are_read_whatever_their_first_names_and_what_they_hold(
    block, tmp_path, monkeypatch
):
    """Records that begin alike are read in one go: within others, in texts, or only at times."""
    monkeypatch.setattr(lists, "_BLOCK", block)
    records = [
        {"id": 1, "own": [{"id": 2}, {"id": 3}]},
        {"id": 4, "words": 'a "{"id": 5}, {"id": 6}'},
        {"words": "b", "own": {"id": 7}},
        {"id": 8},
        [{"id": 9}],
        {"id": 10},
    ]
    for said in (records, records[::-1]):
        path = written(tmp_path / "a.json", json.dumps({"all": said * 3}))
        assert [item for _, _, item in lists.items(path)] == said * 3
        assert [number for _, number, _ in lists.items(path)] == [*range(1, 19)]


# WebDataset


# The package leaves the closing of its files to the collector.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_what_webdataset_writes_is_read_back(tmp_path):
    import webdataset  # noqa: PLC0415 (slow to import)

    samples = [
        {"__key__": f"{n:05d}", "jpg": picture(c, "JPEG"), "txt": f"A {c} one.", "json": {"n": n}}
        for n, c in enumerate(("red", "blue", "green"))
    ]
    (tmp_path / "d").mkdir()
    with webdataset.ShardWriter(str(tmp_path / "d/a-%05d.tar"), maxcount=2, verbose=0) as out:
        for sample in samples:
            out.write(sample)
    shards = sorted((tmp_path / "d").glob("*.tar"))
    theirs = [
        (sample["__key__"], sample["jpg"], sample["txt"].decode())
        for shard in shards
        for sample in webdataset.WebDataset(str(shard), shardshuffle=False, empty_check=False)
    ]
    rows, images = read(tmp_path / "d"), pictures(tmp_path / "d")
    assert [(r["key"], images[r["image"]], r["text"]) for r in rows] == theirs
    assert [(r[FILE], r[ROW], r["n"]) for r in rows] == [
        *(("a-00000.tar", 1, 0), ("a-00000.tar", 2, 1), ("a-00001.tar", 1, 2))
    ]
    assert rows[2]["image"] == "a-00001.tar/00002.jpg"


def tar(path: Path, members) -> Path:
    with tarfile.open(path, "w") as out:
        for name, data in members:
            info = tarfile.TarInfo(name)
            info.size = len(data)
            out.addfile(info, io.BytesIO(data))
    return path


def test_members_that_cannot_be_read_or_come_again_are_set_aside(tmp_path):
    red = picture("red")
    members = [
        *(("x/1.left.png", red), ("x/1.txt", b"One."), ("x/1.cls", b"7"), ("__meta__", b"?")),
        *(("x/2.png", red), ("x/2.json", b"{"), ("x/2.txt", b"\xff"), ("x/1.txt", b"Again.")),
        ("x/3.txt", b"Alone."),
    ]
    rejected = []
    rows = read(tar(tmp_path / "a.tar", members), rejected)
    assert [(r["key"], r["image"], r["text"], r["cls"]) for r in rows] == [
        ("x/1", "a.tar/x/1.left.png", "One.", "7"),
        ("x/2", "a.tar/x/2.png", None, None),
        ("x/3", None, "Alone.", None),
    ]
    assert [r["row"] for r in rejected] == [2, 2, 3]
    assert rejected[2]["detail"] == "x/1.txt comes again"


def test_several_texts_of_a_sample_are_columns(tmp_path):
    texts = [("1.txt", b"One."), ("1.alt.txt", b"Two."), ("1.fr.caption", b"Trois.")]
    row = read(tar(tmp_path / "a.tar", [("1.png", picture("red")), *texts]), [])[0]
    assert (row["text"], row["alt"], row["fr"]) == ("One.", "Two.", "Trois.")


def test_half_a_tar_is_a_named_error(tmp_path):
    members = [("1.png", picture("red")), ("1.txt", b"x" * 9000)]
    whole = tar(tmp_path / "a.tar", members).read_bytes()
    half = written(tmp_path / "b.tar", whole[:4000])
    with pytest.raises(CorruptFile, match=r"b.tar: not a whole .tar file"):
        list(forms()["webdataset"].read([half], {}))


# datasets


@pytest.fixture
def data_set(tmp_path):
    import datasets  # noqa: PLC0415 (slow to import)

    datasets.disable_progress_bars()
    outside = written(tmp_path / "outside.png", picture("green"))
    features = datasets.Features(
        {
            "image": datasets.Image(),
            "caption": datasets.Value("string"),
            "kind": datasets.ClassLabel(names=["dog", "sea"]),
            "stars": datasets.Value("int8"),
        }
    )
    rows = {
        "image": [
            {"bytes": picture("red"), "path": "r.png"},
            {"bytes": picture("blue"), "path": None},
            {"bytes": None, "path": str(outside)},
        ],
        "caption": ["Red", "Blue", "Green"],
        "kind": [0, 1, -1],
        "stars": [1, None, 3],
    }
    return datasets.Dataset.from_dict(rows, features=features)


def test_what_datasets_saves_is_read_back(data_set, tmp_path):
    import datasets  # noqa: PLC0415 (slow to import)

    splits: dict[Any, Any] = {"train": data_set.select([0, 1]), "test": data_set.select([1, 2])}
    datasets.DatasetDict(splits).save_to_disk(tmp_path / "saved")
    loaded: Any = datasets.load_from_disk(tmp_path / "saved")
    rows, images = read(tmp_path / "saved"), pictures(tmp_path / "saved")
    ours = {(r["split"], r["caption"]): r for r in rows}
    assert len(rows) == 4
    for split in loaded:
        names = loaded[split].features["kind"].names
        for theirs in loaded[split]:
            own = ours[split, theirs["caption"]]
            number = theirs["kind"]
            assert own["kind"] == (None if number < 0 else names[number])
            assert own["stars"] == theirs["stars"]
            pixels = Image.open(io.BytesIO(images[own["image"]])).convert("RGB").tobytes()
            assert pixels == theirs["image"].convert("RGB").tobytes()
    assert ours["train", "Red"]["image.path"] == "r.png"


def test_one_split_and_the_parquet_files_of_a_hub_are_read_too(data_set, tmp_path):
    data_set.save_to_disk(tmp_path / "saved")
    assert [(r["caption"], r["split"]) for r in read(tmp_path / "saved")] == [
        *(("Red", None), ("Blue", None), ("Green", None))
    ]
    file = tmp_path / "hub/data/validation-00000-of-00001.parquet"
    file.parent.mkdir(parents=True)
    data_set.to_parquet(file)
    rows = read(tmp_path / "hub")
    assert form_of([tmp_path / "hub"]).name == "hf"
    assert {r["split"] for r in rows} == {"validation"}
    assert pictures(tmp_path / "hub")[rows[0]["image"]] == picture("red")


def test_a_saved_data_set_without_its_rows_is_a_named_error(data_set, tmp_path):
    data_set.save_to_disk(tmp_path / "saved")
    arrow = next((tmp_path / "saved").glob("*.arrow"))
    arrow.write_bytes(arrow.read_bytes()[:100])
    with pytest.raises(CorruptFile, match=r"arrow: (no stream of Arrow|damaged)"):
        read(tmp_path / "saved")
    arrow.unlink()
    with pytest.raises(MissingFile, match=r"which state.json names"):
        read(tmp_path / "saved")


# BEIR and MTEB


def beir(folder: Path) -> Path:
    corpus = [
        {"_id": "d1", "title": "Dogs", "text": "bark.", "metadata": {"url": "http://d"}},
        {"_id": "d2", "title": "", "text": "Seas."},
        {"title": "no id"},
    ]
    queries = [{"_id": "007", "text": "who barks?"}, {"_id": "q2", "text": "what is wet?"}]
    written(folder / "corpus.jsonl", "\n".join(map(json.dumps, corpus)))
    written(folder / "queries.jsonl", "\n".join(map(json.dumps, queries)))
    head = "query-id\tcorpus-id\tscore\n"
    written(folder / "qrels/test.tsv", f"{head}007\td1\t2\nq2\td2\t0\nq2\td1\tmuch\n")
    written(folder / "qrels/dev.tsv", f"{head}q2\td2\t1\n")
    return folder


def test_a_beir_folder_has_documents_then_queries_then_judgements(tmp_path):
    rejected = []
    rows = read(beir(tmp_path / "set"), rejected)
    assert [(r[FILE], r[ROW], r["image_id"], r["caption"]) for r in rows[:2]] == [
        ("corpus.jsonl", 1, "d1", "Dogs bark."),
        ("corpus.jsonl", 2, "d2", "Seas."),
    ]
    assert json.loads(rows[0]["metadata"]) == {"url": "http://d"}
    assert [(r["text_id"], r["text"]) for r in rows[2:4]] == [
        *(("007", "who barks?"), ("q2", "what is wet?"))
    ]
    judged = [(r["text_id"], r["image_id"], r["relevance"], r["split"]) for r in rows[4:]]
    assert judged == [("q2", "d2", 1, "dev"), ("007", "d1", 2, "test"), ("q2", "d2", 0, "test")]
    assert [(r["file"], r["row"], r["detail"]) for r in rejected] == [
        ("corpus.jsonl", 3, "no _id"),
        ("test.tsv", 4, "a judgement without id or whole grade"),
    ]


class OnDisk:
    """A file as ir_datasets opens one."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def stream(self):
        return self._path.open("rb")


def test_a_beir_folder_says_what_the_reader_of_ir_datasets_says_of_it(tmp_path):
    from ir_datasets.datasets import beir as theirs  # noqa: PLC0415 (a package of users)
    from ir_datasets.formats import GenericQuery  # noqa: PLC0415

    folder = beir(tmp_path / "set")
    corpus = folder / "corpus.jsonl"
    corpus.write_text("".join(corpus.read_text().splitlines(keepends=True)[:2]))
    test = folder / "qrels/test.tsv"
    test.write_text("".join(test.read_text().splitlines(keepends=True)[:3]))
    rows = read(folder)
    docs = theirs.BeirDocs("set", OnDisk(corpus), theirs.BeirTitleDoc)._docs_iter()
    queries = theirs.BeirQueries("set", OnDisk(folder / "queries.jsonl"), GenericQuery)
    assert [(r["image_id"], r["caption"]) for r in rows[:2]] == [
        (d.doc_id, d.default_text().strip()) for d in docs
    ]
    assert [(r["text_id"], r["text"]) for r in rows[2:4]] == [*queries.queries_iter()]
    for split in ("dev", "test"):
        judged = theirs.BeirQrels(OnDisk(folder / f"qrels/{split}.tsv"), {}).qrels_iter()
        assert [
            (r["text_id"], r["image_id"], r["relevance"]) for r in rows if r["split"] == split
        ] == [(q.query_id, q.doc_id, q.relevance) for q in judged]


def test_a_beir_folder_without_a_part_or_a_column_is_a_named_error(tmp_path):
    written(beir(tmp_path / "set") / "qrels/test.tsv", "query-id\tcorpus\tscore\nq\td\t1\n")
    with pytest.raises(MissingColumn, match="no column 'corpus-id'; did you mean 'corpus'"):
        read(tmp_path / "set", [])
    for each in (tmp_path / "set/qrels").iterdir():
        each.unlink()
    with pytest.raises(MissingFile, match="no qrels in it; give the whole folder"):
        read(tmp_path / "set")


def mteb(folder: Path, asking: str, answering: str, prefix: str = "") -> Path:
    """A data set of MTEB's as its tasks load it: three folders of Parquet."""
    image = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
    shown = {"image": pa.array([{"bytes": picture("red"), "path": None}], image)}
    said = {"text": ["A red one."]}
    tables = {
        "queries": {"id": ["q0"], **(shown if asking == "image" else said)},
        "corpus": {"id": ["d0"], **(shown if answering == "image" else said)},
        "qrels": {"query-id": ["q0"], "corpus-id": ["d0"], "score": [1]},
    }
    for name, columns in tables.items():
        file = folder / f"{prefix}{name}/test-00000-of-00001.parquet"
        file.parent.mkdir(parents=True)
        pq.write_table(pa.table(columns), file)
    return folder


@pytest.mark.parametrize(("asking", "answering"), [("text", "image"), ("image", "text")])
def test_a_data_set_of_mteb_has_its_pictures_on_either_side(asking, answering, tmp_path):
    folder = mteb(tmp_path / "set", asking, answering)
    rows, images = read(folder), pictures(folder)
    shown = next(r for r in rows if r["image"])
    said = next(r for r in rows if r["text"])
    assert images == {shown["image"]: picture("red")}
    assert (rows[-1]["text_id"], rows[-1]["image_id"]) == (said["text_id"], shown["image_id"])
    assert (rows[-1]["relevance"], rows[-1]["split"]) == (1, "test")
    assert said["text"] == "A red one."


@pytest.mark.long
def test_mtebs_own_loader_finds_the_same_judgements(tmp_path, monkeypatch):
    from mteb.abstasks.retrieval_dataset_loaders import RetrievalDatasetLoader  # noqa: PLC0415

    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    folder = mteb(tmp_path / "set", "text", "image")
    configs = [
        {"config_name": name, "data_files": [{"split": "test", "path": f"{name}/*.parquet"}]}
        for name in ("corpus", "queries", "qrels")
    ]
    written(folder / "README.md", f"---\nconfigs: {json.dumps(configs)}\n---\n")
    revision: Any = None
    theirs = RetrievalDatasetLoader(str(folder), revision).load()
    judged = [r for r in read(folder) if r["relevance"] is not None]
    assert theirs["relevant_docs"] == {
        r["text_id"]: {r["image_id"]: r["relevance"]} for r in judged
    }


def test_of_several_sets_in_a_folder_one_is_named(tmp_path):
    for prefix in ("en-", "de-"):
        folder = mteb(tmp_path / "set", "text", "image", prefix)
    with pytest.raises(BadParams, match="sets de, en; name the one to read"):
        read(folder)
    assert {r[FILE].split("-")[0] for r in read(folder, config="de")} == {"de"}
    with pytest.raises(BadParams, match="no set 'fr'"):
        read(folder, config="fr")


# ir_datasets


@pytest.fixture
def registered(tmp_path):
    """A data set in the registry of ir_datasets, whose files are here; and one that is not."""
    import ir_datasets  # noqa: PLC0415 (a package of users)
    from ir_datasets.formats import TrecQrels, TsvDocs, TsvQueries  # noqa: PLC0415
    from ir_datasets.util import Cache, Download, RequestsDownload  # noqa: PLC0415

    files = {"docs": "d1\tDogs bark.\nd2\tSeas.\n", "queries": "q1\twho barks?\n"}
    files |= {"qrels": "q1 0 d1 2\nq1 0 d2 0\n"}
    here = {n: written(tmp_path / "here" / n, text) for n, text in files.items()}
    several = {"tests-here/dev": here, "tests-gone": None, "tests-both-gone": None}
    for name, folder in several.items():
        mirrors = ("gone", "too") if "both" in name else ("gone",)
        cached = {
            part: Cache(
                Download([RequestsDownload(f"http://{n}.invalid/{part}") for n in mirrors]),
                folder[part] if folder else tmp_path / "gone" / part,
            )
            for part in files
        }
        data = ir_datasets.Dataset(
            TsvDocs(cached["docs"], namespace=name),
            TsvQueries(cached["queries"]),
            TrecQrels(cached["qrels"], {0: "no", 2: "yes"}),
        )
        ir_datasets.registry.register(name, data)
    yield
    for name in several:
        del ir_datasets.registry._registered[name]


@pytest.mark.usefixtures("registered")
def test_an_id_of_ir_datasets_is_read_from_this_machine():
    import ir_datasets  # noqa: PLC0415 (a package of users)

    data = ir_datasets.load("tests-here/dev")
    rows = read(Path("ir_datasets:tests-here/dev"))
    assert [(r["image_id"], r["caption"]) for r in rows if r["caption"]] == [
        (d.doc_id, d.text) for d in data.docs_iter()
    ]
    assert [(r["text_id"], r["text"]) for r in rows if r["text"]] == [*data.queries_iter()]
    assert [(r["text_id"], r["image_id"], r["relevance"]) for r in rows[3:]] == [
        (q.query_id, q.doc_id, q.relevance) for q in data.qrels_iter()
    ]
    assert {r["split"] for r in rows[3:]} == {"validation"}


@pytest.mark.usefixtures("registered")
def test_what_is_not_on_this_machine_is_a_named_error_and_not_downloaded(monkeypatch):
    with pytest.raises(MissingFile, match=r"gone.invalid/docs: not on this machine"):
        read(Path("ir_datasets:tests-gone"))
    with pytest.raises(MissingFile, match=r"not on this machine.*too.invalid/docs"):
        read(Path("ir_datasets:tests-both-gone"))
    with pytest.raises(MissingFile, match=r"ir_datasets:none-such: no such id"):
        read(Path("ir_datasets:none-such"))
    monkeypatch.setitem(sys.modules, "ir_datasets", None)
    with pytest.raises(MissingExtra, match=r"pip install 'isotope-ir\[ir-datasets\]'"):
        read(Path("ir_datasets:tests-here/dev"))


def test_files_that_begin_with_a_dot_are_none_of_the_data(tmp_path):
    for name in ("b.csv", ".hidden/a.csv", ".DS_Store", "a/c.csv"):
        written(tmp_path / name, "a,b\n")
    assert [p.relative_to(tmp_path).as_posix() for p in files_of([tmp_path])] == [
        "a/c.csv",
        "b.csv",
    ]
