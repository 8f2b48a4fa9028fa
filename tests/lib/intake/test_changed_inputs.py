"""Changed files of every format that is no picture and no archive: read, or refused by name.

Dumps, ZIM files, WIT, tables of a dump, runs, captions, WordNet and tables of one's own: nothing
that a library raises on them comes through, and no reader dies.
"""

import bz2
import csv
import gzip
import io
import json
import random
import subprocess
import sys
import warnings
import zipfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests import old_zim, snapshots, structured
from tests.lib.intake.test_archives import changed
from tests.lib.parse.test_langlinks import HEAD, STATEMENTS
from tests.lib.parse.test_snapshots import parse
from tests.lib.parse.test_wikidata import THREE, as_list, parsed
from tests.lib.parse.test_wit import as_tsv, record
from tests.snapshots import Page

from isotope.core import runs
from isotope.core.errors import IsotopeError
from isotope.crawl.pictures import zim_contents, zim_names
from isotope.intake.wiki_files import read_files
from isotope.params.pairs import Rows
from isotope.parse import wit
from isotope.parse.langlinks import read_langlinks
from isotope.parse.pairs import divided, read_data
from isotope.tabulate.captions import read_captions

ROOT = Path(__file__).parents[3]
SOME, MANY = 60, 2_000
TEXT = """[[File:A.jpg|thumb|A ''cat'']] Text of [[B]] {{Infobox|image=C.png|caption=x}}
== One ==
* a
* b {{x|y}}
<gallery>
D.png|four
</gallery>
{| class=x
|-
| 1 || 2
|}
=== Two ===
<ref name=a>r</ref> [[de:Katze]] [[Category:Cats]]
"""
PAGES = [
    Page(7, 0, "Cat", TEXT),
    Page(8, 0, "Dog", TEXT.replace("cat", "dog")),
    Page(9, 0, "Kitty", "", redirect="Cat"),
    Page(10, 1, "Talk:Cat", "x"),
]
SQL = (HEAD + "".join(f"{line}\n" for line in STATEMENTS)).encode()
IMAGES = rb"INSERT INTO `image` VALUES ('A.jpg',1,2,'x\'y'),('B.png',3,4,NULL);" + b"\n"
FILES = b"file,project,attribution\nA.jpg,commons,x\nB.png,local,\n"
WIT = as_tsv(
    [
        record(page_title="A", section_title='q "x"\ny'),
        record(page_title="B"),
        record(page_title="C", original_height="x"),
    ]
).encode()
RUN = b"q1 Q0 d1 1 3.5 t\nq1 Q0 d2 2 2.5 t\nq2 Q0 d1 1 1e3 t\n"
CAPTIONS = b'image,language,caption\na.jpg,en,"A dog, ""x"""\nb.jpg,en,two\n'
RECORDS = b'{"image": "a", "language": "en", "caption": "x"}\n' * 2
Pack = Callable[[bytes], bytes]


@dataclass(frozen=True)
class Input:
    """A whole file: its name, what is in it, how it is packed, and what reads it."""

    name: str
    content: bytes
    read: Callable[[Path], object]
    pack: Pack = bytes


def multistream(xml: bytes) -> bytes:
    head, start, rest = xml.partition(b"<page>")
    pages, end, tail = rest.rpartition(b"</page>")
    return b"".join(map(bz2.compress, (head, start + pages + end, tail)))


def dump(path: Path) -> object:
    return parse([path], path.parent)


def wikidata(path: Path) -> object:
    return parsed([path], path.parent / "entities")


def associations(path: Path) -> object:
    return wit.parse_wit([path], out=path.parent / "wit", rejected=path.parent / "rejected")


def listed(path: Path) -> object:
    return read_files([path], path.parent / "files")


def captions(path: Path) -> object:
    return read_captions([path], {"en"})


def frame(folder: Path, **columns: list[Any]) -> bytes:
    pl.DataFrame(columns).write_parquet(folder / "frame")
    return (folder / "frame").read_bytes()


def run_file(folder: Path) -> bytes:
    hits = {"query_id": ["a", "a", "b"], "doc_id": ["x", "y", "x"], "score": [2.0, 1.0, 3.0]}
    runs.write_run(pl.DataFrame(hits), folder / "run")
    return (folder / "run").read_bytes()


