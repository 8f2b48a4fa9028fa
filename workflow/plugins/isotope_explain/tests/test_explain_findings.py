"""What `isotope doctor` looks at for explained failures."""

from pathlib import Path

from tests.edited import with_keys

from isotope.params import files
from isotope_explain import wordnet
from isotope_explain.findings import findings
from isotope_explain.params import Failures

ROOT = Path(__file__).parents[4]


def test_a_wordnet_is_looked_for_where_failures_are_explained(tmp_path):
    base = files.load(root=ROOT)
    assert list(findings(base)) == []
    explained = with_keys(base, explain={"failures": {"toy": Failures(wordnet=str(tmp_path))}})
    (finding,) = findings(explained)
    assert (finding.subject, finding.state) == ("WordNet of toy", "missing")
    assert "wordnet-base" in finding.remedy
    for name in wordnet.NAMES:
        (tmp_path / name).touch()
    assert [f.state for f in findings(explained)] == ["ok"]
    assert list(findings(explained.model_copy(update={"build": []}))) == []
