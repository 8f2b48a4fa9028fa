"""Small data in the forms that overlays read, laid out below a folder as their first lines say.

A world takes the folder and that of real data, and returns what a run on it changes besides
weights: addresses that are not below the folder, and sizes that small data does not have.
"""

import csv
import gzip
import io
import json
import re
import shutil
import tarfile
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from PIL import Image
from tests.lib.parse.test_wikidata import entity, statement
from tests.pairs import draw, flickr, picture
from tests.snapshots import Page, pages_of
from tests.structured import write_structured
from tests.workflow import test_coco, test_ticrc, test_trec2023, test_vg_coco, test_xm3600

from isotope.core.errors import MissingFile
from isotope.core.schemas import PUBLISHED_IMAGES, PUBLISHED_TEXTS
from isotope.explain import wordnet
from isotope.schemas.release import PUBLISHED_QRELS
from isotope_toy import snapshot

Params = dict[str, Any]
PAGES = 40
# The demo's own model, where an overlay's systems have it.
_TINY_CLIP = {"tiny-clip": {"train": {"epochs": 1, "batch": 4}}}
_SPLITS = ("train", "train", "validation", "test")
_UPLOADS = "wikipedia/commons/a/ab"
_HOST = f"https://upload.wikimedia.org/{_UPLOADS}"


def demo(_: Path, __: Path) -> Params:
    """The embedded encyclopedia, with a tenth of its pages."""
    toy = {"generate": {"pages": PAGES}}
    return {"acquire": {"toy": toy}, "models": _TINY_CLIP, "tabulate": {"since": []}}


def wikipedia(root: Path, _: Path) -> Params:
    """WIT, a dump and pictures of a small snapshot."""
    name = "enwiki-20221101"
    snapshot.generate(root, pages=PAGES, seed=0, date="20221101")
    files = {"wit": [f"{root}/wit/*.tsv.gz"], "dump": [f"{root}/dump/*.xml.bz2"]}
    crawl = {"serve": f"{root}/images", "shards": 1, "attempts": 2, "wait_s": 0.01}
    return {
        "acquire": {name: {"files": files}},
        "crawl": {name: crawl},
        "tabulate": {"tokenizers": {"wordpiece": "toy"}, "sizes": [20]},
    }


def structured_contents(root: Path, _: Path) -> Params:
    """Structured Contents of a small snapshot, its pictures, and its pages in Wikidata.

    An item has the first picture that its page shows; every third one has another page's.
    """
    snapshot.generate(root, pages=PAGES)
    pages = pages_of(next((root / "dump").glob("*-multistream.xml.bz2")))
    (root / "structured").mkdir()
    write_structured(pages, root / "structured/enwiki_namespace_0.tar.gz")
    (root / "files").mkdir()
    own = b"INSERT INTO `image` VALUES ('Of_the_wiki_alone.png',1);\n"
    (root / "files/enwiki-image.sql.gz").write_bytes(gzip.compress(own))
    (root / "wikidata").mkdir()
    (root / "wikidata/latest-all.json.gz").write_bytes(gzip.compress(_entities(pages)))
    crawl = {"serve": f"{root}/images", "shards": 1, "attempts": 2, "wait_s": 0.01}
    # So few pages have some of every split at these shares only.
    splits = {"validation": 0.25, "test": 0.25}
    return {
        "parse": {"{name}": {"splits": splits}},
        "crawl": {"{name}": crawl},
        "models": _TINY_CLIP,
        "tabulate": {"since": []},
    }


def published_whole(root: Path, shared: Path) -> Params:
    """That snapshot, and half of its pictures as the hub has them, some in both data sets."""
    own = wikipedia(root, shared)
    paths = sorted(p for p in (root / "images").rglob("*.png") if p.is_file())
    image = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
    facts = [("image", image), ("image_url", pa.string())]
    wide = [*facts, ("original_width", pa.int32()), ("original_height", pa.int32())]
    sets = {"atomic-images": (paths[::2], facts), "wit-base": (paths[::3], wide)}
    parts = {"atomic-images": "images", "wit-base": "train"}
    for name, (some, columns) in sets.items():
        rows = [
            {"image": {"bytes": p.read_bytes()}, "original_width": 900, "original_height": 700}
            | {"image_url": f"https://upload.wikimedia.org/{p.relative_to(root / 'images')}"}
            for p in some
        ]
        test_trec2023.table(rows, pa.schema(columns), root / name / "train-00000.parquet")
        own["acquire"][name] = {"files": {parts[name]: [f"{root}/{name}/*.parquet"]}}
    return own


