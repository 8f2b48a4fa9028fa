"""Which tables and figures a collection or a group has, and from what each is made.

An exhibit (an entry of `templates/exhibits.yaml`) names relations and parameters; here stand the
files behind a relation and the value of a parameter. A relation that a collection lacks (facts that
the params do not name, judgements that have not come back) leaves out the exhibits that read it.
"""

import re
from dataclasses import dataclass

from isotope.judge.ledger import sheet_paths
from isotope.params.root import Params
from isotope.params.sections import SystemKind, answers_any_query
from isotope.plan.collections import Collections, Files
from isotope.plan.facts import Facts
from isotope.plan.judges import Judges
from isotope.plan.paths import Paths, as_list, expanded, parsed, unique
from isotope.plan.sources import Spec
from isotope.plan.systems import Systems
from isotope.report.words import WORDS
from isotope.tabulate.exhibits import Exhibit, described, recipe
from isotope.tabulate.table import FORMS

TABLES, FIGURES = "results/tables", "results/figures"
# The tables of explained failures, in the order of their page.
_FAILURES = ("explained", "ranking", "unknown_objects", "moved", "perturbed")
# Data that rules of ours make for all collections, and of failures for those that are explained.
_COMPUTED = ("tokens", "intervals", "subsets", "tops", "answered")
_EXPLAINED = ("failures", "ranks", "rejected_objects")


