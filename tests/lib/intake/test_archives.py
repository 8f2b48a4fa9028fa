"""Archives from outside: each cut and changed byte is an error with a name, or all is there."""

import bz2
import gzip
import io
import lzma
import random
import tarfile
import tracemalloc
import zipfile
from collections import deque
from collections.abc import Generator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import IO, cast

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from isotope.core.errors import CorruptFile, IsotopeError
from isotope.intake import archives
from isotope.intake.archives import members
from isotope.intake.limits import Refused, using
from isotope.intake.packed import opened
from isotope.intake.tables import parquet_batches

FILES = {"a/1.png": b"one" * 700, "a/1.txt": b"Eins.", "b.json": b'{"a": 1}', "empty.txt": b""}
PACK = {".tar": bytes, ".tar.gz": gzip.compress, ".tar.bz2": bz2.compress, ".tar.xz": lzma.compress}


def tarred(files: dict[str, bytes], form: int = tarfile.PAX_FORMAT) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=form) as archive:
        for name, data in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return out.getvalue()


def zipped(files: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return out.getvalue()


def all_kinds() -> dict[str, bytes]:
    tar = tarred(FILES)
    zips = {f"m{m}.zip": zipped(FILES, m) for m in (0, 8, 12, 14)}
    return {f"x{suffix}": pack(tar) for suffix, pack in PACK.items()} | zips


def read(path: Path) -> dict[str, bytes | Refused]:
    found: dict[str, bytes | Refused] = {}
    for member in members(path):
        try:
            found[member.name] = member.read()
        except Refused as error:
            found[member.name] = error
    return found


@pytest.mark.parametrize("name", all_kinds())
def test_members_of_any_archive_are_read_in_order(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(all_kinds()[name])
    assert read(path) == FILES
    assert [*read(path)] == [*FILES]


@pytest.mark.parametrize("suffix", PACK)
def test_every_cut_of_a_tar_is_an_error(tmp_path, suffix):
    whole = PACK[suffix](tarred(FILES))
    path = tmp_path / f"x{suffix}"
    # GNU tar and Python fill up with zeros behind the two blocks of the end mark.
    needed = whole.rstrip(b"\0") if suffix == ".tar" else whole
    places = random.Random(0).sample(range(len(needed)), min(120, len(needed)))
    for place in places:
        path.write_bytes(whole[:place])
        with pytest.raises(CorruptFile, match=path.name):
            read(path)


def changed(data: bytes, seed: int) -> bytes:
    """Return data with some bytes changed, cut out, doubled or cut off."""
    dice, new = random.Random(seed), bytearray(data)
    for _ in range(dice.choice([1, 1, 2, 8])):
        at = dice.randrange(len(new) or 1)
        kind = dice.randrange(5)
        if kind < 2 and new:
            new[at] = dice.randrange(256)
        elif kind == 2:
            del new[at : at + dice.randrange(1, 64)]
        elif kind == 3:
            new[at:at] = new[max(0, at - dice.randrange(64)) : at]
        else:
            new[at : at + 4] = dice.choice([b"\xff\xff\xff\xff", b"\0\0\0\0", b"\x7f\xff\xff\xff"])
    return bytes(new)


def outcomes(folder: Path, count: int) -> dict[str, int]:
    """Read so many changed archives; count what became of them."""
    kinds, told = all_kinds(), {"whole": 0, "refused": 0, "named": 0}
    for seed in range(count):
        name = [*kinds][seed % len(kinds)]
        path = folder / name
        path.write_bytes(changed(kinds[name], seed))
        try:
            found = read(path)
        except IsotopeError as error:
            told["named"] += name in error.where
        else:
            refused = any(isinstance(each, Refused) for each in found.values())
            told["refused" if refused else "whole"] += 1
    return told


def test_changed_archives_end_in_members_rows_or_a_named_error(tmp_path):
    told = outcomes(tmp_path, 400)
    assert sum(told.values()) == 400
    assert min(told.values()) > 0


@pytest.mark.exhaustive
def test_ten_thousand_changed_archives_end_in_members_rows_or_a_named_error(tmp_path):
    assert sum(outcomes(tmp_path, 10_000).values()) == 10_000


def test_a_changed_byte_of_a_packed_tar_is_found_by_its_checksum(tmp_path):
    """Of a plain tar only headers have one; so has every byte of a gzip, bzip2 or xz."""
    for suffix in (".tar.gz", ".tar.bz2", ".tar.xz"):
        whole = PACK[suffix](tarred(FILES))
        for place in random.Random(1).sample(range(10, len(whole) - 8), 60):
            path = tmp_path / f"x{suffix}"
            path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
            with suppress(CorruptFile):
                assert read(path) == FILES


def test_an_encrypted_member_is_a_row_and_the_others_are_read(tmp_path):
    data = bytearray(zipped(FILES))
    with zipfile.ZipFile(io.BytesIO(bytes(data))) as archive:
        at = archive.getinfo("a/1.txt").header_offset
    data[at + 6] |= 1
    central = data.index(b"PK\x01\x02", data.index(b"PK\x01\x02") + 1)
    data[central + 8] |= 1
    path = tmp_path / "x.zip"
    path.write_bytes(data)
    found = read(path)
    assert isinstance(found["a/1.txt"], Refused)
    assert found["a/1.txt"].reason == "encrypted"
    assert found["a/1.png"] == FILES["a/1.png"]


def test_a_method_that_nobody_knows_and_a_wrong_checksum_are_rows(tmp_path):
    path, data = tmp_path / "x.zip", zipped({"a.png": b"x" * 99, "b.png": b"y"}, 0)
    unknown = bytearray(data)
    for mark, place in ((b"PK\x03\x04", 8), (b"PK\x01\x02", 10)):
        unknown[unknown.index(mark) + place] = 97
    for each in (bytes(unknown), data.replace(b"x" * 99, b"x" * 98 + b"z")):
        path.write_bytes(each)
        found = read(path)
        assert isinstance(found["a.png"], Refused)
        assert found["a.png"].status == "unreadable"
        assert found["b.png"] == b"y"


def test_a_member_beyond_the_limit_is_too_large_and_is_not_read_whole(tmp_path):
    path = tmp_path / "x.zip"
    path.write_bytes(zipped({"zeros.png": bytes(3 << 20), "b.png": b"y"}))
    with using({"member_mib": 1}):
        found = read(path)
    assert isinstance(found["zeros.png"], Refused)
    assert found["zeros.png"].status == "too_large"
    assert found["b.png"] == b"y"


@pytest.mark.parametrize("suffix", [".gz", ".bz2", ".xz"])
def test_a_bomb_is_named_before_it_is_unpacked(tmp_path, suffix):
    path = tmp_path / f"x.csv{suffix}"
    path.write_bytes(PACK[f".tar{suffix}"](bytes(80 << 20)))
    with opened(path) as file, pytest.raises(CorruptFile, match="bytes for each that is packed"):
        deque(iter(partial(file.read, 1 << 20), b""), maxlen=0)


GIB = 1 << 30
# The size that a header claims, and what of it stands at its begin; the rest are zeros.
LONG_HEADERS = {
    "pax": (tarfile.XHDTYPE, 8 * GIB, b"%d comment=" % (8 * GIB)),
    "empty pax": (tarfile.XHDTYPE, 8 * GIB, b""),
    "pax of all members": (tarfile.XGLTYPE, 8 * GIB, b"%d comment=" % (8 * GIB)),
    "GNU name": (tarfile.GNUTYPE_LONGNAME, 8 * GIB, b"a" * 100),
    "GNU link": (tarfile.GNUTYPE_LONGLINK, 8 * GIB, b"a" * 100),
}


def header(kind: bytes, size: int) -> bytes:
    entry = tarfile.TarInfo("header")
    entry.type, entry.size = kind, size
    return entry.tobuf(tarfile.GNU_FORMAT)


def pax(records: dict[str, str], kind: bytes = tarfile.XHDTYPE) -> bytes:
    """An extended header in blocks."""
    data = b"".join(
        b"%08d %s=%s\n" % (len(key) + len(value) + 11, key.encode(), value.encode())
        for key, value in records.items()
    )
    return header(kind, len(data)) + data + bytes(-len(data) % tarfile.BLOCKSIZE)


def sparse_gnu() -> bytes:
    """The first block of an old GNU sparse file, which says that more of its map follows."""
    block = bytearray(header(tarfile.GNUTYPE_SPARSE, 0))
    block[386:512] = b"0" * 11 + b"\0" + b"0" * 11 + b"\0" + bytes(72) + b"\1" + b"0" * 29
    block[148:156] = b" " * 8
    block[148:156] = b"%06o\0 " % sum(block)
    return bytes(block)


def many_headers() -> dict[str, bytes]:
    """Tars of short pieces of which each asks for the next one, and all belong to one member."""
    more = bytes(504) + b"\1" + bytes(7)
    map_of = pax({"GNU.sparse.major": "1", "GNU.sparse.minor": "0"})
    return {
        "pax behind pax": pax({"comment": "x" * (1 << 19)}) * 20,
        "old sparse map": sparse_gnu() + more * 20_000,
        "sparse map": map_of + header(b"0", 0) + b"9999999\n" + b"%0400d\n" % 1 * 20_000,
    }


@pytest.fixture
def count_read(monkeypatch) -> list[int]:
    """The sizes of what is read from files that are opened as archives."""
    sizes = list[int]()

    class Counted(io.BufferedReader):
        def read(self, size: int | None = -1, /) -> bytes:
            data = super().read(size)
            sizes.append(len(data))
            return data

    @contextmanager
    def counted(path: Path, packing: str | None = None) -> Generator[IO[bytes]]:
        with opened(path, packing) as file:
            yield cast(IO[bytes], Counted(cast(io.RawIOBase, file)))

    monkeypatch.setattr(archives, "opened", counted)
    return sizes


@contextmanager
def little(sizes: list[int]) -> Generator[None]:
    """Demand that an archive is refused by name, after little was read and kept in memory."""
    tracemalloc.start()
    try:
        with pytest.raises(CorruptFile) as caught:
            yield
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert Path(caught.value.where).name.startswith("x.tar")
    assert 0 < sum(sizes) < 6 << 20
    assert peak < 48 << 20


@pytest.mark.parametrize("kind", LONG_HEADERS)
def test_a_true_header_of_gigabytes_is_not_read(tmp_path, count_read, kind):
    """The file is as long as it says, and sparse: Python 3.14.8 reads headers in pieces."""
    path = tmp_path / "x.tar"
    code, size, begin = LONG_HEADERS[kind]
    with path.open("wb") as file:
        file.write(header(code, size) + begin)
        file.seek(tarfile.BLOCKSIZE + size - 1)
        file.write(b"\n" + tarred(FILES))
    assert path.stat().st_size > size
    with little(count_read):
        read(path)


@pytest.mark.parametrize("kind", LONG_HEADERS)
def test_a_packed_header_of_gigabytes_is_not_unpacked(tmp_path, count_read, kind):
    path = tmp_path / "x.tar.gz"
    code, size, begin = LONG_HEADERS[kind]
    with gzip.GzipFile(path, "wb", 1) as file:
        file.write(header(code, size) + begin)
        for _ in range(48):
            file.write(bytes(1 << 20))
    with little(count_read):
        read(path)


@pytest.mark.parametrize("kind", many_headers())
@pytest.mark.parametrize("suffix", [".tar", ".tar.gz"])
def test_headers_of_one_member_are_counted_together(tmp_path, count_read, kind, suffix):
    path = tmp_path / f"x{suffix}"
    path.write_bytes(PACK[suffix](many_headers()[kind]))
    with little(count_read):
        read(path)


def test_headers_that_hold_for_all_members_do_not_pile_up(tmp_path):
    path = tmp_path / "x.tar"
    file = tarred({"a.png": b"a"}).rstrip(b"\0").ljust(1_024, b"\0")
    each = [pax({f"note{n}": "x" * (1 << 20)}, tarfile.XGLTYPE) + file for n in range(8)]
    path.write_bytes(b"".join(each) + bytes(10_240))
    with pytest.raises(CorruptFile, match=path.name):
        read(path)
    path.write_bytes(b"".join(each[:3]) + bytes(10_240))
    assert read(path) == {"a.png": b"a"}


def test_a_header_that_claims_gigabytes_of_a_short_file_is_damaged(tmp_path):
    """Each Python words it otherwise."""
    path = tmp_path / "x.tar"
    path.write_bytes(header(tarfile.XHDTYPE, 8 * GIB) + bytes(10_240))
    with pytest.raises(CorruptFile) as caught:
        read(path)
    assert caught.value.where == str(path)


@pytest.mark.parametrize("suffix", PACK)
def test_long_headers_and_headers_of_many_members_are_read(tmp_path, suffix):
    """More bytes of all members than any one may have."""
    path, folder = tmp_path / f"x{suffix}", "d" * 200
    names = [f"{folder}/{number}" for number in range(3_000)]
    many = tarred(dict.fromkeys(names, b"")).rstrip(b"\0")
    long = pax({"comment": "x" * (3 << 20)})
    assert len(many) > 4 << 20
    path.write_bytes(PACK[suffix](long + many + bytes(20_480 - len(many) % 10_240)))
    assert [*read(path)] == names


def test_tars_behind_each_other_are_named(tmp_path):
    path = tmp_path / "x.tar"
    path.write_bytes(tarred({"a.png": b"a"}) + tarred({"b.png": b"b"}))
    with pytest.raises(CorruptFile, match="more behind its end mark"):
        read(path)


def test_more_members_than_the_limit_are_named(tmp_path):
    many = {f"{n}.png": b"x" for n in range(20)}
    for name, data in (("x.tar", tarred(many)), ("x.zip", zipped(many))):
        (tmp_path / name).write_bytes(data)
        with using({"most_members": 10}), pytest.raises(CorruptFile, match="members"):
            read(tmp_path / name)


def test_names_that_are_no_utf8_are_spelled(tmp_path):
    path = tmp_path / "x.tar"
    path.write_bytes(tarred({"caf\udce9.png": b"x"}, tarfile.GNU_FORMAT))
    assert read(path) == {"caf\\xe9.png": b"x"}


def parquet(codec: str) -> bytes:
    out = io.BytesIO()
    rows = {
        "image_url": [f"u{n}" for n in range(200)],
        "image": [bytes([n]) * 50 for n in range(200)],
    }
    pq.write_table(pa.table(rows), out, compression=codec, row_group_size=50)
    return out.getvalue()


@pytest.mark.parametrize("codec", ["snappy", "zstd", "none"])
def test_a_changed_parquet_file_is_read_or_named(tmp_path, codec):
    path, whole = tmp_path / "x.parquet", parquet(codec)
    told = {"read": 0, "named": 0}
    for seed in range(120):
        path.write_bytes(changed(whole, seed))
        try:
            for batch in parquet_batches(path, ["image_url", "image"], 64):
                batch.to_pydict()
            told["read"] += 1
        except IsotopeError as error:
            told["named"] += path.name in error.where
    assert sum(told.values()) == 120
    assert told["named"] > 20
