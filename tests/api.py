"""The public API: examples of docstrings, run, and random runs with their judgements."""

import doctest
from collections.abc import Mapping
from typing import Any

import hypothesis.strategies as st

from isotope.core.public import defined

QUERIES = [f"q{n}" for n in range(5)]
DOCUMENTS = [f"d{n}" for n in range(12)]
Run = dict[str, dict[str, float]]
Qrels = dict[str, dict[str, int]]


def run_examples(name: str, names: Mapping[str, Any]) -> doctest.TestResults:
    """Run the examples of a public name, and of its methods; they may use some `names`."""
    promised = defined(name)
    finder = doctest.DocTestFinder(recurse=isinstance(promised, type))
    examples = finder.find(promised, name, globs=dict(names))
    runner = doctest.DocTestRunner()
    for example in examples:
        runner.run(example)
    return runner.summarize(verbose=False)


# Scores that differ in single precision, too, in which trec_eval sorts.
_scores = st.permutations(range(len(DOCUMENTS))).map(
    lambda order: {d: float(n) for d, n in zip(DOCUMENTS, order, strict=True)}
)


@st.composite
def _answers(draw: st.DrawFn) -> dict[str, float]:
    hits = draw(st.sets(st.sampled_from(DOCUMENTS), min_size=1))
    scores = draw(_scores)
    return {d: scores[d] for d in sorted(hits)}


def runs() -> st.SearchStrategy[Run]:
    """Runs that answer all queries, without ties."""
    return st.fixed_dictionaries(dict.fromkeys(QUERIES, _answers()))


def qrels() -> st.SearchStrategy[Qrels]:
    """Judgements of all queries, of which some have no relevant document."""
    grades = st.dictionaries(st.sampled_from(DOCUMENTS), st.integers(0, 3), min_size=1)
    return st.fixed_dictionaries(dict.fromkeys(QUERIES, grades))
