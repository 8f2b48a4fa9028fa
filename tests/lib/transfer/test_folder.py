"""Results sent to a folder come back as they were, each file once, and nothing is lost."""

import json
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest
from tests.transfers import ISOTOPE, MOMENT_NS, contents, pull, push

from isotope.core import digests, held
from isotope.core.errors import (
    BadArgument,
    ChecksumMismatch,
    CorruptFile,
    DiskFull,
    Locked,
    MissingFile,
    TruncatedFile,
    UnknownId,
    Unwritable,
)
from isotope.transfer import remote as remotes
from isotope.transfer import versions
from isotope.transfer.remote import Remote


@pytest.fixture
def remote(tmp_path) -> Path:
    return tmp_path / "remote"


def objects(remote: Path) -> dict[str, int]:
    """The bytes that a remote keeps."""
    return {path.name: path.stat().st_size for path in remote.glob("files/*/*")}


def object_at(remote: Path, project: Path, name: str) -> Path:
    """Where a remote keeps the bytes of a file."""
    return next(remote.glob(f"files/*/{digests.quick(project / name)}*"))


def test_what_was_sent_comes_back_with_records_times_and_modes(project, elsewhere, remote):
    assert push(project, remote).startswith("Sent 12 files, ")
    assert pull(elsewhere, remote).startswith("Fetched 12 files, ")
    assert contents(elsewhere) == contents(project)
    for name in (
        "data/collect/toy/images.parquet",
        "data/index/toy/small/bm25/.snakemake_timestamp",
    ):
        assert (elsewhere / name).stat().st_mtime_ns == (project / name).stat().st_mtime_ns
        assert (elsewhere / name).stat().st_mtime_ns > MOMENT_NS
    assert not (elsewhere / "data/acquire/wiki/dump/pages.xml.bz2").stat().st_mode & 0o222
    assert (elsewhere / "data/collect/toy/texts.parquet").stat().st_mode & 0o200
    assert {path.name for path in elsewhere.iterdir()} == {"data", "results"}


def test_files_with_the_same_bytes_are_files_of_their_own_after_a_pull(project, elsewhere, remote):
    push(project, remote)
    pull(elsewhere, remote)
    one, other = (elsewhere / f"data/collect/{name}/images.parquet" for name in ("toy", "later"))
    assert one.read_bytes() == other.read_bytes()
    assert one.stat().st_nlink == other.stat().st_nlink == 1


def test_nothing_is_sent_or_fetched_twice(project, elsewhere, remote):
    push(project, remote)
    before = contents(remote.parent / "remote")
    assert push(project, remote).startswith("Nothing to send: ")
    assert contents(remote.parent / "remote") == before
    gone = object_at(remote, project, "results/score/toy.parquet")
    gone.unlink()
    assert push(project, remote).startswith("Sent 1 files, 4.0 kB, ")
    pull(elsewhere, remote)
    (elsewhere / "results/score/toy.parquet").unlink()
    assert pull(elsewhere, remote).startswith("Fetched 1 files, 4.0 kB, ")
    assert pull(elsewhere, remote).startswith("Nothing to fetch: ")
    assert contents(elsewhere) == contents(project)


def test_two_versions_keep_what_they_share_once_and_both_come_back(project, elsewhere, remote):
    push(project, remote, version="one")
    kept, before = objects(remote), contents(project)
    texts = project / "data/collect/toy/texts.parquet"
    texts.write_bytes(b"other texts")
    digests.write(texts)
    push(project, remote, version="two")
    assert {*objects(remote)} - {*kept} == {f"{digests.quick(texts)}.parquet"}
    pull(elsewhere, remote, version="one")
    assert contents(elsewhere) == before
    pull(elsewhere, remote, version="two")
    assert contents(elsewhere) == contents(project)


def test_a_phase_a_collection_a_folder_or_a_release_comes_alone(project, elsewhere, remote):
    push(project, remote)
    for paths, collection, expected in (
        (["collect"], None, "data/collect/"),
        (["data/collect/later"], None, "data/collect/later/"),
        (["data/*/toy"], None, r"data/(collect|index)/toy/"),
        (["results/release/toy"], None, r"results/release/(toy/|\.digests/toy)"),
        ([], "later", "data/collect/later/"),
    ):
        pull(elsewhere, remote, *paths, collection=collection)
        here = contents(elsewhere)
        assert here.keys() == {name for name in contents(project) if re.match(expected, name)}
        assert here.items() <= contents(project).items()
        for top in digests.TOPS:
            shutil.rmtree(elsewhere / top, ignore_errors=True)


