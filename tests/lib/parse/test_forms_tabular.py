"""Tables of a user as rows: what csv, json and pyarrow wrote is read back, typed."""

import bz2
import csv
import gzip
import io
import json
import re
import subprocess
from datetime import date
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image

from isotope.core.errors import CorruptFile, EmptyTable, MissingFile, UnknownForm
from isotope.parse.forms import FORM_ROLES, ROLES, form_of, forms
from isotope.parse.forms.base import FILE, ROW
from isotope.schemas.parse import REJECTED

WRITTEN = settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
# A text may hold anything but what no file of UTF-8 can, and the end of line that csv itself adds.
CHARACTERS = st.characters(codec="utf-8", exclude_characters="\0\r")
WORDS = st.text(CHARACTERS, min_size=1, max_size=12).filter(lambda text: text == text.strip())
PLAIN = st.text(st.characters(codec="utf-8", exclude_characters='\0\r\n\t"'), min_size=1)


def rows_of(form, *paths, rejected=None, **options):
    batches = list(forms()[form].read(list(paths), options, rejected))
    return [row for batch in batches for row in batch.to_pylist()]


def values_of(form, *paths, rejected=None, **options):
    rows = rows_of(form, *paths, rejected=rejected, **options)
    return [{k: v for k, v in row.items() if k not in (FILE, ROW)} for row in rows]


def kinds_of(form, *paths, **options):
    schema = next(forms()[form].read(list(paths), options)).schema
    return {field.name: str(field.type) for field in schema if field.name not in (FILE, ROW)}


def written(path: Path, text: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def png(color: str) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (4, 3), color).save(out, "PNG")
    return out.getvalue()


@WRITTEN
@given(table=st.lists(st.tuples(WORDS, WORDS), min_size=1), delimiter=st.sampled_from(",;|\t"))
def test_what_csv_writes_is_read_back(table, delimiter, tmp_path):
    with (tmp_path / "a.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter=delimiter, lineterminator="\n")
        writer.writerows([("first", "second"), *table])
    read = values_of("csv", tmp_path / "a.csv", strings=["first", "second"], delimiter=delimiter)
    assert [(row["first"], row["second"]) for row in read] == table


@WRITTEN
@given(table=st.lists(st.tuples(PLAIN, PLAIN), min_size=1))
def test_a_tsv_has_no_quotes_and_is_read_as_it_stands(table, tmp_path):
    lines = ["first\tsecond", *("\t".join(row) for row in table)]
    file = written(tmp_path / "a.tsv", "\n".join(lines))
    read = values_of("tsv", file, strings=["first", "second"])
    assert [(row["first"], row["second"]) for row in read] == table


@WRITTEN
@given(
    rows=st.lists(
        st.fixed_dictionaries(
            {
                "text": st.text(st.characters(codec="utf-8")),
                "number": st.none() | st.integers(-(2**63), 2**63 - 1),
                "share": st.none() | st.floats(allow_nan=False, allow_infinity=False),
                "words": st.none() | st.lists(st.text(st.characters(codec="utf-8"))),
                "is_new": st.none() | st.booleans(),
            }
        ),
        min_size=1,
    )
)
def test_what_json_writes_is_read_back(rows, tmp_path):
    as_lines = written(tmp_path / "a.jsonl", "\n".join(map(json.dumps, rows)))
    assert values_of("jsonl", as_lines) == rows
    as_list = written(tmp_path / "a.json", json.dumps(rows, indent=1))
    assert values_of("jsonl", as_list) == rows


def test_a_row_is_the_line_where_its_record_begins(tmp_path):
    text = 'name,caption\na,"two\nlines"\nb,one\n\nc,"last"\n'
    [first, second, third] = rows_of("csv", written(tmp_path / "a.csv", text))
    assert first == {FILE: "a.csv", ROW: 2, "name": "a", "caption": "two\nlines"}
    assert (second[ROW], third[ROW]) == (4, 6)


def test_columns_are_typed_as_far_as_the_same_text_can_be_written_again(tmp_path):
    text = "a,b,c,d,e,f,g\n1,007,1.5,2023-01-31,true,,x\n-2,8,2,2024-02-29,false,,1\n"
    file = written(tmp_path / "a.csv", text)
    kinds = ["int64", "string", "double", "date32[day]", "bool", "string", "string"]
    assert kinds_of("csv", file) == dict(zip("abcdefg", kinds, strict=True))
    assert values_of("csv", file)[0]["d"] == date(2023, 1, 31)
    assert kinds_of("csv", file, strings=["a", "d"])["a"] == "string"


def test_a_day_that_no_calendar_has_stays_text(tmp_path):
    assert kinds_of("csv", written(tmp_path / "a.csv", "a,b\n2023-02-30,x\n"))["a"] == "string"


def test_a_type_holds_from_the_first_batch_to_the_last(tmp_path):
    numbers = "".join(f"{n},x\n" for n in range(5000))
    file = written(tmp_path / "a.csv", f"a,b\n{numbers}none,x\n")
    batches = list(forms()["csv"].read([file], {}))
    assert {str(batch.schema.field("a").type) for batch in batches} == {"string"}
    assert sum(map(len, batches)) == 5001
    assert len(batches) > 1


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([1, 2.5], "double"),
        ([1, "a"], "string"),
        ([True, 1], "string"),
        ([["a"], None], "list<item: string>"),
        ([["a", 1]], "list<item: string>"),
        ([[1, 2]], "list<item: int64>"),
        ([{"a": 1}], "string"),
        ([[{"a": 1}]], "string"),
        ([2**70], "string"),
        ([None], "string"),
    ],
)
def test_values_of_several_types_become_the_text_of_json(values, kind, tmp_path):
    file = written(tmp_path / "a.jsonl", "\n".join(json.dumps({"x": v}) for v in values))
    assert kinds_of("jsonl", file) == {"x": kind}
    if kind == "string" and values != [None]:
        spelled = [v if isinstance(v, str) else json.dumps(v) for v in values]
        assert [row["x"] for row in values_of("jsonl", file)] == spelled


