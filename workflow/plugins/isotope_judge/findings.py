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
        subject, path = f"judge {name}", Path(model.name)
        size = f"about {weights_mb(model.name, model.precision) / 1e3:,.1f} GB of weights"
        if path.is_dir():
            is_there = any(path.glob("*.safetensors"))
            lacking = Finding(subject, "missing", f"no .safetensors in {path}", "fetch them")
            yield Finding(subject, "ok", f"{path}, {size}") if is_there else lacking
        elif model.name.startswith(("/", "./")):
            remedy = "put it there, or change the params"
            yield Finding(subject, "missing", f"no folder {path}", remedy)
        elif is_fetched(model.name, model.revision):
            yield Finding(subject, "ok", f"{path} was fetched before, {size}")
        else:
            remedy = f"it is fetched from the hub when first used: {size}, needs the network"
            yield Finding(subject, "note", f"{path} is not on this disk", remedy)