def test_parts_that_are_sent_one_by_one_are_one_version(project, elsewhere, remote):
    for part in ("data/acquire", "data/collect/toy", "data/collect/later", "data/index", "results"):
        push(project, remote, part)
    pull(elsewhere, remote)
    assert contents(elsewhere) == contents(project)


def test_what_a_folder_of_a_collection_no_longer_has_is_not_of_the_version_any_more(
    project, elsewhere, remote
):
    push(project, remote)
    images = project / "data/collect/toy/images.parquet"
    images.unlink()
    digests.forget(images)
    push(project, remote, "data/collect/later")
    assert "data/collect/toy/images.parquet" in versions.read(Remote(str(remote)), "latest").outputs
    push(project, remote)
    pull(elsewhere, remote)
    assert contents(elsewhere) == contents(project)


def test_a_release_without_a_record_is_sent_by_its_manifest(project, elsewhere, remote):
    digests.forget(project / "results/release/toy")
    push(project, remote, "results/release/toy")
    [shown] = {len(name.partition(".")[0]) for name in objects(remote)}
    assert shown == 64
    pull(elsewhere, remote)
    assert contents(elsewhere) == {
        name: of for name, of in contents(project).items() if name.startswith("results/release/")
    }


def test_a_dry_run_says_how_much_and_writes_nothing(project, elsewhere, remote):
    told = push(project, remote, dry_run=True)
    assert told.startswith("Would send 12 files, 2")
    assert not remote.exists()
    push(project, remote)
    assert pull(elsewhere, remote, dry_run=True).startswith("Would fetch 12 files, 2")
    assert not list(elsewhere.iterdir())
    (remote / "files").rename(remote / "hidden")
    assert push(project, remote, dry_run=True).startswith("Would send 12 files, ")


def test_half_a_file_is_never_taken_for_whole(project, elsewhere, remote):
    push(project, remote)
    half = object_at(remote, project, "data/collect/toy/texts.parquet")
    half.write_bytes(half.read_bytes()[:1_000])
    with pytest.raises(TruncatedFile, match=rf"{half.name}: 1,000 bytes of 4,000"):
        pull(elsewhere, remote)
    assert "data/collect/toy/texts.parquet" not in contents(elsewhere)
    assert push(project, remote).startswith("Sent 1 files")
    pull(elsewhere, remote)
    assert contents(elsewhere) == contents(project)


def test_a_changed_byte_of_the_remote_is_refused_by_its_name(project, elsewhere, remote):
    push(project, remote)
    wrong = object_at(remote, project, "results/score/toy.parquet")
    content = wrong.read_bytes()
    wrong.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    with pytest.raises(ChecksumMismatch, match=rf"{wrong.name}: xxh128 .*remove this file") as told:
        pull(elsewhere, remote)
    assert not (elsewhere / "results/score/toy.parquet").exists()
    assert told.value.where == str(wrong)


def test_a_changed_byte_here_is_not_sent(project, remote):
    texts = project / "data/collect/toy/texts.parquet"
    content = texts.read_bytes()
    texts.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    with pytest.raises(ChecksumMismatch, match=r"texts\.parquet: written with xxh128"):
        push(project, remote)
    assert digests.quick(texts) not in str(objects(remote))
    assert not list(remote.glob("versions/*/*"))
    assert not list(remote.glob("incoming/*"))


def test_a_file_that_is_shorter_or_gone_is_not_sent(project, remote):
    (project / "data/collect/toy/texts.parquet").write_bytes(b"short")
    with pytest.raises(ChecksumMismatch, match="written with 4,000 bytes, now 5"):
        push(project, remote)
    (project / "data/collect/toy/texts.parquet").unlink()
    with pytest.raises(MissingFile, match="written, and no longer there"):
        push(project, remote)
    assert not remote.exists()