def test_the_delimiter_is_the_most_frequent_of_the_first_line(tmp_path):
    rows = values_of("csv", written(tmp_path / "a.csv", "x; y; z\n1; a, b; 2\n"))
    assert rows == [{"x": 1, "y": "a, b", "z": 2}]


def test_names_of_columns_come_from_the_options_where_the_file_has_none(tmp_path):
    file = written(tmp_path / "in.tsv", "a.png\t1894-07-13\n")
    assert values_of("tsv", file, header=["picture", "date"])[0]["picture"] == "a.png"
    assert [*values_of("tsv", file, header=False)[0]] == ["column_1", "column_2"]


def test_a_quote_of_a_tsv_can_be_said(tmp_path):
    file = written(tmp_path / "a.tsv", 'a\tb\n"x\ty"\t1\n')
    assert values_of("tsv", file, quote='"') == [{"a": "x\ty", "b": 1}]


@pytest.mark.parametrize(
    ("suffix", "pack"),
    [
        (".gz", gzip.compress),
        (".bz2", bz2.compress),
        (".zst", lambda data: pa.Codec("zstd").compress(data, asbytes=True)),
    ],
)
def test_packed_tables_are_read_and_half_of_one_is_an_error(suffix, pack, tmp_path):
    packed = pack(b"a,b\n" + b"".join(b"%d,x%d\n" % (n, n * n) for n in range(9999)))
    assert len(rows_of("csv", written(tmp_path / f"a.csv{suffix}", packed))) == 9999
    half = written(tmp_path / f"b.csv{suffix}", packed[: len(packed) // 2])
    with pytest.raises(CorruptFile, match=r"b.csv.*not a whole"):
        rows_of("csv", half)


def test_a_byte_order_mark_is_no_letter_of_the_first_name(tmp_path):
    assert values_of("csv", written(tmp_path / "a.csv", b"\xef\xbb\xbfa,b\n1,2\n")) == [
        {"a": 1, "b": 2}
    ]
    assert values_of("jsonl", written(tmp_path / "a.jsonl", b'\xef\xbb\xbf{"a": 1}\n')) == [
        {"a": 1}
    ]


@pytest.mark.parametrize(
    ("data", "told"),
    [
        ("a,b\n1,é\n".encode("latin-1"), r"a.csv, row 2: not UTF-8"),
        ("a,b\n1,é\n".encode("utf-16"), r"a.csv, row 1: UTF-16, not UTF-8"),
        (b'a,b\n1,2\n3,"open\n4,5\n', r"a.csv, row 3: a quote that opens here is not closed"),
        (b"a,a\n1,2\n", r"a.csv, row 1: two columns are called 'a'"),
        (b"_row,a\n1,2\n", r"_row: a column of this name"),
    ],
)
def test_a_table_that_cannot_be_read_on_is_a_named_error_with_its_line(data, told, tmp_path):
    with pytest.raises(CorruptFile, match=told):
        rows_of("csv", written(tmp_path / "a.csv", data), rejected=[])


def test_an_empty_table_is_a_named_error(tmp_path):
    with pytest.raises(EmptyTable, match="no first line"):
        rows_of("csv", written(tmp_path / "a.csv", ""))


def test_records_that_cannot_be_read_are_set_aside_with_file_row_and_reason(tmp_path):
    file = written(tmp_path / "a.csv", 'a,b\n1,2\n3\n4,5,6\n"x"y,1\n7,8\n')
    rejected = []
    assert [row["a"] for row in rows_of("csv", file, rejected=rejected)] == [1, 7]
    assert [(each["row"], each["raw"]) for each in rejected] == [
        *((3, "3"), (4, "4,5,6"), (5, '"x"y,1'))
    ]
    assert rejected[1]["detail"] == "3 fields, the header has 2"
    assert {frozenset(each) for each in rejected} == {frozenset(REJECTED.names)}
    with pytest.raises(CorruptFile, match=r"a.csv, row 3: 1 fields, the header has 2"):
        rows_of("csv", file)


def test_lines_that_are_no_record_of_json_are_set_aside(tmp_path):
    lines = ['{"a": 1}', "", "[1]", '{"a": ', r'{"a": "\ud800"}', '{"a": 2}']
    file, rejected = written(tmp_path / "a.jsonl", "\n".join(lines)), []
    assert [row[ROW] for row in rows_of("jsonl", file, rejected=rejected)] == [1, 6]
    assert [(each["row"], each["raw"]) for each in rejected] == [
        *((3, "[1]"), (4, '{"a": '), (5, r'{"a": "\ud800"}'))
    ]


def test_files_are_read_one_after_the_other_with_the_columns_of_all(tmp_path):
    one = written(tmp_path / "train/a.csv", "x,y\n1,2\n")
    two = written(tmp_path / "test/a.csv", "x,z\n3,4\n")
    assert rows_of("csv", one, two) == [
        {FILE: "train/a.csv", ROW: 2, "x": 1, "y": 2, "z": None, "split": "train"},
        {FILE: "test/a.csv", ROW: 2, "x": 3, "y": None, "z": 4, "split": "test"},
    ]


def test_parquet_has_its_own_types_and_its_pictures_are_called_by_their_bytes(tmp_path):
    red, blue = png("red"), png("blue")
    table = pa.table(
        {
            "image": pa.array([red, blue, red, None], pa.binary()),
            "stars": pa.array([1, 2, None, 4], pa.int8()),
            "place": pa.array(["a", "b", "a", "b"]).dictionary_encode(),
        }
    )
    pq.write_table(table, tmp_path / "a.parquet")
    rows = rows_of("parquet", tmp_path / "a.parquet")
    pictures = {n: read() for n, read in forms()["parquet"].pictures([tmp_path / "a.parquet"], {})}
    assert sorted(pictures.values()) == sorted([red, blue])
    assert [pictures.get(row["image"]) for row in rows] == [red, blue, red, None]
    assert all(name.endswith(".png") for name in pictures)
    assert kinds_of("parquet", tmp_path / "a.parquet")["stars"] == "int8"
    assert [row["place"] for row in rows] == ["a", "b", "a", "b"]
    assert [row[ROW] for row in rows] == [1, 2, 3, 4]


def test_bytes_that_are_no_picture_stay_bytes(tmp_path):
    pq.write_table(pa.table({"hash": [b"\x00\x01"], "a": ["x"]}), tmp_path / "a.parquet")
    assert values_of("parquet", tmp_path / "a.parquet") == [{"hash": b"\x00\x01", "a": "x"}]
    assert list(forms()["parquet"].pictures([tmp_path / "a.parquet"], {})) == []


def test_a_file_that_is_no_parquet_or_has_other_types_is_a_named_error(tmp_path):
    with pytest.raises(CorruptFile, match=r"a.parquet: not a whole .parquet file"):
        rows_of("parquet", written(tmp_path / "a.parquet", "a,b\n"))
    for name, value in (("b", 1), ("c", "x")):
        pq.write_table(pa.table({"a": [[value]]}), tmp_path / f"{name}.parquet")
    with pytest.raises(CorruptFile, match=r"c.parquet: columns of other types"):
        rows_of("parquet", tmp_path / "b.parquet", tmp_path / "c.parquet")


@pytest.mark.parametrize(
    ("name", "text", "form"),
    [
        ("a.csv", "a,b\n1,2\n", "csv"),
        ("a.csv.gz", gzip.compress(b"a;b\n1;2\n", mtime=0), "csv"),
        ("a.tsv", "a\tb\n", "tsv"),
        ("a.ndjson", '{"a": 1}\n', "jsonl"),
        ("a.json", ' [ {"a": 1}]', "jsonl"),
        ("captions.txt", "image,caption\na.jpg,A dog\n", "csv"),
    ],
)
def test_a_table_is_recognised_by_its_name_and_first_line(name, text, form, tmp_path):
    assert form_of([written(tmp_path / name, text)]).name == form


def test_an_unknown_form_is_a_named_error_with_the_likely_spelling(tmp_path):
    with pytest.raises(UnknownForm, match="did you mean 'parquet'"):
        form_of([], "parket")
    with pytest.raises(
        UnknownForm, match=r"a.xyz\).*name the form; known: atomic, beir, coco, csv"
    ):
        form_of([written(tmp_path / "a.xyz", "?")])
    with pytest.raises(MissingFile, match="no such file or folder"):
        form_of([tmp_path / "none.csv"])


def test_every_form_says_its_roles_in_words_of_the_contract():
    for name, form in forms().items():
        assert form.name == name
        assert {*form.roles} <= {*ROLES, *FORM_ROLES}


@pytest.mark.parametrize(("encoding", "suffix"), [("cp1252", ".csv"), ("utf-16", ".tsv")])
def test_the_command_that_a_table_in_another_encoding_is_answered_with_works(
    tmp_path, encoding, suffix
):
    path = tmp_path / f"my captions{suffix}"
    path.write_bytes("file,text\na.jpg,café crème\n".encode(encoding))
    with pytest.raises(CorruptFile) as refused:
        list(forms()["csv"].read([path], {}, []))
    [command] = re.findall("`(iconv -f .*?)`", refused.value.remedy)
    subprocess.run(["sh", "-c", command], check=True, timeout=60)
    [batch] = forms()["csv"].read([tmp_path / f"my captions-utf8{suffix}"], {}, [])
    assert batch["text"].to_pylist() == ["café crème"]
