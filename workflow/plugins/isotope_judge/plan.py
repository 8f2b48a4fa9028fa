"""Who judges the first hits of runs: people by sheets, models by prompts, and what they give."""

from dataclasses import dataclass
from typing import cast

from isotope.judge import origins
from isotope.judge.ledger import sheet_paths
from isotope.models.named_sizes import weights_mb
from isotope.params.judge import ModelJudge
from isotope.params.phases import Judge
from isotope.params.root import Params
from isotope.plan.collections import Collections, Files
from isotope.plan.systems import Systems

_MODEL_TABLES = ("estimates", "model_agreement", "model_tau", "circularity", "model_scores")
_GRADED = {"graded": "scores", **{name: name for name in ("reuse", "tau", "agreement")}}


@dataclass(frozen=True)
class Judges:
    """Who judges the collections that are built."""

    params: Params
    built: Collections
    systems: Systems

    @property
    def entry(self) -> Judge:
        """The params of judging, which rules of judged collections alone read."""
        return cast("Judge", self.params.score.judge)

    @property
    def models(self) -> dict[str, ModelJudge]:
        """The models that grade the pool, by name; none where the params name none."""
        return (self.params.score.judge and self.entry.models) or {}

    @property
    def collections(self) -> list[str]:
        """The built collections whose runs are pooled, where the params ask for it."""
        return self.built.built if self.params.score.judge else []

    @property
    def graded(self) -> list[str]:
        """The built collections whose sheets have come back."""
        return [name for name in self.collections if sheet_paths(name)]

    def pooled_runs(self, collection: str) -> list[str]:
        """Return the runs whose first hits are judged."""
        cell = {"setting": str(self.entry.setting), "split": str(self.entry.split)}
        return self.systems.runs(collection, self.systems.search.systems, **cell)

    @property
    def memory_mb(self) -> float:
        """The megabytes of the largest model's weights."""
        return max((weights_mb(m.name, m.precision) for m in self.models.values()), default=0.0)

    @property
    def origins(self) -> dict[str, list[list[str]]]:
        """What each system is made of, as the fields of an `Origin`."""
        systems, models = self.params.systems, self.params.models
        return {
            name: [list(part) for part in origins.origin(name, systems, models)]
            for name in self.systems.search.systems
        }

    @property
    def own(self) -> dict[str, list[list[str]]]:
        """What is each judge's own, likewise."""
        return {name: [model.own, [model.name]] for name, model in self.models.items()}

    def by_models(self, collection: str) -> dict[str, Files]:
        """Return the tables that rest on models' grades, by relation; none without models."""
        judged = _MODEL_TABLES if self.models and collection in self.collections else ()
        return {table: f"results/score/{collection}/{table}.parquet" for table in judged}

    def tables(self, collection: str) -> dict[str, Files]:
        """Return the tables of models' grades and of people's that have come back, by relation."""
        people = _GRADED if collection in self.graded else {}
        files = {r: f"results/score/{collection}/{name}.parquet" for r, name in people.items()}
        return {**files, **self.by_models(collection)}
