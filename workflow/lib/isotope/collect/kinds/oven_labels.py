"""Recognition of entities: a classification data set linked to a snapshot's articles."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from isotope.params.phases import CollectionKind
from isotope.params.sections import Distinct, NotNegative, Opt, Section, Share, Text, Whole


class Question(Section):
    """A template of questions for one category."""

    category: Text = Field(
        description="A super-category of the labels, or `*` for those without a template of their "
        "own."
    )
    question: Text = Field(
        description="What is asked, such as `what is the species of this bird?`."
    )


class Recognition(Section):
    """A classification data set, and a snapshot whose articles are its entities."""

    fills: ClassVar[bool] = True

    knowledge: str = Field(
        description="The snapshot; where it is not crawled, pictures of its infoboxes may come with"
        " the labels'."
    )
    questions: Annotated[list[Question], Field(min_length=1)] = Field(
        description="Templates; one of its category's is asked of each picture."
    )
    unseen_share: Share = Field(
        description="Share of the entities that are kept out of training, drawn by id."
    )
    unseen_categories: Distinct[str] = Field(
        description="Super-categories whose entities are all kept out of training."
    )
    seed: Whole = Field(description="Of the draw.")
    k1: NotNegative = Field(default=1.5, description="Term saturation of BM25 over names.")
    b: Share = Field(default=0.75, description="Length normalisation of BM25 over names.")
    tokenizer: Text = Field(
        default="words",
        description="words, or a WordPiece tokenizer, as in a system of kind `answers`.",
    )


class OvenLabels(CollectionKind):
    """A collection of questions on labelled pictures."""

    kind: Literal["oven-labels"]  # pyright: ignore[reportIncompatibleVariableOverride]
    recognition: Opt[Recognition] = Field(
        default=None,
        description="How a collection of kind oven-labels is made of a classification data set "
        "and a "
        "snapshot whose articles are the entities.",
    )
