"""What single values of params.yaml mean, beyond what a schema can say, before the first job."""

import difflib
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from itertools import pairwise
from typing import Any

from isotope.core import measures
from isotope.core.errors import BadParams
from isotope.crawl.addresses import has_contact
from isotope.params import mix_recipe
from isotope.params import multimodal
from isotope.models import open_clip_lists
from isotope.params import recipes
from isotope.params import recipes as heads_recipe
from isotope.params.schema import suggest

Params = Mapping[str, Any]
_EIGHT = re.compile(r"[0-9]{8}")
_BUILT_IN = ("open_clip", "toy")
_RECIPES = {
    "train": (recipes.Recipe.of, recipes.Means.of),
    "heads": (heads_recipe.HeadsRecipe.of,),
    "learn": (mix_recipe.Recipe.of,),
}
_WHOLE = (multimodal.recipe_of, recipes.Means.of)


def check_values(params: Params) -> None:
    """Check measures, dates, shares, recipes, and the names of models and tokenizers.

    Raises:
        BadParams: the first value that no job could use: key, value and what is allowed.
    """
    _check_snapshots([str(name) for name in params.get("snapshots", [])])
    for name, entry in params["acquire"].items():
        if "date" in entry.get("generate", {}):
            _demand_date(f"params acquire.{name}.generate.date", entry["generate"]["date"])
    _check_shares(params)
    _check_contacts(params)
    for where, name in _measures(params):
        measures.parse(name, f"params {where}")
    _check_judged(params)
    for name, entry in params["models"].items():
        _check_model(f"params models.{name}", entry)
    for where, name in _tokenizers(params):
        _check_tokenizer(f"params {where}", name)
    for prompt in params["tabulate"].get("styles", {}).get("prompts", []):
        if "{style}" not in prompt:
            raise BadParams(
                "params tabulate.styles.prompts", f"{prompt!r}", "write {style} in each"
            )


def _check_snapshots(names: list[str]) -> None:
    for name in filter(_EIGHT.fullmatch, names):
        _demand_date("params snapshots", name)
    if all(map(_EIGHT.fullmatch, names)):
        for earlier, later in pairwise(names):
            if later < earlier:
                found = f"{later} after {earlier}"
                raise BadParams("params snapshots", found, "name the oldest first")


def _demand_date(where: str, value: str) -> None:
    try:
        datetime.strptime(value, "%Y%m%d")  # noqa: DTZ007 (a day, nowhere)
    except ValueError as error:
        remedy = "give a day as year, month and day: 20230101"
        raise BadParams(where, f"{value!r} is no day of the calendar", remedy) from error


def _check_shares(params: Params) -> None:
    for name, entry in params["parse"].items():
        splits = entry.get("splits", {})
        if sum(splits.values()) > 1:
            found = " and ".join(f"{k} {v}" for k, v in splits.items())
            remedy = "give shares that add up to 1 at most; the rest trains"
            raise BadParams(f"params parse.{name}.splits", found, remedy)


def _check_contacts(params: Params) -> None:
    for name, entry in params["crawl"].items():
        if "contact" in entry and not has_contact(entry):
            remedy = "give a mail address or a web page of yours, such as me@example.org"
            raise BadParams(f"params crawl.{name}.contact", f"{entry['contact']!r}", remedy)


def _measures(params: Params) -> Iterator[tuple[str, str]]:
    score = params["score"]
    for i, name in enumerate(score["measures"]):
        yield f"score.measures[{i}]", name
    for i, name in enumerate(score.get("judge", {}).get("measures", [])):
        yield f"score.judge.measures[{i}]", name
    for system, entry in params["systems"].items():
        if "measure" in entry.get("tune", {}):
            yield f"systems.{system}.tune.measure", entry["tune"]["measure"]


def _check_judged(params: Params) -> None:
    for key in ("setting", "split"):
        named = params["score"].get("judge", {}).get(key)
        searched = params["search"][f"{key}s"]
        if named is not None and named not in searched:
            remedy = f"add it to search.{key}s, or name one of {', '.join(searched)}"
            raise BadParams(f"params score.judge.{key}", f"{named!r} is not searched", remedy)


def _check_model(where: str, entry: Params) -> None:
    for key in _RECIPES.keys() & entry.keys():
        whole = key == "train" and entry["kind"] in multimodal.RECIPES
        for recipe in _WHOLE if whole else _RECIPES[key]:
            with _at(f"{where}.{key}"):
                recipe(entry)
    if entry["kind"] == "dates":
        from isotope.models import dates  # noqa: PLC0415 (scipy loads slowly)

        with _at(f"{where}.ngrams"):
            dates.Recipe.of(entry)
    if entry["kind"] in ("open_clip", "trained"):
        _check_architecture(where, entry)


@contextmanager
def _at(where: str) -> Iterator[None]:
    """Name the key that a recipe can't know."""
    try:
        yield
    except BadParams as error:
        raise BadParams(where, error.found, error.remedy) from error


def _check_architecture(where: str, entry: Params) -> None:
    lists = {"config": open_clip_lists.configs, "name": open_clip_lists.architectures}
    key = next((k for k in lists if k in entry), None)
    if key is None:
        return
    name, tag = entry[key], entry.get("pretrained")
    if name not in lists[key]():
        raise BadParams(f"{where}.{key}", f"unknown name {name!r}", suggest(name, lists[key]()))
    other = open_clip_lists.tokenizer(name) if entry["kind"] == "trained" else None
    if other:
        found = f"{name} reads text with the tokenizer of {other}"
        raise BadParams(f"{where}.{key}", found, "train a model with CLIP's own tokenizer")
    tags = open_clip_lists.tags(name)
    if tag is not None and not _is_file(tag) and tag.replace("-", "_").lower() not in tags:
        found = f"{name} has no weights {tag!r}"
        raise BadParams(f"{where}.pretrained", found, suggest(tag, tags))


def _is_file(tag: str) -> bool:
    return any(tag.endswith(suffix) for suffix in open_clip_lists.WEIGHTS)


def _tokenizers(params: Params) -> Iterator[tuple[str, str]]:
    for name, spec in params["tabulate"]["tokenizers"].items():
        yield f"tabulate.tokenizers.{name}", spec


def _check_tokenizer(where: str, spec: str) -> None:
    """Refuse what is all but the name of a tokenizer of ours: no hub has a name so near."""
    near = difflib.get_close_matches(spec.lower(), _BUILT_IN, n=1, cutoff=0.75)
    if near and spec not in _BUILT_IN:
        found = f"no tokenizer {spec!r}"
        allowed = "open_clip, toy, a vocabulary file or a name on the hub"
        raise BadParams(where, found, f"did you mean {near[0]!r}? (allowed: {allowed})")
