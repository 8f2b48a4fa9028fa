"""What is not installed is named with the line that installs it, by what pyproject.toml says."""

import sys
import tomllib
from importlib import import_module
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from isotope.cli.commands import main
from isotope.core import extras
from isotope.core.errors import MissingExtra, MissingFile
from isotope.core.plugins import Plugin
from isotope.core.resources import function

ROOT = Path(__file__).parents[3]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
EXTRAS: dict[str, list[str]] = PROJECT["optional-dependencies"]


def names(lines: list[str]) -> list[str]:
    return [canonicalize_name(Requirement(line).name) for line in lines]


def test_every_package_of_an_extra_is_known_by_its_module():
    """By what is installed here: none whose module bears another name is forgotten."""
    needed = {*names(PROJECT["dependencies"]), "isotope-ir"}
    first = {
        name: extra
        for extra, lines in reversed(EXTRAS.items())
        for name in names(lines)
        if name not in needed
    }
    assert {*first.values()} == EXTRAS.keys() - {"all"}
    modules: dict[str, set[str | None]] = {}
    for module, distributions in packages_distributions().items():
        for name in map(canonicalize_name, distributions):
            modules.setdefault(name, set()).add(extras.extra_of(module))
    # DVC's storage and Snakemake's cluster have modules that nobody imports.
    there = first.keys() & modules.keys() - {"dvc-s3", "snakemake-executor-plugin-slurm"}
    assert len(there) > 20
    assert [name for name in sorted(there) if first[name] not in modules[name]] == []


@pytest.mark.parametrize("module", ["numpy", "isotope", "no_such_module", "polars.series"])
def test_what_every_installation_has_or_nobody_is_of_no_extra(module):
    assert extras.extra_of(module) is None
    error = ModuleNotFoundError(name=module)
    assert extras.as_missing_extra(error) is error


def test_all_is_every_extra_but_the_one_under_the_gpl_and_the_towers():
    [line] = EXTRAS["all"]
    assert Requirement(line).extras == EXTRAS.keys() - {"all", "zim", "offline"}


@pytest.fixture
def without_torch(monkeypatch):
    """An installation that lacks a module of `neural`, and a module that imports it."""
    monkeypatch.setitem(sys.modules, "torch", None)
    for name in [name for name in sys.modules if name.startswith("isotope.models.")]:
        monkeypatch.delitem(sys.modules, name)


LINE = r"^torch: it is not installed; pip install 'isotope-ir\[neural\]'$"


@pytest.mark.usefixtures("without_torch")
def test_an_import_at_the_head_of_a_module_is_named_where_the_call_begins():
    with pytest.raises(MissingExtra, match=LINE), extras.named():
        import_module("isotope.models.lit")
    with pytest.raises(MissingExtra, match=LINE):
        function("models.lit:load_heads")
    with pytest.raises(MissingExtra, match=LINE):
        Plugin("mine", "isotope").load("isotope.models.lit:load_heads")


def test_what_a_typo_or_a_strangers_package_lacks_keeps_its_own_error():
    with pytest.raises(ModuleNotFoundError, match="none_such"), extras.named():
        import_module("_".join(["none", "such"]))


def test_a_command_that_lacks_its_extra_says_so_in_one_line(monkeypatch, capsys, tmp_path):
    """`isotope recrawl` asks for what crawls have; whatever a command imports is told alike."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "isotope.crawl.again", None)
    with pytest.raises(ModuleNotFoundError):
        main(["recrawl", "toy"])
    monkeypatch.setitem(extras.DISTRIBUTIONS, "isotope", "torch")
    assert main(["recrawl", "toy"]) == 1
    said = "MissingExtra: isotope: it is not installed; pip install 'isotope-ir[neural]'\n"
    assert capsys.readouterr() == ("", said)


def test_the_folder_of_a_package_is_found_without_importing_it(monkeypatch):
    assert (extras.folder("open_clip") / "pretrained.py").is_file()
    monkeypatch.setattr(extras, "find_spec", lambda _: None)
    with pytest.raises(MissingExtra, match=r"^pyserini: .*isotope-ir\[lucene\]"):
        extras.folder("pyserini")
    with pytest.raises(MissingFile, match="numpy: the Python package is not installed"):
        extras.folder("numpy")
    with pytest.raises(MissingExtra, match=r"^libzim: .*isotope-ir\[zim\]"):
        extras.demand(["numpy", "torch", "libzim"])