def one_zipped(content: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("enwiki_namespace_0_0.ndjson", content)
    return out.getvalue()


def all_inputs(folder: Path) -> dict[str, Input]:
    xml = snapshots.write_export(PAGES, folder / "written.xml").read_bytes()
    json_lines = ("\n".join(snapshots.records(PAGES)) + "\n").encode()
    parts = ("\n".join(structured.records(PAGES)) + "\n").encode()
    entities = as_list([json.dumps(each) for each in THREE])
    columns = pl.read_ndjson(parts).to_dict(as_series=False)
    tar = snapshots.write_enterprise(PAGES, folder / "written.tar.gz").read_bytes()
    both: dict[str, list[str | None]] = {
        "image": ["a", "b"],
        "language": ["en", "en"],
        "caption": ["x", "y"],
    }
    named = frame(folder, file=["A.jpg", "B.png"], project=["commons", "local"])
    inputs = [
        Input("d.xml", xml, dump),
        Input("d.xml.bz2", xml, dump, bz2.compress),
        Input("d-multistream.xml.bz2", xml, dump, multistream),
        Input("r.ndjson", json_lines, dump),
        Input("r.ndjson.gz", json_lines, dump, gzip.compress),
        Input("r.tar.gz", gzip.decompress(tar), dump, gzip.compress),
        Input("s.ndjson", parts, dump),
        Input("s.zip", parts, dump, one_zipped),
        Input("s.parquet", frame(folder, **columns), dump),
        Input("w.json", entities, wikidata),
        Input("w.json.gz", entities, wikidata, gzip.compress),
        Input("l.sql", SQL, lambda path: [*read_langlinks(path)]),
        Input("l.sql.gz", SQL, lambda path: [*read_langlinks(path)], gzip.compress),
        Input("l.sql.bz2", SQL, lambda path: [*read_langlinks(path)], bz2.compress),
        Input("i.sql", IMAGES, listed),
        Input("i.sql.gz", IMAGES, listed, gzip.compress),
        Input("f.csv", FILES, listed),
        Input("f.parquet", named, listed),
        Input("w.train.tsv", WIT, associations),
        Input("w.train.tsv.gz", WIT, associations, gzip.compress),
        Input("t.trec", RUN, runs.read_trec_run),
        Input("t.trec.gz", RUN, runs.read_trec_run, gzip.compress),
        Input("t.trec.bz2", RUN, runs.read_trec_run, bz2.compress),
        Input("q.txt", b"q1 0 d1 1\nq2 0 d2 0\n", runs.read_trec_qrels),
        Input("run.parquet", run_file(folder), runs.read_run),
        Input("c.csv", CAPTIONS, captions),
        Input("c.jsonl", RECORDS, captions),
        Input("c.jsonl.gz", RECORDS, captions, gzip.compress),
        Input("c.parquet", frame(folder, **both), captions),
    ]
    return {each.name: each for each in inputs}


NAMES = (
    *("d.xml", "d.xml.bz2", "d-multistream.xml.bz2", "r.ndjson", "r.ndjson.gz", "r.tar.gz"),
    *("s.ndjson", "s.zip", "s.parquet", "w.json", "w.json.gz"),
    *("l.sql", "l.sql.gz", "l.sql.bz2", "i.sql", "i.sql.gz", "f.csv", "f.parquet"),
    *("w.train.tsv", "w.train.tsv.gz", "t.trec", "t.trec.gz", "t.trec.bz2", "q.txt"),
    *("run.parquet", "c.csv", "c.jsonl", "c.jsonl.gz", "c.parquet"),
)


def told_by(read: Callable[[Path], object], path: Path) -> str:
    """Return what becomes of a file; anything but an error with a name comes through."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            read(path)
    except IsotopeError as error:
        # Of a dictionary that is found nowhere the folder is named.
        has_name = path.name in str(error) or str(path.parent.parent) in str(error)
        return "named" if has_name else str(error)
    return "read"


def outcomes(given: Input, path: Path, count: int) -> Counter[str]:
    """Read so many changes of a file, of what is in it and of what is packed."""
    told, whole = Counter[str](), path.read_bytes() if path.exists() else None
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(given.pack(given.content))
    given.read(path)
    for seed in range(count):
        inside = seed % 2 == 0 or given.pack is bytes
        packed = given.pack(changed(given.content, seed)) if inside else None
        path.write_bytes(packed or changed(given.pack(given.content), seed))
        told[told_by(given.read, path)] += 1
    if whole is not None:
        path.write_bytes(whole)
    return told


def test_every_input_has_its_name_here(tmp_path):
    assert {*all_inputs(tmp_path)} == {*NAMES}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("count", [SOME, pytest.param(MANY, marks=pytest.mark.exhaustive)])
def test_changed_files_are_read_or_refused_by_name(tmp_path, name, count):
    told = outcomes(all_inputs(tmp_path)[name], tmp_path / name, count)
    assert sum(told.values()) == count
    assert {*told} <= {"read", "named"}
    assert name in {"r.ndjson", "s.ndjson"} or told["named"]


def zim(path: Path) -> None:
    zim_names(path, [])
    list(zim_contents(path, [], lambda _: True))
    dump(path)


IN_A_PROCESS = """
import sys
from pathlib import Path
from tests.lib.intake.test_changed_inputs import told_by, zim
for name in sys.argv[1:]:
    print("told:", told_by(zim, Path(name)), flush=True)
"""


@pytest.mark.parametrize("count", [SOME, pytest.param(MANY, marks=pytest.mark.exhaustive)])
def test_changed_zim_files_are_read_or_refused_by_name_and_end_no_process(tmp_path, count):
    new = snapshots.write_zim(PAGES, tmp_path / "wikipedia_toy_all.zim").read_bytes()
    items = [
        old_zim.article("Ray", '<p><a href="AC_DC.html">x</a></p>'),
        old_zim.article("AC/DC", "<p>y</p>"),
        old_zim.redirect("R", "Ray"),
        old_zim.Item("I/m/R.png", "", "image/png", b"png"),
    ]
    old = old_zim.write_old_zim(items, tmp_path / "old.zim", {"Language": "eng"}).read_bytes()
    paths = [tmp_path / f"wikipedia_en_{seed}.zim" for seed in range(count)]
    for seed, path in enumerate(paths):
        path.write_bytes(changed((new, old)[seed % 2], seed))
    # libzim is C++: what it does not catch would end this process.
    ran = subprocess.run(
        [sys.executable, "-c", IN_A_PROCESS, *paths], check=False, cwd=ROOT, capture_output=True
    )
    told = [line.rpartition(b" ")[2] for line in ran.stdout.splitlines() if b"told:" in line]
    assert len(told) == count, ran.stderr.decode()[-2_000:]
    assert {*told} == {b"read", b"named"}


FIELDS = ("file", "one", "two", "fold", "grade", "lang", "day", "rights", "tags", "camera", "id")
COLUMNS = {
    **{"image": "file", "text": ["one", "two"], "split": "fold", "relevance": "grade"},
    **{"language": "lang", "date": "day", "licence": "rights", "objects": "tags", "text_id": "id"},
}
SPEC = Rows.of_plain({"columns": COLUMNS, "keep": {"image": ["camera"]}})
STRANGE = (
    *("", "\0", "NaN", "1e309", "-1", "9" * 400, "2147483648", "2147483647.0", "inf", "0x1", "1.5"),
    *("1907-13-45", "9999-12-31", "0000-00-00", "10000-01-01", "2021-02-30T99", "[", '{"a": 1}'),
    *("[[[[", "a;b;;|,", "  ", "\u202e", "\u2028x", "a\rb", "a\nb", '"', '""', '"x', 'a"b', "'"),
    *("=1+1", "\U0001f600", "\x1b[31m", "NULL", "true", "../../etc/passwd", "http://[::1"),
    *("a" * 70_000, "\x85", "\ufeff", "TRAIN", "test "),
)
VALUES = (
    *(1, 1.5, -1, 2**31, 2**63, 2**70, 1e300, True, None, [], {}, ["a"], [1], [None], [["a"]]),
    *({"a": 1}, [{"synset": "x", "x_min": 2**40}], [{"synset": "x", "x_min": "q"}]),
    [{"synset": 1}],
)


def fields(number: int) -> dict[str, object]:
    split = ("train", "validation", "test")[number % 3]
    values = (f"{number}.jpg", f"text {number}", f"two {number}", split, "1", "en", "1907-05-31")
    return dict(zip(FIELDS, (*values, "CC BY", "dog;tree", "Leica", f"t{number}"), strict=True))


def strange_table(form: str, seed: int) -> bytes:
    """Return a table whose fields are what people and programs write there, and some bytes."""
    dice, rows = random.Random(seed), [fields(n) for n in range(5)]
    for _ in range(dice.choice([1, 2, 5])):
        dice.choice(rows)[dice.choice(FIELDS)] = dice.choice(STRANGE)
    if form == "jsonl":
        dice.choice(rows)[dice.choice(FIELDS)] = dice.choice(VALUES)
        data = "".join(f"{json.dumps(row)}\n" for row in rows).encode()
    else:
        text = io.StringIO()
        table = csv.writer(text, delimiter="\t" if form == "tsv" else ",")
        table.writerows([FIELDS, *([str(v) for v in row.values()] for row in rows)])
        data = text.getvalue().encode()
    return changed(data, seed) if dice.random() < 0.2 else data


def divide(path: Path) -> None:
    divided(read_data([path], SPEC), SPEC, None, path.parent)


@pytest.mark.parametrize("form", ["csv", "tsv", "jsonl"])
@pytest.mark.parametrize("count", [20, pytest.param(MANY, marks=pytest.mark.exhaustive)])
def test_strange_fields_of_tables_are_read_set_aside_or_refused_by_name(tmp_path, form, count):
    told = Counter[str]()
    for seed in range(count):
        path = tmp_path / f"table.{form}"
        path.write_bytes(strange_table(form, seed))
        told[told_by(divide, path)] += 1
    assert sum(told.values()) == count
    assert {*told} <= {"read", "named"}
    assert told["read"] > count // 2
