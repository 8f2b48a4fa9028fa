"""Rows of anybody's data become pictures, texts and judgements; what can't be used is set aside."""

import json
from datetime import date
from pathlib import Path
from uuid import NAMESPACE_URL, uuid3

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.pairs import FLICKR, Built, built, draw, picture

from isotope.core.errors import BadParams, EmptyTable, MissingColumn, UnknownForm
from isotope.parse.pair_rows import Roles, day, grade, objects, staged, text

HEADER = "file,one,two,fold,grade,lang,day,rights,tags,camera,iso,author"
COLUMNS = {
    **{"image": "file", "text": ["one", "two"], "split": "fold", "relevance": "grade"},
    **{"language": "lang", "date": "day", "licence": "rights", "objects": "tags"},
}
KEEP = {"image": ["camera", "iso"], "text": ["author"]}


def table(folder: Path, *lines: str, header: str = HEADER) -> str:
    """Write a CSV file; return its path."""
    (folder / "captions.csv").write_text("\n".join([header, *lines]) + "\n", "utf-8")
    return str(folder / "captions.csv")


def pictures(folder: Path, *names: str) -> str:
    return str(draw(folder / "pictures", names))


def test_one_entry_makes_texts_pictures_and_judgements_of_a_users_table(tmp_path):
    data = table(
        tmp_path,
        "a.jpg,A dog .,Two dogs .,train,2,en,1907-05-31,CC BY,dog;tree,Leica,100,Ann",
        "b.jpg,A cat .,,dev,0,de,,,,Zeiss,200,Bob",
        "c.jpg,A fox .,,test,,,1908,,,,,",
    )
    entry = {"data": data, "columns": COLUMNS, "keep": KEEP, "language": "fr"}
    entry["pictures"] = pictures(tmp_path, "a.jpg", "b.jpg", "c.jpg")
    made = built(tmp_path, entry)
    assert made.pairs() == [
        ("A cat .", "b.jpg", 0, "validation"),
        ("A dog .", "a.jpg", 2, "train"),
        ("A fox .", "c.jpg", 1, "test"),
        ("Two dogs .", "a.jpg", 2, "train"),
    ]
    assert made.reasons() == {}
    texts = made.table("texts").sort("context_section_description")
    assert texts["language"].to_list() == ["de", "en", "fr", "en"]
    assert texts["author"].to_list() == ["Bob", "Ann", None, "Ann"]
    assert texts["text_id"].to_list() == [f"captions-{n}" for n in ("3-1", "2-1", "4-1", "2-2")]
    images = made.table("images").sort("source_image_id")
    assert images["date"].to_list() == [date(1907, 5, 31), None, date(1908, 1, 1)]
    assert images["licence"].to_list() == ["CC BY", None, None]
    assert [o["synset"] for o in images["objects"][0]] == ["dog", "tree"]
    assert images.select("camera", "iso").rows() == [("Leica", 100), ("Zeiss", 200), (None, None)]
    assert images.schema["iso"] == pl.Int64()
    assert images.select("width", "height", "mime_type").row(0) == (24, 16, "image/jpeg")


