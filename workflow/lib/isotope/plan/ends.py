"""What a run ends with: the files that are made for people, and for no other file's sake.

All that stands behind them is found by the rules (`plan.graph`); what each collection ends with is
read by its record, so the front page and the catalog come last.
"""

from dataclasses import dataclass
from pathlib import Path, PurePath, PurePosixPath

from isotope.core import digests
from isotope.params.root import Params
from isotope.plan.diff import CHANGES, FOLDER
from isotope.plan.graph import Graph
from isotope.plan.paths import expanded
from isotope.plan.plan import Plan
from isotope.plan.report import CATALOG, COSTS, FIRST_PAGES, FRONT_PAGE, NEWEST, RECORD
from isotope.tabulate.table import FORMS


@dataclass(frozen=True)
class Ends:
    """What a plan ends with: the collections that the params build, and the graph behind them."""

    plan: Plan
    graph: Graph

    @property
    def params(self) -> Params:
        """The params of the plan."""
        return self.plan.params

    def all(self) -> list[str]:
        """Return the records of all collections, what tells them apart, and the newest numbers."""
        build = self.plan.collections.built
        added = self.plan.extensions.values()
        last = [path for name in build for extension in added for path in extension.last(name)]
        of_each = expanded([COSTS, RECORD], collection=build)
        return [*of_each, *last, f"{NEWEST}/metrics.json", FRONT_PAGE, CATALOG]

    def of_collection(self, collection: str) -> list[str]:
        """Return what a collection ends with, and its groups and pairs: what its record reads."""
        plan, collections = self.plan, self.plan.collections
        pages = (*plan.report.pages, *FIRST_PAGES)
        files = [f"results/report/{collection}/{page}.html" for page in pages]
        files += plan.facts.by_models(collection).values()
        systems = plan.systems
        files += expanded(systems.unjudged_grid, collection=collection, system=systems.ranked_here)
        for extension in plan.extensions.values():
            pages = (
                f"results/report/{collection}/{page}.html" for page in extension.pages(collection)
            )
            files += [*extension.ends(collection), *pages]
        groups = [g for g in collections.groups if collection in collections.members(g)]
        files += [path for group in groups for path in plan.exhibits.files(group)]
        pairs = [pair for pair in collections.pairs if collection in pair]
        return [*files, *(path for pair in pairs for path in self._compared(*pair))]

    def _compared(self, earlier: str, later: str) -> list[str]:
        """What is told of two snapshots."""
        tables = expanded(f"{FOLDER}/{{t}}.{{s}}", t=CHANGES, s=FORMS)
        files = [*tables, "results/report/{collection}/since/{earlier}.html"]
        return expanded(files, collection=later, earlier=earlier)

    def absent(self, output: str) -> list[Path]:
        """Return the files of an output that is one of several files, and that are not there.

        They are those of a folder or of a manifest, by the digests that were written with them, and
        what the params name of an acquired source: what was never written is not gone.
        """
        path = Path(output)
        files = digests.absent(path)
        if path.name != digests.MANIFEST or not path.exists():
            return files
        written = (digests.recorded(Path(name)) for name in self._named_below(path.parent))
        recorded = dict.fromkeys(record for record in written if record)
        return [*files, *(file for record in recorded for file in digests.absent(record))]

    def _named_below(self, folder: PurePath) -> list[str]:
        """What facts, served pictures and plug-ins name below the folder of a source."""
        params = self.params
        facts = (
            path
            for collection_facts in params.tabulate.facts.values()
            for path in collection_facts.values().values()
        )
        served = (crawl.serve for crawl in params.crawl.values())
        added = (path for extension in self.plan.extensions.values() for path in extension.paths())
        names = filter(None, (*facts, *served, *added))
        return [name for name in names if PurePosixPath(name).is_relative_to(folder)]
