"""Digests: written when an output is whole, and compared before it is read."""

import hashlib
import json
import os
import shutil
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isotope.core import digests
from isotope.core.errors import ChecksumMismatch, CorruptFile, MissingFile
from isotope.crawl.serve import serving


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def made(name: str, content: bytes = b"0123456789" * 100) -> Path:
    path = Path(name)
    with digests.job([], [path]):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return path


def flip(path: Path, bit: int, *, keeps_time: bool = False) -> None:
    times = path.stat()
    content = bytearray(path.read_bytes())
    content[bit // 8] ^= 1 << bit % 8
    path.write_bytes(content)
    if keeps_time:
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


def read(*paths: Path, above: float | None = None) -> digests.Job:
    with digests.job(paths, [], above) as job:
        return job


def test_a_record_has_the_size_and_the_md5_by_which_dvc_knows_a_file(project: Path):
    path = made("data/a/b.parquet", b"abc")
    found = digests.listed(path)
    assert found is not None
    assert found[""][:2] == (3, hashlib.md5(b"abc", usedforsecurity=False).hexdigest())


@settings(max_examples=20)
@given(content=st.binary(max_size=1 << 10), times=st.integers(1, 3_000))
def test_digest_and_quick_agree_with_the_libraries_on_the_whole(
    tmp_path_factory, content: bytes, times: int
):
    import xxhash  # noqa: PLC0415

    path = tmp_path_factory.mktemp("digest") / "file"
    content *= times
    path.write_bytes(content)
    expected = (
        len(content),
        hashlib.md5(content, usedforsecurity=False).hexdigest(),
        xxhash.xxh3_128_hexdigest(content),
    )
    assert digests.digest(path) == expected
    assert digests.quick(path) == expected[2]


def test_a_record_is_the_same_bytes_whenever_it_is_written(project: Path):
    folder = Path("data/index/toy")
    folder.mkdir(parents=True)
    for name in "bca":
        (folder / name).write_text(name)
    digests.write(folder)
    first = digests.record_of(folder).read_bytes()
    os.utime(folder / "a", (1, 1))
    digests.write(folder)
    assert digests.record_of(folder).read_bytes() == first
    assert list(digests.listed(folder) or ()) == ["a", "b", "c"]


@settings(max_examples=30)
@given(bit=st.integers(0, 7_999), keeps_time=st.booleans())
def test_every_flipped_bit_is_found_before_the_file_is_read(
    tmp_path_factory, bit: int, keeps_time: bool
):
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("flip"))
        path = made("data/a.npy")
        flip(path, bit, keeps_time=keeps_time)
        with pytest.raises(ChecksumMismatch, match=r"data/a\.npy: written with 1,000 bytes, XXH"):
            read(path)


def test_every_flipped_bit_of_a_record_is_found(project: Path):
    path = made("data/a.npy", b"x")
    record = digests.record_of(path)
    # The last byte ends the line, and no reader needs it.
    for bit in range(0, 8 * (record.stat().st_size - 1), 7):
        flip(record, bit)
        with pytest.raises(CorruptFile, match="no record of digests"):
            digests.listed(path)
        flip(record, bit)
    assert read(path).files == 1


def test_a_shorter_a_longer_and_a_missing_file_are_told_by_their_size(project: Path):
    path = made("data/a.npy")
    path.write_bytes(b"01")
    with pytest.raises(ChecksumMismatch, match="now 2 bytes"):
        read(path)
    assert digests.absent(path) == [path]
    path.unlink()
    with pytest.raises(MissingFile, match="no longer there"):
        read(path)
    assert digests.absent(path) == [path]


def test_a_folder_lacks_what_its_record_lists(project: Path):
    folder = Path("results/release/toy")
    with digests.job([], [folder]):
        (folder / "runs").mkdir(parents=True)
        (folder / "runs/a.trec").write_text("a")
        (folder / "b").write_text("b")
        (folder / ".snakemake_timestamp").touch()
    assert digests.absent(folder) == []
    (folder / "runs/a.trec").unlink()
    assert digests.absent(folder) == [folder / "runs/a.trec"]
    with pytest.raises(MissingFile, match=r"runs/a\.trec"):
        read(folder)


def test_a_folder_that_is_gone_lacks_all_that_its_record_lists(project: Path):
    folder = Path("data/index/toy")
    with digests.job([], [folder]):
        folder.mkdir(parents=True)
        (folder / "postings").write_bytes(b"1234")
    assert digests.recorded(folder / "postings") == digests.recorded(folder) == folder
    assert digests.recorded(folder.with_name("other")) is None
    shutil.rmtree(folder)
    assert digests.absent(folder) == [folder / "postings"]


