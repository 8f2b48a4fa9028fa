"""The notebook of the docs runs from its first cell to its last, as Jupyter runs it."""

import ast
import re
import shutil
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import isotope

TUTORIAL = Path(__file__).parents[3] / "docs/tutorials"
MARK = re.compile(r"^# %%( \[markdown\])?$", re.MULTILINE)


def cells() -> list[tuple[bool, str]]:
    """Whether each cell is text, and what stands in it; jupytext's format `percent`."""
    _, *parts = MARK.split((TUTORIAL / "captions.py").read_text("utf-8"))
    return [(bool(kind), text) for kind, text in zip(parts[::2], parts[1::2], strict=True)]


def run_cell(source: str, names: dict[str, Any]) -> object:
    """Run a cell; return the value of its last line, which a notebook shows."""
    tree = ast.parse(source)
    last = tree.body[-1]
    if not isinstance(last, ast.Expr):
        exec(compile(tree, "<cell>", "exec"), names)
        return None
    exec(compile(ast.Module(tree.body[:-1], []), "<cell>", "exec"), names)
    return eval(compile(ast.Expression(last.value), "<cell>", "eval"), names)


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("MPLBACKEND", "Agg")
    monkeypatch.chdir(tmp_path)
    shutil.copy(TUTORIAL / "captions.csv", tmp_path)
    return tmp_path


def test_it_goes_from_captions_to_scores_with_significance_and_a_figure(folder):
    names: dict[str, Any] = {}
    shown = [run_cell(text, names) for is_text, text in cells() if not is_text]
    assert isinstance(shown[1], isotope.Collection)
    [summary] = [value for value in shown if isinstance(value, isotope.Summary)]
    assert summary.means["queries"].unique().to_list() == [len(pl.read_csv("captions.csv"))]
    means = dict(summary.means.filter(measure="MRR@10").select("system", "mean").iter_rows())
    assert means.keys() == {"bm25", "letters", "rrf"}
    # Neither nothing nor all, and a difference that is significant: there is something to see.
    assert all(0.3 < mean < 0.9 for mean in means.values())
    assert summary.means["better_than"].list.len().sum() > 0
    assert "<sup>" in summary._repr_html_()
    figure = (folder / "means.svg").read_text("utf-8")
    assert figure.startswith("<?xml")


def test_cells_of_text_are_comments():
    texts = [text for is_text, text in cells() if is_text]
    assert len(texts) >= 5
    assert {line[:1] for text in texts for line in text.splitlines() if line} == {"#"}
