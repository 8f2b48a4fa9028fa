"""What a run ends with: the files that are made for people, and for no other file's sake.

All that stands behind them is found by the rules (`plan.graph`); what each collection ends with is
read by its record, so the front page and the catalog come last.
"""

from collections.abc import Iterator
from pathlib import Path, PurePath, PurePosixPath

from isotope.core import digests
from isotope.plan.graph import Graph
from isotope.plan.paths import expanded, of_collection
from isotope.plan.plan import Plan
from isotope.tabulate.table import FORMS

# Phases whose outputs a verification computes again, or reads.
_COMPARED = ("acquire", "collect", "encode", "search", "score", "tabulate")


class Ends:
    """What a plan ends with."""

    def __init__(self, plan: Plan, graph: Graph) -> None:
        """Of the collections that the params build, and of the graph behind them."""
        self.plan, self.graph = plan, graph
        self.params = plan.params

    def all(self) -> list[str]:
        """Return the records of all collections, what tells them apart, and the newest numbers."""
        plan, build = self.plan, self.params["build"]
        records = [path for c in build for path in plan.record_files(c)]
        confirmed = [plan.CONFIRMED.format(collection=c) for c in build]
        told = confirmed if plan.verified["checks"] else []
        return [*records, *told, f"{plan.NEWEST}/metrics.json", plan.FRONT_PAGE, plan.CATALOG]

    def of_collection(self, collection: str) -> list[str]:
        """Return what a collection ends with, and its groups and pairs: what its record reads."""
        plan = self.plan
        pages = (*plan.report_pages, *plan.FIRST_PAGES)
        files = [f"results/report/{collection}/{page}.html" for page in pages]
        files += plan.image_facts(of_collection(collection)).values()
        files += [*plan.failure_tables(collection), *plan.mistake_tables(collection)]
        files += [*self._judged(collection), *self._submitted(collection)]
        if collection in plan.suggested_collections():
            page = f"results/report/{collection}/suggest.html"
            files += [page, *plan.suggest_files(collection)]
        groups = [g for g in plan.groups if collection in plan.group_members(g)]
        files += [path for group in groups for path in plan.exhibit_files(group)]
        pairs = [pair for pair in plan.compared_pairs() if collection in pair]
        return [*files, *(path for pair in pairs for path in self._compared(*pair))]

    def _judged(self, collection: str) -> list[str]:
        """The sheets for people to judge, and what grades have come back."""
        plan, folder = self.plan, f"results/score/{collection}"
        files = [f"{folder}/sheet.csv"] if collection in plan.judged_collections() else []
        if collection in plan.graded_collections():
            files.append(f"{folder}/graded.parquet")
        return [*files, *plan.model_table(collection).values()]

    def _submitted(self, collection: str) -> Iterator[str]:
        """The runs whose answers are withheld, and what their benchmark wants to be sent."""
        plan = self.plan
        systems = [s for s in plan.used_systems() if not plan.system_kind(s).foreign]
        yield from expanded(plan.unjudged_grid, collection=collection, system=systems)
        if plan.kind_family(collection) == "oven" and "m2t" in plan.tasks:
            cells = {"setting": plan.largest_setting(), "split": plan.unjudged}
            yield from expanded(plan.SUBMISSION, collection=collection, system=systems, **cells)

    def _compared(self, earlier: str, later: str) -> list[str]:
        """What is told of two snapshots."""
        folder = f"results/tables/{later}/since/{earlier}"
        shown = expanded(f"{folder}/{{t}}.{{s}}", t=self.plan.CHANGE_TABLES, s=FORMS)
        return [*shown, f"results/report/{later}/since/{earlier}.html"]

    def verified(self, collection: str) -> list[str]:
        """Return what a verification reads: all behind the report but the pages that show it."""
        report = [f"results/report/{collection}/{page}.html" for page in self.plan.report_pages]
        return self.graph.behind(report, _COMPARED)

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
        recorded = dict.fromkeys(each for each in written if each)
        return [*files, *(file for each in recorded for file in digests.absent(each))]

    def _named_below(self, folder: PurePath) -> list[str]:
        """What facts, dictionaries and served pictures name below the folder of a source."""
        facts = self.params["tabulate"]["facts"].values()
        names = [path for own in facts for path in own.values()]
        names += [
            e["wordnet"] for e in self.params["tabulate"]["explain"].values() if "wordnet" in e
        ]
        names += [e["serve"] for e in self.params["crawl"].values() if e.get("serve")]
        return [name for name in names if PurePosixPath(name).is_relative_to(folder)]