@dataclass(frozen=True)
class Exhibits:
    """The tables and figures of collections and groups; each of these is a subject."""

    params: Params
    paths: Paths
    collections: Collections
    systems: Systems
    judges: Judges
    facts: Facts

    @property
    def rules(self) -> dict[str, str]:
        """The subjects, by the name of the rule that makes their exhibits."""
        rules: dict[str, str] = {}
        for name in [*self.params.collect, *self.collections.groups]:
            rule = "tabulate_tables_" + re.sub(r"\W", "_", name)
            rules[rule if rule not in rules else f"{rule}_{len(rules)}"] = name
        return rules

    def of(self, subject: str) -> dict[str, Exhibit]:
        """Return the exhibits of a subject that a query or function makes, by name."""
        relations = self.relations(subject).keys()
        return {
            name: entry
            for name, entry in described().items()
            if entry.reads
            and {*entry.reads.values()} <= relations
            and self._applies(entry, subject)
        }

    def _applies(self, entry: Exhibit, subject: str) -> bool:
        is_group = subject in self.collections.groups
        if ("group" if is_group else "collection") not in entry.subjects:
            return False
        when = entry.when
        return (
            ("kind" not in when or when["kind"] == self.collections[subject].family)
            and ("fact" not in when or when["fact"] in self.facts.of(subject))
            and ("systems" not in when or self._are_adapted)
        )

    def recipes(self, subject: str) -> dict[str, Spec]:
        """Return the fields of the recipe of each exhibit: what Snakemake compares, no captions."""
        relations, values = self.relations(subject), self.values(subject)
        return {
            name: recipe(name, relations, {**values, "tail": values["tails"].get(name)})._asdict()
            for name in self.of(subject)
        }

    def queries(self, subject: str) -> list[str]:
        """Return the queries of a subject's exhibits."""
        entries = self.of(subject).values()
        names = sorted({n for e in entries for n in (e.query, e.drawn_from) if n})
        names += [] if subject in self.collections.groups else ["metrics"]
        return self.paths.sql(*(f"tabulate/tables/{name}.sql" for name in names))

    def files(self, subject: str) -> list[str]:
        """Return the files that a subject's exhibits are written to."""
        entries = self.of(subject).items()
        tables = [name for name, entry in entries if entry.table]
        figures = [name for name, entry in entries if entry.draws]
        files = expanded(f"{TABLES}/{subject}/{{t}}.{{s}}", t=tables, s=FORMS)
        if subject not in self.collections.groups:
            figures += [f"curve-{model}" for model in self._curves(subject)]
            files.append(f"{TABLES}/{subject}/metrics.json")
        return [*files, *expanded(f"{FIGURES}/{subject}/{{f}}.svg", f=figures)]

    def reads(self, subject: str) -> list[str]:
        """Return the files that a subject's exhibits are made from."""
        relations = self.relations(subject)
        names = unique(*(entry.reads.values() for entry in self.of(subject).values()))
        facts = {} if subject in self.collections.groups else self.facts.of(subject)
        told = [name for name in names if name in facts]
        files = [as_list(relations[name]) for name in names if name not in facts]
        return unique(*files, self.facts.files(subject, *told) if told else [])

    def curves(self, subject: str) -> list[str]:
        """Return the learning curves of the models that learn from a collection."""
        return [] if subject in self.collections.groups else [*self._curves(subject).values()]

    def _curves(self, collection: str) -> dict[str, str]:
        """The learning curves by model, those of models of pictures with words last."""
        systems, models = self.systems, self.systems.models
        used = systems.models_of(systems.used)
        whole = [name for name in used if models[name].is_mix(frozen=False)]
        folder = f"data/train/{collection}"
        trained = [n for n in systems.trained if models[n].learns_from(collection) == collection]
        curves = {name: f"{folder}/{name}/curve.csv" for name in trained}
        return curves | {name: f"{folder}/{name}/accuracies.csv" for name in whole}

    # What an exhibit may read.

    def relations(self, subject: str) -> dict[str, Files]:
        """Return the files behind each relation that a subject has."""
        if subject in self.collections.groups:
            members = self.collections.members(subject)
            scores = expanded("results/score/{c}.parquet", c=members)
            return {"scores": scores, **self._captions(subject)}
        about = self.collections[subject]
        score = f"results/score/{subject}"
        return {
            **about.tables,
            "filters": f"data/collect/{subject}/filters.parquet",
            "scores": f"{score}.parquet",
            "significance": f"{score}.significance.parquet",
            "trials": self._trials(subject),
            **_tables(subject, *_COMPUTED),
            **self.facts.of(subject),
            **about.accounts,
            **self._associations(subject),
            **self.judges.tables(subject),
            **self._explained(subject),
            **self._searched(subject),
            **self._captions(subject),
        }

    def _trials(self, collection: str) -> list[str]:
        """The grids that the tuned systems were chosen from."""
        tuned = self.systems.who(_is_tuned)
        return expanded(f"results/search/{collection}/tuning/{{s}}.csv", s=tuned)

    def _captions(self, subject: str) -> dict[str, Files]:
        """The captions of people, and of models, that are compared by language."""
        files: dict[str, Files] = {}
        if self.params.tabulate.captions:
            members = self.collections.members(subject)
            files["captions"] = expanded(f"{TABLES}/{{c}}/captions.parquet", c=members)
        tables = self.facts.caption_tables(subject)
        files |= {t: self.facts.member_tables(subject, t) for t in tables if t != "correlation"}
        return files | (_tables(subject, "correlations") if "correlation" in tables else {})

    def _associations(self, collection: str) -> dict[str, Files]:
        """The pictures that WIT and the snapshot name, where a collection has both."""
        about = self.collections[collection]
        names = {"rejected_associations": "associations.rejected"}
        names |= {name: name for name in ("associations", "sections")}
        files = (
            parsed(about.source, *names.values())
            if about.crawls.associations(about.source) == "both"
            else []
        )
        return dict(zip(names, files, strict=False))

    def _explained(self, collection: str) -> dict[str, Files]:
        """Explained failures, ranks of right answers, and what people say of the failures."""
        if collection in self.ranking:
            return _tables(collection, "ranks")
        if collection not in self.explained:
            return {}
        studied = ["studied"] if sheet_paths(collection, "failures") else []
        files = _tables(collection, *_EXPLAINED, *studied)
        systems = self._perturbable()
        ranks = expanded(f"{TABLES}/{collection}/perturbed/{{s}}.parquet", s=systems)
        return {**files, **({"perturbed": ranks} if ranks else {})}

    def _searched(self, collection: str) -> dict[str, Files]:
        """What approximate search finds, and the scores on another collection."""
        approximate = self.systems.who(lambda system: system.measures_recall)
        recall = expanded(f"results/search/{collection}/recall/{{s}}.csv", s=approximate)
        files: dict[str, Files] = {"recall": recall} if recall else {}
        if other := self.params.tabulate.against.get(collection):
            both = unique([collection, other.collection])
            files["cross_scores"] = expanded("results/score/{c}.parquet", c=both)
        return files

    @property
    def explained(self) -> list[str]:
        """The built collections whose failures are explained."""
        return [c for c in self.collections.built if c in self.params.tabulate.explain]

    @property
    def ranking(self) -> list[str]:
        """The built collections with a ranking table whose failures are not explained."""
        named = {*self.params.tabulate.rankings} - {*self.explained}
        return [c for c in self.collections.built if c in named]

    def failure_pages(self, collection: str) -> list[str]:
        """Return the page of a collection's explained failures, and the sheet for people."""
        files = [f"results/report/{collection}/failures.html", f"{TABLES}/{collection}/study.csv"]
        return files if collection in self.explained else []

    def failure_tables(self, collection: str) -> list[str]:
        """Return the tables of explained failures, in the order of their page."""
        made = self.of(collection)
        return [f"{TABLES}/{collection}/{name}.arrow" for name in _FAILURES if name in made]

    def group_tables(self, group: str) -> list[str]:
        """Return the tables that hold the collections of a group side by side."""
        captions = ["captions"] if self.params.tabulate.captions else []
        names = ["group", *captions, *self.facts.caption_tables(group)]
        return [f"{TABLES}/{group}/{name}.md" for name in names]

    # What an exhibit's parameters may be.

    def values(self, subject: str) -> Spec:
        """Return the value behind each parameter of a subject's exhibits."""
        tabulate, systems, groups = self.params.tabulate, self.systems, self.collections.groups
        parts = groups.get(subject, {})
        values = {
            "alpha": tabulate.alpha,
            "comparisons": tabulate.comparisons,
            **systems.cell,
            "measure": self.params.score.measures[0],
            "measures": self.params.score.measures,
            "systems": systems.search.systems,
            "looks": systems.looks,
            "captioners": [*tabulate.captioners],
            "tails": self.params["tabulate"]["tail"],
            "parts": [*parts],
            "part_collections": [*parts.values()],
            "part_languages": [[self._language(c) for c in part] for part in parts.values()],
            "models": self.params["models"],
            "system_entries": {n: self.params["systems"][n] for n in systems.search.systems},
        }
        return values if subject in groups else {**values, **self._values_of(subject)}

    def _language(self, collection: str) -> str:
        return self.collections[collection].entry.language

    def _values_of(self, collection: str) -> Spec:
        explain = self.params.tabulate.explain.get(collection)
        words = WORDS[self.collections[collection].origin].fields
        values = {
            "language": self._language(collection),
            "collection": collection,
            "field_names": [*words],
            "field_words": [*words.values()],
            "support": explain.study.support if explain else None,
            "confidence": explain.study.confidence if explain else None,
        }
        cross = self.params.tabulate.against.get(collection)
        if not cross:
            return values
        splits = cross.splits or self.params.search.splits[:1]
        return {
            **values,
            **{f"cross_{k}": getattr(cross, k) for k in ("collection", "here", "there")},
            "cross_setting": cross.setting or self.params.search.settings[0],
            "cross_split": splits[0],
            "cross_other_split": splits[-1],
        }

    @property
    def _are_adapted(self) -> bool:
        """Whether a system is trained, or fused with parameters that a split chooses."""
        return bool(self.systems.trained or self.systems.who(_is_tuned))

    def _perturbable(self) -> list[str]:
        """The searched systems that answer other queries than the collection's."""
        models = self.params.models
        perturbable = self.systems.who(lambda system: answers_any_query(system, models))
        return perturbable if "t2m" in self.params.search.tasks else []


def _is_tuned(system: SystemKind) -> bool:
    return bool(getattr(system, "tune", None))


def _tables(subject: str, *names: str) -> dict[str, Files]:
    return {name: f"{TABLES}/{subject}/{name}.parquet" for name in names}
