"""Tasks of MTEB: retrieval in both directions on the pool of a split, pictures included.

The folder `mteb` is a data set that mteb's own loader reads, offline: subsets t2m and m2t, each of
the configurations <subset>-corpus, -queries and -qrels, which share the files of texts and images.
`tasks.py` makes its tasks out of `tasks.json`; it needs mteb and nothing of isotope.
Source: https://embeddings-benchmark.github.io/mteb/contributing/adding_a_dataset/
"""

import json
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from isotope.core import store
from isotope.core.errors import MissingFile
from isotope.core.grid import JUDGED, SIDES, TASKS, id_column
from isotope.core.schemas import schema
from isotope.release.card import front_matter
from isotope.release.words import SPLITS, ReleaseWords, pool_items, shared_pool

FOLDER = "mteb"
_TEXTS = schema(id=pa.string(), text=pa.string())
_IMAGES = schema(id=pa.string(), image=pa.binary(), text=pa.string())
_QRELS = pa.schema([("query-id", pa.string()), ("corpus-id", pa.string()), ("score", pa.int32())])
_LETTERS = {"texts": "t", "images": "i"}
_PROMPTS = {
    "t2m": "Find the picture that belongs to the text.",
    "m2t": "Find the text that belongs to the picture.",
}
_TASKS = "isotope.release.mteb_tasks"
_ROWS = 1024


class _Data(NamedTuple):
    """The words of a release, where its form for MTEB goes, and whether it has pictures."""

    words: ReleaseWords
    out: Path
    has_pictures: bool


def write_mteb(words: ReleaseWords, about: Mapping[str, Any]) -> list[str]:
    """Write the folder `mteb` of a release and return the splits that it has.

    They are the judged ones but for train, or train if there is no other. Images without a picture
    are left out, with their judgements, unless no image of the release has one: then captions stand
    for them. Nothing is written where there is neither.

    Raises:
        DiskFull: no room for it.
    """
    counts = about["statistics"]["images"].values()
    has_pictures = any(split_counts["pictures"] for split_counts in counts)
    judged = [split for split in JUDGED if all(words.qrels(split, t).height for t in TASKS)]
    splits = [split for split in judged if split != "train"] or judged
    if not splits or not (
        has_pictures or any(split_counts["captioned"] for split_counts in counts)
    ):
        return []
    data = _Data(words, words.folder / FOLDER, has_pictures)
    filled = [split for split in splits if _write_split(data, split)]
    if not filled:
        shutil.rmtree(data.out)
        return []
    tasks = _tasks(about, filled, _modalities(data))
    (data.out / "README.md").write_text(_card(about, filled, has_pictures), encoding="utf-8")
    text = json.dumps(tasks, indent=1, ensure_ascii=False) + "\n"
    (data.out / "tasks.json").write_text(text, encoding="utf-8")
    shutil.copyfile(_source(_TASKS), data.out / "tasks.py")
    return filled


def _source(module: str) -> Path:
    """Return the file of a module that is not imported, because it needs mteb."""
    spec = find_spec(module)
    if spec is None or spec.origin is None:
        raise MissingFile(module, "no such module", "install isotope again")
    return Path(spec.origin)


def _write_split(data: _Data, split: str) -> int:
    """Write the texts, images and judgements of a split; return how many judgements."""
    ids_of_side = {side: _write_items(data, side, split) for side in SIDES}
    is_present = {
        id_column(side): pl.col(id_column(side)).is_in(ids) for side, ids in ids_of_side.items()
    }
    total = 0
    for task in TASKS:
        query, document = id_column(TASKS[task].queries), id_column(TASKS[task].documents)
        names = {"query-id": query, "corpus-id": document, "score": "rel"}
        qrels = data.words.qrels(split, task).filter(*is_present.values())
        rows = qrels.select(**{to: pl.col(name) for to, name in names.items()})
        table = rows.sort("query-id", "corpus-id").to_arrow()
        store.write(table, data.out / f"qrels/{task}/{split}.parquet", _QRELS)
        total += qrels.height
    return total


