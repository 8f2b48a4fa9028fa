"""Which first answers are explained, ranked and handed out: the key `explain` of params.yaml."""

from collections.abc import Mapping, Sequence
from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, Field

from isotope.params.messages import refuse
from isotope.params.references import Collection, CollectionName, OptPath
from isotope.params.sections import (
    Count,
    Distinct,
    Handout,
    Integer,
    Natural,
    NotNegative,
    Opt,
    PluginSection,
    Section,
    Share,
    Text,
)

TABLES = "results/tables"
_Class = Annotated[str, Field(pattern="^[^;,]+$")]
_RIGHT = "correct"


def _check_right(classes: list[str]) -> list[str]:
    if _RIGHT not in classes:
        raise refuse(f"no class {_RIGHT!r} in {classes}", "add it: the sample has right ones")
    return classes


class Study(Section):
    """The human study of failures."""

    failures: Count
    """Failures of each system and task on the sheet."""
    classes: Annotated[Distinct[_Class], Field(min_length=1)]
    """What may be wrong; an assessor names as many as apply. The default ones are the paper's."""
    alternative: Opt[_Class] = None
    """What an assessor names alone, if the returned picture is as good an answer."""
    common_words: Natural = 0
    """Fewest words that a query and the captions of its right picture share; with fewer the data
    may be wrong. Stop words do not count."""
    support: Share
    """Least share of judgements that a rule between classes rests on."""
    confidence: Share
    """Least share of those with the premise that also have the conclusion."""


class Failures(Section):
    """How the failures on a collection are explained."""

    wordnet: OptPath = None
    """Folder with WordNet's dict files, a data folder of NLTK or wn, or a file of WN-LMF or the
    folder that has it; by default the usual places are searched."""
    threshold: NotNegative = 1.0
    """Two boxes differ in size when the difference of their areas is this many times the smaller
    area or more; 1.0 is the paper's 100 %."""
    shown: Count = 3
    """Failures of each system and task that the page shows, the least similar to the right answer
    and the most similar."""
    seed: Integer = 0
    """Seed of the replaced words, and of the failures that people judge."""
    colour_distance: NotNegative = 150.0
    """Smallest Euclidean distance in RGB of a colour and its replacement."""
    match: Literal["grammar", "plain"] = "grammar"
    """Which words are exchanged: those that are colours, sizes and adjectives where they stand, or
    all in the lists, as the paper's shares have it."""
    study: Study = Study(
        failures=20,
        common_words=2,
        classes=[
            "object class",
            "object color",
            "object enumeration",
            "action",
            "size",
            "details",
        ],
        alternative="successful alternative",
        support=0.05,
        confidence=0.5,
    )
    """The human study of failures."""


class Mistakes(Section):
    """A random sample of answers for people to sort."""

    examples: Count
    """Questions on the sheet, the same for every system; OVEN has 100."""
    subset: Opt[Text] = None
    """Only questions of this subset, in any of `search.splits`; OVEN has human. By default all
    questions of the first split."""
    seed: Integer
    """Of the draw."""
    classes: Annotated[Distinct[_Class], Field(min_length=2), AfterValidator(_check_right)]
    """Classes of answers: correct, and kinds of mistakes."""


class Explain(PluginSection):
    """Why first answers are wrong: failures explained, right answers ranked, and sheets for people
    to sort."""

    by_collection: ClassVar[Sequence[str]] = ("failures",)

    failures: dict[CollectionName, Failures] = {}
    """Collections with objects, on which failures are explained: systems' first answers are
    compared with the right ones."""
    rankings: Distinct[Collection] = []
    """Collections without explained failures for which the table `ranking` is made: Success and
    MRR, the median rank, the share of failures."""
    mistakes: Opt[Mistakes] = None
    """A random sample of questions on pictures, with the first answer of every system, on a sheet
    for people to sort; by default none."""

    def handouts(self, collection: str) -> Mapping[str, Handout]:
        """Return the sheets of failures and of mistakes, where there are such."""
        sheets = dict[str, Handout]()
        if entry := self.failures.get(collection):
            study, sample = entry.study, f"{TABLES}/{collection}/study.parquet"
            alternative = study.alternative or ""
            sheets["failures"] = Handout(sample, study.classes, alternative, is_rated=True)
        if self.mistakes:
            sample = f"{TABLES}/{collection}/mistakes.parquet"
            sheets["mistakes"] = Handout(sample, self.mistakes.classes)
        return sheets