def test_files_that_no_version_has_are_not_replaced_without_force(project, elsewhere, remote):
    push(project, remote)
    mine = elsewhere / "data/collect/toy/texts.parquet"
    mine.parent.mkdir(parents=True)
    mine.write_bytes(b"my own work")
    with pytest.raises(BadArgument, match=r"other files lie here .*texts\.parquet; push them"):
        pull(elsewhere, remote)
    assert [*contents(elsewhere)] == ["data/collect/toy/texts.parquet"]
    pull(elsewhere, remote, force=True)
    assert contents(elsewhere) == contents(project)


def test_a_folder_has_what_was_sent_and_no_more(project, elsewhere, remote):
    push(project, remote)
    pull(elsewhere, remote)
    index = elsewhere / "data/index/toy/small/bm25"
    (index / "extra").write_bytes(b"mine")
    (index / "words/list.txt").unlink()
    with pytest.raises(BadArgument, match="bm25/extra"):
        pull(elsewhere, remote)
    pull(elsewhere, remote, force=True)
    assert contents(elsewhere) == contents(project)


def test_a_full_disk_says_so_and_what_has_arrived_stays(project, elsewhere, remote):
    push(project, remote)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (3_000, before[1]))
    try:
        with pytest.raises(DiskFull, match=r"\.isotope/pull/.*free space"):
            pull(elsewhere, remote)
        with pytest.raises(DiskFull, match="free space"):
            push(project, remote.with_name("other"), "data/collect")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert contents(elsewhere) == {}
    assert not list(remote.with_name("other").glob("files/*/*"))
    pull(elsewhere, remote)
    assert contents(elsewhere) == contents(project)


def test_what_is_asked_for_and_is_not_there_is_named(project, elsewhere, remote, tmp_path):
    with pytest.raises(MissingFile, match="no version of any results; check the address, or push"):
        pull(elsewhere, remote)
    with pytest.raises(MissingFile, match=r"no such folder; make it, mount its disk"):
        push(project, tmp_path / "not/mounted")
    with pytest.raises(MissingFile, match=r"no results in data/ or results/; build them"):
        push(elsewhere, remote)
    with pytest.raises(MissingFile, match="nothing complete of data/encode; see: there are data/"):
        push(project, remote, "data/encode")
    push(project, remote)
    with pytest.raises(UnknownId, match="no version 'paper'; name one of latest with --version"):
        pull(elsewhere, remote, version="paper")
    with pytest.raises(MissingFile, match="nothing complete of results/search"):
        pull(elsewhere, remote, "results/search")
    with pytest.raises(UnknownId, match="nothing of collection 'toi'"):
        pull(elsewhere, remote, collection="toi")
    object_at(remote, project, "results/score/toy.parquet").unlink()
    with pytest.raises(
        MissingFile, match=rf"{digests.quick(project / 'results/score/toy.parquet')}"
    ):
        pull(elsewhere, remote)


def test_a_place_that_can_not_be_written_or_is_of_the_results_is_refused(
    project, remote, monkeypatch
):
    remote.write_bytes(b"a file")
    with pytest.raises(Unwritable, match="name a place where you may write"):
        push(project, remote)
    monkeypatch.chdir(project)
    with pytest.raises(BadArgument, match="name the remote first"):
        push(project, "data/collect")
    with pytest.raises(BadArgument, match="can be read only"):
        push(project, "https://127.0.0.1:1/remote")
    with pytest.raises(BadArgument, match="Protocol not known"):
        push(project, "nowhere://remote")