def _write_items(data: _Data, side: str, split: str) -> list[str]:
    """Write the texts or images of the pool of a split; return their ids."""
    chosen = pool_items(data.words.pools, split, side)
    if chosen is None:
        chosen = shared_pool(data.words.folder, side, [split])
    sources = [split] if chosen is None else SPLITS
    form = _IMAGES if side == "images" and data.has_pictures else _TEXTS
    ids: list[str] = []
    with store.writer(data.out / side / f"{split}.parquet", form) as file:
        for rows in _items(data, side, sources, form):
            chosen_rows = rows if chosen is None else rows.filter(pl.col("id").is_in(chosen))
            if chosen_rows.height:
                file.write_table(chosen_rows.to_arrow().select(form.names).cast(form), _ROWS)
                ids += chosen_rows["id"].to_list()
    return ids


def _items(
    data: _Data, side: str, splits: Sequence[str], form: pa.Schema
) -> Iterator[pl.DataFrame]:
    for split in splits:
        words = pl.read_parquet(data.words.table(side, split), glob=False)
        joined = pl.concat_str("title", "text", separator=" ").str.strip_chars()
        texts = words.select("id", text=joined)
        if form is _TEXTS:
            yield texts
            continue
        with pq.ParquetFile(data.words.folder / f"images/{split}.parquet") as file:
            for batch in file.iter_batches(_ROWS, columns=["image_id", "image"]):
                rows = pl.DataFrame(batch).rename({"image_id": "id"}).drop_nulls("image")
                yield rows.join(texts, on="id", how="left", maintain_order="left")


def _modalities(data: _Data) -> dict[str, str]:
    """Return what stands for each side, in the letters of MTEB's categories."""
    return _LETTERS if data.has_pictures else {"texts": "t", "images": "t"}


def _tasks(
    about: Mapping[str, Any], splits: Sequence[str], letters: Mapping[str, str]
) -> list[dict[str, Any]]:
    """Return what tasks.py says of each task; those with captions beside pictures come last."""
    captioned = any(
        split_counts["captioned"] for split_counts in about["statistics"]["images"].values()
    )
    both = letters["images"] == "i" and captioned
    forms = [letters, *([{**letters, "images": "it"}] if both else [])]
    return [_task(about, splits, name, form) for form in forms for name in TASKS]


def _task(
    about: Mapping[str, Any], splits: Sequence[str], name: str, letters: Mapping[str, str]
) -> dict[str, Any]:
    category = f"{letters[TASKS[name].queries]}2{letters[TASKS[name].documents]}"
    words = re.findall(r"[A-Za-z0-9]+", about["name"])
    title = "".join(word[:1].upper() + word[1:] for word in words)
    direction = "" if category != "t2t" else name.upper()
    return {
        "name": f"{title}{direction or category.upper()}Retrieval",
        "subset": name,
        "category": category,
        "description": f"{TASKS[name].purpose} {about['description']}",
        "prompt": _PROMPTS[name],
        "splits": ["test"] if "test" in splits else list(splits),
        "languages": about["languages"],
        "licence": about["licence"],
        "licence_url": about["licence_url"],
        "homepage": about["homepage"],
        "revision": about["fingerprint"],
    }


def _card(about: Mapping[str, Any], splits: Sequence[str], has_pictures: bool) -> str:
    configs = [
        {"config_name": f"{task}-{part}", "data_files": _files(folder, splits)}
        for task, sides in TASKS.items()
        for part, folder in (
            ("corpus", sides.documents),
            ("queries", sides.queries),
            ("qrels", f"qrels/{task}"),
        )
    ]
    pictured = [{"name": "id", "dtype": "string"}, {"name": "image", "dtype": "image"}]
    features = [*pictured, {"name": "text", "dtype": "string"}]
    shown = {f"{t}-{'corpus' if s.documents == 'images' else 'queries'}" for t, s in TASKS.items()}
    infos = [{"config_name": name, "features": features} for name in sorted(shown)]
    header = {"configs": configs, **({"dataset_info": infos} if has_pictures else {})}
    return front_matter(header) + f"\n# {about['title']} for MTEB\n\nSee ../README.md.\n"


def _files(folder: str, splits: Sequence[str]) -> list[dict[str, str]]:
    return [{"split": split, "path": f"{folder}/{split}.parquet"} for split in splits]
