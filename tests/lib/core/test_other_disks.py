"""Files are written beside their goal, also where that is another file system than the project."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.disks import other_disk

from isotope.acquire.fetch import acquire
from isotope.core import store
from isotope.core.errors import FetchFailed, Unwritable
from isotope.params.acquire import DigestedSource
from isotope_toy.source import acquire_toy

GENERATED = DigestedSource.of_plain({"generate": {"pages": 10}})


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def data(project: Path) -> Iterator[Path]:
    """`data/`, a link to another file system."""
    with other_disk(project) as place:
        Path("data").symlink_to(place)
        yield Path("data")


def test_a_scratch_folder_of_the_same_file_system_is_used_as_it_is(project: Path):
    assert store.near(Path("data/a"), Path(".isotope/a")) == Path(".isotope/a")
    assert not any(path.is_file() for path in project.rglob("*"))


def test_on_another_file_system_what_is_on_its_way_lies_beside_its_goal(data: Path):
    near = store.near(data / "a", Path(".isotope/a"))
    assert near == data / "a/.scratch.part"
    near.mkdir()
    (near / "file").touch()
    (near / "file").replace(data / "a/file")
    assert [path.name for path in Path(".isotope/a").iterdir()] == []


def test_a_goal_that_is_a_file_is_named(project: Path):
    Path("data").touch()
    with pytest.raises(Unwritable, match="data/a"):
        store.near(Path("data/a"), Path(".isotope/a"))


@pytest.mark.parametrize("mirrored", ["data", ".isotope"])
def test_sources_are_generated_and_fetched_on_another_file_system(project: Path, mirrored: str):
    with other_disk(project) as place:
        Path(mirrored).symlink_to(place)
        Path("upstream.tsv").write_text("words")
        acquire_toy(GENERATED, Path("data/acquire/toy/manifest.json"), Path(".isotope/acquire/toy"))
        fetched = DigestedSource.of_plain(
            {"files": {"wit": [str(Path("upstream.tsv").absolute())]}}
        )
        acquire(fetched, Path("data/acquire/one/manifest.json"), Path(".isotope/acquire/one"))
        assert Path("data/acquire/one/wit/upstream.tsv").read_text() == "words"
        assert any(Path("data/acquire/toy/dump").iterdir())
        left = list(Path("data/acquire").rglob("*.part"))
        assert left == []


def test_a_fetch_that_fails_goes_on_from_what_lies_beside_the_goal(
    data: Path, monkeypatch: pytest.MonkeyPatch
):
    from isotope.acquire import fetch  # noqa: PLC0415

    Path("upstream.tsv").write_bytes(os.urandom(3_000))
    files = {"files": {"wit": [str(Path("upstream.tsv").absolute())]}}
    with monkeypatch.context() as patch:
        patch.setattr(fetch, "_BLOCK", 1_000)
        patch.setattr(fetch, "copy", _stops_early)
        with pytest.raises(FetchFailed):
            acquire(
                DigestedSource.of_plain(files), data / "one/manifest.json", Path(".isotope/one")
            )
    partial = data / "one/.scratch.part/wit/upstream.tsv"
    assert partial.stat().st_size == 1_000
    acquire(DigestedSource.of_plain(files), data / "one/manifest.json", Path(".isotope/one"))
    placed = data / "one/wit/upstream.tsv"
    assert placed.read_bytes() == Path("upstream.tsv").read_bytes()
    assert not partial.exists()


def _stops_early(source, partial: Path, start: int, progress, enough) -> None:
    partial.write_bytes(source.read(1_000))
    raise EOFError("1000 of 3000 bytes arrived")


def test_files_folders_and_scratch_are_made_beside_a_goal_behind_a_link(data: Path):
    with store.aside(data / "a/table") as part:
        part.write_text("a")
    with store.folder_aside(data / "b") as folder:
        (folder / "one").write_text("b")
    with store.scratch(data / "c") as folder:
        (folder / "two").write_text("c")
        (folder / "two").replace(data / "two")
    assert sorted(p.name for p in data.iterdir()) == ["a", "b", "two"]
