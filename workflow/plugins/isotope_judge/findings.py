"""What `isotope doctor` looks at for judging: the weights of the models that grade."""

from collections.abc import Iterator
from pathlib import Path

from isotope.core.findings import Finding
from isotope.models.hub import is_fetched
from isotope.models.named_sizes import weights_mb
from isotope.params.root import Params
from isotope_judge.params import Judge


def findings(params: Params) -> Iterator[Finding]:
    """Look at every model that grades: its folder with safetensors, or a name on a hub."""
    judge = params.section("judge", Judge)
    for name, model in sorted(((judge and judge.models) or {}).items()):
        what, place = f"judge {name}", Path(model.name)
        size = f"about {weights_mb(model.name, model.precision) / 1e3:,.1f} GB of weights"
        if place.is_dir():
            found = any(place.glob("*.safetensors"))
            lacking = Finding(what, "missing", f"no .safetensors in {place}", "fetch them")
            yield Finding(what, "ok", f"{place}, {size}") if found else lacking
        elif model.name.startswith(("/", "./")):
            remedy = "put it there, or change the params"
            yield Finding(what, "missing", f"no folder {place}", remedy)
        elif is_fetched(model.name, model.revision):
            yield Finding(what, "ok", f"{place} was fetched before, {size}")
        else:
            remedy = f"it is fetched from the hub when first used: {size}, needs the network"
            yield Finding(what, "note", f"{place} is not on this disk", remedy)
