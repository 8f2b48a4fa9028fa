"""Which first answers are explained, ranked and handed out: the key `explain` of params.yaml."""

from collections.abc import Mapping, Sequence
from typing import Annotated, ClassVar, Literal, NamedTuple

from pydantic import AfterValidator, Field

from isotope.params.messages import refuse
from isotope.params.references import Collection, CollectionName, OptPath
from isotope.params.removed import Constant, Removed
from isotope.params.sections import (
    Count,
    Distinct,
    Handout,
    Integer,
    Opt,
    PluginSection,
    Rare,
    Section,
    Text,
)

TABLES = "results/tables"
_Class = Annotated[str, Field(pattern="^[^;,]+$")]
_RIGHT = "correct"


def _check_right(classes: list[str]) -> list[str]:
    if _RIGHT not in classes:
        raise refuse(f"no class {_RIGHT!r} in {classes}", "add it: the sample has right ones")
    return classes


class Study(NamedTuple):
    """The human study of failures, as the paper has it (docs/explain.md names it).

    `failures` are those of each system and task on the sheet. An assessor names as many of
    `classes` as apply, or `alternative` alone, if the returned picture is as good an answer. A
    query and the captions of its right picture share at least `common_words` words, without stop
    words: with fewer the data may be wrong. A rule between classes rests on the share `support` of
    the judgements at least, and of those with the premise the share `confidence` has the
    conclusion.
    """

    failures: int = 20
    classes: Sequence[str] = (
        *("object class", "object color", "object enumeration"),
        *("action", "size", "details"),
    )
    alternative: str = "successful alternative"
    common_words: int = 2
    support: float = 0.05
    confidence: float = 0.5


STUDY = Study()
_OF_STUDY = "so that two studies can be compared"


class Failures(Section):
    """How the failures on a collection are explained."""

    removed: ClassVar[Removed] = {
        "threshold": Constant(1.0, "the paper's 100 %"),
        "colour_distance": Constant(150.0, "a third of the way from black to white"),
        "study": {
            "failures": Constant(STUDY.failures, _OF_STUDY),
            "classes": Constant(STUDY.classes, _OF_STUDY),
            "alternative": Constant(STUDY.alternative, _OF_STUDY),
            "common_words": Constant(STUDY.common_words, _OF_STUDY),
            "support": Constant(STUDY.support, _OF_STUDY),
            "confidence": Constant(STUDY.confidence, _OF_STUDY),
        },
    }

    wordnet: OptPath = None
    """Folder with WordNet's dict files, a data folder of NLTK or wn, or a file of WN-LMF or the
    folder that has it; by default the usual places are searched."""
    shown: Count = 3
    """Failures of each system and task that the page shows, the least similar to the right answer
    and the most similar."""
    seed: Rare[Integer] = 0
    """Seed of the replaced words, and of the failures that people judge."""
    match: Literal["grammar", "plain"] = "grammar"
    """Which words are exchanged: those that are colours, sizes and adjectives where they stand, or
    all in the lists, as the paper's shares have it."""


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
        if collection in self.failures:
            sample = f"{TABLES}/{collection}/study.parquet"
            classes, alternative = STUDY.classes, STUDY.alternative
            sheets["failures"] = Handout(sample, classes, alternative, is_rated=True)
        if self.mistakes:
            sample = f"{TABLES}/{collection}/mistakes.parquet"
            sheets["mistakes"] = Handout(sample, self.mistakes.classes)
        return sheets
