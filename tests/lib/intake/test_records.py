"""Records of JSON beyond the limits are set aside by file and row, whatever form they are in."""

import json
import tarfile
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from isotope.acquire.fetch import acquire
from isotope.core.errors import CorruptFile, TooManyRefused
from isotope.intake.limits import Refused, using
from isotope.intake.records import json_at, json_end, json_items, json_value
from isotope.params.acquire import DigestedSource
from isotope.params.pairs import Rows
from isotope.parse.forms import forms
from isotope.parse.pairs import parse_pairs

DEEP = "[" * 2_000 + "]" * 2_000
POISONS = {
    "half a pair": '"\\ud83d"',
    "half a pair in a name": '{"\\udc00": 1}',
    "deep": DEEP,
    "deep, within the stack": "[" * 150 + "]" * 150,
    "a number of 5,000 digits": "1" * 5_000,
    "a number of 2,000 digits": "-" + "1" * 2_000,
}
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(VALUES, st.booleans())
def test_json_within_the_limits_is_what_it_says(value, ascii_only):
    text = json.dumps(value, ensure_ascii=ascii_only)
    try:
        text.encode()
    except UnicodeEncodeError:
        return
    assert json_value(text) == value
    assert json_value(text.encode()) == value


@given(VALUES, st.text('[]{},:"\\ 0', max_size=6))
def test_a_value_ends_where_it_ends_and_the_rest_is_left(value, rest):
    text = json.dumps([value])
    got, end = json_at(text + rest, 0)
    assert (got, end) == ([value], len(text))
    assert json_end(text + rest, 0) == end


@pytest.mark.parametrize("poison", POISONS)
def test_what_is_beyond_the_limits_is_refused_and_what_follows_is_read(poison):
    text = POISONS[poison]
    with pytest.raises(Refused):
        json_value(text)
    for around in ("[{}]", '{{"a": {}}}'):
        with pytest.raises(Refused):
            json_value(around.format(text))
    got, end = json_at(f"{text}, 7", 0)
    assert isinstance(got, Refused)
    assert end == len(text)


def test_a_pair_of_surrogates_and_numbers_of_many_digits_within_texts_are_fine():
    assert json_value('"\\ud83d\\ude00"') == "😀"
    assert json_value(json.dumps(["7" * 3_000])) == ["7" * 3_000]
    assert json_value(str(2**64)) == 2**64


NESTED = {"a": [{"b": "[[{"}] * 3}


@pytest.mark.parametrize("number", range(3))
@pytest.mark.parametrize("poison", [*POISONS.values(), '"', "{", "1]"])
def test_items_that_are_read_in_one_go_are_whole_and_within_the_limits(poison, number):
    items = [json.dumps(NESTED)] * 3
    assert json_items(",".join(items)) == [NESTED] * 3
    items[number] = f'{{"c": {poison}}}'
    assert json_items(",".join(items)) is None


def png() -> bytes:
    out = BytesIO()
    Image.new("RGB", (4, 4)).save(out, "PNG")
    return out.getvalue()


def coco(folder: Path, poison: str) -> list[Path]:
    note = '{{"id": {0}, "image_id": {1}, "caption": {2}}}'
    notes = [note.format(1, 1, '"One."'), note.format(2, 1, poison), note.format(3, 2, '"Three."')]
    images = '[{"id": 1, "file_name": "1.jpg"}, {"id": 2, "file_name": "2.jpg"}]'
    path = folder / "captions_val.json"
    path.write_text(f'{{"images": {images}, "annotations": [{", ".join(notes)}]}}')
    return [path]


def karpathy(folder: Path, poison: str) -> list[Path]:
    image = '{{"filename": "{0}.jpg", "imgid": {0}, "sentences": [{{"raw": {1}}}]}}'
    images = [image.format(n, words) for n, words in enumerate(['"One."', poison, '"Three."'])]
    path = folder / "dataset_x.json"
    path.write_text(f'{{"images": [{", ".join(images)}], "dataset": "x"}}')
    return [path]


def jsonl(folder: Path, poison: str) -> list[Path]:
    path = folder / "x.jsonl"
    path.write_text("".join(f'{{"text": {t}}}\n' for t in ('"One."', poison, '"Three."')))
    return [path]


def listed(folder: Path, poison: str) -> list[Path]:
    path = folder / "x.json"
    items = ['{"text": %s}' % text for text in ('"One."', poison, '"Three."')]  # noqa: UP031
    path.write_text(f"[{', '.join(items)}]")
    return [path]


def folder(folder: Path, poison: str) -> list[Path]:
    for name, text in (("a", '"One."'), ("b", poison), ("c", '"Three."')):
        (folder / f"{name}.png").write_bytes(png())
        (folder / f"{name}.json").write_text(f'{{"words": {text}}}')
    return [folder]


