"""What entries of params.yaml owe each other beyond names: models' origins, tuned fusions."""

from typing import Any

from isotope.errors import BadParams

Params = dict[str, Any]
_ARCHITECTURES = ("config", "name")


def link(params: Params) -> None:
    """Check trained models and fusions; give a model the architecture of the one it goes on from.

    Raises:
        BadParams: no architecture or two, a circle of `from`; weights or k besides `tune`, a
            grid that does not fit, or one whose split is not searched.
    """
    models = params["models"]
    trained = [name for name, entry in models.items() if entry["kind"] == "trained"]
    origins = {name: _architecture(models, name, []) for name in trained}
    for name, (key, value) in origins.items():
        models[name][key] = value
    for name, entry in params["systems"].items():
        if entry["kind"] in ("rrf", "wsum"):
            _check_fusion(f"params systems.{name}", entry, params["search"]["splits"])


def _architecture(models: Params, name: str, seen: list[str]) -> tuple[str, str]:
    where, entry = f"params models.{name}", models[name]
    if name in seen:
        raise BadParams(where, f"a circle of `from`: {' > '.join([*seen, name])}", "break it")
    if entry["kind"] != "trained":
        raise BadParams(where, f"`from` a model of kind {entry['kind']}", "name a trained model")
    own = [key for key in (*_ARCHITECTURES, "from") if key in entry]
    if len(own) != 1:
        found = f"{' and '.join(own) or 'none'} of config, name and from"
        raise BadParams(where, found, "give exactly one")
    if own != ["from"]:
        return own[0], entry[own[0]]
    if entry["from"] not in models:
        known = ", ".join(sorted(models))
        raise BadParams(f"{where}.from", f"unknown name {entry['from']!r}", f"known: {known}")
    return _architecture(models, entry["from"], [*seen, name])


def _check_fusion(where: str, entry: Params, splits: list[str]) -> None:
    fixed, tune = "weights" if entry["kind"] == "wsum" else "k", entry.get("tune")
    if tune is None:
        if entry["kind"] == "wsum" and "weights" not in entry:
            raise BadParams(where, "neither weights nor tune", "give one of them")
        return
    if fixed in entry:
        raise BadParams(where, f"both {fixed} and tune", "keep one of them")
    if any(len(w) != len(entry["of"]) for w in tune["grid"].get("weights", [])):
        raise BadParams(f"{where}.tune", "weights that are not one for each system", "mend them")
    split = tune.get("split", "validation")
    if split not in splits:
        raise BadParams(f"{where}.tune", f"split {split!r} is not searched", "add it to search")
