from itertools import repeat

from isotope.core.schemas import FIVE_FIELDS

ENCODE = {k: PARAMS["encode"][k] for k in ("shards", "batch", "precision")}
LEARNED = ("trained", "lit")
FITTED = ("dates",)
MIXES = ("clip2clip", "clip_fusion")
ENCODERS = ("open_clip", "transformers", "sentence", "conse", "lit", "trained", "hash", "reuse")


def shown_images(wildcards):
    """The table of images that a model reads: with summaries in place of captions, if it asks."""
    summary = PARAMS["models"][base(wildcards.model)].get("summary")
    table = f"data/encode/{{collection}}/summaries/{summary}.parquet"
    return (table if summary else "data/collect/{collection}/images.parquet").format(**wildcards)


def summariser(wildcards):
    """The table of ready summaries, or the files of the model that writes them."""
    spec = PARAMS["encode"]["summaries"][wildcards.summary]
    return on_disk(spec["file"], folders=False) if "file" in spec else on_disk(spec["name"])


def configs(wildcards):
    """The files that make up a model beside the weights that it learns here."""
    return configs_of(wildcards.model)


def configs_of(model):
    """A model's architecture, if it is one of ours, and its weights that lie on this disk."""
    spec = PARAMS["models"][base(model)]
    path = Path(HOME) / f"workflow/lib/isotope/models/{spec.get('config')}.json"
    return [*([ours(path)] if path.is_file() else []), *on_disk(*witnesses.of_model(spec))]


def base(model):
    """The model whose weights, and whose vectors of images, a model shares: itself, mostly."""
    return PARAMS["models"][model].get("weights_of", model)


def eyes(model):
    """The model whose vectors of images a model shares: itself, or one that its params name."""
    seen = PARAMS["models"][base(model)].get("images", "pixels")
    return base(model) if seen in ("pixels", "captions") else base(seen)


def encoders(*, sighted):
    """A wildcard constraint: the models that encode images themselves, or the others."""
    kinds = {n: m["kind"] for n, m in PARAMS["models"].items()}
    return any_of(n for n, k in kinds.items() if k in ENCODERS and (eyes(n) == n) == sighted)


def mixes(*, frozen):
    """The models of pictures with words: over frozen vectors, or trained whole."""
    own = {n: m for n, m in PARAMS["models"].items() if m["kind"] in MIXES}
    return sorted(n for n, m in own.items() if m.get("frozen", False) == frozen)


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
    kind, whole = PARAMS["models"][base(model)]["kind"], mixes(frozen=False)
    if kind not in (*LEARNED, *FITTED) and model not in whole:
        return []
    return [f"data/train/{collection}/{base(model)}/model.safetensors"]


def weights(wildcards):
    """The weights of the rule's model."""
    return learned(wildcards.collection, wildcards.model)


def tower_features(wildcards):
    """What a frozen tower has made of the pictures that its heads were trained on."""
    if model_of(wildcards)["kind"] != "lit":
        return []
    folder = f"data/train/{wildcards.collection}/{base(wildcards.model)}"
    return [f"{folder}/pictures.npy", f"{folder}/pictures.ids.parquet"]


def start_weights(wildcards):
    """The weights that a trained model goes on from."""
    other = PARAMS["models"][wildcards.model].get("from", beneath(wildcards.model))
    return learned(wildcards.collection, other) if other else []


def beneath(model):
    """The model that a model of pictures with words is made of, if it is one."""
    return PARAMS["models"][model].get("of")


def recipe(wildcards):
    """The recipe of a trained model."""
    return PARAMS["models"][wildcards.model].get("train", {})


def cores(of):
    """The threads of a recipe's training: of torch or of the decoder, in every process."""
    return max(of.get("threads", 1), of.get("workers", 1)) * of.get("processes", 1)


def trained():
    """The trained models that the experiment's systems use."""
    return sorted(m for m in {*map(base, used_models())} if PARAMS["models"][m]["kind"] in LEARNED)


def fitted():
    """The models without a learning curve that the experiment's systems use."""
    return sorted(m for m in {*map(base, used_models())} if PARAMS["models"][m]["kind"] in FITTED)


def whole():
    """The models of pictures with words that are trained whole and that systems use."""
    return sorted({*used_models()} & {*mixes(frozen=False)})


def used_models():
    """The models of the experiment's dense systems."""
    return sorted({PARAMS["systems"][s].get("model") for s in used_systems()} - {None})


def encoded():
    """Every shard of vectors that the experiment's dense systems search."""
    used = used_models()
    pattern = "data/encode/{collection}/{model}/{side}/shard-{n}.npy"
    sides = [
        *zip(used, repeat("texts")),
        *zip(sorted({*map(eyes, used)}), repeat("images")),
    ]
    return [
        path
        for model, side in sides
        for path in expand(pattern, collection=PARAMS["build"], model=model, side=side, n=SHARDS)
    ]


def side_of(encoded, side, suffix):
    """The shards of one side that a model has encoded, by `<collection>/<model>`."""
    return [f"data/encode/{encoded}/{side}/shard-{n}.{suffix}" for n in SHARDS]


def vectors(side, suffix):
    """The encoded shards of one side for a dense system's model."""

    def of(wildcards):
        model = PARAMS["systems"][wildcards.system]["model"]
        model = eyes(model) if side == "images" else model
        return side_of(f"{wildcards.collection}/{model}", side, suffix)

    return of


def before(side, suffix):
    """One side of the collection that an encoding goes on from; a model that every collection
    learns anew has nothing there."""

    def of(wildcards):
        earlier = PARAMS["encode"]["after"].get(wildcards.collection)
        if earlier is None or learned(earlier, wildcards.model):
            return []
        return side_of(f"{earlier}/{wildcards.model}", side, suffix)

    return of


def indexes_of(collection, system):
    """The indexes of a system on a collection."""
    return [f"data/index/{collection}/{setting}/{system}" for setting in SETTINGS]


INDEXES = indexes_of("{collection}", "{system}")


def indexed_before(wildcards):
    """The indexes of the collection that an index goes on from."""
    earlier = PARAMS["encode"]["after"].get(wildcards.collection)
    return indexes_of(earlier, wildcards.system) if earlier else []


def adapted():
    """Whether a system is trained, or fused with parameters that a split chooses."""
    return bool(trained()) or any("tune" in PARAMS["systems"][s] for s in SYSTEMS)


def mixed(shards):
    """The vectors that a mix mixes: both sides of its own model, and what stands beside them."""
    beside = {"images": "questions", "texts": "pictures"}
    sides = {side: side for side in (*beside, *beside.values())}

    def of(wildcards):
        names = {"collection": wildcards.collection, "shard": wildcards.get("shard")}
        folder = f"data/encode/{{collection}}/{PARAMS['models'][wildcards.model]['of']}"
        files = {
            f"{s}_ids": [f"{folder}/{s}/shard-{n}.ids.parquet" for n in shards] for s in beside
        }
        files |= {s: [f"{folder}/{s}/shard-{n}.npy" for n in shards] for s in sides}
        return {k: [p.format(**names) for p in paths] for k, paths in files.items()}

    return of