def test_what_can_not_be_used_is_set_aside_with_file_row_and_reason(tmp_path):
    data = table(
        tmp_path,
        "a.jpg,Fine .,,train,1,,,,,,,",
        "a.jpg,Fine .,,train,1,,,,,,,",
        "gone.jpg,No picture .,,train,1,,,,,,,",
        ",No name .,,train,1,,,,,,,",
        "b.jpg,,,train,1,,,,,,,",
        "b.jpg,Bad grade .,,train,often,,,,,,,",
        "b.jpg,Bad day .,,train,1,,31 May,,,,,",
        "b.jpg,Bad split .,,trian,1,,,,,,,",
        "b.jpg,No split .,,,1,,,,,,,",
        "c.jpg,Here .,,train,1,,,,,,,",
        "c.jpg,And there .,,test,1,,,,,,,",
        "d.jpg,Too,many,fields,are,in,this,row,of,the,table,by,one",
    )
    entry = {
        "data": data,
        "columns": COLUMNS,
        "pictures": pictures(tmp_path, "a.jpg", "b.jpg", "c.jpg"),
    }
    made = built(tmp_path, entry)
    rows = made.table("rejected").select("file", "row", "reason", "detail").rows()
    assert {file for file, *_ in rows} == {"captions.csv"}
    assert [row[1:] for row in rows] == [
        (3, "repeated_pair", "a.jpg"),
        (4, "missing_picture", "gone.jpg"),
        (5, "no_picture", "captions-5-1"),
        (6, "no_text", "b.jpg"),
        (7, "bad_relevance", "b.jpg"),
        (8, "bad_date", "31 May"),
        (9, "unknown_split", "trian"),
        (10, "no_split", "b.jpg"),
        (11, "mixed_splits", "c.jpg"),
        (12, "mixed_splits", "c.jpg"),
        (13, "unreadable", "13 fields, the header has 12"),
    ]
    assert made.pairs() == [("Bad day .", "b.jpg", 1, "train"), ("Fine .", "a.jpg", 1, "train")]
    assert made.table("filters").rows() == [
        ("read", "train", 8, 0, 8),
        ("no_picture", "train", 8, 1, 7),
        ("no_text", "train", 7, 1, 6),
        ("bad_relevance", "train", 6, 1, 5),
        ("repeated_pair", "train", 5, 1, 4),
        ("mixed_splits", "train", 4, 1, 3),
        ("missing_picture", "train", 3, 1, 2),
        ("read", "test", 1, 0, 1),
        ("mixed_splits", "test", 1, 1, 0),
        ("read", "unknown", 3, 0, 3),
        ("unreadable", "unknown", 3, 1, 2),
        ("no_split", "unknown", 2, 1, 1),
        ("unknown_split", "unknown", 1, 1, 0),
    ]


def test_an_attribute_that_means_nothing_costs_the_attribute_and_not_the_judgement(tmp_path):
    data = table(
        tmp_path,
        "a.jpg,One .,Two .,train,1,,03/04/2021,,,,,",
        "b.jpg,Three .,,train,1,,2021-04-03,,,,,",
    )
    entry = {"data": data, "columns": COLUMNS, "pictures": pictures(tmp_path, "a.jpg", "b.jpg")}
    made = built(tmp_path, entry)
    assert [text for text, *_ in made.pairs()] == ["One .", "Three .", "Two ."]
    dates = made.table("images").sort("source_image_id")["date"].to_list()
    assert dates == [None, date(2021, 4, 3)]
    rejected = made.table("rejected").select("row", "reason", "detail", "raw").rows()
    assert rejected == [(2, "bad_date", "03/04/2021", "a.jpg")]
    assert made.table("filters").rows() == [("read", "train", 3, 0, 3)]


def test_columns_side_by_side_have_a_language_each(tmp_path):
    lines = ["a.jpg,A dog .,Ein Hund .,Un chien .,chien,Hund", "b.jpg,,Eine Katze .,,,Katze"]
    data = table(tmp_path, *lines, header="file,en,de,fr,alt_fr,alt")
    entry = {
        "data": data,
        "columns": {"image": "file", "text": ["en", "de", "fr"], "caption": ["alt_fr", "alt"]},
        "languages": {"en": "en", "de": "de", "fr": "fr", "alt_fr": "fr"},
        **{"pictures": "none", "language": "mul"},
    }
    texts = built(tmp_path, entry).table("texts").sort("context_section_description")
    assert texts.select("context_section_description", "language").rows() == [
        ("A dog .", "en"),
        ("Ein Hund .", "de"),
        ("Eine Katze .", "de"),
        ("Un chien .", "fr"),
    ]
    images = Built(tmp_path / "collect").table("images").sort("source_image_id")
    assert images["caption_reference_description"].to_list() == [["chien", "Hund"], ["Katze"]]
    assert images["language"].to_list() == [["fr", "mul"], ["mul"]]