def _entities(pages: Sequence[Page]) -> bytes:
    articles = [page for page in pages if page.namespace == 0 and not page.redirect]
    shown = [re.findall(r"\[\[File:([^|\]]*)", page.text)[:1] for page in articles]
    some = [shown[n + 1 if n % 3 == 0 else n] for n in range(len(articles) - 1)]
    lines = (
        json.dumps(entity(n, page.title, claims={"P18": [statement(name) for name in names]}))
        for n, (page, names) in enumerate(zip(articles, some, strict=False), 1)
    )
    return ("[\n" + ",\n".join(lines) + "\n]\n").encode()


def captions_of_atomic(root: Path, _: Path) -> Params:
    """A release of AToMiC without pictures: a pair a thing, a file a split."""
    return _atomic(root, [field for field in PUBLISHED_IMAGES if field.name != "image"])


def atomic_and_coco(root: Path, shared: Path) -> Params:
    """A release of AToMiC with pictures, and Karpathy's split of COCO with real ones.

    Of sixteen models six: of every kind, and of those that learned from AToMiC two.
    """
    test_coco.publish_karpathy(shared, root)
    some = ["clip-b32", "openclip-l14", "blip-base", "flava", "b32-text", "b32-both"]
    return _atomic(root, [*PUBLISHED_IMAGES]) | {
        "crawl": {"coco-test": {"shards": 1}, "{name}": {"shards": 1}},
        "search": {"systems": some},
    }


def _atomic(root: Path, columns: list[pa.Field]) -> Params:
    own, has_pictures = test_trec2023, any(field.name == "image" for field in columns)
    for at, split in enumerate(_SPLITS):
        some = [n for n in own.EVERY if n % len(_SPLITS) == at]
        name = f"{split}-{at}.parquet"
        images = [own.image(n) | ({"image": _webp(n)} if has_pictures else {}) for n in some]
        pairs = [{"text_id": own.TEXT_IDS[n], "image_id": own.IMAGE_IDS[n]} for n in some]
        own.table([own.text(n) for n in some], PUBLISHED_TEXTS, root / "texts" / name)
        own.table(images, pa.schema(columns), root / "images" / name)
        rows = [{**pair, "Q0": "Q0", "rel": 1} for pair in pairs]
        own.table(rows, PUBLISHED_QRELS, root / "qrels" / name)
    return {"models": _TINY_CLIP}


def _webp(shade: int) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (24, 16), (shade * 15, 90, 200 - 12 * shade)).save(out, "WEBP")
    return out.getvalue()


def flickr8k(root: Path, _: Path) -> Params:
    """Both archives of Flickr8k, one of them unpacked: pictures, captions, lists of splits."""
    names = [f"{1000 + n}_{n:010x}.jpg" for n in range(12)]
    folder = root / "Flickr8k_text"
    flickr(folder, "Flickr8k.token.txt", names)
    lists = {"trainImages": names[:6], "devImages": names[6:9], "testImages": names[9:]}
    for name, some in lists.items():
        (folder / f"Flickr_8k.{name}.txt").write_text("".join(f"{n}\n" for n in some))
    with zipfile.ZipFile(root / "Flickr8k_Dataset.zip", "w") as archive:
        for n, name in enumerate(names):
            archive.writestr(f"Flicker8k_Dataset/{name}", picture(n))
    return {"models": _TINY_CLIP}


def knowledge_bases(root: Path, _: Path) -> Params:
    """Pages of Encyclopedic-VQA, entities of InfoSeek, and a folder in place of all hosts."""
    names = [f"Lighthouse_{n}.jpg" for n in range(6)]
    draw(root / "served" / _UPLOADS, names)
    pages = {f"https://en.wikipedia.org/wiki/Lighthouse_{n}": _page(n) for n in range(6)}
    with zipfile.ZipFile(root / "kb.zip", "w") as archive:
        archive.writestr("encyclopedic_kb_wiki.json", json.dumps(pages))
    entities = [
        {"wikidata_id": f"Q{n}", "wikipedia_title": f"Lighthouse {n}", "wikipedia_summary": "Lit."}
        | {"wikipedia_image_url": f"{_HOST}/{names[n]}" if n % 3 else None}
        for n in range(6)
    ]
    text = "".join(f"{json.dumps(entity)}\n" for entity in entities)
    (root / "entities.jsonl.gz").write_bytes(gzip.compress(text.encode()))
    crawl = {"serve": str(root / "served"), "shards": 1, "wait_s": 0.01, "timeout_s": 5}
    data = {"encyclopedic-vqa": "kb.zip", "infoseek": "entities.jsonl.gz"}
    return {
        "collect": {name: {"data": str(root / file)} for name, file in data.items()},
        "crawl": dict.fromkeys(data, crawl),
    }


