"""The embedded encyclopedia as a source: what it depends on, and what it brings."""

from pathlib import Path

from isotope.core import provenance
from isotope.core.plugins import phase_of
from isotope_toy import PLUGIN, snapshot

MAKES = "isotope_toy.source:acquire_toy"


def test_a_colour_belongs_to_what_makes_the_encyclopedia():
    assert "isotope_toy/scenes.py" in provenance.closure(MAKES)


def test_what_makes_the_encyclopedia_neither_fetches_nor_shows_anything():
    files = provenance.closure(MAKES)
    assert not {"acquire/fetch.py", "acquire/remote.py"} & {*files}
    shows = ("isotope_explain", "report", "tabulate")
    assert not {*shows} & {file.partition("/")[0] for file in files}
    assert not {f"schemas/{name}.py" for name in shows} & {*files}


def test_the_plug_in_names_all_that_it_brings(tmp_path):
    """Whatever params may name below the folder of a source that is made."""
    snapshot.generate(tmp_path, pages=40, edition=2)
    assert {path.name for path in Path(tmp_path).iterdir()} == {*PLUGIN.generates}


def test_its_rule_is_of_the_phase_that_fetches_sources():
    assert phase_of("toy_acquire") == "acquire"