def test_the_first_text_of_each_language_is_a_query_where_others_represent_the_picture(tmp_path):
    header, line = (
        "file,en_1,en_2,de_1,de_2,fr",
        "a.jpg,A dog .,Dogs .,Ein Hund .,Hunde .,Un chien .",
    )
    spoken = {name: name[:2] for name in header.split(",")[1:]}
    columns = {"image": "file", "text": [*spoken]}
    entry = {"data": table(tmp_path, line, header=header), "columns": columns, "texts": "first"}
    made = built(tmp_path, {**entry, "pictures": "none", "languages": spoken, "language": "mul"})
    texts = made.table("texts").sort("context_section_description")
    assert texts.select("context_section_description", "language").rows() == [
        ("A dog .", "en"),
        ("Ein Hund .", "de"),
        ("Un chien .", "fr"),
    ]
    images = made.table("images")
    assert images["caption_reference_description"].to_list() == [["Dogs .", "Hunde ."]]
    assert images["language"].to_list() == [["en", "de"]]


def test_a_language_of_no_column_of_texts_is_refused_with_the_likely_spelling(tmp_path):
    data = table(tmp_path, "a.jpg,A dog .", header="file,en")
    entry = {"data": data, "columns": {"image": "file", "text": "en"}, "languages": {"eng": "en"}}
    with pytest.raises(BadParams, match=r"'eng' is no column of texts.*did you mean 'en'"):
        built(tmp_path, entry)


def test_rows_of_one_text_id_have_one_text_and_several_pictures(tmp_path):
    data = table(
        tmp_path,
        "a.jpg,q1,A dog .,2",
        "b.jpg,q1,A dog .,0",
        "c.jpg,q1,Another text .,1",
        "c.jpg,q 2,A fox .,1",
        header="file,id,text,grade",
    )
    columns = {"image": "file", "text": "text", "text_id": "id", "relevance": "grade"}
    entry = {"data": data, "columns": columns}
    made = built(tmp_path, entry | {"pictures": pictures(tmp_path, "a.jpg", "b.jpg", "c.jpg")})
    assert made.pairs() == [
        ("A dog .", "a.jpg", 2, "test"),
        ("A dog .", "b.jpg", 0, "test"),
        ("A fox .", "c.jpg", 1, "test"),
    ]
    assert made.reasons() == {"duplicate_text_id": 1}
    texts = made.table("texts").select("text_id", "source_text_id").rows()
    assert texts == [("q%202", "q 2"), ("q1", "q1")]


def test_an_id_of_two_pictures_means_the_first(tmp_path):
    data = table(tmp_path, "1,a.jpg,A .", "1,b.jpg,B .", "2,b.jpg,C .", header="id,file,text")
    columns = {"image_id": "id", "image": "file", "text": "text"}
    entry = {"data": data, "columns": columns, "pictures": pictures(tmp_path, "a.jpg", "b.jpg")}
    made = built(tmp_path, entry)
    assert made.pairs() == [("A .", "1", 1, "test"), ("C .", "2", 1, "test")]
    assert made.reasons() == {"duplicate_image_id": 1}


def test_a_column_that_is_not_there_is_named_with_the_likely_spelling(tmp_path):
    data = table(tmp_path, "a.jpg,A dog .", header="file,caption")
    with pytest.raises(MissingColumn, match=r"no column 'captoin'.*did you mean 'caption'"):
        built(tmp_path, {"data": data, "columns": {"image": "file", "text": "captoin"}})
    with pytest.raises(MissingColumn, match=r"columns file, caption, and none .* the text"):
        built(tmp_path, {"data": data, "columns": {"image": "file"}})
    columns = {"image": "file", "text": "caption"}
    with pytest.raises(MissingColumn, match=r"`keep\.image` names"):
        built(tmp_path, {"data": data, "columns": columns, "keep": {"image": ["iso"]}})


