"""The wheel has all that a run needs, and what reruns does not hang on where it is installed."""

import re
import shlex
from pathlib import Path

import pytest
import yaml
from tests.workflow.test_dvc import NOTHING, PHASES, stages_run
from tests.workflow.test_init import table

from isotope.core.resources import PACKAGE


def files(package: Path) -> set[str]:
    """The files of a package by their paths below it, through links to folders."""
    below = set[str]()
    for folder in (path for path in package.iterdir() if path.is_dir()):
        whole = folder.resolve()
        below |= {f"{folder.name}/{p.relative_to(whole)}" for p in whole.rglob("*") if p.is_file()}
    return {path for path in below if "__pycache__" not in path}


def test_the_wheel_has_every_file_of_the_package(venv):
    own = files(PACKAGE)
    assert {Path(path).suffix for path in own} >= {".py", ".sql", ".smk", ".j2", ".class", ".json"}
    assert files(venv.packages / "isotope") == own


DECODED = """
import asyncio, io
from PIL import Image
from isotope.intake.decoders import Decoder

async def decode():
    out = io.BytesIO()
    Image.new("RGB", (40, 30), "red").save(out, "PNG")
    decoder = Decoder({"max_pixels": 10**6, "decode_s": 30, "decode_mb": 1024})
    row, webp = await decoder.convert(out.getvalue(), "image/png")
    await decoder.close()
    print(row["status"], row["width"], webp[:4].decode())

asyncio.run(decode())
"""


def test_a_package_that_shadows_a_module_of_python_s_own_is_not_taken_for_it(venv, tmp_path):
    """As one of img2dataset's does, which is called dataclasses, wherever pip has been."""
    shadow = venv.packages / "dataclasses.py"
    if not shadow.exists():
        shadow.write_text("raise ImportError('this is not the one of Python')\n")
    assert venv.run("python", "-c", DECODED, cwd=tmp_path).split() == ["success", "40", "RIFF"]


@pytest.fixture(scope="module")
def demo(venv, tmp_path_factory) -> tuple[Path, str]:
    """The demo in a folder of its own, without git, by the wheel alone; what its run printed.

    What `isotope new` prints is typed line by line.
    """
    place = tmp_path_factory.mktemp("anywhere")
    told = venv.run("isotope", "new", "demo", cwd=place)
    words = [shlex.split(line, comments=True) for line in told.splitlines()[1:3]]
    assert words[0] == ["cd", "demo"]
    return place / "demo", venv.run(*words[1], cwd=place / "demo")


@pytest.mark.long
def test_by_the_wheel_alone_the_demo_is_built_and_the_checkout_plans_nothing_anew(demo, shell):
    place, told = demo
    assert re.search(r"^(\d\d+) of \1 jobs", told, re.MULTILINE)
    assert (place / "results/report/toy/index.html").is_file()
    assert NOTHING in shell("snakemake", "--cores", "all", "-n", cwd=place)


@pytest.fixture(scope="module")
def repeated(demo, venv) -> tuple[Path, str]:
    """The demo after `dvc repro`, and what that printed."""
    place, _ = demo
    return place, venv.run("dvc", "repro", cwd=place)


@pytest.mark.long
def test_dvc_records_what_snakemake_has_built_without_git_and_builds_nothing_again(repeated, venv):
    place, told = repeated
    assert stages_run(told) == ["code", *PHASES]
    # Only releases are made on request.
    assert told.count(NOTHING) == len(PHASES) - 1
    again = venv.run("dvc", "repro", cwd=place)
    assert stages_run(again) == ["code"]
    assert re.findall(r"Stage '(\w+)' didn't change", again) == PHASES


@pytest.mark.long
def test_dvc_s_record_names_no_place_where_isotope_is_installed(repeated):
    place, _ = repeated
    lock = yaml.safe_load((place / "dvc.lock").read_text())
    paths = [
        item["path"]
        for stage in lock["stages"].values()
        for item in (*stage.get("deps", ()), *stage["outs"])
    ]
    files = ("Snakefile", "params.yaml")
    below = ("runs", "judgements", ".isotope/code", "data/", "results/")
    assert [path for path in paths if path not in files and not path.startswith(below)] == []
    assert "site-packages" not in (place / "dvc.lock").read_text()


@pytest.mark.long
def test_dvc_sees_an_edit_of_the_installed_code_by_its_stages(repeated, venv):
    place, _ = repeated
    module = venv.packages / "isotope_explain/failures_page.py"
    text = module.read_bytes()
    module.write_bytes(text + b"\n# edited\n")
    try:
        venv.run("dvc", "repro", "code", cwd=place)
        status = venv.run("dvc", "status", cwd=place)
    finally:
        module.write_bytes(text)
        venv.run("dvc", "repro", "code", cwd=place)
    assert set(re.findall(r"^(\w+):$", status, re.MULTILINE)) == {"code", "tabulate"}


@pytest.mark.long
def test_a_table_of_one_s_own_leads_to_a_report_in_the_folder_of_the_demo(demo, venv):
    place, _ = demo
    table(place / "mine")
    said = venv.run(
        *("isotope", "init", "mine/holidays.csv", "--pictures", "mine/pictures"), cwd=place
    )
    [command] = [line.strip() for line in said.splitlines() if "snakemake" in line]
    told = venv.run(*shlex.split(command), cwd=place)
    assert "holidays  11 texts, 11 images, 11 judgements; 3 systems on 1 pool" in told
    assert (place / "results/report/holidays/index.html").is_file()
