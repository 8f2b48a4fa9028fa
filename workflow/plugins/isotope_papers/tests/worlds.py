"""Small data in the forms that overlays of other papers read; `tests.overlay_worlds` says how."""

import csv
import gzip
import io
import json
import shutil
import tarfile
import zipfile
from pathlib import Path

import pytest
from tests.overlay_worlds import TINY_CLIP, Params
from tests.pairs import draw, flickr, picture
from workflow.plugins.isotope_papers.tests import test_ticrc, test_vg_coco, test_xm3600

from isotope.core.errors import MissingFile
from isotope_explain import wordnet

_UPLOADS = "wikipedia/commons/a/ab"
_HOST = f"https://upload.wikimedia.org/{_UPLOADS}"


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
        set_name, pictures = part.parent.name, part.parent / "pictures"
        real = {"train2": "train", "test-B": "test-A"}.get(set_name, set_name)
        pictures.mkdir()
        for line in part.read_text("utf-8").splitlines():
            name = line.split("\t")[0]
            (pictures / name).write_bytes(
                (shared / "collections/ticrc" / real / "pictures" / name).read_bytes()
            )
    return {"models": TINY_CLIP}


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
    files = {"attributions": [f"{root}/attributions.csv"], "images": [f"{root}/images.tgz"]}
    crawl = {"crawl": {"xm3600": {"shards": 1}}}
    return {"acquire": {"xm3600": {"files": files}}} | crawl | _of_languages("bn", "de", "en")


def _of_languages(*codes: str) -> Params:
    collections = [f"xm3600-{code}" for code in codes]
    groups = {"xm3600": {"all": collections, "low-resource": collections[:1]}}
    return {"build": collections, "tabulate": {"groups": groups}}