def test_a_run_at_work_is_not_disturbed(project, elsewhere, remote):
    push(project, remote)
    holder = held.hold(elsewhere)
    try:
        with pytest.raises(Locked, match=r"process .* of this machine runs since"):
            pull(elsewhere, remote)
    finally:
        held.leave(holder)
    pull(elsewhere, remote)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda push: push["outputs"][0].update(path="data/../../etc/passwd"), "leads elsewhere"),
        (lambda push: push["outputs"][0].update(path="/etc/cron.d/x"), "leads elsewhere"),
        (lambda push: push["outputs"][0].update(path="workflow/lib"), "no place of results"),
        (lambda push: push["outputs"][0]["files"].update({"../x": {}}), "leads elsewhere"),
        (lambda push: push["outputs"][0]["files"][""].update(xxh128="../../x"), "no size and dig"),
        (lambda push: push["outputs"][0]["files"][""].update(bytes=-1), "no size and digest"),
        (lambda push: push["outputs"][0].update(time_ns=1 << 70), "no time"),
        (lambda push: push["sources"].update({"../../x": {}}), "leads elsewhere"),
        (lambda push: push.update(outputs=7), "not what a push writes"),
        (lambda push: push.update(format=2), "install a newer isotope"),
    ],
)
def test_a_push_that_names_other_places_is_refused(project, elsewhere, remote, change, told):
    push(project, remote)
    [path] = remote.glob("versions/latest/*.json")
    plain = json.loads(path.read_text())
    change(plain)
    path.write_text(json.dumps(plain))
    with pytest.raises(CorruptFile, match=told) as error:
        pull(elsewhere, remote)
    assert error.value.where == str(path)
    assert not list(elsewhere.iterdir())


def test_what_killed_pushes_have_left_is_removed_after_a_day(project, remote):
    push(project, remote, "data/collect")
    old, new = remote / "incoming/1-a.part", remote / "incoming/2-b.part"
    old.parent.mkdir()
    for path in (old, new):
        path.write_bytes(b"half")
    os.utime(old, (0, 0))
    push(project, remote)
    assert [*remote.glob("incoming/*")] == [new]


def test_pages_link_every_file_by_its_path(project, remote):
    push(project, remote)
    page = (remote / "versions/latest.html").read_text()
    links = dict(re.findall(r'<a href="\.\./(files/[^"]+)" download="[^"]+">([^<]+)</a>', page))
    assert all((remote / link).is_file() for link in links)
    texts = next(link for link, path in links.items() if path == "data/collect/toy/texts.parquet")
    assert (remote / texts).read_bytes() == (
        project / "data/collect/toy/texts.parquet"
    ).read_bytes()
    assert 'href="versions/latest.html"' in (remote / "index.html").read_text()


def kept(remote: Path) -> dict[Path, tuple[int, int]]:
    """The objects of a remote, with what changes when one is written again."""
    found = ((path, path.stat()) for path in remote.glob("files/*/*"))
    return {path: (state.st_ino, state.st_mtime_ns) for path, state in found}


def test_pushes_that_are_killed_and_go_on_send_no_file_again_and_end_the_same(
    many, elsewhere, remote
):
    rng, count = random.Random(), 0
    for _ in range(4):
        before = kept(remote)
        command = [*ISOTOPE, "push", str(remote), "--jobs", "2"]
        with subprocess.Popen(command, cwd=many, stdout=subprocess.DEVNULL) as process:
            limit = time.monotonic() + 60
            while process.poll() is None and len(kept(remote)) < len(before) + 3:
                assert time.monotonic() < limit
                time.sleep(0.001)
            time.sleep(rng.uniform(0, 0.02))
            process.kill()
        count += process.returncode == -signal.SIGKILL
        assert before.items() <= kept(remote).items()
    assert count, "no push was killed in time"
    before = kept(remote)
    push(many, remote)
    assert before.items() <= kept(remote).items()
    pull(elsewhere, remote)
    assert contents(elsewhere) == contents(many)


def test_pushes_at_once_lose_nothing_of_each_other(many, elsewhere, remote):
    parts = (["data/crawl"], ["data/collect", "data/acquire"], ["data/index", "results"])
    running = [
        subprocess.Popen([*ISOTOPE, "push", str(remote), *paths], cwd=many) for paths in parts
    ]
    assert [process.wait(timeout=120) for process in running] == [0, 0, 0]
    pull(elsewhere, remote)
    assert contents(elsewhere) == contents(many)
    there = Remote(str(remote))
    assert versions._index(there) == {"latest": versions._pushes(there, "latest")}
    assert "shard-00149" in (remote / "versions/latest.html").read_text()


def test_any_file_system_of_fsspec_will_do(project, elsewhere, monkeypatch):
    # So that some files go block by block, as large ones do.
    monkeypatch.setattr(remotes, "_REQUEST_BYTES", 2_000)
    push(project, "memory://remote")
    pull(elsewhere, "memory://remote")
    assert contents(elsewhere) == contents(project)
