"""Wikidata's snapshots become a table of one wiki's pages, whatever form they are published in."""

import bz2
import gzip
import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests import snapshots

from isotope.core.errors import CorruptFile, IsotopeError, MissingFile, TruncatedFile
from isotope.parse import wikidata
from isotope.schemas.parse import SECTIONS

ENGLISH = ("enwiki", "en")
Entity = dict[str, Any]


def statement(value: object, rank: str = "normal") -> Entity:
    snak = {"snaktype": "value", "datavalue": {"value": value, "type": "string"}}
    return {"mainsnak": snak, "type": "statement", "rank": rank}


def entity(number: int, title: str, **given: Any) -> Entity:
    """An entity as the public dump has it, with a page in two wikis."""
    label = {"language": "en", "value": f"Name {number}"}
    made = {
        "type": "item",
        "id": f"Q{number}",
        "labels": {"en": label, "de": {"language": "de", "value": f"Ding {number}"}},
        "aliases": {"en": [{"language": "en", "value": f"Alias {number}"}, label]},
        "claims": {
            "P18": [statement(f"Picture_{number}.jpg")],
            "P373": [statement(f"Things {number}")],
            "P31": [statement({"entity-type": "item", "numeric-id": 5, "id": "Q5"})],
        },
        "sitelinks": {
            "enwiki": {"site": "enwiki", "title": title, "badges": []},
            "dewiki": {"site": "dewiki", "title": f"Ding {number}", "badges": []},
        },
        "lastrevid": number,
        "modified": "2026-01-01T00:00:00Z",
    }
    return made | given


def of_enterprise(said: Entity) -> Entity:
    """The same entity as Enterprise's record has it."""
    content = {"P18": "string", "P373": "string", "P31": "wikibase-item"}
    statements = {
        number: [
            {
                "property": {"identifier": number, "data_type": content[number]},
                "rank": s["rank"],
                "value": value_of(s["mainsnak"]["datavalue"]["value"]),
            }
            for s in some
        ]
        for number, some in said["claims"].items()
    }
    names = {
        "labels": {code: label["value"] for code, label in said["labels"].items()},
        "aliases": {code: [a["value"] for a in some] for code, some in said["aliases"].items()},
    }
    links = {
        wiki: {"title": link["title"], "url": "https://x.org", "badges": []}
        for wiki, link in said["sitelinks"].items()
    }
    inner = {"identifier": said["id"], "type": "item", **names, "sitelinks": links}
    return {
        "name": said["id"],
        "identifier": 7,
        "url": f"https://www.wikidata.org/wiki/{said['id']}",
        "date_modified": said["modified"],
        "entity": {**inner, "statements": statements},
    }


def value_of(value: object) -> Entity:
    if isinstance(value, dict):
        return {"type": "wikibase-item", "content": value["id"]}
    return {"type": "string", "content": value}


def as_list(lines: list[str]) -> bytes:
    return ("[\n" + ",\n".join(lines) + "\n]\n").encode()


