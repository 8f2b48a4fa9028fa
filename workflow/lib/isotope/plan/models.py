"""Models of a run: which are used, what they learn, which vectors they leave."""

from functools import cached_property
from itertools import repeat

from snakemake.io import expand

from isotope.core.schemas import FIVE_FIELDS
from isotope.params.sections import model_kind
from isotope.plan import witnesses
from isotope.plan.sources import Sources


class Models(Sources):
    """Models of a run: which are used, what they learn, which vectors they leave."""

    @cached_property
    def encode_params(self):
        """The params that every encoding reads."""
        return {k: self.params["encode"][k] for k in ("shards", "batch", "precision")}

    @cached_property
    def index_pattern(self):
        """The indexes of a rule's system."""
        return self.indexes_of("{collection}", "{system}")

    def image_table(self, wildcards):
        """The table of images that a model reads: with summaries in place of captions, if it
        asks.
        """
        summary = self.params["models"][self.base_model(wildcards.model)].get("summary")
        table = f"data/encode/{{collection}}/summaries/{summary}.parquet"
        return (table if summary else "data/collect/{collection}/images.parquet").format(
            **wildcards
        )

    def summariser(self, wildcards):
        """The table of ready summaries, or the files of the model that writes them."""
        spec = self.params["encode"]["summaries"][wildcards.summary]
        return (
            self.local_files(spec["file"], folders=False)
            if "file" in spec
            else self.local_files(spec["name"])
        )

    def configs(self, wildcards):
        """The files that make up a model beside the weights that it learns here."""
        return self.configs_of(wildcards.model)

    def configs_of(self, model):
        """A model's architecture, if it is one of ours, and its weights that lie on this disk."""
        spec = self.params["models"][self.base_model(model)]
        path = self.home / f"workflow/lib/isotope/models/{spec.get('config')}.json"
        return [
            *([self.project_file(path)] if path.is_file() else []),
            *self.local_files(*witnesses.of_model(spec)),
        ]

    def model_kind(self, model):
        """The class of the kind of a model, or of the one whose weights it shares."""
        return model_kind(self.params["models"][self.base_model(model)])

    def code_of(self, model):
        """The roots, for `provenance.closure`, of the code of a model's kind."""
        return self.model_kind(model).code()

    def encoder_code(self, *roots, model=None):
        """The files that roots and the kind of a model depend on: the rule's model, or that of its
        system, unless one is named.
        """

        def of(wildcards):
            named = model or wildcards.get("model")
            own = named or self.params["systems"][wildcards.system]["model"]
            return self.code(*roots, self.code_of(own))

        return of

    def base_model(self, model):
        """The model whose weights, and whose vectors of images, a model shares: itself, mostly."""
        return self.params["models"][model].get("weights_of", model)

    def image_encoder(self, model):
        """The model whose vectors of images a model shares: itself, or one that its params name."""
        seen = self.params["models"][self.base_model(model)].get("images", "pixels")
        return self.base_model(model) if seen in ("pixels", "captions") else self.base_model(seen)

    def encoders(self, *, sighted):
        """A wildcard constraint: the models that encode images themselves, or the others."""
        return self.any_of(
            n
            for n, m in self.params["models"].items()
            if model_kind(m).is_encoder and (self.image_encoder(n) == n) == sighted
        )

    def mixes(self, *, frozen):
        """The models of pictures with words: over frozen vectors, or trained whole."""
        own = {n: m for n, m in self.params["models"].items() if model_kind(m).is_mix}
        return sorted(n for n, m in own.items() if m.get("frozen", False) == frozen)

    def models_of(self, *kinds):
        """A wildcard constraint: the models of these kinds."""
        return self.any_of(n for n, m in self.params["models"].items() if m["kind"] in kinds)

    def model_params(self, wildcards):
        """The params of the model that encodes."""
        return self.params["models"][self.base_model(wildcards.model)]

    def fields(self, wildcards):
        """The fields of a text that a model reads."""
        return self.params["models"][wildcards.model].get("fields", FIVE_FIELDS)

    def learned_weights(self, collection, model):
        """The weights that a model needs from this run: learned ones only."""
        kind = self.model_kind(model)
        if not (kind.learned or kind.fitted) and model not in self.mixes(frozen=False):
            return []
        return [f"data/train/{collection}/{self.base_model(model)}/model.safetensors"]

    def weights(self, wildcards):
        """The weights of the rule's model."""
        return self.learned_weights(wildcards.collection, wildcards.model)

    def tower_features(self, wildcards):
        """What a frozen tower has made of the pictures that its heads were trained on."""
        if not self.model_kind(wildcards.model).has_features:
            return []
        folder = f"data/train/{wildcards.collection}/{self.base_model(wildcards.model)}"
        return [f"{folder}/pictures.npy", f"{folder}/pictures.ids.parquet"]

    def start_weights(self, wildcards):
        """The weights that a trained model goes on from."""
        other = self.params["models"][wildcards.model].get(
            "from", self.inner_model(wildcards.model)
        )
        return self.learned_weights(wildcards.collection, other) if other else []

    def inner_model(self, model):
        """The model that a model of pictures with words is made of, if it is one."""
        return self.params["models"][model].get("of")

    def recipe(self, wildcards):
        """The recipe of a trained model."""
        return self.params["models"][wildcards.model].get("train", {})

    def cores(self, of):
        """The threads of a recipe's training: of torch or of the decoder, in every process."""
        return max(of.get("threads", 1), of.get("workers", 1)) * of.get("processes", 1)

    def trained_models(self):
        """The trained models that the experiment's systems use."""
        return sorted(
            m for m in {*map(self.base_model, self.used_models())} if self.model_kind(m).learned
        )

    def fitted_models(self):
        """The models without a learning curve that the experiment's systems use."""
        return sorted(
            m for m in {*map(self.base_model, self.used_models())} if self.model_kind(m).fitted
        )

    def fine_tuned_models(self):
        """The models of pictures with words that are trained whole and that systems use."""
        return sorted({*self.used_models()} & {*self.mixes(frozen=False)})

    def used_models(self):
        """The models of the experiment's dense systems."""
        return sorted(
            {self.params["systems"][s].get("model") for s in self.used_systems()} - {None}
        )

    def vector_shards(self):
        """Every shard of vectors that the experiment's dense systems search."""
        used = self.used_models()
        pattern = "data/encode/{collection}/{model}/{side}/shard-{n}.npy"
        sides = [
            *zip(used, repeat("texts")),
            *zip(sorted({*map(self.image_encoder, used)}), repeat("images")),
        ]
        return [
            path
            for model, side in sides
            for path in expand(
                pattern, collection=self.params["build"], model=model, side=side, n=self.shard_names
            )
        ]

    def side_shards(self, encoded, side, suffix):
        """The shards of one side that a model has encoded, by `<collection>/<model>`."""
        return [f"data/encode/{encoded}/{side}/shard-{n}.{suffix}" for n in self.shard_names]

    def vectors(self, side, suffix):
        """The encoded shards of one side for a dense system's model."""

        def of(wildcards):
            model = self.params["systems"][wildcards.system]["model"]
            model = self.image_encoder(model) if side == "images" else model
            return self.side_shards(f"{wildcards.collection}/{model}", side, suffix)

        return of

    def earlier_side(self, side, suffix):
        """One side of the collection that an encoding goes on from; a model that every collection
        learns anew has nothing there."""

        def of(wildcards):
            earlier = self.params["encode"]["after"].get(wildcards.collection)
            if earlier is None or self.learned_weights(earlier, wildcards.model):
                return []
            return self.side_shards(f"{earlier}/{wildcards.model}", side, suffix)

        return of

    def indexes_of(self, collection, system):
        """The indexes of a system on a collection."""
        return [f"data/index/{collection}/{setting}/{system}" for setting in self.settings]

    def earlier_indexes(self, wildcards):
        """The indexes of the collection that an index goes on from."""
        earlier = self.params["encode"]["after"].get(wildcards.collection)
        return self.indexes_of(earlier, wildcards.system) if earlier else []

    def has_adapted_systems(self):
        """Whether a system is trained, or fused with parameters that a split chooses."""
        return bool(self.trained_models()) or any(
            "tune" in self.params["systems"][s] for s in self.systems
        )

    def mix_inputs(self, shards):
        """The vectors that a mix mixes: both sides of its own model, and what stands beside
        them.
        """
        beside = {"images": "questions", "texts": "pictures"}
        sides = {side: side for side in (*beside, *beside.values())}

        def of(wildcards):
            names = {"collection": wildcards.collection, "shard": wildcards.get("shard")}
            folder = f"data/encode/{{collection}}/{self.params['models'][wildcards.model]['of']}"
            files = {
                f"{s}_ids": [f"{folder}/{s}/shard-{n}.ids.parquet" for n in shards] for s in beside
            }
            files |= {s: [f"{folder}/{s}/shard-{n}.npy" for n in shards] for s in sides}
            return {k: [p.format(**names) for p in paths] for k, paths in files.items()}

        return of
