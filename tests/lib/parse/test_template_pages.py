"""The pass over a dump: templates are collected wherever they stand, their calls are counted."""

import bz2
import logging
from pathlib import Path
from xml.sax.saxutils import escape

import polars as pl
import pytest

from isotope.core.errors import CorruptFile
from isotope.parse.dump import parse_dump
from isotope.parse.template_pages import collect, read

HEAD = """<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/" xml:lang="{code}">
  <siteinfo>
    <sitename>W</sitename>
    <dbname>{code}wiki</dbname>
    <base>https://{code}.wikipedia.org/wiki/X</base>
    <namespaces>
      <namespace key="0" case="first-letter" />
      <namespace key="6" case="first-letter">{file}</namespace>
      <namespace key="10" case="first-letter">{template}</namespace>
      <namespace key="828" case="first-letter">{module}</namespace>
    </namespaces>
  </siteinfo>
"""
ENGLISH = HEAD.format(code="en", file="File", template="Template", module="Module")
FRENCH = HEAD.format(code="fr", file="Fichier", template="Modèle", module="Module")
NAMESPACES = {"Template": 10, "Modèle": 10, "Module": 828, "User": 2}


def page(number: int, title: str, text: str, to: str = "", *, ns: bool = True) -> str:
    number_of = NAMESPACES.get(title.partition(":")[0], 0)
    redirect = f'<redirect title="{escape(to)}" />' if to else ""
    return (
        f"<page><title>{escape(title)}</title>{f'<ns>{number_of}</ns>' if ns else ''}"
        f"<id>{number}</id>{redirect}<revision><id>{number}</id><model>wikitext</model>"
        f'<text xml:space="preserve">{escape(text)}</text></revision></page>\n'
    )


def dump(path: Path, head: str, *pages: str, streams: bool = False) -> Path:
    """Write an export, as one file of XML or as a multistream with a stream a page."""
    if streams:
        parts = [head, *pages, "</mediawiki>\n"]
        path.write_bytes(b"".join(bz2.compress(part.encode()) for part in parts))
    else:
        path.write_text(head + "".join(pages) + "</mediawiki>\n", "utf-8")
    return path


def table_of(folder: Path, *files: Path, shards: int = 1, workers: int = 1) -> pl.DataFrame:
    pieces = [(folder / f"pages-{n}", folder / f"calls-{n}") for n in range(shards)]
    for n, (pages, calls) in enumerate(pieces):
        collect(files, pages, calls, workers, (n, shards))
    read(files, [p for p, _ in pieces], [c for _, c in pieces], folder / "templates.parquet")
    return pl.read_parquet(folder / "templates.parquet")


def uses(table: pl.DataFrame) -> dict[str, int]:
    return dict(table.select("template", "uses").rows())


def test_a_template_is_read_wherever_it_stands_in_the_dump(tmp_path):
    file = dump(
        tmp_path / "d.xml",
        ENGLISH,
        page(1, "A", "{{Old name|1}}"),
        page(2, "Template:Old name", "", "Template:New"),
        page(3, "Template:New", "<includeonly>so {{{1}}}</includeonly>"),
        page(4, "User:B", "{{New|2}}"),
    )
    rows = table_of(tmp_path, file)
    assert rows["template"].to_list() == ["New", "Old name"]
    assert rows.row(0, named=True)["shows"] == "so {{{1}}}"
    assert rows.row(1, named=True)["redirect_to"] == "New"


def test_calls_of_articles_are_counted_by_the_title_that_they_stand_for(tmp_path):
    text = (
        "{{nowrap|a}} {{ Nowrap |b}} {{Template:nowrap|c}} {{template: nowrap}} {{no_wrap\n|d}}"
        "{{Nowrap<!-- so -->|e}} {{#if:x|{{nowrap|f}}}} {{DEFAULTSORT:G}} {{{nowrap}}} {{R&D|g}}"
    )
    file = dump(tmp_path / "d.xml", ENGLISH, page(1, "A", text), page(2, "Template:Nowrap", "x"))
    assert uses(table_of(tmp_path, file)) == {"Nowrap": 6, "No wrap": 1, "R&D": 1}


