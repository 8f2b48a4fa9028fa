"""Single bits of the built demo are flipped: all are found, by whoever reads next and by verify."""

import os
import random
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from isotope.core import digests
from isotope.core.errors import ChecksumMismatch, IsotopeError
from isotope.params import files as params_files
from isotope_verify.files import check_files
from isotope_verify.outcome import Check
from isotope_verify.subject import Built

QUICK, ALL, PICTURES = 25, 780, 200
READ = "data/collect/toy/texts.parquet"
RUN_PATH = "results/search/toy/small/test/t2m/bm25.parquet"


@pytest.fixture(scope="module")
def demo(embedded: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of what the demo made, which tests may damage and mend."""
    folder = tmp_path_factory.mktemp("bits") / "project"
    shutil.copytree(embedded, folder, symlinks=True)
    for path in (p for top in digests.TOPS for p in (folder / top).rglob("*")):
        if path.is_file() and not path.is_symlink():
            path.chmod(0o644)
    return folder


def flip(path: Path, bit: int) -> None:
    """Flip a bit of a file, whose times stay."""
    times = path.stat()
    with path.open("r+b") as file:
        file.seek(bit // 8)
        [byte] = file.read(1)
        file.seek(bit // 8)
        file.write(bytes([byte ^ 1 << bit % 8]))
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


def recorded() -> dict[Path, Path]:
    """Every file of the project that has a digest, with its output; records themselves too."""
    outputs: dict[Path, Path] = {}
    for top in digests.TOPS:
        for record in Path(top).rglob(f"{digests.FOLDER}/*{digests.SUFFIX}"):
            output = digests.output_of(record)
            for name in digests.listed(output) or {}:
                folder = output if output.is_dir() else output.parent
                outputs[folder / name if name else output] = output
    return {path: output for path, output in outputs.items() if path.stat().st_size}


def checks() -> dict[str, Check]:
    built = Built("toy", Path(), params_files.load([], []))
    return {check.name: check for check in check_files(built)}


@pytest.mark.parametrize(
    "count", [QUICK, pytest.param(ALL, marks=pytest.mark.long)], ids=["some", "all"]
)
def test_every_flipped_bit_is_found_by_the_next_reader_and_by_verify(
    demo: Path, monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    monkeypatch.chdir(demo)
    draw = random.Random(count)
    files = sorted(recorded().items())
    assert len(files) > 300
    left = count
    while left > 0:
        flipped = {
            path: draw.randrange(8 * path.stat().st_size)
            for path, _ in draw.sample(files, min(left, len(files)))
        }
        for path, bit in flipped.items():
            flip(path, bit)
            with pytest.raises(IsotopeError), digests.job([path], []):
                pass
        check = checks()["files"]
        mine = {path for path in flipped if "toy-later" not in path.parts[:3]}
        assert check.different == len(mine)
        assert {Path(difference.cell) for difference in check.differences} <= mine
        for path, bit in flipped.items():
            flip(path, bit)
        left -= len(flipped)
    assert checks()["files"].different == 0


@pytest.mark.parametrize(
    "count", [5, pytest.param(PICTURES, marks=pytest.mark.long)], ids=["some", "all"]
)
def test_every_flipped_bit_of_a_stored_picture_is_found_by_the_ledger(
    demo: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, count: int
) -> None:
    monkeypatch.chdir(demo)
    shard = Path("data/crawl/toy/shard-00000.parquet")
    backup = tmp_path / "kept.parquet"
    shutil.copy2(shard, backup)
    rows = pq.read_table(shard)
    pictures: list[Any] = rows["webp"].to_pylist()
    draw = random.Random(0)
    chosen = draw.sample(range(len(pictures)), min(count, len(pictures)))
    for row in chosen:
        picture = bytearray(pictures[row])
        bit = draw.randrange(8 * len(picture))
        picture[bit // 8] ^= 1 << bit % 8
        pictures[row] = bytes(picture)
    at = rows.schema.get_field_index("webp")
    pq.write_table(rows.set_column(at, "webp", pa.array(pictures, pa.binary())), shard)
    try:
        assert checks()["pictures"].different == len(chosen)
    finally:
        shutil.copy2(backup, shard)
    assert checks()["pictures"].different == 0


def test_a_file_that_is_missing_or_extra_is_found(
    demo: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(demo)
    extra, gone = Path("data/index/toy/base/bm25/all/images/new"), Path(READ)
    extra.touch()
    gone.rename(tmp_path / "gone")
    stray = Path("results/tables/toy/stray.csv")
    stray.touch()
    try:
        check = checks()["files"]
        cells = {difference.cell: difference.recomputed for difference in check.differences}
        assert cells == {str(extra): "a file", READ: "written, and no longer there"}
        assert any(str(stray) in reason for reason in check.skipped)
    finally:
        extra.unlink()
        stray.unlink()
        (tmp_path / "gone").rename(gone)


def test_every_file_of_the_demo_has_a_digest(demo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(demo)
    checks_by_name = checks()
    assert checks_by_name["files"].skipped == {}
    assert checks_by_name["files"].compared == checks_by_name["files"].total > 300
    assert checks_by_name["pictures"].compared == checks_by_name["pictures"].total > 500


def test_a_job_that_reads_a_flipped_bit_fails_and_names_the_file(
    demo: Path, shell: Callable[..., str]
) -> None:
    (demo / RUN_PATH).unlink()
    digests.forget(demo / RUN_PATH)
    flip(demo / READ, 9_999)
    try:
        log = shell("snakemake", "--cores", "1", RUN_PATH, cwd=demo, check=False)
        assert f"{ChecksumMismatch.__name__}: {READ}: written with " in log
        assert "now XXH128" in log
        assert not (demo / RUN_PATH).exists()
    finally:
        flip(demo / READ, 9_999)
    shell("snakemake", "--cores", "1", RUN_PATH, cwd=demo)
    assert digests.listed(demo / RUN_PATH)


def test_digests_are_those_of_dvc(
    demo: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, shell: Callable[..., str]
) -> None:
    (tmp_path / "data").mkdir()
    shutil.copytree(demo / "data/collect", tmp_path / "data/collect")
    stage = "stages: {collect: {cmd: 'true', outs: [data/collect: {persist: true}]}}"
    (tmp_path / "dvc.yaml").write_text(stage)
    shell("dvc", "init", "--no-scm", "--quiet", cwd=tmp_path, forked=False)
    shell("dvc", "repro", "--quiet", cwd=tmp_path, forked=False)
    monkeypatch.chdir(tmp_path)
    built = Built("toy", Path(), params_files.load([], [], root=demo))
    dvc = next(check for check in check_files(built) if check.name == "DVC")
    assert dvc.compared == dvc.total > 4
    assert dvc.skipped == {}


def test_temporary_folders_below_data_are_those_that_have_no_digest(
    demo: Path, shell: Callable[..., str]
) -> None:
    rules = "".join(path.read_text() for path in (demo / "workflow/rules").glob("*.smk"))
    named = {
        path.replace("{source}", "*")
        for part in rules.split("temp(")[1:]
        for path in re.findall(r'"((?:data|results)/[^"]+)"', part.partition("\n")[0])
    }
    assert named == set(digests.TEMPORARY)
