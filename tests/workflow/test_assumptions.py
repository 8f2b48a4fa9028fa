"""Every ASSUME says which paper, file or measurement leaves it open."""

from pathlib import Path

import pytest
from tests.assumptions import SUFFIXES, assumptions

ROOT = Path(__file__).parents[2]
PLACES = ("workflow", "params", "params.yaml", "docs", "benchmarks", "Snakefile")


def files() -> list[Path]:
    """What may assume something: code and params."""
    inside = [p for place in PLACES for p in sorted((ROOT / place).rglob("*"))]
    return [p for p in [*inside, *map(ROOT.joinpath, PLACES)] if p.suffix in SUFFIXES]


def test_every_assumption_says_what_leaves_it_open():
    found = [each for file in files() for each in assumptions(file)]
    assert len(found) > 30
    open_ended = [
        f"{each.file.relative_to(ROOT)}:{each.line}: ASSUME {each.text}\n"
        "    say which paper, file or measurement does not answer it, or make it a fact"
        for each in found
        if each.unexplained
    ]
    assert not open_ended, "\n".join(["", *open_ended])


@pytest.mark.parametrize(
    "comment",
    [
        "# ASSUME years are those of the issue; the paper does not say.\nx = 1",
        "-- ASSUME one redirect is followed; no paper says: none counts links.\nSELECT 1",
        "    # ASSUME a text is\n    # a section, which no measurement\n    # says.\n    x = 1",
        'def f():\n    """Return it.\n\n    ASSUME titles differ; a file names no page.\n    """',
        "# ASSUME the grid is of shares: appendix 11.2 has one, and neither step nor range.\nx = 1",
        "# ASSUME the first name will do: the paper's objects come with one.\nx = 1",
        "# ASSUME the mean, since AToMiC (section 4.2) leaves it open.\nx = 1",
    ],
)
def test_a_reason_is_a_clause_with_a_source_that_does_not_say(tmp_path, comment):
    (tmp_path / "a.py").write_text(comment)
    (only,) = assumptions(tmp_path / "a.py")
    assert not only.unexplained, only.text


@pytest.mark.parametrize(
    "comment",
    [
        "# ASSUME a picture's first caption asks, as the paper lets one caption ask.\nx = 1",
        "# ASSUME a core encodes 20 texts a second.\n# The paper does not say.\n",
        "# ASSUME what the table lacks was not viewed, as in the paper.\nx = 1",
        "# ASSUME white is meant.\nx = 1  # no paper says",
        "# ASSUME one is enough; nobody says so.\n\n# The paper does not say.",
    ],
)
def test_an_assumption_without_one_is_found(tmp_path, comment):
    (tmp_path / "a.py").write_text(comment.replace("second.\n# The", "second.\n\n# The"))
    (only,) = assumptions(tmp_path / "a.py")
    assert only.unexplained, only.text


def test_two_assumptions_of_one_comment_are_two(tmp_path):
    (tmp_path / "a.sql").write_text("-- ASSUME a; no paper says.\n-- ASSUME b.\nSELECT 1")
    one, two = assumptions(tmp_path / "a.sql")
    assert (one.line, two.line) == (1, 2)
    assert not one.unexplained
    assert two.unexplained
