"""`isotope sql` and `isotope show`: answers from the catalog, and what bad questions get."""

import csv
import io
import json
from pathlib import Path

import pytest
from PIL import Image

from isotope.cli import commands, questions
from isotope.cli import questions as show_page
from isotope.core import store
from isotope.core.errors import BadQuery, CorruptFile, MissingFile, UnknownId
from isotope.core.schemas import RUN
from isotope.schemas.collect import IMAGES, QRELS, TEXTS
from isotope.schemas.crawl import PIXELS
from isotope.schemas.parse import CALLED_TEMPLATES
from isotope.schemas.score import SCORES
from isotope.tabulate import catalog

T, OTHER = "projected-00000001-000", "projected-00000001-001"


def webp() -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (4, 3), "red").save(out, "WEBP")
    return out.getvalue()


def hits(system: str, *docs: str) -> tuple[str, list[dict]]:
    place = f"results/search/toy/small/test/t2m/{system}"
    return place, [
        {"query_id": T, "doc_id": d, "rank": n, "score": 1.0 / n} for n, d in enumerate(docs, 1)
    ]


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> Path:
    """A catalog of one page with two sections, two images and two runs."""
    root = tmp_path_factory.mktemp("show")
    template = {"wiki": "enwiki", "redirect_to": "", "prints": "box", "shows": "", "uses": 3}
    picture = {"file": ["image", "photo"], "name": "", "caption": ["caption"], "alt": []}
    picture |= {"size": [], "width": None, "is_framed": True}
    known = {"pictures": [picture], "is_infobox": True, "known_by": "body"}
    templates = [
        template | known | {"template": "Infobox hill"},
        template
        | {"template": "Infobox mound", "redirect_to": "Infobox hill", "pictures": []}
        | {"is_infobox": False, "known_by": "redirect", "uses": 1},
    ]
    page = {"page_id": 1, "page_title": "Cats", "split": "test"}
    texts = [
        page | {"text_id": T, "section_title": "Introduction"},
        page | {"text_id": OTHER, "section_title": "Naps <b>", "split": "other"},
    ]
    captions = {"caption_reference_description": ["", "A cat"], "language": ["de", "en"]}
    images = [
        captions | {"image_id": i, "image_url": f"http://h/{i}", "split": "test"}
        for i in ("i1", "i2")
    ]
    qrels = [{"text_id": T, "image_id": "i1", "relevance": 1, "split": "test"}]
    pixels = [{"image_id": "i1", "image_url": "u", "width": 4, "height": 3, "webp": webp()}]
    score = {"collection": "toy", "setting": "small", "split": "test", "task": "t2m"}
    scores = [score | {"system": "a", "query_id": T, "measure": "MRR@10", "value": 0.5}]
    for name, rows, schema in (
        ("data/collect/toy/texts", texts, TEXTS),
        ("data/collect/toy/images", images, IMAGES),
        ("data/collect/toy/qrels", qrels, QRELS),
        ("data/crawl/toy/shard-00000", pixels, PIXELS),
        ("results/score/toy", scores, SCORES),
        ("data/parse/toy/templates", templates, CALLED_TEMPLATES),
        (*hits("a", "i2", "i1"), RUN),
        (*hits("b", "i2"), RUN),
    ):
        store.write_rows(rows, root / f"{name}.parquet", schema)
    out = root / "results/catalog.duckdb"
    catalog.build(out, root)
    return out


def rows_of(page: questions.AnswerPage, name: str) -> list[tuple]:
    return next([tuple(r) for r in s.rows] for s in page.sections if s.name == name)


def test_a_text_comes_with_siblings_images_and_ranks(built):
    page = questions.show("text", T, catalog=built)
    assert page.fields["section_title"] == "Introduction"
    assert rows_of(page, "siblings") == [(OTHER, "Naps <b>", "other")]
    assert rows_of(page, "attached") == [("i1", 1, "test", "A cat", "http://h/i1")]
    assert rows_of(page, "ranks") == [
        ("small", "test", "a", "i1", 2),
        ("small", "test", "b", "i1", None),
    ]


def test_an_image_comes_with_its_texts_and_its_shard(built):
    page = questions.show("image", "i1", catalog=built)
    assert rows_of(page, "illustrated") == [(T, 1, "test", "Cats", "Introduction")]
    assert [row[:2] for row in rows_of(page, "pixels")] == [(4, 3)]
    assert rows_of(page, "ranks") == []


def test_a_query_comes_with_the_first_documents_of_each_system(built):
    page = questions.show("query", T, most=1, catalog=built)
    assert [row[2:5] for row in rows_of(page, "hits")] == [("a", 1, "i2"), ("b", 1, "i2")]
    both = rows_of(questions.show("query", T, catalog=built), "hits")
    assert [row[-1] for row in both if row[4] == "i1"] == [1]