def test_a_template_that_articles_call_and_the_dump_lacks_is_said_to_be_missing(tmp_path, caplog):
    file = dump(tmp_path / "d.xml", ENGLISH, page(1, "A", "{{Gone|a}} {{Gone}} {{There}}"),
                page(2, "Template:There", "x"))  # fmt: skip
    with caplog.at_level(logging.INFO, "isotope"):
        rows = table_of(tmp_path, file)
    assert rows.filter(template="Gone").select("known_by", "prints", "uses").row(0) == (
        "not in the dump",
        "unknown",
        2,
    )
    assert any(
        "not in the dump: 1 templates, 66.7% of 3 calls; Gone (2)" in m for m in caplog.messages
    )


@pytest.mark.parametrize("streams", [False, True])
def test_neither_shards_nor_workers_change_the_table(tmp_path, streams):
    pages = [page(n, f"Template:T{n}", f"{n} {{{{{{1}}}}}}") for n in range(1, 30)]
    pages += [page(100 + n, f"A{n}", f"{{{{T{n}|x}}}}" * n) for n in range(1, 30)]
    file = dump(tmp_path / ("d.xml.bz2" if streams else "d.xml"), ENGLISH, *pages, streams=streams)
    whole = table_of(tmp_path, file)
    assert len(whole) == 29
    assert whole.equals(table_of(tmp_path, file, shards=3, workers=2))


def test_wikis_of_one_source_have_templates_of_their_own(tmp_path):
    english = dump(tmp_path / "en.xml", ENGLISH, page(1, "A", "{{Lien|x}}"),
                   page(2, "Template:Lien", "lien {{{1}}}"))  # fmt: skip
    french = dump(tmp_path / "fr.xml", FRENCH, page(1, "B", "{{modèle:lien|y}}"),
                  page(2, "Modèle:Lien", "lien : {{{1}}}"))  # fmt: skip
    rows = table_of(tmp_path, english, french)
    assert rows.select("wiki", "template", "shows", "uses").rows() == [
        ("enwiki", "Lien", "lien {{{1}}}", 1),
        ("frwiki", "Lien", "lien : {{{1}}}", 1),
    ]


def test_old_exports_without_numbers_of_namespaces_have_templates_too(tmp_path):
    file = dump(tmp_path / "d.xml", ENGLISH, page(1, "A: b", "{{T}}", ns=False),
                page(2, "Template:T", "x", ns=False))  # fmt: skip
    assert uses(table_of(tmp_path, file)) == {"T": 1}


def test_a_page_that_is_no_xml_ends_nothing(tmp_path):
    bad = page(1, "Template:Bad", "x").replace("<revision>", "<revision><bad>")
    file = dump(tmp_path / "d.xml", ENGLISH, bad, page(2, "Template:Good", "y"))
    assert table_of(tmp_path, file)["template"].to_list() == ["Good"]


def test_a_snapshot_of_html_has_no_templates_to_read(tmp_path):
    record = tmp_path / "enwiki_namespace_0.ndjson"
    record.write_text('{"name": "A"}\n')
    assert table_of(tmp_path, record).is_empty()


def test_a_file_that_is_no_export_is_named(tmp_path):
    (tmp_path / "d.xml").write_text("no export")
    with pytest.raises(CorruptFile, match=r"d\.xml"):
        table_of(tmp_path, tmp_path / "d.xml")


def test_articles_are_parsed_with_what_the_templates_of_their_wiki_show(tmp_path):
    file = dump(
        tmp_path / "d.xml",
        ENGLISH,
        page(1, "A", "It is {{motto|bright}} here."),
        page(2, "Template:Motto", "<includeonly>very {{{1}}}</includeonly>"),
    )
    table_of(tmp_path, file)
    names = ("out", "links", "outline", "rejected", "infoboxes", "pictures", "counts")
    outputs = {name: tmp_path / name for name in names}
    parse_dump([file], **outputs, workers=1, templates=tmp_path / "templates.parquet")
    sections = pl.read_parquet(outputs["out"])
    assert sections["context_section_description"].to_list() == ["It is very bright here."]
