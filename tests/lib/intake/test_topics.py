"""Topics of a track are read in the forms that tables are written in, and in no others."""

import gzip
import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from isotope.core.errors import CorruptFile
from isotope.intake.topics import ASKED_IMAGES, ASKED_TEXTS, write_topics

TEXT = {
    "text_id": "projected-00000007-003",
    "page_title": "Boat",
    "section_title": "Sails",
    "hierachy": ["Parts", "Sails"],
    "context_page_description": "A boat floats.",
    "context_section_description": "It has sails.",
    "category": ["Boats"],
    "page_url": "https://en.wikipedia.org/wiki/Boat",
}
IMAGE = {
    "image_id": "1b7cbd7f-5c4c-3b4d-8f5c-0e4e4b7a8a01",
    "image_url": "https://upload.wikimedia.org/wikipedia/commons/b.jpg",
    "language": ["en", "de"],
    "caption_reference_description": ["a boat", None],
}


def written(tmp_path: Path, text: str, name: str = "topics.json") -> dict[str, list[Any]]:
    path = tmp_path / name
    packed = gzip.compress(text.encode()) if name.endswith(".gz") else text.encode()
    path.write_bytes(packed)
    relations = write_topics({path: name}, tmp_path)
    return {name: pq.read_table(str(file)).to_pylist() for name, file in relations.items()}


def as_list(*records: Any) -> str:
    return json.dumps(records, indent=1)


def as_lines(*records: Any) -> str:
    return "".join(f"{json.dumps(record)}\n" for record in records)


@pytest.mark.parametrize("form", [as_list, as_lines], ids=["a list", "a record a line"])
@pytest.mark.parametrize("name", ["topics.json", "topics.jsonl", "topics.json.gz"])
def test_a_topic_has_the_columns_of_the_published_tables(tmp_path, form, name):
    other = {**TEXT, "text_id": "projected-00000008-000", "more": {"of": "theirs"}}
    made = written(tmp_path, form(TEXT, other), name)
    assert made["asked_images"] == []
    first, second = made["asked_texts"]
    assert list(first) == ASKED_TEXTS.names
    assert {key: first[key] for key in TEXT} == TEXT
    assert (first["file"], first["row"], second["row"]) == (name, 1, 2)
    assert (first["media"], first["source_id"]) == ([], "")


def test_a_picture_asks_with_its_captions(tmp_path):
    [row] = written(tmp_path, as_lines(IMAGE))["asked_images"]
    assert list(row) == ASKED_IMAGES.names
    same = ("image_id", "image_url", "language")
    assert {key: row[key] for key in same} == {key: IMAGE[key] for key in same}
    assert row["caption_reference_description"] == ["a boat", ""], "one a language"
    assert row["caption_alt_text_description"] == []


def test_empty_lines_are_no_topics_and_rows_are_those_of_the_file(tmp_path):
    made = written(tmp_path, f"{json.dumps(TEXT)}\n\n{json.dumps(IMAGE)}\n")
    assert [made[k][0]["row"] for k in ("asked_texts", "asked_images")] == [1, 3]


REFUSED = {
    "a mapping of ids": (json.dumps({"projected-1": TEXT}), "row 1.*keys projected-1"),
    "columns": (json.dumps({"text_id": {"0": "a"}, "page_title": {}}), "row 1.*not the id"),
    "a list of ids": (as_list("projected-1"), r"row 1.*\"projected-1\", which is no record"),
    "a topic of another track": (as_lines({"number": "1", "query": "boats"}), "number, query"),
    "an id that is empty": (as_lines({"text_id": " "}), "not the id"),
    "an id of both": (as_lines({**TEXT, **IMAGE}), "not the id of one"),
    "a topic twice": (as_lines(TEXT, TEXT), "row 2.*again"),
    "a field of another type": (as_lines({**TEXT, "page_title": 7}), "page_title 7"),
    "a list where there is none": (as_lines({**TEXT, "page_title": ["a"]}), "page_title"),
    "no list where there is one": (as_lines({**TEXT, "hierachy": "Parts"}), "hierachy.*list"),
    "a list of numbers": (as_lines({**IMAGE, "language": [1]}), "language"),
    "no JSON": ("1 boats\n", "row 1"),
    "nothing": ("\n", "no topic"),
    "an empty list": ("[]", "no topic"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_other_forms_are_refused_by_file_and_row(tmp_path, name):
    text, found = REFUSED[name]
    with pytest.raises(CorruptFile, match=rf"(?s)topics\.json.*{found}"):
        written(tmp_path, text)
