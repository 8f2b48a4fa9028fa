"""What isotope's own code raises ends the job and names the record; a planted bug in each phase."""

import json
import logging
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests import old_zim, snapshots
from tests.lib.parse.test_snapshots import parse
from tests.lib.parse.test_wit import as_tsv, record
from tests.lib.parse.test_wit import parse as parse_wit
from tests.snapshots import Page

from isotope.bm25 import nearest, postings
from isotope.bm25.words import analyzer
from isotope.core import faults
from isotope.core.errors import CorruptFile
from isotope.core.progress import logged
from isotope.intake import relations
from isotope.params.pairs import Rows
from isotope.parse import html_snapshots, pair_rows, wit, xml_dump
from isotope.parse.forms import json_lines
from isotope.parse.pairs import divided, read_data

PAGES = [Page(n, 0, f"Page {n}", f"Text {n}") for n in range(1, 6)]


class Bug(ZeroDivisionError):
    """What no reader expects."""


def planted(monkeypatch, module, name, number=3):
    """Have the call of this number of a function fail."""
    real, calls = getattr(module, name), iter(range(1, 1_000))

    def faulty(*given, **more):
        if next(calls) == number:
            raise Bug("planted")
        return real(*given, **more)

    monkeypatch.setattr(module, name, faulty)


def notes(error) -> str:
    return " ".join(error.value.__notes__)


def zim(pages, path: Path) -> Path:
    items = [old_zim.article(page.title, f"<p>{page.text}</p>") for page in pages]
    return old_zim.write_old_zim(items, path, {"Language": "eng"})


SNAPSHOTS = {
    "a.xml": (snapshots.write_export, xml_dump, "split_page", "page 3 'Page 3'"),
    "a.tar.gz": (snapshots.write_enterprise, html_snapshots, "add_page", "page 3 'Page 3'"),
    "a.zim": (zim, html_snapshots, "add_page", "'Page 3'"),
}


@pytest.mark.parametrize("name", SNAPSHOTS)
def test_a_fault_in_a_page_names_the_page(tmp_path, monkeypatch, name):
    write, module, function, place = SNAPSHOTS[name]
    path = write(PAGES, tmp_path / name)
    planted(monkeypatch, module, function)
    with pytest.raises(Bug) as error:
        parse([path], tmp_path)
    assert notes(error).startswith("at ")
    assert path.name in notes(error)
    assert place in notes(error)


def test_a_fault_in_a_page_is_no_bad_xml(tmp_path, monkeypatch):
    """A ValueError of our own code was a row of the rejected pages."""
    path = snapshots.write_export(PAGES, tmp_path / "a.xml")
    monkeypatch.setattr(xml_dump, "split_page", lambda *_, **__: int("x"))
    with pytest.raises(ValueError, match="invalid literal") as error:
        parse([path], tmp_path)
    assert "page 1 'Page 1'" in notes(error)


def test_a_fault_in_a_row_of_wit_names_the_row(tmp_path, monkeypatch):
    rows = [record(page_title=f"T{n}", original_height="x") for n in range(5)]
    planted(monkeypatch, wit, "_bad_value")
    with pytest.raises(Bug) as error:
        parse_wit(tmp_path, as_tsv(rows))
    assert "wit_v1.train.tsv, row 3" in notes(error)


def pairs(folder: Path) -> None:
    path = folder / "data.jsonl"
    rows = ({"file": f"{n}.jpg", "words": f"w{n}", "grade": str(n)} for n in range(5))
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    spec = Rows.of_plain({"columns": {"image": "file", "text": "words", "relevance": "grade"}})
    divided(read_data([path], spec), spec, None, folder)


def test_a_fault_in_a_row_of_ones_own_data_names_the_row(tmp_path, monkeypatch):
    typed = pair_rows._TYPED
    faulty = SimpleNamespace(read=typed["relevance"][1])
    planted(monkeypatch, faulty, "read", 4)
    own = {**typed, "relevance": (pa.int32(), faulty.read, "bad_relevance")}
    monkeypatch.setattr(pair_rows, "_TYPED", own)
    with pytest.raises(Bug) as error:
        pairs(tmp_path)
    assert error.value.__notes__[0] == "at data.jsonl, row 4"
    assert error.value.__notes__[1] == "at data.jsonl, rows 1 to 5"


def test_a_fault_in_a_reader_of_ones_own_data_names_the_row_before(tmp_path, monkeypatch):
    planted(monkeypatch, json_lines, "_record", 4)
    with pytest.raises(Bug) as error:
        pairs(tmp_path)
    assert "at the record after data.jsonl, row" in notes(error)


def test_a_fault_in_collected_judgements_names_file_and_row(tmp_path, monkeypatch):
    path = tmp_path / "test.parquet"
    ids = [str(n) for n in range(5)]
    pq.write_table(pa.table({"text_id": ids, "image_id": ids, "rel": [1] * 5}), path)
    monkeypatch.setattr(relations, "_ROWS", 2)
    planted(monkeypatch, relations, "_numbered", 2)
    with pytest.raises(Bug) as error:
        relations.write_judgements([path], tmp_path / "out")
    assert f"at {path}, the rows from 3 on" in notes(error)


def test_a_fault_in_a_projected_text_names_its_queries(tmp_path, monkeypatch):
    documents = [(f"d{n}", f"word{n} common") for n in range(9)]
    postings.write_index(documents, tmp_path / "index", analyzer=analyzer("en"), threads=1)
    index = postings.open_index(tmp_path / "index", analyzer=analyzer("en"))
    monkeypatch.setattr(nearest, "_STEP", 2)
    planted(monkeypatch, nearest, "nearest", 2)
    texts = [(f"q{n}", f"word{n}") for n in range(5)]
    with pytest.raises(Bug) as error:
        nearest.find_nearest(index, texts, k1=0.9, b=0.4, threads=1, memory_mb=256)
    assert "at queries q2 to q3" in notes(error)


def fail_in_a_process(number: int) -> None:
    with faults.naming(lambda: f"record {number}"):
        raise Bug("planted")


def test_the_record_crosses_the_border_of_a_process_and_is_in_the_log(tmp_path):
    with ProcessPoolExecutor(1) as pool, pytest.raises(Bug), logged(tmp_path / "log", "rule"):
        pool.submit(fail_in_a_process, 7).result()
    logging.shutdown()
    told = (tmp_path / "log").read_text()
    assert "unexpected error at record 7; please report it with this log" in told
    assert "Traceback" in told


def test_what_a_user_can_mend_has_no_note():
    with pytest.raises(CorruptFile) as error, faults.naming(lambda: "record 1"):
        raise CorruptFile("a", "b", "c")
    assert not hasattr(error.value, "__notes__")
