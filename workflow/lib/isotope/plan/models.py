"""Models of a run: what each is made of, what it learns, and which vectors it leaves.

A model's entry in the params may share the weights of another (`weights_of`), or its vectors of
images (`images: <model>`); what is asked of such an entry is answered for the other.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from isotope.models import notes
from isotope.models.families.published import memory_mb
from isotope.params.references import local_names
from isotope.params.root import Params
from isotope.params.sections import ModelKind
from isotope.plan.paths import Paths, Wildcards, any_of
from isotope.plan.sources import Spec

_SIDES = ("texts", "images", "questions", "pictures")
# What a shard of a side has, and how its file ends.
ENCODED = {
    "vectors": "npy",
    "ids": "ids.parquet",
    "contents": "contents.parquet",
    "tokens": "tokens.npy",
    "items": "tokens.parquet",
    "terms": "terms.parquet",
}


def encoded(
    *kinds: str, sides: Sequence[str] = ("text", "image"), earlier: bool = False
) -> dict[str, str]:
    """Return the files of a shard of a collection, by the weights of an earlier one or its own."""
    folder = "{collection}/since/{earlier}/{model}" if earlier else "{collection}/{model}"
    return {
        f"{side}_{kind}": f"data/encode/{folder}/{side}s/shard-{{shard}}.{ENCODED[kind]}"
        for side in sides
        for kind in kinds
    }


@dataclass(frozen=True)
class Model:
    """A model of the params."""

    name: str
    params: Params
    paths: Paths

    # What its entry says.

    @property
    def entry(self) -> ModelKind:
        """Its params."""
        return self.params.models[self.name]

    def key(self, name: str) -> Any:  # noqa: ANN401
        """Return what its params say of a key; None where its kind has no such key."""
        return getattr(self.entry, name, None)

    def named(self, name: str) -> "Model":
        """Return another model."""
        return Model(name, self.params, self.paths)

    @property
    def base(self) -> "Model":
        """The model whose weights it shares: itself, mostly."""
        return self.named(self.key("weights_of") or self.name)

    @property
    def images(self) -> "Model":
        """The model whose vectors of images it shares: itself, or one that its params name."""
        images = self.base.key("images") or "pixels"
        return self.base if images in ("pixels", "captions") else self.named(images).base

    @property
    def inner(self) -> "Model":
        """The model that a model of pictures with words is made of."""
        return self.named(self.key("of"))

    @property
    def kind(self) -> ModelKind:
        """The entry of the model whose weights it shares."""
        return self.base.entry

    @property
    def spec(self) -> Spec:
        """What jobs are handed: the entry of the model whose weights it shares, with its own
        `fields`. The files of its weights tell where it has learned, and no training begins anew
        because another collection is searched with it.
        """
        shared = {"fields": self.key("fields")} if self.base.name != self.name else {}
        return {key: v for key, v in {**self.kind.spec(), **shared}.items() if key != "collection"}

    def is_mix(self, *, frozen: bool) -> bool:
        """Tell whether it is a model of pictures with words: over frozen vectors of another, or
        trained whole.
        """
        return self.entry.is_mix and self.key("frozen") == frozen

    def encodes(self, *, images: bool) -> bool:
        """Tell whether it encodes its own images, or texts alone, by an encoder of its kind."""
        return self.entry.is_encoder and (self.images.name == self.name) == images

    @property
    def training_threads(self) -> int:
        """The threads of its training, in every process."""
        recipe = self.key("recipe")
        # Over frozen vectors one process learns.
        return recipe.threads * getattr(recipe, "processes", 1)

    @property
    def memory_mb(self) -> float:
        """What its weights take, as published; 0 where that is unknown."""
        return memory_mb(self.kind)

    # Files that it is made of.

    @property
    def configs(self) -> list[str]:
        """Its weights that lie on this disk, or those of the model that it is made of."""
        made_of = self.inner if self.is_mix(frozen=False) else self.base
        weights = local_names(made_of.entry)
        return self.paths.local_files(*weights, *notes.beside(weights))

    def learns_from(self, collection: str) -> str:
        """Return the collection that it learns from before it encodes one: itself, mostly."""
        return self.base.key("collection") or collection

    def weights(self, collection: str) -> list[str]:
        """Return the weights that it needs from this run: learned ones only."""
        learns = self.kind.learned or self.kind.fitted or self.is_mix(frozen=False)
        folder = f"data/train/{self.learns_from(collection)}/{self.base.name}"
        return [f"{folder}/model.safetensors"] if learns else []

    def start(self, collection: str) -> list[str]:
        """Return the weights that its training starts from."""
        other = self.key("from_") or self.key("of")
        return self.named(other).weights(collection) if other else []

    def features(self, collection: str) -> list[str]:
        """Return what a frozen tower has made of the pictures that its heads were trained on."""
        folder = f"data/train/{collection}/{self.base.name}"
        names = ("npy", "ids.parquet") if self.kind.has_features else ()
        return [f"{folder}/pictures.{name}" for name in names]

    def image_table(self, collection: str) -> str:
        """Return the table of images that it reads: with summaries in place of captions where its
        params say so.
        """
        summary = self.base.key("summary")
        if summary:
            return f"data/encode/{collection}/summaries/{summary}.parquet"
        return f"data/collect/{collection}/images.parquet"

    # Files that it leaves.

    def vectors(
        self, collection: str, side: str, suffix: str = "npy", *, learned_on: str = ""
    ) -> list[str]:
        """Return the shards of one side, or those by the weights of an earlier collection."""
        encoder = self.images if side == "images" else self
        folder = f"since/{learned_on}/" if learned_on and encoder.weights(learned_on) else ""
        return encoder.shards(f"{collection}/{folder}{encoder.name}", side, suffix)

    def mixed(self, collection: str, *shards: str) -> dict[str, list[str]]:
        """Return the vectors that a mix mixes, of all shards or some: both sides, and their side
        inputs: questions on images and pictures of texts.
        """
        folder = f"{collection}/{self.inner.name}"
        vectors = {side: self.shards(folder, side, "npy", *shards) for side in _SIDES}
        ids = {f"{s}_ids": self.shards(folder, s, "ids.parquet", *shards) for s in _SIDES[:2]}
        return vectors | ids

    def shards(self, folder: str, side: str, suffix: str, *names: str) -> list[str]:
        """Return the shards, all or some, of a side below a folder of vectors."""
        shard_names = names or [f"{n:05d}" for n in range(self.params.encode.shards)]
        return [f"data/encode/{folder}/{side}/shard-{name}.{suffix}" for name in shard_names]


@dataclass(frozen=True)
class Models:
    """The models of the params, by name."""

    params: Params
    paths: Paths

    def __getitem__(self, name: str) -> Model:
        """Return a model by its name."""
        return Model(name, self.params, self.paths)

    def that(self, holds: Callable[[Model], object]) -> str:
        """Return a wildcard constraint: the models of which something holds."""
        return any_of(name for name in self.params.models if holds(self[name]))

    def of_kind(self, *kinds: str) -> str:
        """Return a wildcard constraint: the models of these kinds."""
        return any_of(n for n, entry in self.params.models.items() if entry.kind_name() in kinds)

    @property
    def encoding(self) -> Spec:
        """The params that every encoding reads."""
        encode = self.params.encode
        return {"shards": encode.shards, "batch": encode.batch, "precision": encode.precision}

    def earlier_vectors(self, wildcards: Wildcards, *sides: str) -> list[str]:
        """The shards, with their contents, of the collection that an encoding goes on from.

        It is the wildcard `earlier`, or what params `encode.after` says; a model that every
        collection learns anew has nothing there.
        """
        model, earlier = self[wildcards.model], wildcards.get("earlier")
        if not earlier:
            earlier = self.params.encode.after.get(wildcards.collection)
            if not earlier or model.weights(earlier):
                return []
        suffixes = ("npy", "contents.parquet")
        return [p for side in sides for s in suffixes for p in model.vectors(earlier, side, s)]

    def summariser(self, name: str) -> list[str]:
        """Return the table of ready summaries, or the files of the model that writes them."""
        summary = (self.params.encode.summaries or {})[name]
        return self.paths.local_files(summary.file or summary.name, folders=not summary.file)
