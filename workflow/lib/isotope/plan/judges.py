"""Judges of a run: the models that grade the pool, what they read, and what their grades give."""

import re
from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from isotope.judge import origins
from isotope.params.phases import Judge
from isotope.plan.paths import Wildcards, expanded
from isotope.plan.needs import Shards

# ASSUME a name tells how many weights a model has, in billions (8B), and one that does not has 8
# billions: no file of the hub is read before the model is loaded.
_BILLIONS = re.compile(r"(\d+(?:\.\d+)?)b(?![a-z])", re.IGNORECASE)
_USUAL_BILLIONS = 8.0
BYTES = {"bfloat16": 2, "float32": 4}


def weights_mb(judge: Mapping[str, Any]) -> float:
    """Return the megabytes that the weights of an entry of `score.judge.models` take in memory."""
    folder = Path(judge["name"])
    if folder.is_dir():
        return sum(p.stat().st_size for p in folder.rglob("*.safetensors")) / 1e6
    named = _BILLIONS.search(folder.name)
    billions = float(named[1]) if named else _USUAL_BILLIONS
    return 1_000 * billions * BYTES[judge["precision"]]


class Judges(Shards):
    """Judges of a run: the models that grade the pool, and what their grades give."""

    MODEL_GRADES = "results/score/{collection}/models/{judge}.parquet"
    MODEL_TABLES = ("estimates", "model_agreement", "model_tau", "circularity", "model_scores")

    @cached_property
    def judges(self) -> Mapping[str, Any]:
        """The models that grade the pool, by name; none where the params name none."""
        return self.params["score"].get("judge", {}).get("models", {})

    def any_judge(self) -> str:
        """A wildcard constraint: one of the models that grade."""
        return self.any_of(self.judges)

    def judge_model(self, wildcards: Wildcards) -> Mapping[str, Any]:
        """The params of a rule's judge."""
        return self.judges[wildcards.judge]

    def judge_scale(self, wildcards: Wildcards) -> Mapping[Any, str]:
        """The meaning of each grade."""
        return Judge.filled(self.params["score"].get("judge", {}))["scale"]

    def judge_level(self, wildcards: Wildcards) -> float:
        """The level of the intervals of means by people's and models' grades."""
        return Judge.filled(self.params["score"].get("judge", {}))["level"]

    def judge_files(self, wildcards: Wildcards) -> list[str]:
        """The pictures' ledgers, and the files of a judge that lies on this disk."""
        return [
            *self.picture_ledgers(wildcards),
            *self.local_files(self.judges[wildcards.judge]["name"]),
        ]

    @property
    def judge_memory_mb(self) -> float:
        """The megabytes of the largest judge's weights."""
        return max(map(weights_mb, self.judges.values()), default=0.0)

    def model_grades(self, wildcards: Wildcards) -> list[str]:
        """The grades of every judge on a collection."""
        return expanded(self.MODEL_GRADES, collection=wildcards.collection, judge=list(self.judges))

    def system_origins(self) -> Callable[[Wildcards], dict[str, list[list[str]]]]:
        """The function of what each system is made of: systems and names of weights."""
        systems, models = self.params["systems"], self.params["models"]
        return lambda _: {
            name: [list(each) for each in origins.origin(name, systems, models)]
            for name in self.systems
        }

    def model_table(self, collection: str) -> dict[str, str]:
        """The tables that rest on models' grades, by relation, where models judge a collection."""
        if not self.judges or collection not in self.judged_collections():
            return {}
        return {t: f"results/score/{collection}/{t}.parquet" for t in self.MODEL_TABLES}
