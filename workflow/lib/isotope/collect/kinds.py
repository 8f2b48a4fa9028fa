"""The kinds of collections that have keys, or answers to what a kind can do, of their own.

A class is found by the value of its key `kind`. A kind that needs neither is a folder of
`workflow/sql/collect/` and has no class.
"""

from pathlib import PurePosixPath
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from isotope.core.errors import BadParams
from isotope.params.phases import CollectionKind
from isotope.params.schema import suggest
from isotope.params.sections import (
    Distinct,
    NotNegative,
    Opt,
    Params,
    Section,
    Share,
    Text,
    Whole,
)


class Wikipedia(CollectionKind):
    """A collection of a snapshot of Wikipedia: sections, images, and which belong together."""

    is_snapshot: ClassVar[bool] = True

    kind: Literal["wikipedia"]  # pyright: ignore[reportIncompatibleVariableOverride]


class Union(CollectionKind):
    """A collection of collections, one a language."""

    is_union: ClassVar[bool] = True

    kind: Literal["union"]  # pyright: ignore[reportIncompatibleVariableOverride]
    of: Opt[Annotated[Distinct[str], Field(min_length=2)]] = Field(
        default=None,
        description="Collections of kind wikipedia, one a language, that a collection of kind union"
        " joins.",
    )


class Ticrc(CollectionKind):
    """A collection of the sets of the text-image challenge, as its organisers cut them."""

    kind: Literal["ticrc"]  # pyright: ignore[reportIncompatibleVariableOverride]
    source_splits: Opt[Annotated[Distinct[Text], Field(min_length=1)]] = Field(
        default=None,
        description="Of kind ticrc, the challenge's own sets to collect, such as train2 or test-B: "
        "names of the folders of the source's files. By default all of them.",
    )

    def check(self, where: str, params: Params) -> None:
        """Check the names of sets: the name of a set is that of its files' folder.

        A folder with `*` may have any name.

        Raises:
            BadParams: a set that the source does not have.
        """
        files = params["acquire"].get(self.source, {}).get("files", {})
        listed = [
            file for split in ("train", "validation", "test") for file in files.get(split, [])
        ]
        urls = [file if isinstance(file, str) else str(file["url"]) for file in listed]
        folders = sorted({PurePosixPath(url).parent.name for url in urls})
        unknown = [name for name in self.source_splits or () if name not in folders]
        if unknown and not any("*" in folder for folder in folders):
            found = f"unknown name {unknown[0]!r}"
            raise BadParams(f"{where}.source_splits", found, suggest(unknown[0], folders))


class Question(Section):
    """A template of questions for one category."""

    category: Text = Field(
        description="A super-category of the labels, or `*` for those without a template of their "
        "own."
    )
    question: Text = Field(description="The question, such as `what is the species of this bird?`.")


class Recognition(Section):
    """Recognition of entities: a classification data set whose labels are a snapshot's articles."""

    fills: ClassVar[bool] = True

    knowledge: str = Field(
        description="The snapshot; where it is not crawled, pictures of its infoboxes may come with"
        " the labels'."
    )
    questions: Annotated[list[Question], Field(min_length=1)] = Field(
        description="Templates; each picture has a question from one of its category's."
    )
    unseen_share: Share = Field(
        description="Share of the entities that are excluded from training, drawn by the hash of "
        "their id."
    )
    unseen_categories: Distinct[str] = Field(
        description="Super-categories whose entities are all excluded from training."
    )
    seed: Whole = Field(description="Seed of the draw.")
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
