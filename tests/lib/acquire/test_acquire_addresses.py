"""A placed file is of its address and of what is there now, and the manifest says no other."""

import hashlib
import json
import os
import shutil
from pathlib import Path

import fsspec
import pytest

from isotope.acquire import addresses, fetch
from isotope.core.errors import BadParams, ChecksumMismatch, FetchFailed, MissingFile
from isotope.params.acquire import DigestedSource, Source


class Project:
    """A folder `up` with upstream files, and the source that is made of them."""

    def __init__(self, folder: Path):
        self.up, self.manifest = folder / "up", folder / "data/manifest.json"
        self.scratch, self.memory = folder / "scratch", folder / "memory.json"

    def put(self, name: str, text: str) -> Path:
        path = self.up / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def acquire(self, **files: list) -> dict[str, str]:
        """Acquire; return what the manifest's files hold, by path, once it is known to be true."""
        fetch.acquire(DigestedSource.of_plain({"files": files}), self.manifest, self.scratch)
        return self.listing()

    def listing(self) -> dict[str, str]:
        files = {}
        for entry in json.loads(self.manifest.read_text())["files"]:
            data = (self.manifest.parent / entry["path"]).read_bytes()
            fs, path = fsspec.url_to_fs(entry["url"])
            assert fs.cat_file(path) == data, entry
            assert entry["sha256"] == hashlib.sha256(data).hexdigest()
            assert entry["bytes"] == len(data)
            assert entry["version"]
            files[entry["path"]] = data.decode()
        return files

    def originals(self, **files: list) -> str | None:
        spec = Source.of_plain({"files": files})
        return addresses.originals(spec, self.manifest.parent, self.memory)


@pytest.fixture
def project(tmp_path) -> Project:
    return Project(tmp_path)


def test_another_root_brings_other_bytes_under_the_same_names(project):
    project.put("a/wit/x.tsv", "of a")
    project.put("a/wit/old.tsv", "only a")
    project.put("b/wit/x.tsv", "of b")
    first = project.acquire(wit=[f"{project.up}/a/wit/*.tsv"])
    assert first == {"wit/old.tsv": "only a", "wit/x.tsv": "of a"}
    assert project.acquire(wit=[f"{project.up}/b/wit/*.tsv"]) == {"wit/x.tsv": "of b"}
    assert not (project.manifest.parent / "wit/old.tsv").exists()


def test_two_roots_with_files_of_one_size_and_time_are_told_apart(project):
    for root in "ab":
        os.utime(project.put(f"{root}/x.tsv", f"of {root}"), (1, 1))
        assert project.acquire(wit=[f"{project.up}/{root}/x.tsv"]) == {"wit/x.tsv": f"of {root}"}


def test_files_of_one_name_in_two_folders_of_a_part_stay_apart(project):
    project.put("train/pictures/1.png", "one")
    project.put("train2/pictures/1.png", "another")
    project.put("train2/pictures/2.png", "two")
    patterns = [f"{project.up}/{folder}/pictures/*.png" for folder in ("train", "train2")]
    assert project.acquire(pictures=patterns) == {
        "pictures/train/pictures/1.png": "one",
        "pictures/train2/pictures/1.png": "another",
        "pictures/2.png": "two",
    }


def test_two_addresses_with_one_last_part_are_two_files(project):
    listed = [str(project.put(f"{n}/in.tsv", n)) for n in ("dev", "test")]
    assert project.acquire(data=listed) == {"data/dev/in.tsv": "dev", "data/test/in.tsv": "test"}
    assert project.acquire(data=listed[:1]) == {"data/in.tsv": "dev"}


def test_a_file_and_a_folder_of_one_name_stay_apart(project):
    listed = [str(project.put("one/x", "file")), f"{project.up}/two/*/y"]
    project.put("two/x/y", "below")
    assert sorted(project.acquire(data=listed).values()) == ["below", "file"]
    project.acquire(data=listed[1:])
    assert project.acquire(data=listed[:1]) == {"data/x": "file"}


def test_an_address_that_comes_twice_is_one_file(project):
    path = project.put("x.tsv", "once")
    listed = [str(path), f"{project.up}/*.tsv", f"{project.up}/./x.tsv"]
    assert project.acquire(data=listed) == {"data/x.tsv": "once"}