def test_a_form_or_an_option_that_nobody_knows_is_named(tmp_path):
    data = table(tmp_path, "a.jpg,A dog .", header="file,text")
    entry = {"data": data, "columns": {"image": "file", "text": "text"}, "pictures": "none"}
    with pytest.raises(UnknownForm, match="did you mean 'csv'"):
        built(tmp_path, entry | {"form": "cvs"})
    with pytest.raises(BadParams, match=r"no option 'delimeter'.*did you mean 'delimiter'"):
        built(tmp_path, entry | {"options": {"delimeter": ";"}})


def test_data_without_a_usable_row_says_why(tmp_path):
    data = table(tmp_path, "a.jpg,A dog .,one", "b.jpg,A cat .,two", header="file,text,fold")
    columns = {"image": "file", "text": "text", "split": "fold"}
    with pytest.raises(EmptyTable, match=r"2 unknown_split.*captions\.csv, row 2 \(one\)"):
        built(tmp_path, {"data": data, "columns": columns, "pictures": "none"})
    assert not (tmp_path / "pairs.parquet").exists()


def test_a_wrong_folder_of_pictures_is_an_error_that_counts_what_is_missing(tmp_path):
    data = table(tmp_path, "a.jpg,A dog .", "b.jpg,A cat .", header="file,text")
    entry = {"data": data, "columns": {"image": "file", "text": "text"}}
    with pytest.raises(EmptyTable, match=r"2 missing_picture.*row 2 \(a\.jpg\); check `pictures`"):
        built(tmp_path, entry | {"pictures": pictures(tmp_path, "x.jpg")})


def test_lists_of_names_divide_the_pictures_with_or_without_folder_and_suffix(tmp_path):
    lines = [f"{name},Picture {n} ." for n, name in enumerate(FLICKR)]
    data = table(tmp_path, *lines, header="file,text")
    stems = [name.removesuffix(".jpg") for name in FLICKR]
    lists = {
        "train": [stems[0], f"images/{FLICKR[1]}"],
        "validation": [FLICKR[2], "nobody.jpg"],
        "test": [FLICKR[3], FLICKR[4]],
    }
    lists["train"].append(FLICKR[4])
    for split, names in lists.items():
        (tmp_path / f"{split}.txt").write_text("\n".join(names) + "\n")
    entry = {
        "data": data,
        "pictures": pictures(tmp_path, *FLICKR),
        "columns": {"image": "file", "text": "text"},
        "splits": {split: str(tmp_path / f"{split}.txt") for split in lists},
    }
    made = built(tmp_path, entry)
    assert [(name, split) for _, name, _, split in made.pairs()] == [
        (FLICKR[0], "train"),
        (FLICKR[1], "train"),
        (FLICKR[2], "validation"),
        (FLICKR[3], "test"),
    ]
    assert made.table("rejected").select("file", "row", "reason", "detail").rows() == [
        ("captions.csv", 6, "mixed_splits", "test, train"),
        ("captions.csv", 7, "no_split", FLICKR[5]),
        ("validation.txt", 2, "unknown_name", "nobody.jpg"),
    ]


def test_a_hash_divides_pictures_alike_whatever_else_is_in_the_table(tmp_path):
    lines = [f"p{n:03d}.jpg,Picture {n} ." for n in range(400)]
    entry = {
        "columns": {"image": "file", "text": "text"},
        "pictures": "none",
        "splits": {"validation": 0.1, "test": 0.2, "seed": 1},
    }
    splits: list[dict[str, str]] = []
    for n, own in enumerate((lines, lines[100:300])):
        place = tmp_path / str(n)
        place.mkdir()
        made = built(place, entry | {"data": table(place, *own, header="file,text")})
        splits.append({name: split for _, name, _, split in made.pairs()})
    assert splits[1].items() <= splits[0].items()
    counts = pl.Series([*splits[0].values()]).value_counts().rows()
    shares = {split: n / 400 for split, n in counts}
    assert shares["validation"] == pytest.approx(0.1, abs=0.05)
    assert shares["test"] == pytest.approx(0.2, abs=0.06)


