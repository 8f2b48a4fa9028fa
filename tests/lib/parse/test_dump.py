"""A MediaWiki export becomes sections, the same ones whoever unpacks it."""

import bz2
import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from xml.sax.saxutils import escape

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from isotope.core import parallel, store
from isotope.core.errors import CorruptFile, IsotopeError, MissingFile, ToolFailed, TruncatedFile
from isotope.core.parallel import ordered_map
from isotope.parse import dump, xml_dump
from isotope.parse.articles import REASONS
from isotope.schemas.parse import REJECTED, SECTIONS

NAMES = {6: "Datei", 14: "Kategorie", 1: "Diskussion"}
HEAD = (
    '<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/" version="0.11" xml:lang="de">\n'
    "<siteinfo><base>https://de.wikipedia.org/wiki/Wikipedia:Hauptseite</base><namespaces>"
    '<namespace key="0" case="first-letter" />'
    + "".join(f'<namespace key="{key}">{name}</namespace>' for key, name in NAMES.items())
    + "</namespaces></siteinfo>\n"
)
TAIL = "</mediawiki>\n"


def page(number, title, text, *, ns=0, extra="", model="wikitext"):  # noqa: PLR0913
    return (
        f"  <page>\n<title>{escape(title)}</title><ns>{ns}</ns><id>{number}</id>{extra}\n"
        f"<revision><id>{number + 1000}</id><model>{model}</model>"
        f'<text xml:space="preserve">{escape(text)}</text></revision></page>\n'
    )


PAGES = [
    page(
        7, "Ray Charles", "'''Ray''' sang.\n== Life ==\n=== Youth ===\n[[A|Born]].\n== Songs ==\n"
    ),
    page(8, "Ray", "#WEITERLEITUNG [[Ray Charles]]"),
    page(9, "Ray (film)", "Text", extra='<redirect title="Ray Charles" />'),
    page(10, "Ray (Begriff)", "'''Ray''' ist\n{{Begriffsklärung}}"),
    page(11, "Diskussion:Ray", "Talk", ns=1),
    page(12, "Ray.json", "{}", model="json"),
    page(13, "Nichts", "  \n"),
    page(
        123456789,
        'Wie "Öl"? & so/weiter',
        "[[Datei:A.jpg|mini|x]]Öl.\n[[Kategorie:Z|s]][[Category:B_b]]",
    ),
]


def xml(pages: list[str] = PAGES) -> bytes:
    return (HEAD + "".join(pages) + TAIL).encode()


def multistream(pages: list[str] = PAGES, per_stream: int = 2) -> bytes:
    groups = ["".join(pages[i : i + per_stream]) for i in range(0, len(pages), per_stream)]
    return b"".join(bz2.compress(part.encode()) for part in [HEAD, *groups, TAIL])


def parse(folder: Path, files: list[Path], workers: int = 1):
    out = {
        name: folder / name
        for name in ("out", "links", "outline", "rejected", "infoboxes", "pictures", "counts")
    }
    dump.parse_dump(files, **out, workers=workers)  # pyright: ignore[reportArgumentType]
    # A file does not say that items of lists are never NULL: test_lists.py.
    assert pq.read_schema(out["out"]).equals(pa.schema(map(store._relaxed, SECTIONS)))
    assert pq.read_schema(out["rejected"]).equals(REJECTED)
    return (
        pl.read_parquet(out["out"]),
        pl.read_parquet(out["rejected"]),
        {k: n for k, n in json.loads(out["counts"].read_text()).items() if k != dump.PAGES},
    )


def parse_bytes(folder: Path, data: bytes, name: str = "dump.xml.bz2", workers: int = 1):
    (folder / name).write_bytes(data)
    return parse(folder, [folder / name], workers)


def digests(folder: Path) -> list[str]:
    names = ("out", "links", "rejected", "infoboxes", "pictures", "counts")
    return [hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in names]


def nothing_written(folder: Path) -> bool:
    return not [path for path in folder.iterdir() if not path.name.startswith("dump.xml")]


def in_wits_form() -> pl.Expr:
    """The hierarchy of a section as WIT has it: the page's title first, and alone for a lead."""
    below = pl.when(pl.col("section") > 0).then(" / " + pl.col("hierarchy")).otherwise(pl.lit(""))
    return pl.col("page_title") + below