def test_two_published_sizes_of_one_address_are_refused(project):
    url = str(project.put("x.tsv", "once"))
    with pytest.raises(BadParams, match="two values of bytes for"):
        project.acquire(data=[{"url": url, "bytes": 4}, {"url": url, "bytes": 5}])


@pytest.mark.parametrize("text", ["after!", "longer than before"])
def test_a_file_edited_in_place_is_fetched_again(project, text):
    path = project.put("x.tsv", "before")
    project.acquire(wit=[str(path)])
    path.write_text(text)
    os.utime(path, ns=(1, path.stat().st_mtime_ns + 1_000_000))
    assert project.acquire(wit=[str(path)]) == {"wit/x.tsv": text}


def test_what_lies_in_a_place_without_a_known_origin_is_not_served(project):
    """As in the folders that versions before this check have left."""
    path = project.put("x.tsv", "upstream")
    project.manifest.parent.joinpath("wit").mkdir(parents=True)
    (project.manifest.parent / "wit/x.tsv").write_text("what 's it")
    assert project.acquire(wit=[str(path)]) == {"wit/x.tsv": "upstream"}


def test_a_placed_file_that_was_changed_is_fetched_again(project):
    path = project.put("x.tsv", "right")
    project.acquire(wit=[str(path)])
    placed = project.manifest.parent / "wit/x.tsv"
    placed.chmod(0o644)
    placed.write_text("wrong")
    assert project.acquire(wit=[str(path)]) == {"wit/x.tsv": "right"}


def test_another_published_digest_is_not_met_by_the_placed_file(project):
    path = project.put("x.tsv", "one")
    project.acquire(wit=[str(path)])
    with pytest.raises(ChecksumMismatch, match="published sha256 is 0000"):
        project.acquire(wit=[{"url": str(path), "sha256": "0" * 64}])
    assert not project.manifest.exists() or project.listing()


def test_a_failed_fetch_of_another_root_leaves_no_manifest_that_is_not_true(project):
    project.put("a/1.tsv", "a1")
    project.put("a/2.tsv", "a2")
    project.acquire(wit=[f"{project.up}/a/1.tsv", f"{project.up}/a/2.tsv"])
    project.put("b/1.tsv", "b1")
    with pytest.raises(MissingFile, match=r"b/2\.tsv"):
        project.acquire(wit=[f"{project.up}/b/1.tsv", f"{project.up}/b/2.tsv"])
    assert not project.manifest.exists()
    back = project.acquire(wit=[f"{project.up}/a/1.tsv", f"{project.up}/a/2.tsv"])
    assert back == {"wit/1.tsv": "a1", "wit/2.tsv": "a2"}


def interrupted(project: Project, monkeypatch, url: Path) -> None:
    """Break a fetch off after its first block."""

    def breaking(source, partial, start, progress, enough):
        with partial.open("ab") as out:
            out.write(source.read(4))
        raise EOFError("cut off")

    with monkeypatch.context() as patch:
        patch.setattr(fetch, "copy", breaking)
        with pytest.raises(FetchFailed, match="run again to resume"):
            project.acquire(wit=[str(url)])
    assert (project.scratch / "wit/x.tsv").read_bytes() == url.read_bytes()[:4]


def test_half_of_one_root_never_goes_on_as_the_other(project, monkeypatch):
    roots = [project.put(f"{name}/x.tsv", name * 8) for name in "ab"]
    interrupted(project, monkeypatch, roots[0])
    assert project.acquire(wit=[str(roots[1])]) == {"wit/x.tsv": "b" * 8}


def test_half_of_a_file_never_goes_on_as_its_edited_self(project, monkeypatch):
    path = project.put("x.tsv", "a" * 8)
    interrupted(project, monkeypatch, path)
    path.write_text("b" * 8)
    os.utime(path, ns=(1, path.stat().st_mtime_ns + 1_000_000))
    assert project.acquire(wit=[str(path)]) == {"wit/x.tsv": "b" * 8}


