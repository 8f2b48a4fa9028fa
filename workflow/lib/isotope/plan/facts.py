"""What tables read besides runs: facts about a collection, and captions by models."""

from dataclasses import dataclass

from isotope.params import resolve
from isotope.params.root import Params
from isotope.plan.collections import Collections, Files, collected
from isotope.plan.models import Model, Models
from isotope.plan.paths import Paths, parsed, unique

TABLES = "results/tables"
_SCORED = {
    "scores": "results/score/{collection}.parquet",
    "significance": "results/score/{collection}.significance.parquet",
}


def tabulated(*names: str) -> dict[str, str]:
    """Return the patterns of a collection's tables by name: collected, scored, or made of those."""
    patterns = {**collected(), **_SCORED}
    return {n: patterns.get(n, f"{TABLES}/{{collection}}/{n}.parquet") for n in names}


@dataclass(frozen=True)
class FactFiles:
    """Files of facts about collections: of others, by models, or counted here."""

    params: Params
    paths: Paths
    collections: Collections
    models: Models

    @property
    def detector(self) -> str:
        """The root, for `provenance.closure`, of what detects objects."""
        kind = getattr(self.params.tabulate.detector, "kind", None)
        return f"tabulate.objects:{'SsdDetector' if kind == 'ssd' else 'DetrDetector'}"

    def of_collection(self, collection: str) -> dict[str, str]:
        """Return the files of facts about a collection, by name; those of others come last."""
        listed = self._listed(collection)
        if self.params.tabulate.popularity == "inlinks":
            listed.pop("views", None)
        # The views of entities are monthly ones, and have thresholds in place of deciles.
        if "views" in listed and self.collections[collection].entry.has_entities:
            listed["monthly_views"] = listed.pop("views")
        return {**self._computed(collection), **listed}

    def _listed(self, collection: str) -> dict[str, str]:
        entry = self.params.tabulate.facts.get(collection)
        return entry.spec() if entry else {}

    def _computed(self, collection: str) -> dict[str, str]:
        """The facts that rules of ours make; links to pages where they measure popularity."""
        measure, about = self.params.tabulate.popularity, self.collections[collection]
        counts = measure == "inlinks" or (
            measure == "auto" and "views" not in self._listed(collection)
        )
        [links] = parsed(about.source, "inlinks")
        linked = {"inlinks": links} if counts and about.entry.is_snapshot else {}
        return {**self.by_models(collection), **linked}

    def by_models(self, collection: str) -> dict[str, str]:
        """Return the tables of styles and objects in images, where the params name a model."""
        tabulate = self.params.tabulate
        model_of_table = {"styles": tabulate.styles, "objects": tabulate.detector}
        return {
            t: f"{TABLES}/{collection}/{t}.parquet" for t, model in model_of_table.items() if model
        }

    def files(self, collection: str, *names: str) -> list[str]:
        """Return the manifests of a collection, as facts may be acquired, and those of some facts
        that were not: those that rules of ours make, or files of others.
        """
        facts, computed = self.of_collection(collection), self._computed(collection).values()
        paths = [facts[name] for name in names if name in facts]
        files = ([path] if path in computed else self.paths.local_files(path) for path in paths)
        return unique(self.collections[collection].manifests, *files)

    def only(self, collection: str, name: str) -> list[str]:
        """Return the file of one fact, if a collection has it."""
        return [path for fact, path in self.of_collection(collection).items() if fact == name]

    @property
    def styler(self) -> Model | None:
        """The model that classifies styles, if one does."""
        styles = self.params.tabulate.styles
        return self.models[styles.model] if styles else None

    # Captions by models on the pictures of a source, and people's choices between them.

    def captions(self, collection: str) -> dict[str, list[str]]:
        """Return the files of each model that captions the pictures of a collection's source."""
        source, entries = self.collections[collection].source, self.params.tabulate.captioners
        named = {name: entry.files for name, entry in entries.items() if entry.source == source}
        return {name: resolve.local_files(files) for name, files in named.items()}

    def captioned(self, subject: str) -> dict[str, Files]:
        """Return the tables of captions that a group, or a collection, has: those of its members.

        The correlations of people's choices with CIDEr are its own.
        """
        tabulate, members = self.params.tabulate, self.collections.members(subject)
        source = {name: self.collections[name].source for name in members}
        described = {entry.source for entry in tabulate.captioners.values()}
        having = {
            "captions": members if tabulate.captions else [],
            "captioners": [name for name in members if source[name] in described],
            "side_by_side": [name for name in members if source[name] in tabulate.side_by_side],
        }
        files: dict[str, Files] = {
            table: [f"{TABLES}/{name}/{table}.parquet" for name in names]
            for table, names in having.items()
            if names
        }
        correlations = f"{TABLES}/{subject}/correlations.parquet"
        return {**files, **({"correlations": correlations} if "side_by_side" in files else {})}
