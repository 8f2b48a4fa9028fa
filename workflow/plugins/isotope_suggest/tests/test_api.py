"""`isotope.suggest` answers as the command does, as a table with notes."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests import api
from workflow.plugins.isotope_suggest.tests import suggest_live

import isotope
from isotope.cli import commands
from isotope.core.errors import BadArgument, UnknownId
from isotope_suggest import api as answering

TEXT = suggest_live.about(5)


@pytest.fixture(scope="module")
def root(tmp_path_factory) -> Path:
    folder = suggest_live.project(tmp_path_factory.mktemp("api"))
    (folder / "section.txt").write_text(TEXT)
    (folder / "picture.webp").write_bytes(suggest_live.webp(3))
    return folder


@pytest.fixture
def _params(monkeypatch):
    params = suggest_live.params()
    monkeypatch.setattr("isotope.params.files.load", lambda *_, **__: params)
    monkeypatch.setattr(answering, "load", lambda *_, **__: params)


def printed(root, monkeypatch, capsys, *arguments: str):
    monkeypatch.chdir(root)
    assert commands.main(["suggest", "world", *arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.usefixtures("_params")
def test_answers_are_those_of_the_command(root, monkeypatch, capsys):
    questions: tuple[tuple[dict[str, Any], tuple[str, ...]], ...] = (
        ({"text": TEXT}, ("--text", "section.txt")),
        ({"image": root / "picture.webp"}, ("--image", "picture.webp")),
        ({"image": suggest_live.webp(3), "top": 3}, ("--image", "picture.webp", "--top", "3")),
    )
    for asked, line in questions:
        suggestions = isotope.suggest("world", root=root, **asked)
        record = printed(root, monkeypatch, capsys, *line)
        assert suggestions.notes == record["notes"]
        assert suggestions.answers.to_dicts() == record["answers"]
        assert suggestions.answers.schema["probability"] == pl.Float64
        assert "<table" in suggestions._repr_html_()


@pytest.mark.usefixtures("_params")
def test_a_text_that_no_picture_fits_has_a_note_and_a_table_with_all_columns(root):
    nothing = isotope.suggest("world", "zzz", system="bm25", root=root)
    some = isotope.suggest("world", TEXT, root=root)
    assert nothing.answers.is_empty()
    assert nothing.answers.schema == some.answers.schema
    assert nothing.notes


@pytest.mark.usefixtures("_params")
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
def test_the_example_runs(embedded):
    done = api.run_examples("suggest", {"toy": embedded})
    assert done.attempted == 4
    assert done.failed == 0
