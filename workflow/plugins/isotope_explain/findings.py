"""What `isotope doctor` looks at for explained failures: the dictionary of each collection."""

from collections.abc import Iterator

from isotope.core.errors import IsotopeError
from isotope.core.findings import Finding
from isotope.params.root import Params
from isotope_explain import wordnet
from isotope_explain.params import Explain


def findings(params: Params) -> Iterator[Finding]:
    """Look at the dictionary of every built collection whose failures are explained."""
    section = params.section("explain", Explain) or Explain()
    for name, entry in sorted(section.failures.items()):
        named = entry.wordnet
        # Files of a source exist once it is acquired.
        if name not in params.build or str(named or "").startswith("data/acquire/"):
            continue
        try:
            yield Finding(f"WordNet of {name}", "ok", str(wordnet.find(named)))
        except IsotopeError as error:
            yield Finding(f"WordNet of {name}", "missing", error.problem, error.remedy)