def test_what_hangs_together_by_a_text_gets_one_split_by_hash(tmp_path):
    lines = [f"p{n}.jpg,t{n // 2},Text {n // 2} ." for n in range(200)]
    lines += [f"p{n + 1}.jpg,t{n // 2},Text {n // 2} ." for n in range(0, 40, 2)]
    data = table(tmp_path, *dict.fromkeys(lines), header="file,id,text")
    columns = {"image": "file", "text": "text", "text_id": "id"}
    entry = {"data": data, "columns": columns, "pictures": "none"}
    made = built(tmp_path, entry | {"splits": {"validation": 0.3, "test": 0.3}})
    assert made.reasons() == {}
    assert made.table("texts").height == 100
    assert {split for *_, split in made.pairs()} == {"train", "validation", "test"}


def test_words_of_a_picture_represent_it_and_are_no_queries(tmp_path):
    data = table(tmp_path, "a.jpg,A dog .,rex,good dog", header="file,text,name,praise")
    columns = {"image": "file", "text": "text", "caption": ["name", "praise"]}
    made = built(tmp_path, {"data": data, "columns": columns, "pictures": "none"})
    [image] = made.table("images").rows(named=True)
    assert image["caption_reference_description"] == ["rex", "good dog"]
    assert image["language"] == ["en", "en"]
    assert made.table("texts").height == 1


def test_the_first_text_may_ask_and_the_others_represent_the_picture(tmp_path):
    data = table(tmp_path, "a.jpg,One .,Two .", "b.jpg,Three .,", header="file,one,two")
    columns = {"image": "file", "text": ["one", "two"]}
    entry = {"data": data, "columns": columns, "pictures": "none", "texts": "first"}
    made = built(tmp_path, entry)
    assert [text for text, *_ in made.pairs()] == ["One .", "Three ."]
    images = made.table("images").sort("source_image_id")
    assert images["caption_reference_description"].to_list() == [["Two ."], []]
    assert made.table("filters").rows() == [
        ("read", "test", 3, 0, 3),
        ("first_text", "test", 3, 1, 2),
    ]


def test_bytes_in_a_column_are_pictures(tmp_path):
    rows = {"image": [picture(0), picture(1), b"no picture"], "caption": ["A .", "B .", "C ."]}
    pq.write_table(pa.table(rows), tmp_path / "mine.parquet")
    columns = {"image": "image", "text": "caption"}
    made = built(tmp_path, {"data": str(tmp_path / "mine.parquet"), "columns": columns})
    assert [text for text, *_ in made.pairs()] == ["A .", "B ."]
    assert made.reasons() == {"not_an_image": 1}
    assert made.table("images")["width"].to_list() == [24, 24]


def test_pictures_that_are_not_within_the_data_are_asked_for(tmp_path):
    data = table(tmp_path, "a.jpg,A dog .", header="file,text")
    columns = {"image": "file", "text": "text"}
    with pytest.raises(EmptyTable, match=r"say where they lie in collect\."):
        built(tmp_path, {"data": data, "columns": columns})


def test_pictures_are_downloaded_from_their_urls(tmp_path):
    draw(tmp_path / "served/wikipedia/commons/a/ab", ["One.jpg", "Two.jpg"])
    base = "https://upload.wikimedia.org/wikipedia/commons/a/ab"
    lines = [f"{base}/{name}.jpg,{name} ." for name in ("One", "Two", "Gone")]
    data = table(tmp_path, *lines, header="url,text")
    entry = {"data": data, "columns": {"image": "url", "text": "text"}, "pictures": "urls"}
    limits = {"serve": str(tmp_path / "served"), "timeout_s": 5, "wait_s": 0.1}
    made = built(tmp_path, entry, {**limits, "user_agent": "isotope tests"})
    assert [text for text, *_ in made.pairs()] == ["One .", "Two ."]
    assert made.table("images")["image_url"].sort().to_list() == [
        f"{base}/One.jpg",
        f"{base}/Two.jpg",
    ]
    assert made.reasons() == {"not_found": 1}


