"""WIT shards become associations: nothing lost, nothing damaged, errors that say where."""

import csv
import gzip
import io
import random
import subprocess
import sys
import zlib
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isotope.core.errors import BadParams, CorruptFile, MissingColumn, MissingFile, TruncatedFile
from isotope.parse import wit
from isotope.schemas.acquire import WIT_COLUMNS
from isotope.schemas.parse import ASSOCIATIONS, REJECTED

HEADER = "\t".join(WIT_COLUMNS)
# The csv module of Python 3.11 quotes a carriage return only when line ends have one.
WINDOWS = "\r\n"
NUMBERS = ("original_height", "original_width")
TRUTHS = ("is_main_image", "attribution_passes_lang_id", "page_changed_recently")


def record(**values: str) -> dict[str, str]:
    plain = dict.fromkeys(WIT_COLUMNS, "")
    plain |= {
        "language": "en",
        "page_url": "https://en.wikipedia.org/wiki/A",
        "image_url": "https://upload.wikimedia.org/a.jpg",
        "original_height": "3",
        "original_width": "4",
        "is_main_image": "true",
        "attribution_passes_lang_id": "false",
    }
    return plain | values


def as_tsv(records: list[dict[str, str]], header: str = HEADER, end: str = "\n") -> str:
    text = io.StringIO()
    names = header.split("\t")
    out = csv.writer(text, delimiter="\t", lineterminator=end)
    out.writerow(names)
    out.writerows([row[name] for name in names] for row in records)
    return text.getvalue()


def parse(folder: Path, content: str | bytes, name: str = "wit_v1.train.tsv"):
    data = content.encode() if isinstance(content, str) else content
    (folder / name).write_bytes(data)
    return parse_files(folder, [folder / name])


def parse_files(folder: Path, files: list[Path]):
    out, rejected = folder / "out.parquet", folder / "rejected.parquet"
    wit.parse_wit(files, out=out, rejected=rejected)
    good, bad = pq.read_table(out), pq.read_table(rejected)
    assert good.schema.equals(ASSOCIATIONS)
    assert bad.schema.equals(REJECTED)
    return good.to_pylist(), bad.to_pylist()


def typed(row: dict[str, str]) -> dict[str, object]:
    numbers = {name: int(row[name]) if row[name] else None for name in NUMBERS}
    truths = {name: {"true": True, "false": False, "": None}[row[name]] for name in TRUTHS}
    return {**row, **numbers, **truths}


def bare(row: dict[str, object]) -> dict[str, object]:
    return {name: row[name] for name in WIT_COLUMNS}


def real_shards(shared: Path) -> list[Path]:
    return [
        *sorted((shared / "snapshots/raycharles/wit").glob("*.tsv.gz")),
        *sorted((shared / "wit-rows").glob("*.tsv")),
    ]


def by_csv_module(path: Path) -> list[dict[str, object]]:
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8", newline="") as file:
        return [typed(row) for row in csv.DictReader(file, delimiter="\t")]


class TestRealShards:
    def test_they_equal_what_the_csv_module_reads_and_lose_nothing(self, shared, tmp_path):
        files = real_shards(shared)
        assert len(files) == 4
        good, bad = parse_files(tmp_path, files)
        assert [bare(row) for row in good] == [row for path in files for row in by_csv_module(path)]
        assert (len(good), bad) == (102, [])

    def test_splits_and_row_numbers_follow_the_files(self, shared, tmp_path):
        files = real_shards(shared)
        good, _ = parse_files(tmp_path, files)
        for path in files:
            rows = [row for row in good if row["file"] == path.name]
            assert [row["row"] for row in rows] == list(range(1, len(rows) + 1))
            assert {row["split"] for row in rows} == {wit.split_of(path)}


texts = st.text(
    st.one_of(
        st.sampled_from("\n\r\"' aé漢"), st.characters(codec="utf-8", exclude_characters="\t")
    ),
    max_size=12,
).filter(lambda text: "\thttp" not in text)
records = st.builds(
    lambda cells, height: record(**cells, original_height=height),
    st.fixed_dictionaries(
        dict.fromkeys(
            ("page_title", "section_title", "context_page_description", "mime_type"), texts
        )
        | {"context_section_description": texts, "language": st.sampled_from(["en", "zh-TW"])}
    ),
    st.sampled_from(["", "1", "2147483647"]),
)