def test_a_file_in_a_folder_is_compared_by_the_record_of_the_folder(project: Path):
    folder = Path("data/index/toy")
    with digests.job([], [folder]):
        folder.mkdir(parents=True)
        (folder / "postings").write_bytes(b"1234")
    flip(folder / "postings", 9)
    with pytest.raises(ChecksumMismatch, match="postings"):
        read(folder / "postings")


def test_files_of_a_manifest_are_compared_when_they_are_read_and_not_with_it(project: Path):
    manifest = Path("data/acquire/toy/manifest.json")
    with digests.job([], [manifest]):
        (manifest.parent / "dump").mkdir(parents=True)
        (manifest.parent / "dump/a.xml").write_bytes(b"<a/>")
        manifest.write_text(json.dumps({"files": [{"path": "dump/a.xml"}]}))
    flip(manifest.parent / "dump/a.xml", 3)
    read(manifest)
    with digests.job([manifest], []), pytest.raises(ChecksumMismatch, match=r"dump/a\.xml"):
        digests.demand(manifest.parent / "dump/a.xml")
    (manifest.parent / "dump/a.xml").unlink()
    assert digests.absent(manifest) == [manifest.parent / "dump/a.xml"]


def test_outside_a_job_nothing_is_compared(project: Path):
    path = made("data/a")
    flip(path, 1)
    digests.demand(path)


def test_a_job_that_dies_leaves_no_record_of_what_it_wrote(project: Path):
    path = made("data/a", b"old")

    def die() -> None:
        with digests.job([], [path]):
            path.write_bytes(b"new")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        die()
    assert digests.listed(path) is None
    assert read(path).unknown == [path]


def test_a_file_without_a_record_is_named_and_not_refused(project: Path, caplog):
    Path("data").mkdir()
    Path("data/old.parquet").write_bytes(b"1")
    with caplog.at_level("INFO", "isotope"):
        job = read(Path("data/old.parquet"))
    assert job.unknown == [Path("data/old.parquet")]
    assert "not compared, since none was written: data/old.parquet" in caplog.text


def test_what_lies_elsewhere_and_folders_that_go_away_have_no_records(project: Path):
    for name in (".isotope/score/a.parquet", "runs/a.trec", "data/project/toy/index", "a"):
        assert not digests.is_kept(Path(name))
        made(name)
        assert not digests.record_of(Path(name)).exists()
    assert digests.is_kept(Path("data/index/toy/base/bm25"))
    assert digests.is_kept(Path("data/a").absolute())


def test_a_large_file_is_taken_by_size_and_time_once_it_was_compared(project: Path):
    path = made("data/a")
    assert read(path, above=500).files == 1
    assert read(path, above=500).trusted == 1
    assert read(path, above=2_000).files == 1
    flip(path, 5, keeps_time=True)
    assert read(path, above=500).trusted == 1
    with pytest.raises(ChecksumMismatch):
        read(path)
    flip(path, 5)
    assert read(path, above=500).files == 1


def test_a_file_is_compared_once_in_a_job(project: Path):
    path = made("data/a")
    with digests.job([path, path], []) as job:
        digests.demand(path)
        digests.demand(path)
    assert job.files == 1


def test_a_record_that_was_not_rewritten_is_no_digest_of_new_bytes(project: Path):
    path = made("data/a", b"old")
    path.write_bytes(b"new")
    with pytest.raises(ChecksumMismatch, match="XXH128"):
        read(path)


def test_forgetting_the_last_record_removes_its_folder(project: Path):
    path = made("data/a")
    digests.forget(path)
    digests.forget(path)
    assert not digests.record_of(path).parent.exists()


def test_a_turned_bit_of_a_served_picture_is_found_before_it_is_served(project: Path):
    """A crawl took what was served for what the picture is, and its ledger has that digest."""
    manifest, picture = Path("data/acquire/toy/manifest.json"), "images/a/ab/A.png"
    with digests.job([], [manifest]):
        (manifest.parent / picture).parent.mkdir(parents=True)
        (manifest.parent / picture).write_bytes(b"0123456789" * 100)
        manifest.write_text(json.dumps({"files": [{"path": picture}]}))
    root = manifest.parent / "images"
    with digests.job([], []) as job, serving(root):
        assert job.files == 1
    flip(manifest.parent / picture, 77, keeps_time=True)
    with digests.job([], []), pytest.raises(ChecksumMismatch, match=r"A\.png"), serving(root):
        pass
