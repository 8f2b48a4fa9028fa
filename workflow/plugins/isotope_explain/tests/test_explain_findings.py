"""What `isotope doctor` looks at for explained failures."""

from pathlib import Path

from tests.edited import with_keys

from isotope.explain import wordnet
from isotope.explain.findings import findings
from isotope.params import files
from isotope.params.tabulate import Explain

ROOT = Path(__file__).parents[3]


def test_a_wordnet_is_looked_for_where_failures_are_explained(tmp_path):
    base = files.load(root=ROOT)
    assert list(findings(base)) == []
    explained = with_keys(base, tabulate={"explain": {"toy": Explain(wordnet=str(tmp_path))}})
    (found,) = findings(explained)
    assert (found.what, found.state) == ("WordNet of toy", "missing")
    assert "wordnet-base" in found.remedy
    for name in wordnet.NAMES:
        (tmp_path / name).touch()
    assert [f.state for f in findings(explained)] == ["ok"]
    assert list(findings(explained.model_copy(update={"build": []}))) == []
