"""What single values of params.yaml mean, beyond what a schema can say, before the first job."""

import difflib
import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from itertools import pairwise
from typing import Any

from isotope.core import measures
from isotope.core.errors import BadParams
from isotope.crawl.addresses import has_contact
from isotope.params import sections

Params = Mapping[str, Any]
_EIGHT = re.compile(r"[0-9]{8}")
_BUILT_IN = ("open_clip", "toy")


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
    for name in params["models"]:
        _check_model(name, params)
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


def _check_model(name: str, params: Params) -> None:
    entry = params["models"][name]
    sections.model_kind(entry).of_plain(entry).check(f"params models.{name}", dict(params))


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
