"""Models of a run: what each is made of, what it learns, and which vectors it leaves.

A model's entry in the params may share the weights of another (`weights_of`), or its vectors of
images (`images: <model>`); what is asked of such an entry is answered for the other.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from isotope.models import notes
from isotope.models.families.published import memory_mb
from isotope.params.recipes import recipe_values
from isotope.params.sections import ModelKind, model_kind, model_values
from isotope.plan.paths import Params, Paths, Wildcards, any_of, weight_names
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
    *kinds: str, sides: Sequence[str] = ("text", "image"), since: bool = False
) -> dict[str, str]:
    """Return the files of a shard of a collection, by the weights of an earlier one or its own."""
    folder = "{collection}/since/{earlier}/{model}" if since else "{collection}/{model}"
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
    def own(self) -> Spec:
        """Its entry as jobs compare it: the files of its weights tell where it has learned, and no
        training begins anew because another collection is searched with it.
        """
        entry = self.params["models"][self.name]
        return {key: value for key, value in entry.items() if key != "collection"}

    @property
    def values(self) -> Spec:
        """Its entry with the defaults of its kind."""
        return model_values(self.own)

    @property
    def base(self) -> "Model":
        """The model whose weights it shares: itself, mostly."""
        name = self.own.get("weights_of")
        return Model(name, self.params, self.paths) if name else self

    @property
    def images(self) -> str:
        """The model whose vectors of images it shares: itself, or one that its params name."""
        images = self.base.own.get("images", "pixels")
        if images in ("pixels", "captions"):
            return self.base.name
        return Model(images, self.params, self.paths).base.name

    @property
    def inner(self) -> "Model":
        """The model that a model of pictures with words is made of."""
        return Model(self.own["of"], self.params, self.paths)

    @property
    def kind(self) -> type[ModelKind]:
        """The class of its kind, or of that of the model whose weights it shares."""
        return model_kind(self.base.own)

    @property
    def is_mix(self) -> bool:
        """Whether it is learned over the frozen vectors of another model."""
        return model_kind(self.own).is_mix and self.values["frozen"]

    @property
    def is_whole(self) -> bool:
        """Whether it is a model of pictures with words that is trained whole."""
        return model_kind(self.own).is_mix and not self.values["frozen"]

    def encodes(self, *, images: bool) -> bool:
        """Tell whether it encodes its own images, or texts alone, by an encoder of its kind."""
        return model_kind(self.own).is_encoder and (self.images == self.name) == images

    @property
    def recipe(self) -> Spec:
        """How it learns, with the defaults of its kind."""
        return recipe_values(self.own)

    @property
    def training_threads(self) -> int:
        """The threads of its training: of torch or of the decoder, in every process."""
        recipe = self.recipe
        # Over frozen vectors, nothing is decoded and one process learns.
        return max(recipe["threads"], recipe.get("workers", 1)) * recipe.get("processes", 1)

    @property
    def memory_mb(self) -> float:
        """What its weights take, as published; 0 where that is unknown."""
        return memory_mb(self.base.own)

    # Files that it is made of.

    def code(self, *roots: str) -> list[str]:
        """The files that roots and its kind depend on."""
        return self.paths.code(*roots, *self.kind.roots(self.base.own))

    @property
    def configs(self) -> list[str]:
        """Its architecture, if it is one of ours, and its weights that lie on this disk."""
        spec, paths = self.base.own, self.paths
        path = paths.home / f"workflow/lib/isotope/models/{spec.get('config')}.json"
        ours = [paths.project_file(path)] if path.is_file() else []
        return ours + paths.local_files(*weight_names(spec), *notes.beside(weight_names(spec)))

    def learns_from(self, collection: str) -> str:
        """Return the collection that it learns from before it encodes one: itself, mostly."""
        return self.params["models"][self.base.name].get("collection", collection)

    def weights(self, collection: str) -> list[str]:
        """The weights that it needs from this run: learned ones only."""
        learns = self.kind.learned or self.kind.fitted or self.is_whole
        folder = f"data/train/{self.learns_from(collection)}/{self.base.name}"
        return [f"{folder}/model.safetensors"] if learns else []

    def start(self, collection: str) -> list[str]:
        """The weights that its training starts from."""
        other = self.own.get("from", self.own.get("of"))
        return Model(other, self.params, self.paths).weights(collection) if other else []

    def features(self, collection: str) -> list[str]:
        """What a frozen tower has made of the pictures that its heads were trained on."""
        folder = f"data/train/{collection}/{self.base.name}"
        names = ("npy", "ids.parquet") if self.kind.has_features else ()
        return [f"{folder}/pictures.{name}" for name in names]

    def image_table(self, collection: str) -> str:
        """The table of images that it reads: with summaries in place of captions where its params
        say so.
        """
        summary = self.base.own.get("summary")
        if summary:
            return f"data/encode/{collection}/summaries/{summary}.parquet"
        return f"data/collect/{collection}/images.parquet"

    # Files that it leaves.

    def vectors(
        self, collection: str, side: str, suffix: str = "npy", *, learned_on: str = ""
    ) -> list[str]:
        """The shards of one side, or those by the weights that were learned on an earlier one."""
        name = self.images if side == "images" else self.name
        encoder = Model(name, self.params, self.paths)
        since = f"since/{learned_on}/" if learned_on and encoder.weights(learned_on) else ""
        return encoder._shards(f"{collection}/{since}{name}", side, suffix)

    def mixed(self, collection: str, shards: Sequence[str] = ()) -> dict[str, list[str]]:
        """The vectors that a mix mixes, of all shards or some: both sides, and their side inputs:
        questions on images and pictures of texts.
        """
        folder, inner = f"{collection}/{self.inner.name}", self.inner
        vectors = {side: inner._shards(folder, side, "npy", shards) for side in _SIDES}
        ids = {f"{s}_ids": inner._shards(folder, s, "ids.parquet", shards) for s in _SIDES[:2]}
        return vectors | ids

    def _shards(self, folder: str, side: str, suffix: str, names: Sequence[str] = ()) -> list[str]:
        every = names or [f"{n:05d}" for n in range(self.params["encode"]["shards"])]
        return [f"data/encode/{folder}/{side}/shard-{name}.{suffix}" for name in every]


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
        return any_of(name for name in self.params["models"] if holds(self[name]))

    def of(self, *kinds: str) -> str:
        """Return a wildcard constraint: the models of these kinds."""
        return self.that(lambda model: model.own["kind"] in kinds)

    @property
    def encoding(self) -> Spec:
        """The params that every encoding reads."""
        return {key: self.params["encode"][key] for key in ("shards", "batch", "precision")}

    def learning(self, collection: str, names: Iterable[str]) -> list[str]:
        """Return those of some models that learn from a collection."""
        return [n for n in names if self[n].learns_from(collection) == collection]

    def earlier_vectors(self, wildcards: Wildcards, *sides: str) -> list[str]:
        """The shards, with their contents, of the collection that an encoding goes on from.

        It is the wildcard `earlier`, or what params `encode.after` says; a model that every
        collection learns anew has nothing there.
        """
        model, earlier = self[wildcards.model], wildcards.get("earlier")
        if not earlier:
            earlier = self.params["encode"]["after"].get(wildcards.collection)
            if not earlier or model.weights(earlier):
                return []
        suffixes = ("npy", "contents.parquet")
        return [p for side in sides for s in suffixes for p in model.vectors(earlier, side, s)]

    def summariser(self, name: str) -> list[str]:
        """The table of ready summaries, or the files of the model that writes them."""
        spec: Mapping[str, str] = self.params["encode"]["summaries"][name]
        if "file" in spec:
            return self.paths.local_files(spec["file"], folders=False)
        return self.paths.local_files(spec["name"])
