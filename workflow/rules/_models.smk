from itertools import repeat

from isotope.tables import FIVE_FIELDS

LEARNED = ("trained", "lit")


def configs(wildcards):
    """The architecture of a trained model."""
    spec = PARAMS["models"][base(wildcards.model)]
    name = spec.get("config")
    return [ours(f"workflow/lib/isotope/models/{name}.json")] if name else []


def base(model):
    """The model whose weights, and whose vectors of images, a model shares: itself, mostly."""
    return PARAMS["models"][model].get("weights_of", model)


def models_of(*kinds):
    """A wildcard constraint: the models of these kinds."""
    return any_of(n for n, m in PARAMS["models"].items() if m["kind"] in kinds)


def model_of(wildcards):
    """The params of the model that encodes."""
    return PARAMS["models"][base(wildcards.model)]


def fields(wildcards):
    """The fields of a text that a model reads."""
    return PARAMS["models"][wildcards.model].get("fields", FIVE_FIELDS)


def learned(collection, model):
    """The weights that a model needs from this run: learned ones only."""
    if PARAMS["models"][base(model)]["kind"] not in LEARNED:
        return []
    return [f"data/train/{collection}/{base(model)}/model.safetensors"]


def weights(wildcards):
    """The weights of the rule's model."""
    return learned(wildcards.collection, wildcards.model)


def start_weights(wildcards):
    """The weights that a trained model goes on from."""
    other = PARAMS["models"][wildcards.model].get("from")
    return learned(wildcards.collection, other) if other else []


def recipe(wildcards):
    """The recipe of a trained model."""
    return PARAMS["models"][wildcards.model]["train"]


def cores(of):
    """The threads of a recipe's training: of torch or of the decoder, in every process."""
    return max(of.get("threads", 1), of.get("workers", 1)) * of.get("processes", 1)


def trained():
    """The trained models that the experiment's systems use."""
    return sorted(m for m in {*map(base, used_models())} if PARAMS["models"][m]["kind"] in LEARNED)


def used_models():
    """The models of the experiment's dense systems."""
    return sorted({PARAMS["systems"][s].get("model") for s in used_systems()} - {None})


def encoded():
    """Every shard of vectors that the experiment's dense systems search."""
    used = used_models()
    pattern = "data/encode/{collection}/{model}/{side}/shard-{n}.npy"
    sides = [
        *zip(used, repeat("texts")),
        *zip(sorted({*map(base, used)}), repeat("images")),
    ]
    return [
        path
        for model, side in sides
        for path in expand(pattern, collection=PARAMS["build"], model=model, side=side, n=SHARDS)
    ]


def vectors(side, suffix):
    """The encoded shards of one side for a dense system's model."""

    def of(wildcards):
        model = PARAMS["systems"][wildcards.system]["model"]
        model = base(model) if side == "images" else model
        folder = f"data/encode/{wildcards.collection}/{model}/{side}"
        return [f"{folder}/shard-{n}.{suffix}" for n in SHARDS]

    return of


def adapted():
    """Whether a system is trained, or fused with parameters that a split chooses."""
    return bool(trained()) or any("tune" in PARAMS["systems"][s] for s in SYSTEMS)
