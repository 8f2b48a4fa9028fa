"""Which collections have explained failures, ranks of right answers, and sheets for people."""

from collections.abc import Mapping, Sequence
from typing import Any

from isotope.params.sections import answers_any_query
from isotope.plan.collections import Files
from isotope.plan.extension import Extension, ReportPage
from isotope.plan.facts import TABLES
from isotope.plan.paths import Wildcards, unique
from isotope.plan.sources import Spec
from isotope_explain.params import STUDY, Explain

_EXPLAINED = ("failures", "ranks", "rejected_objects")
_OF_FAILURES = ("wordnet", "seed", "match")
_OF_STUDY = ("failures", "common_words")
_OF_RULES = ("support", "confidence")
_PAGE = ReportPage(
    "Failures",
    "First answers that were wrong, side by side with the right answer, boxes drawn, and what "
    "matched what in words.",
    "systems",
)


class Explanations(Extension):
    """What explains the first answers of a run."""

    @property
    def asked(self) -> Explain:
        """What the params ask for; nothing where they lack the section."""
        return self.plan.params.section("explain", Explain) or Explain()

    @property
    def collections(self) -> list[str]:
        """The built collections whose failures are explained."""
        return [c for c in self.plan.collections.built if c in self.asked.failures]

    @property
    def ranked(self) -> list[str]:
        """The built collections with a ranking table whose failures are not explained."""
        named = {*self.asked.rankings} - {*self.collections}
        return [c for c in self.plan.collections.built if c in named]

    # What the rules read.

    def how(self, collection: str) -> Spec:
        """Return how failures are explained: the fields of `isotope_explain.failures.How`."""
        entry = self.asked.failures[collection]
        of_study = {key: getattr(STUDY, key) for key in _OF_STUDY}
        return {key: getattr(entry, key) for key in _OF_FAILURES} | of_study

    def rests_on(self, collection: str) -> list[str]:
        """Return what explained failures rest on: objects, and the files of WordNet."""
        words = self.asked.failures[collection].wordnet
        objects = self.plan.facts.files(collection, "objects")
        return unique(objects, self.plan.paths.local_files(words))

    def mistake_runs(self, wildcards: Wildcards) -> list[str]:
        """The runs whose first answers people sort: those of a subset may be in any split."""
        systems, mistakes = self.plan.systems, self.asked.mistakes
        is_part = mistakes is not None and mistakes.subset is not None
        splits = systems.search.splits if is_part else systems.search.splits[:1]
        cell = {"setting": systems.largest, "split": splits, "task": "m2t"}
        return systems.runs(wildcards.collection, systems.search.systems, **cell)

    # What they write.

    def ends(self, collection: str) -> Sequence[str]:
        """Return the sheets for people to sort."""
        folder = f"{TABLES}/{collection}"
        failures = [f"{folder}/study.csv"] if collection in self.collections else []
        suffixes = ("parquet", "csv") if self.asked.mistakes else ()
        return [*failures, *(f"{folder}/mistakes.{suffix}" for suffix in suffixes)]

    def pages(self, collection: str) -> Mapping[str, ReportPage]:
        """Return the page of a collection's explained failures."""
        return {"failures": _PAGE} if collection in self.collections else {}

    def relations(self, subject: str) -> Mapping[str, Files]:
        """Return explained failures, ranks of right answers, and those of perturbed queries."""
        folder, of_failures = f"{TABLES}/{subject}", subject in self.collections
        names = _EXPLAINED if of_failures else ("ranks",) if subject in self.ranked else ()
        files: dict[str, Files] = {name: f"{folder}/{name}.parquet" for name in names}
        perturbed = [f"{folder}/perturbed/{system}.parquet" for system in self._perturbed]
        return {**files, "perturbed": perturbed} if of_failures and perturbed else files

    @property
    def _perturbed(self) -> list[str]:
        """The systems that answer other queries than the collection's."""
        params, systems = self.plan.params, self.plan.systems
        searched = systems.search.systems if "t2m" in params.search.tasks else ()
        return [name for name in searched if answers_any_query(systems[name], params.models)]

    def values(self, subject: str) -> Mapping[str, Any]:
        """Return what the rules between classes of failure rest on, once people have sorted."""
        is_studied = subject in self.asked.failures
        return {key: getattr(STUDY, key) for key in _OF_RULES} if is_studied else {}

    def paths(self) -> Sequence[str]:
        """Return the dictionaries that the params name."""
        return [entry.wordnet for entry in self.asked.failures.values() if entry.wordnet]