class TestRoundTrip:
    @settings(max_examples=60, deadline=None)
    @given(rows=st.lists(records, max_size=8))
    def test_what_the_csv_module_writes_comes_back(self, rows, tmp_path_factory):
        good, bad = parse(tmp_path_factory.mktemp("wit"), as_tsv(rows, end=WINDOWS))
        assert [bare(row) for row in good] == [typed(row) for row in rows]
        assert not bad

    @settings(max_examples=40, deadline=None)
    @given(rows=st.lists(records, max_size=6), order=st.permutations(WIT_COLUMNS))
    def test_the_order_of_the_columns_does_not_matter(self, rows, order, tmp_path_factory):
        content = as_tsv(rows, "\t".join(order), WINDOWS)
        good, bad = parse(tmp_path_factory.mktemp("wit"), content)
        assert [bare(row) for row in good] == [typed(row) for row in rows]
        assert not bad

    @settings(max_examples=40, deadline=None)
    @given(rows=st.lists(records, min_size=1, max_size=8), data=st.data())
    def test_a_row_with_an_unclosed_quote_leaves_its_neighbours_whole(
        self, rows, data, tmp_path_factory
    ):
        at = data.draw(st.integers(0, len(rows)))
        lines = [as_tsv([row], end=WINDOWS).split("\n", 1)[1] for row in rows]
        broken = "\t".join(record(page_title='"open').values()) + "\n"
        content = "".join([HEADER + "\n", *lines[:at], broken, *lines[at:]])
        good, bad = parse(tmp_path_factory.mktemp("wit"), content)
        assert [bare(row) for row in good] == [typed(row) for row in rows]
        assert [(row["row"], row["reason"], row["raw"]) for row in bad] == [
            (at + 1, "unclosed_quote", broken)
        ]
        assert [row["row"] for row in good] == [n + 1 for n in range(len(rows) + 1) if n != at]

    def test_block_borders_do_not_show(self, tmp_path, monkeypatch):
        rows = [record(page_title=f'"{i}"\nx', section_title="y" * (i % 7)) for i in range(300)]
        whole = parse(tmp_path, as_tsv(rows))
        monkeypatch.setattr(wit, "BLOCK_BYTES", 500)
        monkeypatch.setattr(wit, "READ_BYTES", 97)
        assert parse(tmp_path, gzip.compress(as_tsv(rows).encode())) == whole
        assert [bare(row) for row in whole[0]] == [typed(row) for row in rows]


def test_a_file_of_wikimedia_has_one_address_whatever_host_and_size_a_row_names(tmp_path):
    plain = "https://upload.wikimedia.org/wikipedia/commons/a/ab/X_%28y%29.jpg"
    spelled = [
        plain,
        "http://upload.wikimedia.org/wikipedia/commons/a/ab/X_(y).jpg",
        "https://upload.wikimedia.org/wikipedia/commons/thumb/a/ab/X_%28y%29.jpg/320px-X_(y).jpg",
        "https://thumb.wikimedia.org/wikipedia/commons/thumb/a/ab/X_(y).jpg/330px-X_(y).jpg?utm_x=y",
    ]
    others = ["https://example.org/x.jpg?utm_x=y", "https://example.org/a b.jpg"]
    good, bad = parse(tmp_path, as_tsv([record(image_url=url) for url in spelled + others]))
    assert [row["image_url"] for row in good] == [plain] * 4 + others
    assert bad == []


def test_pandas_is_not_imported_to_parse(tmp_path):
    shard = tmp_path / "wit_v1.train.tsv"
    shard.write_text(as_tsv([record()] * 9))
    code = (
        "import sys; from pathlib import Path; from isotope.parse.wit import parse_wit;"
        "at = Path(sys.argv[1]); bad = at.with_name('bad');"
        "parse_wit([at], out=at.with_name('out'), rejected=bad); sys.exit('pandas' in sys.modules)"
    )
    assert not subprocess.run([sys.executable, "-c", code, shard], check=False).returncode


