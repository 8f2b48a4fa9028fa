"""Keys that several kinds of models have, and what the models of pictures with words share."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from isotope.core.errors import BadParams
from isotope.models.kinds import _open_clip
from isotope.params.recipes import MixRecipe, MultimodalRecipe
from isotope.params.schema import suggest
from isotope.params.sections import NOT_NULL, ModelKind, Opt, Params, model_kind

Images = Annotated[
    str,
    Field(
        description="What stands for an image: its `pixels`, unless this says otherwise; its "
        "`captions`, the mean of their vectors; or another model, whose vectors of images are "
        "taken."
    ),
]
Summary = Annotated[
    str | None,
    NOT_NULL,
    Field(
        description="A key of `encode.summaries`: with `images: captions`, one summary stands for "
        "an image in place of the mean of its captions."
    ),
]
Texts = Annotated[
    Literal["whole", "lines"],
    Field(
        description="What a text's vector is made of: the text as a whole, or the mean of the "
        "vectors of its lines, as where several sentences are one query."
    ),
]
Tower = Annotated[
    Literal["minilm", "fuse"] | None,
    NOT_NULL,
    Field(
        description="The frozen text tower: minilm (all-MiniLM-L6-v2, English, 384 components) or "
        "fuse (Universal Sentence Encoder, 16 languages, 512); minilm unless told."
    ),
]
Revision = Annotated[
    str | None,
    Field(description="A commit, branch or tag of the hub; none is its newest."),
]


class MixKind(ModelKind):
    """A model of pictures with words: over the frozen vectors of another, or trained whole."""

    is_encoder: ClassVar[bool] = False
    encodes_images: ClassVar[bool] = False
    is_mix: ClassVar[bool] = True
    is_large: ClassVar[bool] = False

    of: str = Field(
        description="The model that is trained whole, of kind open_clip or trained; with `frozen`, "
        "any whose vectors of images, questions, texts and their pictures are mixed. Its `fields` "
        "are an entity's words."
    )
    frozen: bool = Field(
        default=False,
        description="Learn over the vectors of `of` alone, whose towers stay as they are: not the "
        "paper's system.",
    )
    learn: Opt[MixRecipe] = Field(
        default=None,
        description="How a mix over frozen vectors is learned on the split train, with `frozen: "
        "true`.",
    )

    def check(self, where: str, params: Params) -> None:
        """Check that what learns can learn.

        Raises:
            BadParams: a mix that is frozen and trained, or trained of what can't be; a recipe that
                can't be carried out.
        """
        unused = "train" if self.frozen else "learn"
        if unused in self.model_fields_set:
            found = f"{unused} besides frozen: {str(self.frozen).lower()}"
            remedy = "`learn` is for frozen: true, `train` for models that are trained whole"
            raise BadParams(f"{where}.{unused}", found, remedy)
        if not self.frozen:
            _check_trainable(where, self.of, params["models"][self.of])
        for key in {"train", "learn"} & self.model_fields_set:
            with at(f"{where}.{key}"):
                _demand_sense(getattr(self, key))


def _demand_sense(recipe: MultimodalRecipe | MixRecipe) -> None:
    recipe.demand_sense()


def _check_trainable(where: str, name: str, entry: Params) -> None:
    if not model_kind(entry).can_train_whole:
        found = f"a model of kind {entry['kind']}, which can't be trained whole"
        remedy = "name one of kind open_clip or trained, or freeze it"
        raise BadParams(f"{where}.of", found, remedy)
    tokenizer = _open_clip.tokenizer(str(entry.get("name", entry.get("config"))))
    if tokenizer:
        found = f"{name!r} reads text with the tokenizer of {tokenizer}"
        raise BadParams(f"{where}.of", found, "name a model with CLIP's own tokenizer")


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


def check_architecture(where: str, key: str, name: str) -> None:
    """Check that a name is one of open_clip's models, or a configuration of ours.

    Raises:
        BadParams: it is none.
    """
    known = _open_clip.configs() if key == "config" else _open_clip.architectures()
    if name not in known:
        raise BadParams(f"{where}.{key}", f"unknown name {name!r}", suggest(name, known))


def check_weights(where: str, name: str, tag: str | None) -> None:
    """Check that weights are a file, or a tag that open_clip has for a model.

    Raises:
        BadParams: they are neither.
    """
    tags = _open_clip.tags(name)
    is_file = any((tag or "").endswith(suffix) for suffix in _open_clip.WEIGHTS)
    if tag is not None and not is_file and tag.replace("-", "_").lower() not in tags:
        raise BadParams(f"{where}.pretrained", f"{name} has no weights {tag!r}", suggest(tag, tags))
