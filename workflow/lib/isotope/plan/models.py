"""Models of a run: which are used, what they learn, which vectors and indexes they leave.

A model's entry in the params may share the weights of another (`weights_of`), or its vectors of
images (`images: <model>`); what is asked of such an entry is answered for the other.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from itertools import repeat
from typing import Any

from isotope.models import notes
from isotope.params.phases import prepare_of
from isotope.params.recipes import recipe_values
from isotope.params.sections import ModelKind, model_kind, model_values
from isotope.plan.paths import Wildcards, weight_names
from isotope.plan.sources import Sources

FilesOf = Callable[[Wildcards], list[str]]
Entry = Mapping[str, Any]
_SIDE_INPUTS = {"images": "questions", "texts": "pictures"}
_SIDES = (*_SIDE_INPUTS, *_SIDE_INPUTS.values())


class Models(Sources):
    """Models of a run: which are used, what they learn, which vectors and indexes they leave."""

    # Which models there are.

    def used_systems(self) -> list[str]:
        """The systems that are searched, and those that they fuse; `Systems` has it."""
        raise NotImplementedError

    def used_models(self) -> list[str]:
        """The models of the experiment's dense systems."""
        return sorted(
            {self.params["systems"][s].get("model") for s in self.used_systems()} - {None}
        )

    def trained_models(self) -> list[str]:
        """The trained models that the experiment's systems use."""
        return sorted(
            m for m in {*map(self.base_model, self.used_models())} if self.model_kind(m).learned
        )

    def fitted_models(self) -> list[str]:
        """The models without a learning curve that the experiment's systems use."""
        return sorted(
            m for m in {*map(self.base_model, self.used_models())} if self.model_kind(m).fitted
        )

    def fine_tuned_models(self) -> list[str]:
        """The models of pictures with words that are trained whole and that systems use."""
        return sorted({*self.used_models()} & {*self.mixes(frozen=False)})

    def has_adapted_systems(self) -> bool:
        """Whether a system is trained, or fused with parameters that a split chooses."""
        return bool(self.trained_models()) or any(
            "tune" in self.params["systems"][s] for s in self.systems
        )

    def models_of(self, *kinds: str) -> str:
        """A wildcard constraint: the models of these kinds."""
        return self.any_of(n for n, m in self.params["models"].items() if m["kind"] in kinds)

    def encoders(self, *, encode_images: bool) -> str:
        """A wildcard constraint: the models that encode images themselves, or the others."""
        return self.any_of(
            n
            for n, m in self.params["models"].items()
            if model_kind(m).is_encoder and (self.image_encoder(n) == n) == encode_images
        )

    def mixes(self, *, frozen: bool) -> list[str]:
        """The models of pictures with words: over frozen vectors, or trained whole."""
        own = {n: m for n, m in self.params["models"].items() if model_kind(m).is_mix}
        return sorted(n for n, m in own.items() if model_values(m)["frozen"] == frozen)

    def mixes_of(self, *, frozen: bool) -> str:
        """A wildcard constraint: `mixes`."""
        return self.any_of(self.mixes(frozen=frozen))

    # What a model's entry says.

    def base_model(self, model: str) -> str:
        """The model whose weights, and whose vectors of images, a model shares: itself, mostly."""
        return self.params["models"][model].get("weights_of", model)

    def image_encoder(self, model: str) -> str:
        """The model whose vectors of images a model shares: itself, or one that its params name."""
        images = self.params["models"][self.base_model(model)].get("images", "pixels")
        return (
            self.base_model(model) if images in ("pixels", "captions") else self.base_model(images)
        )

    def inner_model(self, model: str) -> str | None:
        """The model that a model of pictures with words is made of, if it is one."""
        return self.params["models"][model].get("of")

    def own_params(self, wildcards: Wildcards) -> Entry:
        """The entry of the rule's model."""
        return self._entry_of(wildcards.model)

    def model_params(self, wildcards: Wildcards) -> Entry:
        """The entry of the model whose weights the rule's model has."""
        return self._entry_of(self.base_model(wildcards.model))

    def _entry_of(self, model: str) -> Entry:
        """A model's entry as jobs compare it: the files of its weights tell where it has learned,
        and no training begins anew because another collection is searched with it.
        """
        entry = self.params["models"][model]
        return {key: value for key, value in entry.items() if key != "collection"}

    def model_values(self, wildcards: Wildcards) -> Entry:
        """The entry of the rule's model, with the defaults of its kind."""
        return model_values(self.model_params(wildcards))

    def inner_params(self, wildcards: Wildcards) -> Entry:
        """The entry of the model that the rule's model of pictures with words is made of."""
        return self.params["models"][self.inner_model(wildcards.model)]

    def fields(self, wildcards: Wildcards) -> Sequence[str]:
        """The fields of a text that a model reads."""
        return model_values(self.own_params(wildcards))["fields"]

    def inner_fields(self, wildcards: Wildcards) -> Sequence[str]:
        """The fields of a text that are words to a model of pictures with words."""
        return model_values(self.inner_params(wildcards))["fields"]

    def date_column(self, wildcards: Wildcards) -> str:
        """The column of images with the dates that a temporal model compares."""
        return model_values(self.model_params(wildcards))["column"]

    def recipe(self, wildcards: Wildcards) -> Entry:
        """How the rule's model learns, with the defaults of its kind."""
        return recipe_values(self.own_params(wildcards))

    def training_seed(self, wildcards: Wildcards) -> int:
        """The seed of a training."""
        return self.recipe(wildcards)["seed"]

    def training_threads(self, wildcards: Wildcards) -> int:
        """The threads of a training: of torch or of the decoder, in every process."""
        recipe = self.recipe(wildcards)
        # Over frozen vectors, nothing is decoded and one process learns.
        own = max(recipe["threads"], recipe.get("workers", 1))
        return own * recipe.get("processes", 1)

    # The code of a model's kind.

    def model_kind(self, model: str) -> type[ModelKind]:
        """The class of the kind of a model, or of the one whose weights it shares."""
        return model_kind(self.params["models"][self.base_model(model)])

    def code_of(self, model: str) -> Sequence[str]:
        """The roots, for `provenance.closure`, of the code of a model's kind."""
        return self.model_kind(model).roots(self.params["models"][self.base_model(model)])

    def model_code(self, wildcards: Wildcards) -> list[str]:
        """The files that the kind of the rule's model, or of its system's model, depends on."""
        model = wildcards.get("model") or self.params["systems"][wildcards.system]["model"]
        return self.code(*self.code_of(model))

    # Files that a model is made of.

    def configs_of(self, model: str) -> list[str]:
        """A model's architecture, if it is one of ours, and its weights that lie on this disk."""
        spec = self.params["models"][self.base_model(model)]
        path = self.home / f"workflow/lib/isotope/models/{spec.get('config')}.json"
        return [
            *([self.project_file(path)] if path.is_file() else []),
            *self.local_files(*weight_names(spec), *notes.beside(weight_names(spec))),
        ]

    def configs(self, wildcards: Wildcards) -> list[str]:
        """The files that make up the rule's model beside the weights that it learns here."""
        return self.configs_of(wildcards.model)

    def inner_configs(self, wildcards: Wildcards) -> list[str]:
        """The same of the model that a model of pictures with words is made of."""
        return self.configs_of(self.params["models"][wildcards.model]["of"])

    def encoder_files(self, wildcards: Wildcards) -> list[str]:
        """The files of the rule's model, and the ledgers of the pictures that it encodes."""
        return [*self.picture_ledgers(wildcards), *self.configs(wildcards)]

    def multimodal_files(self, wildcards: Wildcards) -> list[str]:
        """The same for a model of pictures with words."""
        return [*self.picture_ledgers(wildcards), *self.inner_configs(wildcards)]

    def learned_weights(self, collection: str, model: str) -> list[str]:
        """The weights that a model needs from this run: learned ones only."""
        kind = self.model_kind(model)
        if not (kind.learned or kind.fitted) and model not in self.mixes(frozen=False):
            return []
        learned_from = self.training_collection(collection, model)
        return [f"data/train/{learned_from}/{self.base_model(model)}/model.safetensors"]

    def training_collection(self, collection: str, model: str) -> str:
        """The collection that a model learns from before it encodes one: itself, mostly."""
        return self.params["models"][self.base_model(model)].get("collection", collection)

    def learning_here(self, collection: str, models: Iterable[str]) -> list[str]:
        """Those of some models that learn from a collection."""
        return [m for m in models if self.training_collection(collection, m) == collection]

    def weights(self, wildcards: Wildcards) -> list[str]:
        """The weights that the rule's model has learned, on the wildcard `earlier` if there is
        one.
        """
        collection = wildcards.get("earlier", wildcards.collection)
        return self.learned_weights(collection, wildcards.model)

    def start_weights(self, wildcards: Wildcards) -> list[str]:
        """The weights that the training of a model starts from."""
        own = self.own_params(wildcards)
        other = own.get("from", own.get("of"))
        return self.learned_weights(wildcards.collection, other) if other else []

    def tower_features(self, wildcards: Wildcards) -> list[str]:
        """What a frozen tower has made of the pictures that its heads were trained on."""
        if not self.model_kind(wildcards.model).has_features or wildcards.get("earlier"):
            return []
        folder = f"data/train/{wildcards.collection}/{self.base_model(wildcards.model)}"
        return [f"{folder}/pictures.npy", f"{folder}/pictures.ids.parquet"]

    # Summaries that stand for an image's captions.

    def image_table(self, wildcards: Wildcards) -> str:
        """The table of images that a model reads: with summaries in place of captions where its
        params say so.
        """
        summary = self.model_params(wildcards).get("summary")
        if summary:
            return f"data/encode/{wildcards.collection}/summaries/{summary}.parquet"
        return f"data/collect/{wildcards.collection}/images.parquet"

    def summary_params(self, wildcards: Wildcards) -> Entry:
        """The params of a table of summaries."""
        return self.params["encode"]["summaries"][wildcards.summary]

    def summariser(self, wildcards: Wildcards) -> list[str]:
        """The table of ready summaries, or the files of the model that writes them."""
        spec = self.summary_params(wildcards)
        if "file" in spec:
            return self.local_files(spec["file"], folders=False)
        return self.local_files(spec["name"])

    # Vectors.

    @cached_property
    def encode_params(self) -> Entry:
        """The params that every encoding reads."""
        return {k: self.params["encode"][k] for k in ("shards", "batch", "precision")}

    def side_shards(self, encoded: str, side: str, suffix: str) -> list[str]:
        """The shards of one side that a model has encoded, by `<collection>/<model>`."""
        return [f"data/encode/{encoded}/{side}/shard-{n}.{suffix}" for n in self.shard_names]

    def vector_shards(self) -> list[str]:
        """Every shard of vectors, or of terms, that the experiment's systems search."""
        used = [model for model in self.used_models() if not self.model_kind(model).reranks]
        sides = [
            *zip(used, repeat("texts")),
            *zip(sorted({*map(self.image_encoder, used)}), repeat("images")),
        ]
        return [
            path
            for model, side in sides
            for collection in self.params["build"]
            for path in self.side_shards(
                f"{collection}/{model}", side, self.model_kind(model).shard_suffix
            )
        ]

    def vectors(self, side: str, suffix: str) -> FilesOf:
        """The encoded shards of one side for a dense system's model."""

        def of(wildcards: Wildcards) -> list[str]:
            model = self.params["systems"][wildcards.system]["model"]
            model = self.image_encoder(model) if side == "images" else model
            return self.side_shards(f"{wildcards.collection}/{model}", side, suffix)

        return of

    def earlier_vectors(self, *sides: str) -> FilesOf:
        """The shards, with their contents, of the collection that an encoding goes on from.

        It is the wildcard `earlier`, or what params `encode.after` says; a model that every
        collection learns anew has nothing there.
        """

        def of(wildcards: Wildcards) -> list[str]:
            earlier = wildcards.get("earlier") or self._unchanged_since(wildcards)
            if earlier is None:
                return []
            encoded = f"{earlier}/{wildcards.model}"
            kinds = ("npy", "contents.parquet")
            return [path for s in sides for k in kinds for path in self.side_shards(encoded, s, k)]

        return of

    def _unchanged_since(self, wildcards: Wildcards) -> str | None:
        earlier = self.params["encode"]["after"].get(wildcards.collection)
        learned = earlier and self.learned_weights(earlier, wildcards.model)
        return None if learned else earlier

    def mix_inputs(self, shards: Iterable[str]) -> Callable[[Wildcards], dict[str, list[str]]]:
        """The vectors that a mix mixes: both sides of its own model, and their side inputs."""
        names = [*shards]

        def of(wildcards: Wildcards) -> dict[str, list[str]]:
            folder = f"data/encode/{wildcards.collection}/{self.inner_model(wildcards.model)}"
            patterns = {side: f"{folder}/{side}/shard-{{shard}}.npy" for side in _SIDES}
            patterns |= {
                f"{side}_ids": f"{folder}/{side}/shard-{{shard}}.ids.parquet"
                for side in _SIDE_INPUTS
            }
            own = [wildcards.get("shard") if n == "{shard}" else n for n in names]
            return {k: [p.format(shard=n) for n in own] for k, p in patterns.items()}

        return of

    # Indexes.

    @cached_property
    def index_pattern(self) -> list[str]:
        """The indexes of a rule's system."""
        return self.indexes_of("{collection}", "{system}")

    def indexes_of(self, collection: str, system: str) -> list[str]:
        """The indexes of a system on a collection."""
        return [f"data/index/{collection}/{setting}/{system}" for setting in self.settings]

    def earlier_indexes(self, wildcards: Wildcards) -> list[str]:
        """The indexes of the collection that an index goes on from."""
        earlier = self.params["encode"]["after"].get(wildcards.collection)
        return self.indexes_of(earlier, wildcards.system) if earlier else []

    @cached_property
    def searched_splits(self) -> list[str]:
        """The splits with pools of their own: the judged ones, then those for fusions."""
        return list(dict.fromkeys([*self.splits, *self.unjudged]))

    def bm25_fields(self, wildcards: Wildcards) -> Sequence[str]:
        """The fields of a text that a system of words reads."""
        return self.params["systems"][wildcards.system]["fields"]

    def bm25_prepare(self, wildcards: Wildcards) -> str:
        """How a system of words prepares those of the rule's collection."""
        entry = self.params["systems"][wildcards.system]
        return prepare_of(entry, self.params["collect"][wildcards.collection])

    def bm25_engine(self, wildcards: Wildcards) -> str:
        """What indexes the words for a system."""
        return self.params["systems"][wildcards.system]["engine"]

    def system_tokenizer(self, wildcards: Wildcards) -> str:
        """How a system that maps answers cuts names into tokens."""
        return self.params["systems"][wildcards.system]["tokenizer"]