def _page(n: int) -> Params:
    title, url = f"Lighthouse {n}", f"{_HOST}/Lighthouse_{n}.jpg"
    return {
        "title": title,
        "section_titles": [title, "History"],
        "section_texts": [f"A lighthouse by harbour {n}.", f"It was built in 18{n}0."],
        "image_urls": [url],
        "image_reference_descriptions": [f"The tower of lighthouse {n}"],
        "image_section_indices": [n % 2],
        "url": f"https://en.wikipedia.org/wiki/Lighthouse_{n}",
    }


def competition(root: Path, shared: Path) -> Params:
    """The first pictures of the competition's sets; train2 and test-B are others of train's."""
    folder = root / "ticrc"
    folder.mkdir()
    test_ticrc.first_lines(shared / "collections/ticrc", folder)
    for name, other in (("train2", "train"), ("test-B", "test-A")):
        shutil.copytree(folder / other, folder / name)
    for part in folder.glob("*/in.tsv"):
        own, pictures = part.parent.name, part.parent / "pictures"
        real = {"train2": "train", "test-B": "test-A"}.get(own, own)
        pictures.mkdir()
        for line in part.read_text("utf-8").splitlines():
            name = line.split("\t")[0]
            (pictures / name).write_bytes(
                (shared / "collections/ticrc" / real / "pictures" / name).read_bytes()
            )
    return {"models": _TINY_CLIP}


def gallery(root: Path, shared: Path) -> Params:
    """The real gallery as it is."""
    (root / "oven-gallery").symlink_to(shared / "collections/oven-gallery")
    return {}


def genome(root: Path, _: Path) -> Params:
    """Visual Genome and COCO of eight pictures."""
    try:
        wordnet.find()
    except MissingFile as error:
        pytest.skip(str(error))
    test_vg_coco.visual_genome(root / "visual-genome")
    return {"crawl": {"vg-coco": {"shards": 1}}, "search": {"memory_mb": 256}}


def summarised(root: Path, shared: Path) -> Params:
    """The same; of 23 models that differ in their weights alone two, each on all three forms."""
    models = ("all-MiniLM-L12", "paraphrase-MiniLM-L3")
    systems = [f"{model}{form}" for model in models for form in ("", "-t5", "-pegasus")]
    return genome(root, shared) | {"search": {"systems": ["random", "bm25", *systems]}}


def flickr_captions(root: Path, _: Path) -> Params:
    """Captions of Flickr8k and Flickr30k."""
    test_vg_coco.flickr8k(root / "flickr8k")
    flickr(root / "flickr30k", "results_20130124.token", [f"{n}.jpg" for n in range(6)])
    return {"search": {"memory_mb": 256}}


def languages(root: Path, shared: Path) -> Params:
    """The captions of the first pictures in three languages."""
    (root / "xm3600").mkdir()
    test_xm3600.cut(shared / "collections/xm3600", root / "xm3600")
    return _of_languages("fr", "quz", "en")


def published_languages(root: Path, _: Path) -> Params:
    """Captions as published, attributions, and an archive of pictures."""
    keys = [f"{n:016x}" for n in range(9)]
    lines = [
        {"image/key": key, "image/locale": ("en", "de", "bn")[n % 3]}
        | {code: {"caption": [f"{code} {n}", f"{code} {n} {n}"]} for code in ("en", "de", "bn")}
        for n, key in enumerate(keys)
    ]
    (root / "captions.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    with (root / "attributions.csv").open("w", newline="", encoding="utf-8") as file:
        head = ("ImageID", "Subset", "License", "Author", "Title")
        csv.writer(file).writerows([head, *((k, "test", "CC BY 2.0", "Ann", "x") for k in keys)])
    with tarfile.open(root / "images.tgz", "w:gz") as tar:
        for n, key in enumerate(keys):
            member = tarfile.TarInfo(f"{key}.jpg")
            member.size = len(picture(n))
            tar.addfile(member, io.BytesIO(picture(n)))
    own = {"attributions": [f"{root}/attributions.csv"], "images": [f"{root}/images.tgz"]}
    crawl = {"crawl": {"xm3600": {"shards": 1}}}
    return {"acquire": {"xm3600": {"files": own}}} | crawl | _of_languages("bn", "de", "en")


def _of_languages(*codes: str) -> Params:
    every = [f"xm3600-{code}" for code in codes]
    groups = {"xm3600": {"all": every, "low-resource": every[:1]}}
    return {"build": every, "tabulate": {"groups": groups}}
