"""How texts find their sections: the keys of `project.<source>`."""

from typing import Literal

from isotope.params.sections import NotNegative, Rare, Section, Share


class Project(Section):
    """How the texts of WIT are matched with sections of the dump of a source."""

    mode: Literal["bm25", "exact-then-bm25"]
    """bm25 as for AToMiC (section 4.2); exact-then-bm25 joins on page and section title first."""
    k1: NotNegative = 0.9
    """Term saturation of BM25."""
    b: Share = 0.4
    """Length normalisation of BM25."""
    engine: Rare[Literal["native", "lucene"]] = "native"
    """What finds the best section: isotope.bm25, which does not score the others, or Lucene, which
    gives the same answers."""