def as_lines(lines: list[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()


def parsed(files: list[Path], folder: Path, wiki: tuple[str, str] = ENGLISH, workers: int = 1):
    folder.mkdir(exist_ok=True, parents=True)
    out = folder / "wikidata.parquet", folder / "wikidata.rejected.parquet"
    wikidata.parse_wikidata(files, wiki, *out, workers=workers)
    return tuple(pl.read_parquet(path) for path in out)


def written(folder: Path, *records: object, name: str = "w.json") -> Path:
    folder.mkdir(exist_ok=True, parents=True)
    lines = [r if isinstance(r, str) else json.dumps(r, ensure_ascii=False) for r in records]
    (folder / name).write_bytes(as_list(lines))
    return folder / name


THREE = [entity(n, f"Title {n}") for n in (3, 1, 2)]
ROWS = [
    (
        f"Q{n}",
        f"Title {n}",
        [f"Name {n}", f"Alias {n}"],
        [f"Picture {n}.jpg"],
        f"Things {n}",
        ["Q5"],
    )
    for n in (1, 2, 3)
]


class TestForms:
    @pytest.mark.parametrize(
        ("name", "make"),
        [
            ("w.json", as_list),
            ("w.json.gz", lambda lines: gzip.compress(as_list(lines))),
            (
                "w.json.bz2",
                lambda lines: (
                    bz2.compress(as_list(lines[:1])[:-3] + b",\n")
                    + bz2.compress(as_list(lines[1:])[2:])
                ),
            ),
            ("w.ndjson", as_lines),
        ],
    )
    def test_a_public_dump_is_read_plain_or_packed(
        self, name: str, make: Callable[[list[str]], bytes], tmp_path
    ):
        (tmp_path / name).write_bytes(make([json.dumps(e) for e in THREE]))
        good, bad = parsed([tmp_path / name], tmp_path / "out")
        assert good.rows() == ROWS
        assert bad.is_empty()

    @pytest.mark.parametrize("is_list", [False, True])
    def test_enterprises_records_say_the_same(self, is_list, tmp_path):
        records = [of_enterprise(e) for e in THREE]
        for record in records if is_list else ():
            own = record["entity"]
            own["statements"] = [s for some in own["statements"].values() for s in some]
        lines = [json.dumps(r) for r in records]
        files = [as_lines(lines[:2]), as_lines(lines[2:])]
        path = snapshots.write_tar(files, tmp_path / "w.tar.gz", "wikidatawiki_namespace_0")
        good, bad = parsed([path], tmp_path / "out")
        assert good.rows() == ROWS
        assert bad.is_empty()

    def test_the_wiki_is_that_of_the_sections(self, tmp_path):
        rows = [{"page_url": "https://zh-yue.wikipedia.org/wiki/A", "language": "yue"}]
        columns = pl.DataFrame(SECTIONS.empty_table()).schema
        pl.DataFrame(rows, schema=columns).write_parquet(tmp_path / "sections.parquet")
        found = wikidata.wiki_of_sections(tmp_path / "sections.parquet")
        assert found == ("zh_yuewiki", "yue")

    def test_names_are_those_of_the_wikis_language_and_its_variants(self, tmp_path):
        labels = {c: {"language": c, "value": v} for c, v in LABELS.items()}
        said = entity(1, "X", labels=labels, aliases={"zh": [{"value": "丙"}]}, sitelinks=ZH)
        good, _ = parsed([written(tmp_path, said)], tmp_path / "out", ("zhwiki", "zh"))
        assert good["names"].to_list() == [["甲", "丙", "乙"]]


LABELS = {"zh": "甲", "zh-hant": "乙", "en": "A", "zhx": "B"}
ZH = {"zhwiki": {"site": "zhwiki", "title": "甲_丁"}}


class TestStatements:
    @pytest.mark.parametrize(
        ("statements", "pictures"),
        [
            ([statement("A.jpg"), statement("B.jpg", "preferred")], ["B.jpg"]),
            ([statement("A.jpg"), statement("b_c.jpg")], ["A.jpg", "B c.jpg"]),
            ([statement("A.jpg", "deprecated")], []),
            (
                [{"mainsnak": {"snaktype": "somevalue"}, "rank": "preferred"}, statement("A.jpg")],
                ["A.jpg"],
            ),
        ],
    )
    def test_the_best_ones_count(self, statements, pictures, tmp_path):
        said = entity(1, "X", claims={"P18": statements})
        good, _ = parsed([written(tmp_path, said)], tmp_path / "out")
        assert good.select("pictures", "category", "classes").rows() == [(pictures, None, [])]

    def test_what_php_writes_for_nothing_is_nothing(self, tmp_path):
        empty = entity(1, "X", claims=[], labels=[], aliases=[])
        none = entity(2, "Y", sitelinks=[])
        good, bad = parsed([written(tmp_path, empty, none)], tmp_path / "out")
        assert good.rows() == [("Q1", "X", [], [], None, [])]
        assert bad.is_empty()

    def test_numbers_of_old_dumps_are_items(self, tmp_path):
        said = entity(1, "X", claims={"P31": [statement({"numeric-id": 6})]})
        good, _ = parsed([written(tmp_path, said)], tmp_path / "out")
        assert good["classes"].to_list() == [["Q6"]]


class TestRecords:
    def test_only_pages_of_the_wiki_are_kept(self, tmp_path):
        other = entity(4, "X", sitelinks={"dewiki": {"site": "dewiki", "title": "enwiki"}})
        good, bad = parsed([written(tmp_path, *THREE, other)], tmp_path / "out")
        assert good["item"].to_list() == ["Q1", "Q2", "Q3"]
        assert bad.is_empty()

    @pytest.mark.parametrize(
        ("record", "detail"),
        [
            ('{"sitelinks": {"enwiki": ', "no JSON"),
            ({"sitelinks": {"enwiki": {"title": "X"}}, "id": "7;DROP"}, "identifier is '7;DROP'"),
            (entity(1, "X", claims={"P18": "x"}), "statements of P18: no list but str"),
            (entity(1, "X", claims={"P18": [statement(7)]}), "P18 that is no text but int"),
            (entity(1, "X", claims={"P31": [statement("x y")]}), "P31 that is no item"),
            (entity(1, "X", labels={"en": 7}), "a name that is no text but int"),
            (entity(1, " "), "a link to enwiki without a title"),
            (["enwiki"], "an entity: no record but list"),
        ],
    )
    def test_a_bad_record_is_named_and_kept_and_costs_no_other(self, record, detail, tmp_path):
        path = written(tmp_path, THREE[0], record, THREE[1])
        good, bad = parsed([path], tmp_path / "out")
        assert good["item"].to_list() == ["Q1", "Q3"]
        raw = record if isinstance(record, str) else json.dumps(record)
        assert bad.select("file", "row", "reason", "raw").rows() == [
            ("w.json", 3, "bad_record", raw)
        ]
        assert detail in bad["detail"][0]

    def test_of_a_pages_records_the_last_change_counts(self, tmp_path):
        days = ("2026-01-02", "2026-01-03", "2026-01-01")
        records = [entity(n, "Same", modified=day) for n, day in enumerate(days, 1)]
        good, bad = parsed([written(tmp_path, *records)], tmp_path / "out")
        assert good["item"].to_list() == ["Q2"]
        assert bad.select("row", "reason", "detail", "raw").rows() == [
            (2, "repeated_page", "Same", "Q1"),
            (4, "repeated_page", "Same", "Q3"),
        ]

    @pytest.mark.parametrize(
        ("content", "error", "found"),
        [
            (b"[\n]\n", CorruptFile, "no record in it"),
            (b'[\n{"type": "ite', CorruptFile, "no JSON"),
            (b'{"name": "A", "sections": []}\n', CorruptFile, "no entity of Wikidata"),
            (as_list([json.dumps(THREE[0])])[:-3] + b",\n", TruncatedFile, "without its end"),
            (None, MissingFile, "no such file"),
        ],
    )
    def test_a_file_that_is_no_snapshot_is_named(
        self, content: bytes | None, error: type[IsotopeError], found: str, tmp_path
    ):
        path = tmp_path / "w.json"
        if content is not None:
            path.write_bytes(content)
        with pytest.raises(error, match=re.escape(found)) as told:
            parsed([path], tmp_path / "out")
        assert str(path) in str(told.value)
        assert [*(tmp_path / "out").iterdir()] == []


MANY = [entity(n, f"Title {n:03d}") for n in range(1, 120)]


class TestAKill:
    """Blocks of ten lines, of which a run is stopped in the seventh."""

    def run(self, folder: Path, monkeypatch, stop: bool, workers: int = 1) -> Mapping[str, bytes]:
        path = folder / "w.json"
        monkeypatch.setattr(wikidata, "BLOCK", 10)
        monkeypatch.setattr(wikidata, "_BATCH_BYTES", 2_000)
        seen = list[int]()
        parse = wikidata.entity_row

        def counted(record: Any, *wiki: str):
            seen.append(int(record["id"][1:]))
            if stop and len(seen) > 65:
                raise KeyboardInterrupt
            return parse(record, *wiki)

        if workers == 1:
            monkeypatch.setattr(wikidata, "entity_row", counted)
        out = folder / "e.parquet", folder / "r.parquet"
        try:
            wikidata.parse_wikidata([path], ENGLISH, *out, workers=workers)
        finally:
            monkeypatch.setattr(wikidata, "entity_row", parse)
            self.seen = seen
        return {file.name: file.read_bytes() for file in out}

    def test_a_run_goes_on_where_it_was_killed_and_workers_do_not_show(self, tmp_path, monkeypatch):
        written(tmp_path, *MANY)
        with pytest.raises(KeyboardInterrupt):
            self.run(tmp_path, monkeypatch, stop=True)
        assert not (tmp_path / "e.parquet").exists()
        found = self.run(tmp_path, monkeypatch, stop=False)
        assert self.seen == list(range(61, 120)), "what was written is not parsed again"
        assert sorted(path.name for path in tmp_path.iterdir()) == [
            "e.parquet",
            "r.parquet",
            "w.json",
        ]
        for workers in (1, 2):
            folder = tmp_path / f"{workers}"
            written(folder, *MANY)
            assert self.run(folder, monkeypatch, stop=False, workers=workers) == found

    def test_other_data_is_read_anew(self, tmp_path, monkeypatch):
        written(tmp_path, *MANY)
        with pytest.raises(KeyboardInterrupt):
            self.run(tmp_path, monkeypatch, stop=True)
        written(tmp_path, *MANY[::-1])
        self.run(tmp_path, monkeypatch, stop=False)
        assert len(self.seen) == len(MANY)
