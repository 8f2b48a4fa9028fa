"""What a run verifies: the record of each collection, and what that is made of."""

from collections.abc import Sequence
from pathlib import PurePath

from isotope.plan.extension import Extension
from isotope.plan.graph import Graph
from isotope.plan.paths import Wildcards
from isotope.plan.sources import Spec
from isotope.report.notes import Note
from isotope_verify.params import Verify

# What a verification found, for the report, and as the command prints it.
VERIFIED = "results/tables/{collection}/verified.json"
CONFIRMED = "results/tables/{collection}/verified.txt"
# Whose files a verification computes again, or reads.
_COMPARED = (
    *("data/acquire/", "data/collect/", "data/encode/", "results/search/", "results/score/"),
    *("results/tables/", "results/figures/", "results/report/"),
)


class VerifyExtension(Extension):
    """The verification that ends a run."""

    @property
    def asked(self) -> Verify:
        """What the params ask for."""
        return self.plan.params.section("verify", Verify) or Verify()

    def last(self, collection: str) -> Sequence[str]:
        """Return what was found, as the command prints it, where there are checks."""
        return [CONFIRMED.format(collection=collection)] if self.asked.checks else []

    def note(self, collection: str) -> Note:
        """Return what the report says of its verification, or that there was none."""
        record = VERIFIED.format(collection=collection) if self.asked.checks else ""
        return Note("Verification", "isotope_verify.record:block", record)

    def compared(self, graph: Graph, collection: str) -> list[str]:
        """Return what a verification reads: what stands behind the report and is the collection's,
        but for the pages that show it, and the manifests of sources.
        """
        pages = self.plan.report.pages
        report = [f"results/report/{collection}/{page}.html" for page in pages]
        behind = [path for path in graph.behind(report) if path.startswith(_COMPARED)]
        return [p for p in behind if p.startswith("data/acquire/") or _is_of(collection, p)]

    def spec(self, wildcards: Wildcards) -> Spec:
        """The params that a verification reads: what made the collection and its runs."""
        name, about = wildcards.collection, self.plan.collections[wildcards.collection]
        params, used = self.plan.params, self.plan.systems.used
        crawls = {s: params.crawl[s] for s in about.sources if s in params.crawl}
        compared = params.tabulate.spec("system", "alpha", "comparisons")
        return {
            "build": [name],
            "acquire": {s: params.acquire[s].spec() for s in about.sources if s in params.acquire},
            "project": {},
            "crawl": {source: {"shards": entry.shards} for source, entry in crawls.items()},
            "collect": {c: params.collect[c].spec() for c in (name, *about.members)},
            "systems": {system: params.systems[system].spec() for system in used},
            "models": {model: entry.spec() for model, entry in params.models.items()},
            **{key: getattr(params, key).spec() for key in ("encode", "search", "score")},
            "tabulate": {"tokenizers": {}, **compared},
        }


def _is_of(collection: str, path: str) -> bool:
    """Tell whether a file is below a collection's folder, or bears its name there."""
    name = PurePath(path).parts[2]
    return name == collection or name.startswith(f"{collection}.")