def test_a_file_that_changes_while_it_is_fetched_is_not_placed(project, monkeypatch):
    path, copy = project.put("x.tsv", "a" * 8), fetch.copy

    def edited(*arguments):
        copy(*arguments)
        path.write_text("b" * 9)

    with monkeypatch.context() as patch:
        patch.setattr(fetch, "copy", edited)
        with pytest.raises(FetchFailed, match="changed while it was fetched"):
            project.acquire(wit=[str(path)])
    assert project.acquire(wit=[str(path)]) == {"wit/x.tsv": "b" * 9}


@pytest.mark.parametrize("scheme", ["", "file://", "memory://"])
@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("*.tsv", {"top.tsv"}),
        ("**/*.tsv", {"top.tsv", "a1/b/x.tsv", "a2/b/x.tsv", "a2/c/y.tsv"}),
        ("a*/b/*.tsv", {"a1/b/x.tsv", "a2/b/x.tsv"}),
        ("a*/b/x.tsv", {"a1/b/x.tsv", "a2/b/x.tsv"}),
        ("a2/*/y.tsv", {"c/y.tsv"}),
    ],
)
def test_a_star_in_any_part_of_a_path_keeps_what_is_below_it(project, scheme, pattern, expected):
    for name in ("top.tsv", "a1/b/x.tsv", "a2/b/x.tsv", "a2/c/y.tsv", "a2/c/z.txt"):
        project.put(name, name)
    if scheme == "memory://":
        memory = fsspec.filesystem("memory")
        memory.put(str(project.up), str(project.up), recursive=True)
    acquired = project.acquire(wit=[f"{scheme}{project.up}/{pattern}"])
    assert {name.removeprefix("wit/") for name in acquired} == expected
    assert all(text.endswith(name.removeprefix("wit/")) for name, text in acquired.items())


@pytest.mark.parametrize("scheme", ["", "file://", "memory://"])
def test_a_pattern_that_names_no_file_is_named(project, scheme):
    project.put("folder/x.tsv", "x")
    with pytest.raises(MissingFile, match=r"none\*"):
        project.acquire(wit=[f"{scheme}{project.up}/*/none*"])


def test_brackets_in_a_folder_of_a_pattern_are_no_pattern(project):
    project.put("a [1]/x.tsv", "x")
    assert project.acquire(wit=[f"{project.up}/a [1]/*.tsv"]) == {"wit/x.tsv": "x"}


def test_a_folder_as_an_address_says_how_its_files_are_named(project):
    project.put("folder/x.tsv", "x")
    with pytest.raises(MissingFile, match=r"a folder, no file; name its files: .*/folder/\*"):
        project.acquire(wit=[f"{project.up}/folder"])


def test_a_touched_file_changes_neither_the_plan_nor_the_manifest(project):
    path = project.put("x.tsv", "same")
    files = {"wit": [f"{project.up}/*.tsv"]}
    planned = project.originals(**files)
    project.acquire(**files)
    written = project.manifest.read_bytes()
    os.utime(path, (1, 1))
    assert project.originals(**files) == planned
    project.acquire(**files)
    assert project.manifest.read_bytes() == written
    assert project.originals(**files) == planned


def test_an_edited_an_added_and_a_removed_file_change_the_plan_once(project):
    files = {"wit": [f"{project.up}/*.tsv"]}
    path = project.put("x.tsv", "first")
    planned = [project.originals(**files)]
    steps = [
        lambda: project.put("x.tsv", "second"),
        lambda: project.put("y.tsv", "more"),
        path.unlink,
    ]
    for step in steps:
        project.acquire(**files)
        assert project.originals(**files) == planned[-1]
        step()
        planned.append(project.originals(**files))
    assert len(set(planned)) == 4


def test_originals_that_are_gone_after_all_change_no_plan(project):
    project.put("wit/x.tsv", "x")
    first = project.put("dump/one.bz2", "one")
    files = {"wit": [f"{project.up}/wit/*.tsv"], "dump": [str(first)]}
    project.acquire(**files)
    planned = project.originals(**files)
    shutil.rmtree(project.up)
    assert project.originals(**files) == planned


def test_a_source_of_servers_alone_has_no_originals_to_look_at(project):
    assert project.originals(wit=["https://example.org/x.gz", "s3://bucket/*.gz"]) is None
