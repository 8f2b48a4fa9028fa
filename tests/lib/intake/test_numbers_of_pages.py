"""Pages of dumps with numbers that no table holds are rows of rejected.parquet."""

import json

import pytest
from lxml import html
from tests import snapshots
from tests.lib.parse.test_snapshots import parse, read
from tests.snapshots import Page

from isotope.intake.records import int64
from isotope.parse import html_page
from isotope.parse.site import read_site
from isotope.parse.xml_dump import Chunk, parse_batch

SITE = (
    '<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/" xml:lang="en"><siteinfo>'
    "<base>https://en.wikipedia.org/wiki/Main_Page</base><dbname>enwiki</dbname><namespaces>"
    '{}<namespace key="0"/></namespaces></siteinfo>\n'
)
PAGE = (
    "  <page><title>{0}</title><ns>0</ns><id>{1}</id><revision><id>{2}</id>"
    "<text>{0} is a word of some length.\n</text></revision></page>\n"
)


@pytest.mark.parametrize("value", ["", "x", str(2**63), "-" + "9" * 30, "1" * 5_000, "1e3", None])
def test_what_64_bits_do_not_hold_is_no_number(value):
    with pytest.raises(ValueError, match=r"number|invalid|beyond"):
        int64(value)


def test_numbers_of_64_bits_are_numbers():
    assert [int64(n) for n in ("7", 2**63 - 1, str(-(2**63)), " 8 ")] == [7, 2**63 - 1, -(2**63), 8]


def head(more: str = "") -> list[bytes]:
    return [(SITE.format(more) + "</mediawiki>").encode()]


@pytest.mark.parametrize("number", [str(2**63), "1" * 5_000, "", "x", "1" * 40])
def test_a_page_with_such_a_number_is_set_aside_and_others_are_read(tmp_path, number):
    path = tmp_path / "x.xml"
    pages = [PAGE.format("A", 1, 10), PAGE.format("B", number, 11), PAGE.format("C", 3, number)]
    xml = "".join([*pages, PAGE.format("D", 4, 12)]).encode()
    *_, rest = parse_batch((read_site(path, iter(head())), Chunk(path, 0, xml)))
    assert [row["reason"] for row in rest.rejected] == ["bad_xml", "bad_xml"]
    assert rest.pages == 4


@pytest.mark.parametrize("number", ["x", "", "9" * 40])
def test_a_namespace_without_a_number_is_named_in_the_log_and_left_out(tmp_path, caplog, number):
    path, names = tmp_path / "x.xml", f'<namespace key="{number}">Talk</namespace>'
    file = '<namespace key="6">Bild</namespace>'
    found = read_site(path, iter(head(names + file)))
    assert found.namespaces.is_file("bild")
    assert "talk" not in found.prefixes
    assert f"{path}: its namespace 'Talk' has no number" in caplog.text


ODD = {
    **dict.fromkeys(("-5", "0"), "below 1"),
    **dict.fromkeys(("", "x", "1_0", "\u0661"), "no whole number"),
    **{str(2**63): "beyond 64 bits", "9" * 40: "beyond 64 bits"},
}


@pytest.mark.parametrize("number", ODD)
def test_an_id_that_no_page_has_is_told_with_the_title(tmp_path, number):
    path = tmp_path / "x.xml"
    xml = PAGE.format("Lark", number, 10) + PAGE.format("Rook", 7, 11)
    sections, *_, rest = parse_batch((read_site(path, iter(head())), Chunk(path, 0, xml.encode())))
    assert sections["page_title"].to_pylist() == ["Rook"]
    [row] = rest.rejected
    assert row["row"] == 1
    assert "Lark" in str(row["raw"])
    assert str(row["detail"]).startswith("Lark: its page id: ")
    assert str(row["detail"]).endswith(ODD[number])


@pytest.mark.parametrize(
    ("title", "reason"),
    [
        *((title, "bad_xml") for title in ("", " ")),
        *(
            (title, "bad_title")
            for title in ("x" * 256, "\u00e9" * 128, "A[B]", "A\ufffdB", "A\nB")
        ),
    ],
)
def test_a_title_that_no_page_has_is_set_aside_on_both_roads(tmp_path, title, reason):
    path = tmp_path / "x.xml"
    xml = PAGE.format(title, 5, 10) + PAGE.format("Rook", 7, 11)
    sections, *_, rest = parse_batch((read_site(path, iter(head())), Chunk(path, 0, xml.encode())))
    assert sections["page_title"].to_pylist() == ["Rook"]
    assert [(row["row"], row["reason"]) for row in rest.rejected] == [(1, reason)]
    lines = snapshots.records([Page(5, 0, title, "Words."), Page(7, 0, "Rook", "Words.")])
    (tmp_path / "a.ndjson").write_text("".join(f"{line}\n" for line in lines))
    tables = read(parse([tmp_path / "a.ndjson"], tmp_path))
    assert tables["sections"]["page_title"].to_list() == ["Rook"]
    of_records = "bad_record" if reason == "bad_xml" else reason
    assert tables["rejected"]["reason"].to_list() == [of_records]


