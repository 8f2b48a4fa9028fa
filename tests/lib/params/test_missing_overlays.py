"""A collection that the params of a command lack: the command says with which overlay it has it."""

import re
from pathlib import Path

import pytest

from isotope.cli import commands as main
from isotope.core import plugins
from isotope.core.errors import BadParams, MissingFile
from isotope.core.plugins import Plugin
from isotope.params import files

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize(
    ("collection", "found"),
    [
        ("coco", r"or name its overlay: .*--configfile params/coco\.yaml"),
        ("raycharles", r"--configfile params/local\.yaml --config name=raycharles"),
        ("toi", r"did you mean 'toy'\?"),
    ],
)
def test_the_overlay_that_has_a_collection_is_named(collection, found):
    with pytest.raises(BadParams, match=found):
        files.demand_collection(collection, files.load(root=ROOT), ROOT)


def test_an_overlay_that_is_broken_is_no_reason_to_say_nothing(tmp_path):
    (tmp_path / "params").mkdir()
    for name, text in (("a", "["), ("b", "collect: [1]"), ("c", "1"), ("d", "collect: {mine: 1}")):
        (tmp_path / f"params/{name}.yaml").write_text(text)
    nothing = files.load(root=ROOT).model_copy(update={"collect": {}})
    with pytest.raises(BadParams, match=r"its overlay: --configfile params/d\.yaml$"):
        files.demand_collection("mine", nothing, tmp_path)
    with pytest.raises(BadParams, match="its overlay with --configfile"):
        files.demand_collection("other", nothing, tmp_path)


@pytest.mark.parametrize(
    "command", [["suggest", "coco", "--section", "x"], ["judge", "coco", "--assessor", "ann"]]
)
def test_commands_on_a_collection_name_its_overlay(command, monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    assert main.main(command) == 1
    assert "--configfile params/coco.yaml" in capsys.readouterr().err


def test_an_overlay_that_is_not_there_is_named_where_a_plug_in_has_one_of_its_name(
    monkeypatch, tmp_path
):
    """As those of other papers, which stood in params/ once."""
    nothing = files.load(root=ROOT).model_copy(update={"collect": {}})
    package = tmp_path / "isotope_plugged"
    (package / "params").mkdir(parents=True)
    (package / "params/birds.yaml").write_text("collect: {birds: {kind: pairs}}\n")
    added = {"plugged": Plugin(name="plugged", package="isotope_plugged")}
    monkeypatch.setattr(plugins, "registered", lambda: added)
    monkeypatch.setattr(plugins, "packages", lambda: {"isotope_plugged": package})
    there = re.escape(str(package / "params/birds.yaml"))
    with pytest.raises(MissingFile, match=rf"params/birds\.yaml: no such params; name {there}$"):
        files.read(Path("params/birds.yaml"))
    with pytest.raises(MissingFile, match="check the path"):
        files.read(Path("params/bird.yaml"))
    with pytest.raises(BadParams, match=rf"its overlay: --configfile {there}$"):
        files.demand_collection("birds", nothing, tmp_path / "elsewhere")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(MissingFile, match=r"name isotope_plugged/params/birds\.yaml$"):
        files.read(Path("birds.yaml"))
