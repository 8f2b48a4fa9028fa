"""Which tables and figures a collection or a group has, and from what each is made.

An exhibit (an entry of `templates/exhibits.yaml`) names relations and parameters; here stand the
files behind a relation and the value of a parameter. A relation that a collection lacks (facts that
the params do not name, judgements that have not come back) leaves out the exhibits that read it.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from isotope.core.syntax import file_of
from isotope.params.root import Params
from isotope.plan.collections import Collections, Files
from isotope.plan.extension import Extension
from isotope.plan.facts import TABLES, FactFiles
from isotope.plan.paths import Paths, as_list, expanded, unique
from isotope.plan.systems import Systems
from isotope.report.words import WORDS
from isotope.tabulate.exhibits import Exhibit, described, query, recipe, system_rows
from isotope.tabulate.table import FORMS

FIGURES = "results/figures"
# Data that rules of ours make for all collections.
_COMPUTED = ("tokens", "intervals", "subsets", "tops", "answered")


@dataclass(frozen=True)
class Exhibits:
    """The tables and figures of collections and groups; each of these is a subject."""

    params: Params
    paths: Paths
    collections: Collections
    systems: Systems
    facts: FactFiles
    extensions: Mapping[str, Extension]

    @property
    def rules(self) -> dict[str, str]:
        """The subjects, by the name of the rule that makes their exhibits."""
        rules: dict[str, str] = {}
        for name in [*self.params.collect, *self.collections.groups]:
            rule = "tabulate_tables_" + re.sub(r"\W", "_", name)
            rules[rule if rule not in rules else f"{rule}_{len(rules)}"] = name
        return rules

    def is_group(self, subject: str) -> bool:
        """Tell a group from a collection."""
        return subject in self.collections.groups

    def of_subject(self, subject: str) -> dict[str, Exhibit]:
        """Return the exhibits of a subject that a query or function makes, by name."""
        relations = self.relations(subject).keys()
        return {
            name: entry
            for name, entry in described().items()
            if entry.reads
            and {*entry.reads.values()} <= relations
            and ("group" if self.is_group(subject) else "collection") in entry.subjects
            and all(value in self._conditions(key, subject) for key, value in entry.when.items())
        }

    def _conditions(self, key: str, collection: str) -> list[str]:
        """What a key of `when` may say of a collection."""
        if key == "systems":
            return ["adapted"] if self.systems.trained or self.systems.who("tune") else []
        about = self.collections[collection]
        return [about.family] if key == "kind" else [*self.facts.of_collection(collection)]

    def recipes(self, subject: str) -> dict[str, dict[str, Any]]:
        """Return the fields of the recipe of each exhibit: what Snakemake compares, no captions."""
        relations, values = self.relations(subject), self.values(subject)
        return {
            name: recipe(name, relations, values)._asdict() for name in self.of_subject(subject)
        }

    def roots(self, subject: str) -> list[str]:
        """Return the queries of a subject's exhibits, and the functions of plug-ins that draw or
        write them: no code names these.
        """
        entries = self.of_subject(subject).values()
        names = sorted({n for e in entries for n in (e.query, e.drawn_from) if n})
        called = sorted({n for e in entries for n in (e.draws, e.written_by) if ":" in n})
        return [*(file_of(query(name)) for name in names), *called]

    def tables(self, subject: str, suffix: str = "md", number: str | None = None) -> list[str]:
        """Return the tables of a subject in one form: all, or those with a number."""
        entries = self.of_subject(subject).items()
        names = [n for n, e in entries if e.table and number in (None, e.number)]
        return [f"{TABLES}/{subject}/{name}.{suffix}" for name in names]

    def files(self, subject: str) -> list[str]:
        """Return the files that a subject's exhibits are written to."""
        figures = [name for name, entry in self.of_subject(subject).items() if entry.draws]
        figures += [f"curve-{model}" for model in self.curves(subject)]
        metrics = [] if self.is_group(subject) else [f"{TABLES}/{subject}/metrics.json"]
        tables = (self.tables(subject, form) for form in FORMS)
        return unique(*tables, metrics, expanded(f"{FIGURES}/{subject}/{{f}}.svg", f=figures))

    def reads(self, subject: str) -> list[str]:
        """Return the files that a subject's exhibits are made from."""
        relations = self.relations(subject)
        names = unique(*(entry.reads.values() for entry in self.of_subject(subject).values()))
        facts = {} if self.is_group(subject) else self.facts.of_collection(subject)
        fact_names = [name for name in names if name in facts]
        files = [as_list(relations[name]) for name in names if name not in facts]
        return unique(*files, self.facts.files(subject, *fact_names) if fact_names else [])

    def curves(self, subject: str) -> dict[str, str]:
        """Return the learning curves of the models that learn from a collection.

        Those of models of pictures with words come last.
        """
        systems, models = self.systems, self.systems.models
        if self.is_group(subject):
            return {}
        trained = [n for n in systems.trained if models[n].learns_from(subject) == subject]
        trained_whole = [
            n for n in systems.models_of(systems.used) if models[n].is_mix(frozen=False)
        ]
        names = {**dict.fromkeys(trained, "curve"), **dict.fromkeys(trained_whole, "accuracies")}
        return {model: f"data/train/{subject}/{model}/{name}.csv" for model, name in names.items()}

    # What an exhibit may read.

    def relations(self, subject: str) -> dict[str, Files]:
        """Return the files behind each relation that a subject has."""
        if self.is_group(subject):
            members = self.collections.members(subject)
            scores = expanded("results/score/{c}.parquet", c=members)
            return {"scores": scores, **self.facts.captioned(subject)}
        about, who = self.collections[subject], self.systems.who
        score, search = f"results/score/{subject}", f"results/search/{subject}"
        approximate = who("measures_recall")
        # Both name pictures, where there are both.
        named = about.crawls.associations(about.source) == "both"
        associated = {"rejected_associations": "associations.rejected"} if named else {}
        associated |= {t: t for t in ("associations", "sections") if named}
        cross = self.params.tabulate.against.get(subject)
        both = unique([subject, cross.collection]) if cross else []
        files: dict[str, Files] = {
            "recall": expanded(f"{search}/recall/{{s}}.csv", s=approximate),
            "cross_scores": expanded("results/score/{c}.parquet", c=both),
        }
        return {
            **about.tables,
            "filters": f"data/collect/{subject}/filters.parquet",
            "scores": f"{score}.parquet",
            "significance": f"{score}.significance.parquet",
            "trials": expanded(f"{search}/tuning/{{s}}.csv", s=who("tune")),
            **{name: f"{TABLES}/{subject}/{name}.parquet" for name in _COMPUTED},
            **self.facts.of_collection(subject),
            **about.accounts,
            **{name: f"data/parse/{about.source}/{t}.parquet" for name, t in associated.items()},
            **self.facts.captioned(subject),
            **{name: paths for name, paths in files.items() if paths},
            **{
                k: v
                for extension in self.extensions.values()
                for k, v in extension.relations(subject).items()
            },
        }

    # What an exhibit's parameters may be.

    def values(self, subject: str) -> dict[str, Any]:
        """Return the value behind each parameter of a subject's exhibits."""
        tabulate, systems, parts = (
            self.params.tabulate,
            self.systems,
            self.collections.groups.get(subject, {}),
        )
        kind_of_system = {name: systems.composed(name) for name in systems.search.systems}
        values: dict[str, Any] = {
            "alpha": tabulate.alpha,
            "comparisons": tabulate.comparisons,
            **systems.cell,
            "measure": self.params.score.measures[0],
            "measures": self.params.score.measures,
            "systems": [*kind_of_system],
            "looks": systems.looks,
            "captioners": [*tabulate.captioners],
            "parts": [*parts],
            "part_collections": [*parts.values()],
            "part_languages": [[self._language(c) for c in part] for part in parts.values()],
            "stages": [*system_rows(kind_of_system, self.params.models)],
        }
        return values if self.is_group(subject) else {**values, **self._values_of(subject)}

    def _language(self, collection: str) -> str:
        return self.collections[collection].entry.language

    def _values_of(self, collection: str) -> dict[str, Any]:
        tabulate, search = self.params.tabulate, self.params.search
        words = WORDS[self.collections[collection].origin].fields
        values: dict[str, Any] = {
            "language": self._language(collection),
            "collection": collection,
            "field_names": [*words],
            "field_words": [*words.values()],
        }
        if cross := tabulate.against.get(collection):
            splits = cross.splits or search.splits[:1]
            values |= {f"cross_{k}": getattr(cross, k) for k in ("collection", "here", "there")}
            values["cross_setting"] = cross.setting or search.settings[0]
            values |= {"cross_split": splits[0], "cross_other_split": splits[-1]}
        for extension in self.extensions.values():
            values |= extension.values(collection)
        return values