@pytest.mark.parametrize("number", [-5, 0, 2**63, 10**30, "x", None, [1]])
def test_a_record_with_such_an_id_is_set_aside_and_others_are_read(tmp_path, number):
    lines = snapshots.records([Page(5, 0, "Lark", "Words."), Page(7, 0, "Rook", "Words.")])
    odd = json.dumps({**json.loads(lines[0]), "identifier": number})
    (tmp_path / "a.ndjson").write_text(f"{odd}\n{lines[1]}\n")
    tables = read(parse([tmp_path / "a.ndjson"], tmp_path))
    assert tables["sections"]["page_title"].to_list() == ["Rook"]
    assert tables["rejected"].select("row", "reason", "raw").rows() == [(1, "bad_record", odd)]


@pytest.mark.parametrize("number", ["", "abc", " "])
def test_a_page_whose_namespace_is_no_number_is_one_of_its_prefix(tmp_path, number):
    path = tmp_path / "x.xml"
    xml = "".join(PAGE.format(title, n, 10) for n, title in enumerate(("A", "Talk:A"), 1))
    xml = xml.replace("<ns>0</ns>", f"<ns>{number}</ns>")
    site = read_site(path, iter(head('<namespace key="1">Talk</namespace>')))
    sections, *_, rest = parse_batch((site, Chunk(path, 0, xml.encode())))
    assert sections["page_title"].to_pylist() == ["A"]
    assert [(row["reason"], row["detail"]) for row in rest.rejected] == [
        ("other_namespace", "Talk:A")
    ]


@pytest.mark.parametrize("mark", ["\0", "&#0;", "&#xD83D;", "\x07", "\uffff", "\ud83d"])
def test_a_page_with_what_no_xml_holds_is_told_with_its_title(tmp_path, mark):
    path = tmp_path / "x.xml"
    odd = PAGE.format("Lark", 5, 10).replace("some", f"some {mark}")
    xml = (odd + PAGE.format("Rook", 7, 11)).encode("utf-8", "surrogatepass")
    sections, *_, rest = parse_batch((read_site(path, iter(head())), Chunk(path, 0, xml)))
    assert sections["page_title"].to_pylist() == ["Rook"]
    [row] = rest.rejected
    assert row["row"] == 1
    assert str(row["detail"]).startswith("Lark: ")


@pytest.mark.parametrize(
    "said",
    [
        *("[1]", "null", '{"parts": null}', "{" * 3_000),
        '{"parts": [null, 7, {"template": null}]}',
        *('{"parts": [{"template": {"target": 7}}]}', '{"parts": {"template": 1}}'),
    ],
)
def test_what_a_page_says_of_its_templates_may_be_anything(said):
    root = html.fromstring("<div><p>x</p></div>")
    root[0].set("data-mw", f'{said} "template"')
    assert [*html_page._templates(root)] == []
    root[0].set("data-mw", said.replace("7", '{"wt": "T", "template": 1}') + " ")
    assert {*html_page._templates(root)} <= {"T"}


@pytest.mark.parametrize("digits", ["99999999999", "9" * 5_000])
def test_a_width_that_no_picture_has_is_none_and_the_page_is_read(tmp_path, digits):
    """It ended the parse of a snapshot: the column has 32 bits, and Python reads 4,300 digits."""
    text = f"[[File:A.jpg|thumb|{digits}px|A cat]] Words."
    made = parse([snapshots.write_export([Page(1, 0, "Cat", text)], tmp_path / "a.xml")], tmp_path)
    assert read(made)["pictures"].select("file", "width").rows() == [("A.jpg", None)]
    record = json.loads(snapshots.records([Page(1, 0, "Cat", "Words.")])[0])
    shown = f'<img src="//x/a/ab/A.jpg" width="{digits}" resource="./File:A.jpg">'
    record["article_body"]["html"] = f"<body><p>Words.</p><span typeof='mw:File'>{shown}</span>"
    (tmp_path / "a.ndjson").write_text(json.dumps(record))
    made = parse([tmp_path / "a.ndjson"], tmp_path)
    assert read(made)["pictures"]["width"].to_list() == [None]
