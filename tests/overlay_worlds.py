"""Small data in the forms that overlays read, laid out below a folder as their first lines say.

A world takes the folder and that of real data, and returns what a run on it changes besides
weights: addresses that are not below the folder, and sizes that small data does not have.
"""

import gzip
import io
import json
import re
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
from PIL import Image
from tests.lib.parse.test_wikidata import entity, statement
from tests.pairs import flickr, picture
from tests.snapshots import Page, pages_of
from tests.structured import write_structured
from tests.workflow import test_coco, test_trec2023

from isotope.core.schemas import PUBLISHED_IMAGES, PUBLISHED_TEXTS
from isotope.schemas.release import PUBLISHED_QRELS
from isotope_toy import snapshot

Params = dict[str, Any]


PAGES = 40


# The demo's own model, where an overlay's systems have it.
TINY_CLIP = {"tiny-clip": {"train": {"epochs": 1, "batch": 4}}}


_SPLITS = ("train", "train", "validation", "test")


def demo(_: Path, __: Path) -> Params:
    """The embedded encyclopedia, with a tenth of its pages."""
    toy = {"generate": {"pages": PAGES}}
    return {"acquire": {"toy": toy}, "models": TINY_CLIP, "tabulate": {"diff": []}}


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
        "models": TINY_CLIP,
        "tabulate": {"diff": []},
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
    return {"models": TINY_CLIP}


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
    return {"models": TINY_CLIP}