class TestRejectedRows:
    @pytest.mark.parametrize(
        ("values", "reason"),
        [
            ({"original_height": "tall"}, "bad_number"),
            ({"original_width": "2147483648"}, "bad_number"),
            ({"is_main_image": "perhaps"}, "bad_boolean"),
            ({"mime_type": "a\tb"}, "wrong_field_count"),
            ({"page_title": '"open'}, "unclosed_quote"),
        ],
    )
    def test_each_is_kept_with_its_reason_and_its_text(self, values, reason, tmp_path):
        raw = "\t".join(record(**values).values()) + "\n"
        good, bad = parse(tmp_path, as_tsv([record()]) + raw + as_tsv([record()]).split("\n", 1)[1])
        assert [row["row"] for row in good] == [1, 3]
        assert [(row["row"], row["reason"], row["raw"]) for row in bad] == [(2, reason, raw)]
        assert bad[0]["file"] == "wit_v1.train.tsv"

    def test_bytes_that_are_not_utf_8_are_rejected_alone(self, tmp_path):
        raw = "\t".join(record(page_title="X").values()).encode().replace(b"X", b"\xff") + b"\n"
        content = as_tsv([record(), record()]).encode() + raw
        good, bad = parse(tmp_path, content)
        assert len(good) == 2
        assert [(row["row"], row["reason"]) for row in bad] == [(3, "bad_encoding")]
        assert "\\xff" in bad[0]["raw"]

    def test_every_record_is_either_kept_or_rejected(self, tmp_path):
        dice = random.Random(0)
        lines = []
        for i in range(500):
            title = '"open' if dice.random() < 0.2 else f"t{i}"
            lines.append("\t".join(record(page_title=title).values()))
        good, bad = parse(tmp_path, "\n".join([HEADER, *lines]) + "\n")
        assert sorted(row["row"] for row in good + bad) == list(range(1, 501))
        assert len(bad) == sum('"open' in line for line in lines) > 50


class TestFields:
    def test_missing_numbers_are_null_and_missing_texts_empty(self, tmp_path):
        empty = record(original_height="", is_main_image="", mime_type="")
        (row,), _ = parse(tmp_path, as_tsv([empty]))
        assert (row["original_height"], row["is_main_image"]) == (None, None)
        assert (row["mime_type"], row["original_width"]) == ("", 4)

    def test_tabs_within_quotes_and_codes_of_one_letter_are_text_like_any_other(self, tmp_path):
        odd = {3: {"page_title": "a\tb"}, 5: {"language": "x"}, 8: {"mime_type": "\t\n\t"}}
        rows = [record(section_title=str(n), **odd.get(n, {})) for n in range(12)]
        good, bad = parse(tmp_path, as_tsv(rows))
        assert [bare(row) for row in good] == [typed(row) for row in rows]
        assert not bad

    @pytest.mark.parametrize(
        ("name", "split"),
        [
            ("wit_v1.train.all-00000-of-00010.tsv.gz", "train"),
            ("wit_v1.val.all-00000-of-00005.tsv.gz", "validation"),
            ("wit_v1.test.all-00004-of-00005.tsv.gz", "test"),
            ("train-00000-of-00009.part.tsv", "train"),
        ],
    )
    def test_the_file_name_tells_the_split(self, name, split):
        assert wit.split_of(Path("a.test.b") / name) == split

    def test_a_name_without_a_split_is_refused(self, tmp_path):
        with pytest.raises(BadParams, match="tells no split"):
            parse(tmp_path, HEADER, "wit.tsv")

    def test_windows_line_ends_and_a_byte_order_mark_are_no_content(self, tmp_path):
        content = "\ufeff" + as_tsv([record(), record()]).replace("\n", "\r\n")
        good, bad = parse(tmp_path, content)
        assert [bare(row) for row in good] == [typed(record())] * 2
        assert not bad


