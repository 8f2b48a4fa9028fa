"""Who judges the first hits of runs: people by sheets, models by prompts, and what they give."""

from collections.abc import Mapping, Sequence

from isotope.models.named_sizes import weights_mb
from isotope.params.sections import Handout
from isotope.plan.collections import Files
from isotope.plan.extension import Extension
from isotope.plan.facts import TABLES
from isotope.tabulate.table import FORMS
from isotope_judge import origins
from isotope_judge.ledger import sheet_paths
from isotope_judge.params import Judge, ModelJudge

FOLDER = "results/score/{collection}"
_BY_MODELS = ("estimates", "model_agreement", "model_tau", "circularity", "model_scores")
_GRADED = {"graded": "scores", **{name: name for name in ("reuse", "tau", "agreement")}}


class Judges(Extension):
    """Who judges the collections that are built, and the sheets that have come back."""

    @property
    def entry(self) -> Judge:
        """The params of judging, which rules of judged collections alone read.

        Raises:
            KeyError: params without them.
        """
        section = self.plan.params.section("judge", Judge)
        if section is None:
            raise KeyError("judge")
        return section

    @property
    def is_asked(self) -> bool:
        """Whether the params ask for judging."""
        return self.plan.params.section("judge", Judge) is not None

    @property
    def models(self) -> dict[str, ModelJudge]:
        """The models that grade the pool, by name; none where the params name none."""
        return (self.is_asked and self.entry.models) or {}

    @property
    def collections(self) -> list[str]:
        """The built collections whose runs are pooled, where the params ask for it."""
        return self.plan.collections.built if self.is_asked else []

    @property
    def graded(self) -> list[str]:
        """The built collections whose sheets have come back."""
        return [name for name in self.collections if sheet_paths(name)]

    def pooled_runs(self, collection: str) -> list[str]:
        """Return the runs whose first hits are judged."""
        systems, entry = self.plan.systems, self.entry
        cell = {"setting": str(entry.setting), "split": str(entry.split)}
        return systems.runs(collection, systems.search.systems, **cell)

    @property
    def memory_mb(self) -> float:
        """The megabytes of the largest model's weights."""
        return max((weights_mb(m.name, m.precision) for m in self.models.values()), default=0.0)

    @property
    def origins(self) -> dict[str, list[list[str]]]:
        """What each system is made of, as the fields of an `Origin`."""
        params = self.plan.params
        return {
            name: [list(part) for part in origins.origin(name, params.systems, params.models)]
            for name in self.plan.systems.search.systems
        }

    @property
    def model_origins(self) -> dict[str, list[list[str]]]:
        """What is each judge's own, likewise."""
        return {name: [model.own, [model.name]] for name, model in self.models.items()}

    def by_models(self, collection: str) -> dict[str, Files]:
        """Return the tables that rest on models' grades, by relation; none without models."""
        judged = _BY_MODELS if self.models and collection in self.collections else ()
        folder = FOLDER.format(collection=collection)
        return {table: f"{folder}/{table}.parquet" for table in judged}

    def relations(self, subject: str) -> Mapping[str, Files]:
        """Return the tables of models' grades and of people's that have come back, by relation."""
        people = _GRADED if subject in self.graded else {}
        folder = FOLDER.format(collection=subject)
        files: dict[str, Files] = {r: f"{folder}/{name}.parquet" for r, name in people.items()}
        back = self._is_back(subject, "failures")
        studied = {"studied": f"{TABLES}/{subject}/studied.parquet"} if back else {}
        return {**files, **self.by_models(subject), **studied}

    def tables(self, collection: str) -> Sequence[str]:
        """Return the table of answers that people have sorted, once a sheet has come back."""
        back = self._is_back(collection, "mistakes")
        return [f"{TABLES}/{collection}/mistakes_sorted.{s}" for s in FORMS] if back else []

    def sheet(self, collection: str, name: str) -> Handout:
        """Return a sheet that a plug-in hands out for people to sort.

        Raises:
            KeyError: none of this name.
        """
        handout = self.plan.params.handout(collection, name)
        if handout is None:
            raise KeyError(name)
        return handout

    def _is_back(self, collection: str, name: str) -> bool:
        """Whether such a sheet of a built collection has come back."""
        is_out = self.plan.params.handout(collection, name) is not None
        is_built = collection in self.plan.collections.built
        return is_out and is_built and bool(sheet_paths(collection, name))

    def ends(self, collection: str) -> Sequence[str]:
        """Return the sheets for people to judge, and what grades have come back."""
        folder = FOLDER.format(collection=collection)
        files = [f"{folder}/sheet.csv"] if collection in self.collections else []
        files += [f"{folder}/graded.parquet"] if collection in self.graded else []
        return [*files, *map(str, self.by_models(collection).values())]
