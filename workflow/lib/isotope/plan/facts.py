"""What tables read besides runs: facts about a collection, and captions by models."""

from dataclasses import dataclass

from isotope.params import resolve
from isotope.params.root import Params
from isotope.plan.collections import Collections
from isotope.plan.models import Model, Models
from isotope.plan.paths import Paths, parsed, unique
from isotope.plan.sources import Spec


@dataclass(frozen=True)
class Facts:
    """Files of facts about collections: of others, by models, or counted here."""

    params: Params
    paths: Paths
    collections: Collections
    models: Models

    def of(self, collection: str) -> dict[str, str]:
        """Return the files of facts about a collection, by name."""
        unused = ["views"] if self.params.tabulate.popularity == "inlinks" else []
        # The views of OVEN's entities are monthly ones, and have thresholds in place of deciles.
        is_oven = self.collections[collection].family == "oven"
        names = {"views": "monthly_views"} if is_oven else {}
        listed = self._listed(collection).items()
        named = {names.get(fact, fact): path for fact, path in listed if fact not in unused}
        return {**self._made(collection), **named}

    def _listed(self, collection: str) -> dict[str, str]:
        facts: dict[str, str] = self.params["tabulate"]["facts"].get(collection, {})
        return facts

    def _made(self, collection: str) -> dict[str, str]:
        """The facts that rules of ours make."""
        return {**self.by_models(collection), **self.inlinks(collection)}

    def by_models(self, collection: str) -> dict[str, str]:
        """Return the tables of styles and objects in images, where the params name a model."""
        named = {"styles": "styles", "detector": "objects"}
        tables = [table for key, table in named.items() if getattr(self.params.tabulate, key)]
        return {table: f"results/tables/{collection}/{table}.parquet" for table in tables}

    def inlinks(self, collection: str) -> dict[str, str]:
        """Return the links to a collection's pages, where they measure popularity."""
        measure, about = self.params.tabulate.popularity, self.collections[collection]
        has_views = "views" in self._listed(collection)
        counts = measure == "inlinks" or (measure == "auto" and not has_views)
        [links] = parsed(about.source, "inlinks")
        return {"inlinks": links} if counts and about.entry.is_snapshot else {}

    def files(self, collection: str, *names: str) -> list[str]:
        """Return the manifests of a collection, as facts may be acquired, and those of some facts
        that were not: those that rules of ours make, or files of others.
        """
        facts, made = self.of(collection), self._made(collection)
        named = [(name, facts[name]) for name in names if name in facts]
        local = self.paths.local_files
        files = [[path] if made.get(name) == path else local(path) for name, path in named]
        return unique(self.collections[collection].manifests, *files)

    def only(self, collection: str, name: str) -> list[str]:
        """Return the file of one fact, if a collection has it."""
        return [path for fact, path in self.of(collection).items() if fact == name]

    def explain(self, collection: str, *keys: str) -> Spec:
        """Return some of the params that a collection's failures are explained with."""
        return {key: self.params["tabulate"]["explain"][collection].get(key) for key in keys}

    def dictionary(self, collection: str) -> list[str]:
        """Return what a collection's WordNet rests on: manifests, and its files."""
        named = self.params.tabulate.explain[collection].wordnet
        return unique(self.collections[collection].manifests, self.paths.local_files(named))

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

    def caption_tables(self, subject: str) -> list[str]:
        """Return the tables of captions by models that a group, or a collection, has."""
        sources = {entry.source for entry in self.params.tabulate.captioners.values()}
        members = [self.collections[name] for name in self.collections.members(subject)]
        captioned = [c for c in members if c.source in sources]
        chosen = [c for c in captioned if c.source in self.params.tabulate.side_by_side]
        both = ["side_by_side", "correlation"] if chosen else []
        return (["captioners"] if captioned else []) + both

    def member_tables(self, subject: str, table: str) -> list[str]:
        """Return a table of captions by models, of those members of a group that have it."""
        members = self.collections.members(subject)
        having = [name for name in members if table in self.caption_tables(name)]
        return [f"results/tables/{name}/{table}.parquet" for name in having]