def test_a_run_comes_with_its_measures(built):
    page = questions.show("run", "toy/small/test/t2m/a", catalog=built)
    assert (page.fields["queries"], page.fields["hits"], page.fields["depth"]) == (1, 2, 2)
    assert rows_of(page, "run_scores") == [("MRR@10", 1, 0.5, 0)]
    assert rows_of(page, "run_extremes") == [(T, "MRR@10", 0.5)]


@pytest.mark.parametrize("name", ["Infobox hill", "infobox_hill", "Template:Infobox hill"])
def test_a_template_comes_with_its_pictures_and_its_redirects(built, name):
    page = questions.show("template", name, catalog=built)
    assert (page.fields["wiki"], page.fields["uses"], page.fields["is_infobox"]) == (
        "enwiki", 3, True)  # fmt: skip
    [picture] = rows_of(page, "template_pictures")
    assert picture[:3] == (["image", "photo"], "", ["caption"])
    assert rows_of(page, "template_names") == [("Infobox mound", 1)]


def test_it_works_from_another_folder(built, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert questions.show("text", T, collection="toy", catalog=built).fields["collection"] == "toy"


def test_pictures_are_those_of_the_catalog_and_not_of_the_working_directory(
    built, tmp_path, monkeypatch
):
    other = {"image_id": "i1", "image_url": "u", "width": 4, "height": 3, "webp": b"another's"}
    store.write_rows([other], tmp_path / "data/crawl/toy/shard-00000.parquet", PIXELS)
    monkeypatch.chdir(tmp_path)
    page = questions.show("image", "i1", catalog=built)
    show_page.write_html(page, tmp_path / "i.html", catalog=built)
    assert "data:image/webp;base64," in (tmp_path / "i.html").read_text()


def test_the_page_has_the_picture_inside_and_escapes_words(built, tmp_path):
    show_page.write_html(
        questions.show("text", T, catalog=built), tmp_path / "t.html", catalog=built
    )
    html = (tmp_path / "t.html").read_text()
    assert html.count("data:image/webp;base64,") == 3  # attached, and in two ranks
    assert "Naps &lt;b&gt;" in html
    assert "<b>" not in html
    assert "http://" not in html.replace("http://h/", "")


@pytest.mark.parametrize("kind", questions.KINDS)
def test_an_unknown_id_is_named(built, kind):
    with pytest.raises(UnknownId, match=f"{kind} nobody"):
        questions.show(kind, "nobody", catalog=built)
    with pytest.raises(UnknownId):
        questions.show("run", "toy/small/test/t2m/nobody", catalog=built)


def test_a_text_of_another_collection_is_unknown(built):
    with pytest.raises(UnknownId, match="leave out --collection"):
        questions.show("text", T, collection="other", catalog=built)


def test_no_catalog_is_a_missing_file_and_a_wrong_one_corrupt(tmp_path):
    with pytest.raises(MissingFile, match="snakemake"):
        questions.show("text", T, catalog=tmp_path / "none.duckdb")
    (tmp_path / "x.duckdb").write_text("no database" * 1000)
    with pytest.raises(CorruptFile):
        questions.show("text", T, catalog=tmp_path / "x.duckdb")


def sql(built: Path, capsys, *arguments: str) -> tuple[int, str, str]:
    status = commands.main(["sql", "--catalog", str(built), *arguments])
    told = capsys.readouterr()
    return status, told.out, told.err


QUERY = "SELECT text_id, page_id FROM texts ORDER BY 1"


def test_sql_answers_as_table_csv_and_json(built, capsys):
    assert sql(built, capsys, QUERY)[1].splitlines()[1] == f"{T}        1"
    answer = sql(built, capsys, "--format", "csv", QUERY)[1]
    assert list(csv.reader(io.StringIO(answer))) == [["text_id", "page_id"], [T, "1"], [OTHER, "1"]]
    answer = sql(built, capsys, "--format", "json", QUERY)[1]
    assert json.loads(answer)[1] == {"text_id": OTHER, "page_id": 1}


def test_a_table_says_when_rows_are_left_out(built, capsys):
    shown = sql(built, capsys, "--rows", "1", QUERY)[1]
    assert OTHER not in shown
    assert "there are more" in shown
    assert "there are more" not in sql(built, capsys, "--rows", "2", QUERY)[1]


@pytest.mark.parametrize(
    "query",
    [
        "DROP VIEW texts",
        "COPY texts TO 'x.csv'",
        "SELECT 1; SELECT 2",
        "",
        "SELECT nobody FROM texts",
        "SELEC 1",
    ],
)
def test_what_is_not_one_good_select_is_refused_and_changes_nothing(
    built, capsys, query, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    status, out, err = sql(built, capsys, query)
    assert (status, out) == (1, "")
    assert err.startswith(BadQuery.__name__)
    assert list(tmp_path.iterdir()) == []
    assert sql(built, capsys, QUERY)[0] == 0
