"""Claim: COCO, and a tenth of AToMiC, become rows of pairs in 4 GiB; beside it, what DuckDB takes.

    python benchmarks/pairs.py [PICTURES] [ROUNDS]     (default 123287 1)

Invented captions and boxes in COCO's form, five captions and seven boxes a picture as in its
published files of 2017, become `pairs.parquet` and `pairs.rejected.parquet` by the form `coco`, and
a table of captions with the objects of their pictures by one query of DuckDB. Both must have the
same captions and objects.

Invented texts, images and judgements in the tables that AToMiC's authors publish, of PICTURES for
1,232,870 its part, become the same two by the form `atomic`, and one table by one query that joins
them. Both must have the same texts, images and judgements.

Isotope's rows are also named, checked and divided, which the queries do not do. Processor seconds,
one process each. Written to benchmarks/results/pairs.md.
"""

import json
import random
import sys
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import duckdb
import pyarrow.parquet as pq
from common import Claim, Timing, machine, rounds, spent, verdicts, write

from isotope.acquire.fetch import acquire
from isotope.core.manifest import parts
from isotope.params.acquire import DigestedSource
from isotope.params.pairs import Rows
from isotope.parse.pairs import divided, parse_pairs, read_data

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

# AToMiC, Table 1; a tenth of it beside COCO's pictures.
TEXTS, IMAGES, JUDGED, WHOLE = 10_134_744, 11_019_202, 4_429_577, 1_232_870
# The columns of the published tables; one judgement in a hundred names an image that is not there.
PUBLISHED = {
    "published_texts": """
        SELECT
            concat('projected-', 100000 + n, '-', lpad((n % 30)::VARCHAR, 3, '0')) AS text_id,
            concat('https://en.wikipedia.org/wiki/Page_', n // 4) AS page_url,
            concat('Page ', n // 4) AS page_title,
            words(n, 3) AS section_title,
            words(n, 90) AS context_section_description,
            words(n // 4, 60) AS context_page_description,
            []::VARCHAR[] AS media,
            ['Introduction', words(n, 3)] AS hierachy,
            [words(n % 500, 2), words(n % 900, 3)] AS category,
            n::VARCHAR AS source_id
        FROM range($texts) AS numbers (n)
    """,
    "published_images": """
        SELECT
            concat('https://upload.wikimedia.org/wikipedia/commons/', n, '.jpg') AS image_url,
            uuid_of(n) AS image_id,
            ['en', 'de'] AS language,
            ['', words(n, 8)] AS caption_reference_description,
            [words(n, 2), ''] AS caption_alt_text_description,
            [words(n, 12)] AS caption_attribution_description,
            NULL::BLOB AS image
        FROM range($images) AS numbers (n)
    """,
    "judgements": """
        SELECT
            concat('projected-', 100000 + t, '-', lpad((t % 30)::VARCHAR, 3, '0')) AS text_id,
            uuid_of(i) AS image_id,
            1 AS rel
        FROM (
            SELECT hash(n) % $texts AS t, if(n % 100 = 0, -n, hash(n, 1) % $images) AS i
            FROM range($judged) AS numbers (n)
        )
        GROUP BY ALL
    """,
}
MACROS = """
CREATE MACRO words(seed, n) AS array_to_string(
    list_transform(range(n), lambda k: concat('word', hash(seed, k) % 3000)), ' '
);
CREATE MACRO uuid_of(n) AS md5(n::VARCHAR)::UUID::VARCHAR;
"""
JOINED = """
COPY (
    SELECT
        text_id, page_url, page_title, section_title, context_section_description,
        context_page_description, hierachy, category, source_id
    FROM read_parquet($published_texts)
    UNION ALL BY NAME
    SELECT
        image_id, image_url, language, caption_reference_description,
        caption_alt_text_description, caption_attribution_description
    FROM read_parquet($published_images)
    UNION ALL BY NAME
    SELECT judged.text_id, images.image_url, judged.rel AS relevance
    FROM read_parquet($judgements) AS judged
    JOIN read_parquet($published_images) AS images ON judged.image_id = images.image_id
    SEMI JOIN read_parquet($published_texts) AS texts ON judged.text_id = texts.text_id
) TO $out (FORMAT parquet, COMPRESSION zstd)
"""
COUNTED = """
SELECT
    count(*) FILTER (text_id IS NOT NULL AND image_url IS NULL),
    count(*) FILTER (image_id IS NOT NULL),
    count(*) FILTER (relevance IS NOT NULL)
FROM read_parquet($table)
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


def published(folder: Path, pictures: int) -> dict[str, Path]:
    """Write AToMiC's tables, and acquire them; return the manifest and the files of each part."""
    sizes = {"texts": TEXTS, "images": IMAGES, "judged": JUDGED}
    numbers = {name: whole * pictures // WHOLE for name, whole in sizes.items()}
    files = {part: folder / f"{part}/train.parquet" for part in PUBLISHED}
    with duckdb.connect() as database:
        database.execute(MACROS)
        for part, text in PUBLISHED.items():
            files[part].parent.mkdir()
            read = {name: number for name, number in numbers.items() if f"${name}" in text}
            database.execute(f"COPY ({text}) TO '{files[part]}' (FORMAT parquet)", read)
    wanted = {"files": {part: [str(path)] for part, path in files.items()}}
    manifest = folder / "acquired/manifest.json"
    acquire(DigestedSource.of_spec(wanted), manifest, folder / "scratch")
    return {"manifest": manifest, **files}


def isotope_of_atomic(files: dict[str, Path]) -> Timing:
    """Have the queries of the form make the rows."""
    with tempfile.TemporaryDirectory() as folder:
        start, pairs, manifest = spent(), Path(folder) / "pairs.parquet", files["manifest"]
        parse_pairs(
            manifest=manifest,
            spec=Rows.of_spec({"form": "atomic"}),
            pairs=pairs,
            rejected=Path(folder) / "rejected.parquet",
            parts=parts(manifest),
        )
        return {"cpu": spent() - start, **counted(pairs)}


def join(files: dict[str, Path]) -> Timing:
    """Have DuckDB join the tables."""
    with tempfile.TemporaryDirectory() as folder:
        start, out = spent(), Path(folder) / "rows.parquet"
        with duckdb.connect() as database:
            named = {part: str(files[part]) for part in PUBLISHED}
            database.execute(JOINED, {**named, "out": str(out)})
        return {"cpu": spent() - start, **counted(out)}


def counted(table: Path) -> dict[str, int]:
    """Count the texts, images and judgements in a table of all three."""
    with duckdb.connect() as database:
        [row] = database.execute(COUNTED, {"table": str(table)}).fetchall()
    return dict(zip(("texts", "images", "judgements"), row, strict=True))


def compared(
    ours: Callable[[Any], Timing], theirs: Callable[[Any], Timing], files: dict[str, Path], n: int
) -> tuple[Timing, Timing]:
    """Measure both n times; return what isotope took, and the peer.

    Raises:
        SystemExit: they have not the same rows.
    """
    found = rounds({"isotope": ours, "duckdb": theirs}, files, times=n)
    for name, value in found["isotope"].items():
        if isinstance(value, int) and value != found["duckdb"][name]:
            raise SystemExit(f"not the same {name}: {value} and {found['duckdb'][name]}")
    return found["isotope"], found["duckdb"]


def main(pictures: int = 123_287, times: int = 1) -> None:
    """Measure, and write the result."""
    taken = list[tuple[str, str, Timing, Timing]]()
    with tempfile.TemporaryDirectory() as folder:
        files = made(Path(folder), pictures)
        size = megabytes(files.values())
        about = f"COCO's files of {pictures:,} pictures, {size}"
        taken.append((about, "DuckDB's JSON", *compared(isotope, query, files, times)))
    with tempfile.TemporaryDirectory() as folder:
        files = published(Path(folder), pictures)
        size = megabytes(files[part] for part in PUBLISHED)
        about = f"AToMiC's tables, {pictures / WHOLE:.2g} of its size, {size}"
        taken.append((about, "DuckDB's join", *compared(isotope_of_atomic, join, files, times)))
    lines, claims = ["# Rows of pairs", ""], list[Claim]()
    for about, peer, ours, theirs in taken:
        told = [f"{value:,} {name}" for name, value in ours.items() if isinstance(value, int)]
        lines.append(
            f"{about}: {', '.join(told)}. Peak memory was {ours['peak_gib']:.2f} GiB, of"
            f" {WITHIN_GIB:g} that are claimed, and the peer's {theirs['peak_gib']:.2f} GiB.\n"
        )
        seconds = (ours["cpu"], theirs["cpu"], None)
        claims.append(Claim("parse", about, peer, *seconds, ours["peak_gib"], None, "CPU s"))
    lines += [
        verdicts(claims),
        "Isotope's rows are also named, checked and divided.",
        "",
        machine(["duckdb", "pyarrow"]),
    ]
    write("pairs", "\n".join(lines), claims)


def megabytes(files: Iterable[Path]) -> str:
    """Tell the size of files together."""
    return f"{sum(path.stat().st_size for path in files) / 1e6:,.0f} MB"


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]))
