"""A collection that the params of a command lack: the command says with which overlay it has it."""

from pathlib import Path

import pytest

from isotope.cli import commands as main
from isotope.core.errors import BadParams
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
