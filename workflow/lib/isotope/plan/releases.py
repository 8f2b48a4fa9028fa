"""What a release says of its collection: the words of the params, else those of its kind."""

from typing import cast

import yaml

from isotope.params.collect import folders
from isotope.params.root import Params
from isotope.plan.collections import PlannedCollection
from isotope.plan.sources import Spec
from isotope.release.lite_pools import PoolLimits

_DESCRIBED = ("title", "description", "licence", "licence_url", "homepage", "citation")
_MADE_UP = "The source is isotope's embedded encyclopedia, which is made up."


def facts(params: Params, about: PlannedCollection) -> Spec:
    """Return the fields of `release.about.CollectionFacts`, but for the fingerprint.

    A licence is `unknown` where neither params nor kind state one; limits are empty where there are
    none.
    """
    entry = params.release.about.get(about.name)
    stated_by_params = entry.spec() if entry else {}
    of_kind = about_kind(about.entry.kind, getattr(about.entry, "form", None))
    stated = {"licence", "licence_url"} if "licence" in stated_by_params else set[str]()
    words = {"title": about.name, "description": "Texts, images, and which belong together."}
    words |= {
        "licence": "unknown",
        **{k: v for k, v in of_kind.items() if k not in stated},
        **stated_by_params,
    }
    acquired = (params.acquire.get(source) for source in about.sources)
    generated = any(source and source.generate for source in acquired)
    return {
        **{key: words.get(key, "") for key in _DESCRIBED},
        "kind": about.entry.kind,
        "limits": " ".join(filter(None, (words.get("limits"), _MADE_UP if generated else ""))),
        "entry": about.entry.filled(),
        "systems": {name: params.systems[name].kind_name() for name in params.search.systems},
        "measures": params.score.measures,
        "lite": PoolLimits()._asdict(),
    }


def about_kind(kind: str, form: str | None = None) -> dict[str, str]:
    """Return what `about.yaml` in the folder of a kind says, or the file of a form's name.

    Nothing where there is none.
    Such a file has description, homepage and citation of the data, limits that users should know,
    and licence and licence_url only where they hold for every collection of the kind.
    """
    folder = folders().get(kind)
    path = folder and folder / (f"{form}.yaml" if form else "about.yaml")
    if path is None or not path.is_file():
        return {}
    described = cast("dict[str, str]", yaml.safe_load(path.read_text(encoding="utf-8")))
    return {key: value.strip() for key, value in described.items()}