class TestSections:
    def test_every_section_has_its_place_in_the_page(self, tmp_path):
        sections, _, _ = parse_bytes(tmp_path, xml(), "dump.xml")
        ray = sections.filter(pl.col("page_id") == 7)
        assert ray["text_id"].to_list() == [f"projected-00000007-{n:03d}" for n in range(4)]
        assert ray["section_title"].to_list() == ["Einleitung", "Life", "Youth", "Songs"]
        assert ray["hierarchy"].to_list() == [
            "Einleitung",
            "Life",
            "Life / Youth",
            "Songs",
        ]
        assert ray["context_section_description"].to_list() == ["Ray sang.", "", "Born.", ""]
        assert ray["context_page_description"].to_list() == ["", *["Ray sang."] * 3]
        assert set(ray["revision_id"]) == {1007}

    def test_names_of_the_wiki_come_from_its_head(self, tmp_path):
        sections, _, _ = parse_bytes(tmp_path, xml(), "dump.xml")
        (row,) = sections.filter(pl.col("page_id") == 123456789).to_dicts()
        assert row["category"] == ["Z", "B b"]
        assert row["context_section_description"] == "Öl."
        assert (row["language"], row["text_id"]) == ("de", "projected-123456789-000")
        assert row["page_url"] == (
            "https://de.wikipedia.org/wiki/Wie%20%22%C3%96l%22%3F%20%26%20so/weiter"
        )

    def test_addresses_are_those_of_wit_but_for_spaces(self, shared, raycharles):
        sections = pl.read_parquet(raycharles["sections"])
        wit = pl.concat(
            pl.read_csv(path, separator="\t", infer_schema=False)
            for path in sorted((shared / "snapshots/raycharles/wit").glob("*.gz"))
        )
        # The published texts have `%20` where WIT has `_`.
        found = wit.join(
            sections,
            left_on=["page_url", "hierarchical_section_title"],
            right_on=[pl.col("page_url").str.replace_all("%20", "_"), in_wits_form()],
            how="left",
        )
        assert found["text_id"].null_count() == 0
        equal = found["context_section_description"] == found["context_section_description_right"]
        assert equal.sum() >= len(wit) - 1


class TestPagesLeftOut:
    def test_a_redirect_says_where_it_leads(self, tmp_path):
        further = page(14, "Raye", "#redirect [[:Ray_Charles#Life|him]]")
        _, rejected, _ = parse_bytes(tmp_path, xml([*PAGES, further]), "dump.xml")
        redirects = rejected.filter(pl.col("reason") == "redirect")
        assert redirects.select("detail", "raw").rows() == [
            ("Ray", "Ray Charles"),
            ("Ray (film)", "Ray Charles"),
            ("Raye", "Ray Charles"),
        ]

    def test_each_is_kept_aside_with_its_reason_ordinal_and_title(self, tmp_path):
        sections, rejected, counts = parse_bytes(tmp_path, xml(), "dump.xml")
        assert rejected.select("row", "reason", "detail").rows() == [
            (2, "redirect", "Ray"),
            (3, "redirect", "Ray (film)"),
            (4, "disambiguation", "Ray (Begriff)"),
            (5, "other_namespace", "Diskussion:Ray"),
            (6, "not_wikitext", "Ray.json"),
            (7, "empty", "Nichts"),
        ]
        assert counts == {
            **{"pages": 8, "articles": 2, "sections": 5, "sections_without_text": 2},
            **{"redirect": 2, "disambiguation": 1},
            **{"other_namespace": 1, "not_wikitext": 1, "empty": 1, "bad_xml": 0, "bad_record": 0},
            **{"repeated_page": 0, "file_redirect": 0, "redirected_pictures": 0, "bad_title": 0},
        }
        assert len(sections) == 5

    @pytest.mark.parametrize(
        "bad",
        [
            PAGES[0].replace("</title>", "<title>"),
            PAGES[0].replace("<id>7</id>", "<id>seven</id>"),
            PAGES[0].replace("</page>", ""),
            PAGES[0].replace("<revision>", "<r>").replace("</revision>", "</r>"),
            PAGES[0].replace("sang", "sang &nosuch;"),
        ],
    )
    def test_a_malformed_page_is_kept_aside_whole_and_alone(self, bad, tmp_path):
        _, rejected, counts = parse_bytes(tmp_path, xml([PAGES[7], bad, PAGES[0]]), "dump.xml")
        assert rejected.select("row", "reason").rows() == [(2, "bad_xml")]
        assert "Youth" in rejected["raw"][0]
        assert (counts["pages"], counts["articles"]) == (3, 2)

    @pytest.mark.parametrize(
        ("text", "is_one"),
        [
            ("{{disambiguation}}", True),
            ("{{Disambig|geo}}", True),
            ("{{hndis|Ray}}", True),
            ("{{disambiguation needed|date=May}} x", False),
            ("{{dablink|x}} {{Other uses (disambiguation)}}", False),
        ],
    )
    def test_templates_tell_disambiguation_pages(self, text, is_one, tmp_path):
        _, _, counts = parse_bytes(tmp_path, xml([page(1, "A", text)]), "dump.xml")
        assert counts["disambiguation"] == is_one

    def test_the_real_dumps_are_fully_accounted_for(self, shared, raycharles, tmp_path):
        files = sorted((shared / "snapshots/minidumps").glob("*/*.xml.bz2"))
        of_raycharles = (pl.read_parquet(raycharles[name]) for name in ("sections", "rejected"))
        told = (*of_raycharles, json.loads(raycharles["counts"].read_text()))
        pages = 0
        for sections, rejected, counts in (told, parse(tmp_path, files)):
            pages += counts["pages"]
            assert counts["pages"] == counts["articles"] + len(rejected)
            assert counts["sections"] == len(sections)
            own = Counter({r: counts[r] for r in REASONS if counts[r]})
            assert Counter(rejected["reason"]) == own
        assert pages == 389