def test_addresses_of_one_file_of_wikimedia_are_one_picture(tmp_path):
    draw(tmp_path / "served/wikipedia/commons/f/fa", ["X.jpg"])
    base = "https://upload.wikimedia.org/wikipedia/commons"
    spelled = [
        f"{base}/f/fa/X.jpg?download",
        "https://thumb.wikimedia.org/wikipedia/commons/thumb/f/fa/X.jpg/330px-X.jpg?utm_source=x",
        "https://commons.wikimedia.org/wiki/Special:FilePath/X.jpg",
    ]
    lines = [f"{url},Words {n} ." for n, url in enumerate(spelled)]
    data = table(tmp_path, *lines, header="url,text")
    entry = {"data": data, "columns": {"image": "url", "text": "text"}, "pictures": "urls"}
    limits = {"serve": str(tmp_path / "served"), "timeout_s": 5, "wait_s": 0.1}
    made = built(tmp_path, entry, {**limits, "user_agent": "isotope tests"})
    assert len(made.pairs()) == len(spelled)
    address = f"{base}/f/fa/X.jpg"
    told = made.table("images").select("image_id", "image_url").rows()
    assert told == [(str(uuid3(NAMESPACE_URL, address)), address)]


def test_two_pictures_of_one_name_are_told_apart_or_set_aside(tmp_path):
    data = table(tmp_path, "x/1.jpg,A .", "1.jpg,B .", "2.jpg,C .", header="file,text")
    names = pictures(tmp_path, "x/1.jpg", "y/1.jpg", "y/2.jpg")
    entry = {"data": data, "columns": {"image": "file", "text": "text"}, "pictures": names}
    made = built(tmp_path, entry)
    assert [(text, name) for text, name, *_ in made.pairs()] == [
        ("A .", "x/1.jpg"),
        ("C .", "2.jpg"),
    ]
    assert made.reasons() == {"ambiguous_picture": 1}


DAYS = {
    **{"1907-05-31": date(1907, 5, 31), "19070531": date(1907, 5, 31), 1907: date(1907, 1, 1)},
    **{"1907-05": date(1907, 5, 1), "1907-05-31T12:00:00Z": date(1907, 5, 31)},
    **{"1907-02-30": None, "31.5.1907": None, "": None, 19: None},
}
GRADES = {
    **{"2": 2, 0: 0, 3.0: 3, "1.0": 1, 0.5: None, -1: None, "often": None},
    **{"nan": None, "inf": None, 2**31: None},
}
DOG = {"synset": "dog.n.01", "x_min": 1}
OBJECTS = [
    *(("dog; tree|car", ["dog", "tree", "car"]), (["dog"], ["dog"]), ([], []), (3, None)),
    *(([DOG], ["dog.n.01"]), ([3], None)),
]


@pytest.mark.parametrize(("value", "known"), DAYS.items())
def test_a_day_is_read_as_iso_8601_has_it(value, known):
    assert day(value) == known


@pytest.mark.parametrize(("value", "known"), GRADES.items())
def test_a_grade_is_a_whole_number_from_0(value, known):
    assert grade(value) == known


@pytest.mark.parametrize(("value", "known"), OBJECTS)
def test_objects_are_words_or_records(value, known):
    found = objects(value)
    assert (None if found is None else [each["synset"] for each in found]) == known


