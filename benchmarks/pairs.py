"""Claim: COCO becomes rows of pairs in 4 GiB; beside it, what DuckDB's own JSON takes.

    python benchmarks/pairs.py [PICTURES] [ROUNDS]     (default 123287 1)

Invented captions and boxes in COCO's form, five captions and seven boxes a picture as in its
published files of 2017, become `pairs.parquet` and `pairs.rejected.parquet` by the form `coco`, and
a table of captions with the objects of their pictures by one query of DuckDB. Both must have the
same captions and objects. Isotope's rows are also named, checked and divided, which the query does
not do. Processor seconds, one process each. Written to benchmarks/results/pairs.md.
"""

import json
import random
import sys
import tempfile
from pathlib import Path
from typing import Any

import duckdb
import pyarrow.parquet as pq
from common import Claim, Timing, machine, rounds, spent, verdicts, write

from isotope.params.pairs import Rows
from isotope.parse.pairs import divided, read_data

CAPTIONS, BOXES, CATEGORIES, CORNERS, WITHIN_GIB = 5, 7, 80, 50, 4.0
SPEC = {
    "form": "coco",
    "columns": {"image": "coco_url", "text_id": "query_id", "objects": "objects"},
}
# What a caption shows, as the form has it: crowds count for nothing here, there are none.
QUERY = """
COPY (
    WITH images AS (
        SELECT unnest(
            from_json(content -> 'images', '[{"id":"BIGINT","coco_url":"VARCHAR"}]'),
            recursive := true
        )
        FROM read_text($captions)
    ),
    notes AS (
        SELECT unnest(
            from_json(
                content -> 'annotations',
                '[{"id":"BIGINT","image_id":"BIGINT","caption":"VARCHAR"}]'
            ), recursive := true
        )
        FROM read_text($captions)
    ),
    boxes AS (
        SELECT unnest(
            from_json(
                content -> 'annotations',
                '[{"id":"BIGINT","image_id":"BIGINT","category_id":"BIGINT","bbox":["DOUBLE"]}]'
            ), recursive := true
        )
        FROM read_text($instances)
    ),
    objects AS (
        SELECT image_id, list({'category': category_id, 'box': bbox} ORDER BY id) AS objects
        FROM boxes GROUP BY image_id
    )
    SELECT notes.id, trim(notes.caption) AS caption, images.coco_url, objects.objects
    FROM notes JOIN images ON notes.image_id = images.id
    LEFT JOIN objects ON notes.image_id = objects.image_id
    ORDER BY notes.id
) TO $out (FORMAT parquet, COMPRESSION zstd)
"""


def made(folder: Path, pictures: int) -> dict[str, Path]:
    """Write files of COCO; return them by what they tell."""
    rng = random.Random(0)
    ids = rng.sample(range(1, 5 * pictures + 1), pictures)
    words = [f"word{n}" for n in range(3_000)]
    images = [
        {
            "license": 1,
            "file_name": f"{i:012d}.jpg",
            "coco_url": f"http://images.cocodataset.org/train2017/{i:012d}.jpg",
            "height": 480,
            "width": 640,
            "date_captured": "2013-11-14 17:02:52",
            "flickr_url": f"http://farm7.staticflickr.com/{i}_z.jpg",
            "id": i,
        }
        for i in ids
    ]
    notes = [
        {
            "image_id": ids[n % pictures],
            "id": n,
            "caption": f"A {' '.join(rng.choices(words, k=9))}.",
        }
        for n in range(CAPTIONS * pictures)
    ]
    boxes = [
        {
            "segmentation": [[round(rng.uniform(0, 640), 2) for _ in range(CORNERS)]],
            "iscrowd": 0,
            "image_id": rng.choice(ids),
            "bbox": [round(rng.uniform(0, 300), 2) for _ in range(4)],
            "category_id": rng.randint(1, CATEGORIES),
            "id": n,
        }
        for n in range(BOXES * pictures)
    ]
    names = {n: f"category {n}" for n in range(1, CATEGORIES + 1)}
    licences = [{"url": "http://creativecommons.org/licenses/by/2.0/", "id": 1, "name": "BY"}]
    written: dict[str, Any] = {
        "captions": {"info": {}, "licenses": licences, "images": images, "annotations": notes},
        "instances": {
            "images": images,
            "annotations": boxes,
            "categories": [{"id": n, "name": name} for n, name in names.items()],
        },
        "coco_to_synset": {name: {"synset": f"thing{n}.n.01"} for n, name in names.items()},
    }
    files = {name: folder / f"{name}_train2017.json" for name in written}
    for name, path in files.items():
        path.write_text(json.dumps(written[name]))
    return files


def isotope(files: dict[str, Path]) -> Timing:
    """Read rows of pairs, and divide them."""
    with tempfile.TemporaryDirectory() as folder:
        start, spec = spent(), Rows.of_spec(SPEC)
        tables = divided(read_data([*files.values()], spec), spec, None, Path(folder))
        seconds = spent() - start
        table = pq.read_table(tables["pairs"], columns=["text", "image_own"])
        objects = table["image_own"].combine_chunks().field("objects").flatten()
        return {"cpu": seconds, "captions": len(table), "objects": len(objects)}


def query(files: dict[str, Path]) -> Timing:
    """Have DuckDB parse the files."""
    with tempfile.TemporaryDirectory() as folder:
        start, out = spent(), Path(folder) / "captions.parquet"
        named = {name: str(files[name]) for name in ("captions", "instances")}
        with duckdb.connect() as database:
            database.execute(QUERY, {**named, "out": str(out)})
        seconds, table = spent() - start, pq.read_table(out)
        objects = table["objects"].combine_chunks().flatten()
        return {"cpu": seconds, "captions": len(table), "objects": len(objects)}


def main(pictures: int = 123_287, times: int = 1) -> None:
    """Measure, and write the result."""
    with tempfile.TemporaryDirectory() as folder:
        files = made(Path(folder), pictures)
        size = sum(path.stat().st_size for path in files.values())
        found = rounds({"isotope": isotope, "duckdb": query}, files, times=times)
    ours, theirs = found["isotope"], found["duckdb"]
    if any(ours[name] != theirs[name] for name in ("captions", "objects")):
        raise SystemExit("not the same captions and objects")
    about = f"COCO's files of {pictures:,} pictures, {size / 1e6:,.0f} MB"
    peak = ours["peak_gib"]
    claims = [
        Claim(
            "parse", about, "DuckDB's JSON", ours["cpu"], theirs["cpu"], None, peak, None, "CPU s"
        )
    ]
    lines = [
        "# Rows of pairs",
        "",
        f"{about}: {ours['captions']:,} captions and {ours['objects']:,} objects of theirs.",
        "",
        verdicts(claims),
        f"Peak memory was {peak:.2f} GiB, of {WITHIN_GIB:g} that are claimed, and DuckDB's"
        f" {theirs['peak_gib']:.2f} GiB. Isotope's rows are also named, checked and divided.",
        "",
        machine(["duckdb", "pyarrow"]),
    ]
    write("pairs", "\n".join(lines), claims)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]))