class TestDamagedShards:
    def test_a_missing_column_is_named_with_those_found(self, tmp_path):
        with pytest.raises(MissingColumn, match=r"no column mime_type among language, page_url"):
            parse(tmp_path, HEADER.replace("mime_type\t", ""))
        self.assert_nothing_written(tmp_path)

    @pytest.mark.parametrize("kept", [30, 400, -9])
    def test_a_truncated_gzip_is_named_with_the_byte_reached(self, kept, tmp_path):
        rows = [record(page_title=str(i), mime_type=str(hash(i))) for i in range(2000)]
        data = gzip.compress(as_tsv(rows).encode())
        with pytest.raises(TruncatedFile, match=r"wit_v1.val.tsv.gz: .* at byte [\d,]+ after"):
            parse(tmp_path, data[:kept], "wit_v1.val.tsv.gz")
        self.assert_nothing_written(tmp_path)

    def test_a_flipped_byte_is_named_as_damage(self, tmp_path):
        data = bytearray(gzip.compress(as_tsv([record()] * 3).encode()))
        data[-6] ^= 0xFF
        with pytest.raises(CorruptFile, match=r"damaged gzip data .* at byte \d+"):
            parse(tmp_path, bytes(data), "wit_v1.val.tsv.gz")
        self.assert_nothing_written(tmp_path)

    def test_what_is_no_gzip_or_empty_is_named(self, tmp_path):
        with pytest.raises(CorruptFile, match="not a gzip file"):
            parse(tmp_path, b"<html>", "wit_v1.val.tsv.gz")
        with pytest.raises(TruncatedFile, match="empty"):
            parse(tmp_path, b"")

    def test_several_gzip_members_are_one_shard(self, tmp_path):
        parts = as_tsv([record(page_title=str(i)) for i in range(50)]).encode()
        data = gzip.compress(parts[:777]) + gzip.compress(parts[777:])
        good, _ = parse(tmp_path, data, "wit_v1.val.tsv.gz")
        assert [row["page_title"] for row in good] == [str(i) for i in range(50)]

    def test_zeros_behind_the_last_gzip_member_are_padding_and_other_bytes_are_damage(
        self, tmp_path
    ):
        data = gzip.compress(as_tsv([record()] * 3).encode())
        good, _ = parse(tmp_path, data + bytes(512), "wit_v1.val.tsv.gz")
        assert len(good) == 3
        with pytest.raises(CorruptFile, match="damaged gzip data"):
            parse(tmp_path, data + b"x" * 512, "wit_v1.val.tsv.gz")

    def test_a_zip_bomb_is_unpacked_piece_by_piece(self, tmp_path, monkeypatch):
        monkeypatch.setattr(wit, "RECORD_LIMIT_BYTES", 1 << 22)
        monkeypatch.setattr(wit, "BLOCK_BYTES", 1 << 20)
        data = zlib.compress(HEADER.encode() + b"\n" + bytes(1 << 26), 9, wbits=31)
        with pytest.raises(CorruptFile, match="no record start"):
            parse(tmp_path, data, "wit_v1.val.tsv.gz")

    def test_no_files_and_a_missing_file_are_errors(self, tmp_path):
        with pytest.raises(MissingFile, match="no shards"):
            parse_files(tmp_path, [])
        with pytest.raises(MissingFile, match="no such file"):
            parse_files(tmp_path, [tmp_path / "wit_v1.test.tsv"])
        self.assert_nothing_written(tmp_path)

    def test_the_table_of_an_earlier_run_survives_a_damaged_shard(self, tmp_path):
        parse(tmp_path, as_tsv([record()]))
        before = (tmp_path / "out.parquet").read_bytes()
        with pytest.raises(CorruptFile):
            parse(tmp_path, b"PK", "wit_v1.val.tsv.gz")
        assert (tmp_path / "out.parquet").read_bytes() == before

    @staticmethod
    def assert_nothing_written(folder: Path) -> None:
        assert not [path for path in folder.iterdir() if "parquet" in path.name]
