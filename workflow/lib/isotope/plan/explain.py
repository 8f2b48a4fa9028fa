"""Whose failures are explained, and from what."""

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

from isotope.core.schemas import FIVE_FIELDS
from isotope.judge.ledger import sheet_paths
from isotope.params.sections import model_kind
from isotope.plan.paths import Wildcards, expanded
from isotope.plan.since import Since


class Explain(Since):
    """Whose failures are explained, and from what."""

    @cached_property
    def perturbable_systems(self) -> list[str]:
        """The systems that answer other queries than the collection's."""
        return [s for s in self.systems if self.is_perturbable(self.params["systems"][s])]

    @cached_property
    def has_perturbed_queries(self) -> bool:
        """Whether perturbed queries are answered."""
        return "t2m" in self.tasks and bool(self.perturbable_systems)

    def is_perturbable(self, system: Mapping[str, Any]) -> bool:
        """Tell whether a system can be asked other queries: BM25, or what an encoder stands
        behind.
        """
        dense = (
            system["kind"] == "dense"
            and model_kind(self.params["models"][system["model"]]).is_encoder
        )
        return dense or system["kind"] == "bm25"

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
        found = [*self.dictionary(wildcards), *self.fact_files(wildcards, "objects")]
        return list(dict.fromkeys(found))

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
        """The ranks of perturbed queries, by the systems that can be asked anew."""
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

    def failure_tables(self) -> list[str]:
        """Return the pages of explained failures, and the sheets for people."""
        pages = expanded("results/report/{c}/failures.html", c=self.explained_collections())
        return pages + expanded("results/tables/{c}/study.csv", c=self.explained_collections())

    def query_model(self, wildcards: Wildcards) -> dict[str, Any]:
        """Return the params of the model that encodes a dense system's queries."""
        return self.params["models"][self.base_model(self.query_encoder(wildcards))]

    def query_fields(self, wildcards: Wildcards) -> list[str]:
        """Return the fields of a text that a dense system's model reads."""
        return self.params["models"][self.query_encoder(wildcards)].get("fields", FIVE_FIELDS)

    def query_weights(self, wildcards: Wildcards) -> list[str]:
        """Return the weights that a dense system's model has learned."""
        return self.learned_weights(wildcards.collection, self.query_encoder(wildcards))

    def query_configs(self, wildcards: Wildcards) -> list[str]:
        """Return the architecture and the weights on this disk of a dense system's model."""
        return self.configs_of(self.query_encoder(wildcards))

    def study_params(self, wildcards: Wildcards) -> dict[str, Any]:
        """Return the params of the human study of a collection's failures."""
        return self.params["tabulate"]["explain"][wildcards.collection]["study"]