class TestStreams:
    def test_multistream_single_stream_and_plain_give_the_same_bytes(self, tmp_path, monkeypatch):
        parse_bytes(tmp_path, bz2.compress(xml()))
        single = digests(tmp_path)
        parse_bytes(tmp_path, multistream())
        assert digests(tmp_path) == single
        monkeypatch.setattr(xml_dump, "SPAN_BYTES", 1)
        monkeypatch.setattr(xml_dump, "CHUNK_BYTES", 100)
        parse_bytes(tmp_path, multistream())
        assert digests(tmp_path) == single
        parse_bytes(tmp_path, bz2.compress(xml()))
        assert digests(tmp_path) == single

    def test_the_number_of_workers_does_not_show(self, tmp_path, monkeypatch):
        monkeypatch.setattr(xml_dump, "SPAN_BYTES", 1)
        data = multistream(PAGES * 5)
        parse_bytes(tmp_path, data, workers=1)
        alone = digests(tmp_path)
        parse_bytes(tmp_path, data, workers=3)
        assert digests(tmp_path) == alone

    def test_streams_cut_anywhere_are_read_in_sequence(self, tmp_path):
        data = xml()
        parts = [data[i : i + 333] for i in range(0, len(data), 333)]
        _, _, counts = parse_bytes(tmp_path, b"".join(map(bz2.compress, parts)))
        assert counts["pages"] == len(PAGES)

    def test_ordinals_start_anew_in_every_file(self, tmp_path):
        (tmp_path / "dump.xml").write_bytes(xml())
        (tmp_path / "dump.xml.bz2").write_bytes(multistream())
        files = [tmp_path / "dump.xml", tmp_path / "dump.xml.bz2"]
        _, rejected, counts = parse(tmp_path, files)
        assert rejected["row"].to_list() == [*([2, 3, 4, 5, 6, 7] * 2), 1, 8]
        assert rejected["file"].to_list() == ["dump.xml"] * 6 + ["dump.xml.bz2"] * 8
        assert counts["pages"] == 16


