"""A stage of DVC in a new folder sees by digests of parts that its code has changed."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import xxhash
import yaml

from isotope.core import syntax
from isotope.core.resources import PACKAGE
from isotope.core.syntax import located
from isotope.plan import closures, parts

STAGES = yaml.safe_load((PACKAGE / "experiment/stages.yaml").read_text())["stages"]


def files(folder: Path) -> dict[str, str]:
    paths = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_text() for path in paths}


@pytest.fixture
def package(tmp_path, monkeypatch) -> Iterator[Path]:
    """A copy of the package, where an installer would put it."""
    place = tmp_path / "elsewhere/isotope"
    shutil.copytree(PACKAGE, place, ignore=shutil.ignore_patterns("__pycache__"))
    for module in (closures, parts, syntax):
        monkeypatch.setattr(module, "PACKAGE", place)
    monkeypatch.chdir(tmp_path)
    closures.file_digest.cache_clear()
    yield place
    closures.file_digest.cache_clear()


def test_every_part_that_a_stage_depends_on_is_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    parts.write()
    [out] = STAGES["code"]["outs"]
    assert [*out] == [str(parts.FOLDER)]
    deps = {dep for stage in STAGES.values() for dep in stage.get("deps", ())}
    code = {dep for dep in deps if dep.startswith(f"{parts.FOLDER}/")}
    assert len(code) > len(STAGES)
    assert [dep for dep in code if not Path(dep).is_file()] == []


def test_a_line_is_the_digest_and_name_of_a_file_of_the_part():
    every = dict[str, str]()
    for part, text in parts.digests().items():
        for digest, name in re.findall(r"^([0-9a-f]{32})  (\S+)$", text, re.MULTILINE):
            assert digest == xxhash.xxh3_128_hexdigest(located(name).read_bytes())
            assert name == part or name.startswith(f"{part}/")
            every[name] = part
    assert {"core/store.py": "core", "sql/parse/inlinks.sql": "sql/parse"}.items() <= every.items()
    assert {"rules/parse.smk", "schemas/parse.py"} <= {*every.values()}
    assert [name for name in every if name.endswith(".pyc")] == []


def test_another_place_and_compiled_modules_change_no_part(package):
    there = parts.digests()
    for folder in (package, package / "core"):
        (folder / "__pycache__").mkdir()
        (folder / "__pycache__/store.cpython-313.pyc").write_bytes(b"x")
    assert parts.digests() == there


def test_an_edited_file_changes_the_digests_of_its_part_alone(package):
    parts.write()
    before = files(parts.FOLDER)
    with (package / "sql/parse/inlinks.sql").open("a") as query:
        query.write("-- edited\n")
    closures.file_digest.cache_clear()
    parts.write()
    after = files(parts.FOLDER)
    assert {part for part in before if before[part] != after[part]} == {"sql/parse"}
    assert {*before} == {*after}


def test_a_part_that_is_gone_is_no_longer_there(package):
    parts.write()
    assert (parts.FOLDER / "rules/release.smk").is_file()
    (package / "rules/release.smk").unlink()
    parts.write()
    assert not (parts.FOLDER / "rules/release.smk").exists()
