"""Which tables and figures a collection or a group has, and from what each is made.

An exhibit (an entry of `templates/exhibits.yaml`) names relations and parameters; here stand the
files behind a relation and the value of a parameter. A relation that a collection lacks (facts that
the params do not name, judgements that have not come back) leaves out the exhibits that read it.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from itertools import product
from typing import Any

from isotope.judge.ledger import sheet_paths
from isotope.params.phases import collection_kind
from isotope.params.sections import answers_any_query, model_values
from isotope.plan.paths import Wildcards, expanded, of_collection
from isotope.plan.since import Since
from isotope.report.words import WORDS
from isotope.tabulate.exhibits import Exhibit, described, recipe
from isotope.tabulate.table import FORMS

TABLES, FIGURES = "results/tables", "results/figures"
Files = str | Sequence[str]


class Exhibits(Since):
    """Which tables and figures a collection or a group has, and from what each is made."""

    def tabulated(self) -> dict[str, str]:
        """Return what has exhibits, collections and groups, by the name of its rule."""
        names = [*self.params["collect"], *self.groups]
        rules: dict[str, str] = {}
        for name in names:
            rule = "tabulate_tables_" + re.sub(r"\W", "_", name)
            rules[rule if rule not in rules else f"{rule}_{len(rules)}"] = name
        return rules

    def exhibits_of(self, subject: str) -> list[str]:
        """Return the exhibits of a collection or group that a query or function makes."""
        relations = self.exhibit_relations(subject)
        return [
            name
            for name, entry in described().items()
            if entry.reads
            and set(entry.reads.values()) <= relations.keys()
            and self._applies(entry, subject)
        ]

    def _applies(self, entry: Exhibit, subject: str) -> bool:
        is_group = subject in self.groups
        if ("group" if is_group else "collection") not in entry.subjects:
            return False
        conditions: Mapping[str, Callable[[str], bool]] = {
            "kind": lambda kind: self.kind_family(subject) == kind,
            "fact": lambda fact: fact in self.facts(of_collection(subject)),
            "systems": lambda _: self.has_adapted_systems(),
        }
        return all(conditions[key](value) for key, value in entry.when.items())

    def exhibit_recipes(self, subject: str) -> dict[str, dict[str, Any]]:
        """Return the fields of the recipe of each exhibit: what Snakemake compares, no captions."""
        relations, values = self.exhibit_relations(subject), self.exhibit_values(subject)
        return {
            name: recipe(name, relations, {**values, "tail": values["tails"].get(name)})._asdict()
            for name in self.exhibits_of(subject)
        }

    def exhibit_queries(self, subject: str) -> list[str]:
        """Return the queries of a collection's or group's exhibits, as inputs."""
        entries = [described()[name] for name in self.exhibits_of(subject)]
        names = {n for e in entries for n in (e.query, e.drawn_from) if n}
        metrics = [] if subject in self.groups else ["metrics"]
        return self.sql(*(f"tabulate/tables/{n}.sql" for n in [*sorted(names), *metrics]))

    def exhibit_files(self, subject: str) -> list[str]:
        """Return the files that the exhibits of a collection or group are written to."""
        entries = {name: described()[name] for name in self.exhibits_of(subject)}
        tables = [name for name, entry in entries.items() if entry.table]
        figures = [name for name, entry in entries.items() if entry.draws]
        files = _each(f"{TABLES}/{subject}/{{t}}.{{s}}", t=tables, s=FORMS)
        if subject not in self.groups:
            trained = self.learning_here(subject, self.trained_models())
            figures += [f"curve-{m}" for m in [*trained, *self.fine_tuned_models()]]
            files.append(f"{TABLES}/{subject}/metrics.json")
        return [*files, *_each(f"{FIGURES}/{subject}/{{f}}.svg", f=figures)]

    def exhibit_folder(self, what: str, subject: str) -> Callable[[Wildcards], str]:
        """Return the function of the folder of a collection's or group's `tables` or `figures`."""
        return lambda _: f"results/{what}/{subject}"

    def exhibit_sources(self, subject: str) -> Callable[[Wildcards], list[str]]:
        """Return the function of the inputs of a collection's or group's exhibits."""

        def sources(_: Wildcards) -> list[str]:
            relations = self.exhibit_relations(subject)
            entries = [described()[name] for name in self.exhibits_of(subject)]
            reads = dict.fromkeys(r for entry in entries for r in entry.reads.values())
            facts = [] if subject in self.groups else [*self.facts(of_collection(subject))]
            files = [p for r in reads if r not in facts for p in _listed(relations[r])]
            of_facts = [r for r in reads if r in facts]
            if of_facts:
                files += self.manifests(of_collection(subject))
                files += self.fact_files(of_collection(subject), *of_facts)
            return list(dict.fromkeys(files))

        return sources

    def explained_tables(self, collection: str) -> list[str]:
        """Return the tables of explained failures, in the order of their page."""
        order = ("explained", "ranking", "unknown_objects", "moved", "perturbed")
        own = self.exhibits_of(collection)
        return [f"{TABLES}/{collection}/{name}.arrow" for name in order if name in own]

    def exhibit_curves(self, subject: str) -> list[str]:
        """Return the learning curves of the models that are trained on a collection."""
        return [] if subject in self.groups else self.curves(of_collection(subject))

    def exhibit_scores(self, subject: str) -> str | None:
        """Return the scores that a collection's metrics.json is made from; a group has none."""
        return None if subject in self.groups else f"results/score/{subject}.parquet"

    def exhibit_relations(self, subject: str) -> dict[str, Files]:
        """Return the files behind each relation that a collection or a group has."""
        own = self._captions(subject)
        if subject in self.groups:
            members = self.group_members(subject)
            return {"scores": _each("results/score/{c}.parquet", c=members), **own}
        tables = f"{TABLES}/{subject}"
        computed = ("tokens", "intervals", "subsets", "tops", "answered")
        return {
            **self.collection_tables(of_collection(subject)),
            "filters": f"data/collect/{subject}/filters.parquet",
            "scores": f"results/score/{subject}.parquet",
            "significance": f"results/score/{subject}.significance.parquet",
            "trials": [str(path) for path in self.tuning_grids(of_collection(subject))],
            **{name: f"{tables}/{name}.parquet" for name in computed},
            **self.facts(of_collection(subject)),
            **self.accounts(subject),
            **self._associations(subject),
            **self._judged(subject),
            **self._explained(subject),
            **self._searched(subject),
            **own,
        }

    def _captions(self, subject: str) -> dict[str, Files]:
        """The captions of people, and of models, that are compared by language."""
        members = self.group_members(subject)
        pattern = f"{TABLES}/{{c}}/captions.parquet"
        own: dict[str, Files] = {}
        if self.params["tabulate"]["captions"]:
            own["captions"] = _each(pattern, c=members)
        for table in self.caption_tables(subject):
            if table != "correlation":
                own[table] = self.member_tables(subject, table)
            else:
                own["correlations"] = f"{TABLES}/{subject}/correlations.parquet"
        return own

    def _associations(self, collection: str) -> dict[str, Files]:
        """The pictures that WIT and the snapshot name, where a collection has both."""
        if not self.uses_both_associations(collection):
            return {}
        folder = f"data/parse/{self.source_of(collection)}"
        names = {"rejected_associations": "associations.rejected"}
        names |= {name: name for name in ("associations", "sections")}
        return {relation: f"{folder}/{file}.parquet" for relation, file in names.items()}

    def _judged(self, collection: str) -> dict[str, Files]:
        """What models' grades give, and the grades of people, once they have come back."""
        of_models: dict[str, Files] = {**self.model_table(collection)}
        if collection not in self.graded_collections():
            return of_models
        names = {"graded": "scores", **{n: n for n in ("reuse", "tau", "agreement")}}
        people = {r: f"results/score/{collection}/{n}.parquet" for r, n in names.items()}
        return {**people, **of_models}

    def _explained(self, collection: str) -> dict[str, Files]:
        """Explained failures, ranks of right answers, and what people say of the failures."""
        tables = f"{TABLES}/{collection}"
        if collection in self.ranking_collections():
            return {"ranks": f"{tables}/ranks.parquet"}
        if collection not in self.explained_collections():
            return {}
        names = {"failures": "failures", "ranks": "ranks", "rejected_objects": "rejected_objects"}
        if sheet_paths(collection, "failures"):
            names["studied"] = "studied"
        perturbed = self.perturbed_ranks(of_collection(collection))
        return {
            **{relation: f"{tables}/{file}.parquet" for relation, file in names.items()},
            **({"perturbed": perturbed} if perturbed else {}),
        }

    def _searched(self, collection: str) -> dict[str, Files]:
        """What approximate search finds, and the scores on another collection."""
        pattern = f"results/search/{collection}/recall/{{s}}.csv"
        recall = _each(pattern, s=self.approximate_systems)
        compared = collection in self.params["tabulate"]["against"]
        return {
            **({"recall": recall} if recall else {}),
            **({"cross_scores": self.cross_scores(of_collection(collection))} if compared else {}),
        }

    def exhibit_values(self, subject: str) -> dict[str, Any]:
        """Return the value behind each parameter of a collection's or a group's exhibits."""
        values = {
            **{k: self.params["tabulate"][k] for k in ("alpha", "comparisons")},
            "setting": self.settings[0],
            "split": self.splits[0],
            "measure": self.params["score"]["measures"][0],
            "measures": self.params["score"]["measures"],
            "systems": self.systems,
            "looks": self.looks,
            "captioners": list(self.caption_models),
            "tails": self.params["tabulate"]["tail"],
            "parts": list(self.groups.get(subject, {})),
            "part_collections": list(self.groups.get(subject, {}).values()),
            "part_languages": self.group_languages(subject),
            "models": self.params["models"],
            "system_entries": {s: self.params["systems"][s] for s in self.systems},
        }
        return values if subject in self.groups else {**values, **self._collection_values(subject)}

    def _collection_values(self, collection: str) -> dict[str, Any]:
        explain = self.params["tabulate"]["explain"].get(collection, {})
        rules = explain.get("study", {})
        own = {"language": self.language(of_collection(collection)), "collection": collection}
        words = WORDS[collection_kind(self.params["collect"][collection]).origin].fields
        own |= {"field_names": [*words], "field_words": [*words.values()]}
        own |= {k: rules.get(k) for k in ("support", "confidence")}
        if collection not in self.params["tabulate"]["against"]:
            return own
        cross = self.cross_params(of_collection(collection))
        splits = cross.get("splits", self.splits[:1])
        return {
            **own,
            **{f"cross_{k}": cross[k] for k in ("collection", "here", "there")},
            "cross_setting": cross.get("setting", self.settings[0]),
            "cross_split": splits[0],
            "cross_other_split": splits[-1],
        }

    # Whose failures are explained, and from what.

    @cached_property
    def perturbable_systems(self) -> list[str]:
        """The systems that answer other queries than the collection's."""
        entries, models = self.system_entries, self.params["models"]
        return [s for s, entry in entries.items() if answers_any_query(entry, models)]

    @cached_property
    def has_perturbed_queries(self) -> bool:
        """Whether perturbed queries are answered."""
        return "t2m" in self.tasks and bool(self.perturbable_systems)

    def explained_collections(self) -> list[str]:
        """The built collections whose failures are explained."""
        return [c for c in self.params["build"] if c in self.params["tabulate"]["explain"]]

    def ranking_collections(self) -> list[str]:
        """The built collections with a ranking table whose failures are not explained."""
        return [
            c
            for c in self.params["build"]
            if c in self.params["tabulate"]["rankings"] and c not in self.explained_collections()
        ]

    def explain_params(self, *keys: str) -> Callable[[Wildcards], dict[str, Any]]:
        """Some of the params that a collection's failures are explained with."""
        return lambda w: {k: self.params["tabulate"]["explain"][w.collection].get(k) for k in keys}

    def object_file(self, wildcards: Wildcards) -> list[str]:
        """The file that tells the objects of a collection, if it is not its own images."""
        return [path for t, path in self.facts(wildcards).items() if t == "objects"]

    def dictionary(self, wildcards: Wildcards) -> list[str]:
        """What a collection's WordNet rests on: the manifest, as it may be acquired, and itself."""
        named = self.params["tabulate"]["explain"][wildcards.collection].get("wordnet")
        return list(
            dict.fromkeys([*self.manifests(wildcards), *(self.local_files(named) if named else [])])
        )

    def concept_inputs(self, wildcards: Wildcards) -> list[str]:
        """What the concepts of a collection rest on."""
        files = [*self.dictionary(wildcards), *self.fact_files(wildcards, "objects")]
        return list(dict.fromkeys(files))

    def explained_runs(self, wildcards: Wildcards) -> list[str]:
        """The runs of all systems in the first setting and split."""
        return self.runs_of(
            wildcards.collection, self.systems, setting=self.settings[0], split=self.splits[0]
        )

    def perturbed_run(self, wildcards: Wildcards) -> str:
        """The run of the queries that are perturbed."""
        here = expanded(self.RUNS, setting=self.settings[0], split=self.splits[0], task="t2m")
        return expanded(here, **wildcards)[0]

    def perturbed_ranks(self, wildcards: Wildcards) -> list[str]:
        """The ranks of perturbed queries, by the systems that can answer them."""
        pattern = "results/tables/{collection}/perturbed/{system}.parquet"
        return expanded(
            pattern,
            system=self.perturbable_systems if self.has_perturbed_queries else [],
            **wildcards,
        )

    def query_encoder(self, wildcards: Wildcards) -> str:
        """The name of the model that encodes a dense system's queries."""
        return self.params["systems"][wildcards.system]["model"]

    def study_sheets(self, wildcards: Wildcards) -> list[str]:
        """The sheets of the human study that have come back."""
        return sheet_paths(wildcards.collection, "failures")

    def failure_tables(self, collection: str) -> list[str]:
        """Return the page of a collection's explained failures, and the sheet for people."""
        if collection not in self.explained_collections():
            return []
        return [f"results/report/{collection}/failures.html", f"{TABLES}/{collection}/study.csv"]

    def query_model(self, wildcards: Wildcards) -> dict[str, Any]:
        """Return the params of the model that encodes a dense system's queries."""
        return self.params["models"][self.base_model(self.query_encoder(wildcards))]

    def query_fields(self, wildcards: Wildcards) -> list[str]:
        """Return the fields of a text that a dense system's model reads."""
        return model_values(self.params["models"][self.query_encoder(wildcards)])["fields"]

    def query_weights(self, wildcards: Wildcards) -> list[str]:
        """Return the weights that a dense system's model has learned."""
        return self.learned_weights(wildcards.collection, self.query_encoder(wildcards))

    def query_configs(self, wildcards: Wildcards) -> list[str]:
        """Return the architecture and the weights on this disk of a dense system's model."""
        return self.configs_of(self.query_encoder(wildcards))

    def study_params(self, wildcards: Wildcards) -> dict[str, Any]:
        """Return the params of the human study of a collection's failures."""
        return self.params["tabulate"]["explain"][wildcards.collection]["study"]


def _listed(files: Files) -> list[str]:
    return [files] if isinstance(files, str) else list(files)


def _each(pattern: str, **values: Sequence[str]) -> list[str]:
    """Return the pattern with each combination of values."""
    return [
        pattern.format(**dict(zip(values, chosen, strict=True)))
        for chosen in product(*values.values())
    ]