def webdataset(folder: Path, poison: str) -> list[Path]:
    path = folder / "x.tar"
    with tarfile.open(path, "w") as tar:
        for name, text in (("a", '"One."'), ("b", poison), ("c", '"Three."')):
            for end, data in (("png", png()), ("json", f'{{"words": {text}}}'.encode())):
                entry = tarfile.TarInfo(f"{name}.{end}")
                entry.size = len(data)
                tar.addfile(entry, BytesIO(data))
    return [path]


def beir(folder: Path, poison: str) -> list[Path]:
    (folder / "corpus.jsonl").write_text(
        "".join(f'{{"_id": "{n}", "text": {t}}}\n' for n, t in enumerate(['"One."', poison]))
    )
    (folder / "queries.jsonl").write_text('{"_id": "q", "text": "Three."}\n')
    (folder / "qrels").mkdir()
    (folder / "qrels/test.tsv").write_text("query-id\tcorpus-id\tscore\nq\t0\t1\n")
    return [folder]


def infoseek(folder: Path, poison: str) -> list[Path]:
    path = folder / "x.jsonl"
    row = '{{"wikidata_id": "Q{}", "wikipedia_title": "T", "wikipedia_summary": {}}}\n'
    path.write_text("".join(row.format(n, t) for n, t in enumerate(['"One."', poison, '"Three."'])))
    return [path]


def encyclopedic_vqa(folder: Path, poison: str) -> list[Path]:
    path = folder / "encyclopedic_kb_wiki.json"
    page = '"{0}": {{"url": "{0}", "title": "t", "section_titles": ["t"], "section_texts": [{1}]}}'
    pages = [page.format(n, t) for n, t in enumerate(['"One."', poison, '"Three."'])]
    path.write_text(f"{{{', '.join(pages)}}}")
    return [path]


WRITERS = {
    **{"coco": coco, "karpathy": karpathy, "jsonl": jsonl, "folder": folder, "beir": beir},
    **{"webdataset": webdataset, "infoseek": infoseek, "encyclopedic_vqa": encyclopedic_vqa},
    "jsonl, a list": listed,
}


@pytest.mark.parametrize("poison", POISONS)
@pytest.mark.parametrize("form", WRITERS)
def test_a_poisoned_record_is_set_aside_and_the_others_are_read(tmp_path, form, poison):
    paths = WRITERS[form](tmp_path, POISONS[poison])
    rejected: list[dict[str, object]] = []
    rows = [
        row
        for batch in forms()[form.partition(",")[0]].read(paths, {}, rejected)
        for row in batch.to_pylist()
    ]
    assert len(rejected) == 1
    assert rejected[0]["reason"] == "unreadable"
    assert any(words in str(rejected[0]["detail"]) for words in ("levels", "digits", "surrogate"))
    said = json.dumps(rows)
    assert "One." in said
    assert "Three." in said


@pytest.mark.parametrize("form", WRITERS)
def test_the_same_files_without_the_poison_are_read_whole(tmp_path, form):
    rejected: list[dict[str, object]] = []
    paths = WRITERS[form](tmp_path, '"Two."')
    rows = [*forms()[form.partition(",")[0]].read(paths, {}, rejected)]
    assert rejected == []
    assert "Two." in str([batch.to_pylist() for batch in rows])


def manifest(tmp_path: Path, lines: list[str]) -> Path:
    path = tmp_path / "x.jsonl"
    path.write_text("\n".join(lines))
    out = tmp_path / "source/manifest.json"
    acquire(DigestedSource.of_plain({"files": {"data": [str(path)]}}), out, tmp_path / "scratch")
    return out


def test_above_a_share_of_unreadable_records_the_job_fails_and_says_so(tmp_path):
    good = json.dumps({"image": "a.jpg", "text": "A."})
    lines = [good, good.replace("a.jpg", "b.jpg"), '{"image": "\\ud83d"}', "nothing", "]"]
    columns = {"image": "image", "text": "text"}
    rows = {"data": "x", "form": "jsonl", "columns": columns, "splits": {"test": "all"}}
    spec = Rows.of_plain(rows)
    out = {"pairs": tmp_path / "pairs.parquet", "rejected": tmp_path / "rejected.parquet"}
    where = manifest(tmp_path, lines)
    with pytest.raises(TooManyRefused, match=r"x.jsonl, row 3: 3 of 5 records .* more than 50%"):
        parse_pairs(manifest=where, spec=spec, **out)
    assert not out["pairs"].exists()


def test_a_line_without_an_end_is_named(tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_text('{"text": "' + "x" * (2 << 20) + '"}\n')
    with using({"member_mib": 1}), pytest.raises(CorruptFile, match=r"row 1: a line of more than"):
        list(forms()["jsonl"].read([path], {}, []))