class TestDamage:
    @pytest.mark.parametrize("workers", [1, 2])
    @pytest.mark.parametrize("make", [multistream, lambda: bz2.compress(xml())])
    def test_a_corrupt_block_is_named_with_its_byte(self, make, workers, tmp_path):
        data = bytearray(make())
        data[-60] ^= 0xFF
        with pytest.raises(CorruptFile, match=r"dump.xml.bz2: .*byte [\d,]+.*; download"):
            parse_bytes(tmp_path, bytes(data), workers=workers)
        assert nothing_written(tmp_path)

    @pytest.mark.parametrize("make", [multistream, lambda: bz2.compress(xml())])
    @pytest.mark.parametrize("cut", [1, 20])
    def test_a_truncated_file_is_named_with_its_byte(self, make, cut, tmp_path):
        with pytest.raises(TruncatedFile, match=r"break off at byte [\d,]+; download"):
            parse_bytes(tmp_path, make()[:-cut])
        assert nothing_written(tmp_path)

    def test_missing_last_streams_are_noticed(self, tmp_path):
        data = multistream()
        with pytest.raises(TruncatedFile, match=r"no </mediawiki> after the stream at byte"):
            parse_bytes(tmp_path, data[: data.rfind(b"BZh9")])
        with pytest.raises(TruncatedFile, match=r"no </mediawiki> at its end"):
            parse_bytes(tmp_path, xml()[:-20], "dump.xml")

    def test_a_page_cut_in_two_by_later_streams_is_noticed(self, tmp_path, monkeypatch):
        monkeypatch.setattr(xml_dump, "SPAN_BYTES", 1)
        half = len(PAGES[0]) // 2
        parts = [HEAD, PAGES[1], PAGES[0][:half], PAGES[0][half:], TAIL]
        with pytest.raises(CorruptFile, match="cut in two"):
            parse_bytes(tmp_path, b"".join(bz2.compress(part.encode()) for part in parts))

    @pytest.mark.parametrize(
        "data", [b"", b"<html>no dump</html>", HEAD.replace("base", "b").encode()]
    )
    def test_what_is_no_dump_is_refused(self, data, tmp_path):
        with pytest.raises(IsotopeError, match="give a MediaWiki export"):
            parse_bytes(tmp_path, data, "dump.xml")
        with pytest.raises(IsotopeError, match="at byte 0"):
            parse_bytes(tmp_path, data)

    def test_no_files_and_a_missing_file_are_errors(self, tmp_path):
        with pytest.raises(MissingFile, match="no files"):
            parse(tmp_path, [])
        with pytest.raises(MissingFile, match="no such file"):
            parse(tmp_path, [tmp_path / "none.xml.bz2"])


def double(number: int) -> int:
    if number < 0:
        raise CorruptFile("number", "negative", "give a positive one")
    if number == 666:
        os._exit(1)
    return 2 * number


@pytest.fixture(params=["forked", "anew"])
def process(request, monkeypatch):
    """How a process starts: as on Linux, or as on macOS."""
    monkeypatch.setattr("isotope.core.parallel.FORKS", request.param == "forked")


@pytest.mark.usefixtures("process")
class TestOrderedMap:
    @pytest.mark.parametrize("workers", [1, 2])
    def test_results_come_in_order_and_errors_come_through(self, workers):
        assert list(ordered_map(double, range(50), workers)) == list(range(0, 100, 2))
        with pytest.raises(CorruptFile, match="number: negative; give a positive one"):
            list(ordered_map(double, [1, -1, 2], workers))

    def test_items_are_taken_only_as_results_are_wanted(self):
        taken = []
        results = ordered_map(double, (taken.append(i) or i for i in range(100)), 2)
        assert next(results) == 0
        assert len(taken) <= 4
        results.close()

    def test_a_killed_worker_is_a_named_error(self):
        with pytest.raises(ToolFailed, match="was killed"):
            list(ordered_map(double, [1, 666], 2))

    def test_ctrl_c_ends_a_script_without_a_main_guard_and_leaves_nothing(self, tmp_path):
        (tmp_path / "dump.xml.bz2").write_bytes(multistream(PAGES * 4000, 40))
        script = tmp_path / "dump.xml.py"
        script.write_text(
            "import signal\nfrom pathlib import Path\nfrom isotope.parse import dump, xml_dump\n"
            # A shell starts what runs in the background with the signal ignored.
            "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
            "xml_dump.SPAN_BYTES = 1\nhere = Path(__file__).parent\n"
            f"from isotope.core import parallel\nparallel.FORKS = {parallel.FORKS}\n"
            "print('started', flush=True)\n"
            "files = ('out', 'links', 'outline', 'rejected', 'infoboxes', 'pictures', 'counts')\n"
            "names = {n: here / n for n in files}\n"
            "dump.parse_dump([here / 'dump.xml.bz2'], **names, workers=2)\n"
        )
        run = subprocess.Popen(
            [sys.executable, script],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        assert run.stdout is not None
        run.stdout.readline()
        deadline = time.monotonic() + 30
        while not (tmp_path / ".out.part").exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(0.5)
        os.killpg(run.pid, signal.SIGINT)
        out, err = run.communicate(timeout=60)
        assert run.returncode != 0, f"it finished before the signal: {out}{err}"
        assert err.count("KeyboardInterrupt") == 1
        assert "started" not in out
        assert nothing_written(tmp_path)
