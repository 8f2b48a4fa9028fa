"""`isotope.suggest` answers as the command does, as a table with notes."""

import json
from pathlib import Path

import polars as pl
import pytest
from tests import api
from workflow.plugins.isotope_suggest.tests import suggest_live

import isotope
from isotope.cli import commands
from isotope.core.errors import BadArgument, UnknownId

TEXT = suggest_live.about(5)


@pytest.fixture(scope="module")
def root(tmp_path_factory) -> Path:
    place = suggest_live.project(tmp_path_factory.mktemp("api"))
    (place / "section.txt").write_text(TEXT)
    (place / "picture.webp").write_bytes(suggest_live.webp(3))
    return place


@pytest.fixture(autouse=True)
def _params(monkeypatch):
    params = suggest_live.params()
    monkeypatch.setattr("isotope.params.files.load", lambda *_, **__: params)
    monkeypatch.setattr("isotope_suggest.api.load", lambda *_, **__: params)


def printed(root, monkeypatch, capsys, *arguments: str):
    monkeypatch.chdir(root)
    assert commands.main(["suggest", "world", *arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_answers_are_those_of_the_command(root, monkeypatch, capsys):
    for asked, line in (
        ({"text": TEXT}, ("--text", "section.txt")),
        ({"image": root / "picture.webp"}, ("--image", "picture.webp")),
        ({"image": suggest_live.webp(3), "top": 3}, ("--image", "picture.webp", "--top", "3")),
    ):
        found = isotope.suggest("world", root=root, **asked)
        told = printed(root, monkeypatch, capsys, *line)
        assert found.notes == told["notes"]
        assert found.answers.to_dicts() == told["answers"]
        assert found.answers.schema["probability"] == pl.Float64
        assert "<table" in found._repr_html_()


def test_what_it_can_not_take_is_named(root):
    with pytest.raises(BadArgument, match="nothing to answer; give one of text, section, image"):
        isotope.suggest("world", root=root)
    with pytest.raises(BadArgument, match="text and image"):
        isotope.suggest("world", "a boat", image=b"", root=root)
    with pytest.raises(BadArgument, match="top = 11"):
        isotope.suggest("world", "a boat", top=11, root=root)
    with pytest.raises(BadArgument, match=r"^system: 'best'"):
        isotope.suggest("world", "a boat", system="best", root=root)  # pyright: ignore
    with pytest.raises(UnknownId):
        isotope.suggest("world", section="none", root=root)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_the_example_runs(embedded, monkeypatch):
    monkeypatch.undo()
    done = api.examples("suggest", {"toy": embedded})
    assert done.attempted == 4
    assert done.failed == 0
