from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from isotope.params.collect import CollectionKind
from isotope.params.references import Source
from isotope.params.removed import Constant, Removed
from isotope.params.sections import Distinct, Integer, Opt, Section, Share, Text


class Question(Section):
    """A template of questions for one category."""

    category: Text
    """A super-category of the labels, or `*` for those without a template of their own."""
    question: Text
    """The question, such as `what is the species of this bird?`."""


class Recognition(Section):
    """Recognition of entities: a classification data set whose labels are a snapshot's articles."""

    removed: ClassVar[Removed] = {
        "k1": Constant(1.5, "as in systems of kind answers"),
        "b": Constant(0.75, "as in systems of kind answers"),
        "tokenizer": Constant("words", "as labels and names are words"),
    }

    knowledge: Source
    """The snapshot; where it is not crawled, pictures of its infoboxes may come with the
    labels'."""
    questions: Annotated[list[Question], Field(min_length=1)]
    """Templates; each picture has a question from one of its category's."""
    unseen_share: Share
    """Share of the entities that are excluded from training, drawn by the hash of their id."""
    unseen_categories: Distinct[str]
    """Super-categories whose entities are all excluded from training."""
    seed: Integer
    """Seed of the draw."""


class OvenLabels(CollectionKind):
    """A collection of questions on labelled pictures."""

    has_entities: ClassVar[bool] = True

    kind: Literal["oven-labels"]  # pyright: ignore[reportIncompatibleVariableOverride]
    recognition: Opt[Recognition] = None
    """How a collection of kind oven-labels is made of a classification data set and a snapshot
    whose articles are the entities."""

    def asked(self) -> dict[str, Any]:
        """Return what queries may ask for, how labels are linked and drawn among it."""
        return {**super().asked(), **(self.recognition.values() if self.recognition else {})}