names = st.sampled_from([None, "a.jpg", "b.jpg", "c.jpg", "gone.jpg"])
words = st.sampled_from([None, "A dog .", "A cat .", "A fox ."])
folds = st.sampled_from([None, "train", "dev", "test", "fold 3"])
grades = st.sampled_from([None, 0, 1, 2, -1])
ids = st.sampled_from([None, "q1", "q2", "q3"])
rows = st.lists(st.tuples(names, ids, words, folds, grades), min_size=1, max_size=30)


@pytest.mark.long
@settings(max_examples=30)
@given(rows)
def test_every_row_is_used_or_set_aside_and_every_check_of_a_collection_holds(
    tmp_path_factory, rows
):
    """`built` runs the checks of workflow/sql/check; one row is always fine."""
    place = tmp_path_factory.mktemp("rows")
    keys = ("file", "id", "text", "fold", "grade")
    own: list[dict[str, object]] = [dict(zip(keys, row, strict=True)) for row in rows]
    own.append(dict(zip(keys, ("d.jpg", "q0", "Fine .", "test", 1), strict=True)))
    (place / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in own))
    columns = {"image": "file", "text_id": "id", "text": "text", "split": "fold"}
    entry = {
        "data": str(place / "rows.jsonl"),
        "pictures": str(draw(place / "p", ["a.jpg", "b.jpg", "c.jpg", "d.jpg"])),
    }
    own_entry = entry | {"columns": {**columns, "relevance": "grade"}}
    made = built(place, own_entry)
    used = made.table("qrels").height
    aside = set(made.table("rejected")["row"])
    texts_alone = {n for n, row in enumerate(own, 1) if row["file"] is None} - aside
    assert used + len(aside) + len(texts_alone) == len(own)
    left = made.table("filters").group_by("split", maintain_order=True).last()["after"]
    assert left.sum() == used


WORDS = st.one_of(st.none(), st.text(" \u2003\x1fab", max_size=3))
KINDS = {
    "text": (pa.string(), WORDS),
    "list": (pa.list_(pa.string()), st.one_of(st.none(), st.lists(WORDS, max_size=3))),
    "number": (pa.int64(), st.one_of(st.none(), st.integers(-3, 3))),
    "share": (pa.float64(), st.one_of(st.none(), st.sampled_from([1.0, 0.5]))),
}


@given(
    st.lists(st.fixed_dictionaries({name: values for name, (_, values) in KINDS.items()})),
    st.lists(st.sampled_from([*KINDS]), unique=True, min_size=1),
)
def test_texts_of_columns_of_any_type_are_those_of_each_value(rows, names):
    """A whole column is read at once; `text` says what one value is."""
    where = {"_file": ["f"] * len(rows), "_row": [*range(len(rows))]}
    schema = pa.schema(
        [("_file", pa.string()), ("_row", pa.int64()), *((n, KINDS[n][0]) for n in KINDS)]
    )
    columns = {**where, **{name: [row[name] for row in rows] for name in KINDS}}
    batch = pa.RecordBatch.from_pydict(columns, schema=schema)
    languages = {"list": "de"}
    made = staged(batch, Roles({"text": names, "caption": names}, languages=languages))
    expected: list[tuple[int, int, str | None, str | None]] = []
    captions: list[list[str]] = []
    for number, row in enumerate(rows):
        listed = [(n, v if isinstance(v, list) else [v]) for n in names for v in [row[n]]]
        told = [(w, languages.get(n)) for n, own in listed for v in own if (w := text(v))]
        captions.append([words for words, _ in told])
        one_or_more = enumerate(told or [(None, None)])
        expected += [(number, nth, words, said) for nth, (words, said) in one_or_more]
    columns = ("row", "nth", "text", "language")
    assert [tuple(row[c] for c in columns) for row in made.to_pylist()] == expected
    of_rows = dict(zip(made["row"].to_pylist(), made["caption"].to_pylist(), strict=True))
    assert [of_rows[number] for number in range(len(rows))] == captions
