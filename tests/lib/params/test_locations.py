"""What is refused is named with the file and the line that says it, the last of those merged."""

from pathlib import Path

import pytest

from isotope.core.errors import BadParams
from isotope.params import files

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize(
    ("text", "pairs", "where", "line"),
    [
        ("search:\n  device: gpu\n", [], "params search.device", "mine.yaml:2"),
        (
            "systems:\n  rrf:\n    of:\n    - bm25\n    - bn25\n",
            [],
            "params systems.rrf.of[1]",
            "mine.yaml:5",
        ),
        ("search: {depht: 5}\n", [], "params search.depht", "mine.yaml:1"),
        (
            "crawl:\n\n  '{name}':\n    threads: 0\n",
            ["name=toy"],
            "params crawl.toy.threads",
            "mine.yaml:4",
        ),
        ("build: []\n", [], "params build", "mine.yaml:1"),
        ("{}\n", ["build=toy"], "params build", "--config"),
        ("tabulate: {system: bm25, alpha: 2}\n", [], "params tabulate.alpha", "mine.yaml:1"),
    ],
)
def test_the_last_file_that_has_the_key_is_named_with_its_line(tmp_path, text, pairs, where, line):
    (tmp_path / "mine.yaml").write_text(text)
    with pytest.raises(BadParams) as caught:
        files.load([tmp_path / "mine.yaml"], pairs, ROOT)
    assert caught.value.where == where
    assert caught.value.remedy.endswith(f"{line})")


def test_a_key_that_lacks_is_named_with_the_line_of_what_lacks_it(tmp_path):
    (tmp_path / "mine.yaml").write_text("systems:\n  bm25: {k1: 1}\n  again:\n    k1: 1\n")
    with pytest.raises(BadParams) as caught:
        files.load([tmp_path / "mine.yaml"], (), ROOT)
    assert caught.value.where == "params systems.again"
    assert caught.value.remedy.endswith("mine.yaml:3)")


def test_params_of_a_program_have_no_line():
    from tests.entries import resolved  # noqa: PLC0415

    with pytest.raises(BadParams) as caught:
        resolved(search={"device": "gpu"})
    assert "yaml" not in str(caught.value)
