"""What the phase suggest suggests, and how sure it has to be: the key `suggest` of params.yaml."""

from typing import Annotated, Any, ClassVar

from pydantic import Field

from isotope.params.messages import KeyPath
from isotope.params.references import Ref
from isotope.params.removed import Constant, Removed
from isotope.params.sections import (
    Count,
    Distinct,
    Integer,
    Number,
    Opt,
    Params,
    PluginSection,
    Rare,
    Section,
)

_Within = Annotated[Number, Field(gt=0, lt=1)]


def _wikis(params: Any, _path: KeyPath) -> list[str]:  # noqa: ANN401
    built = {name: params.collect[name] for name in params.build if name in params.collect}
    return [name for name, entry in built.items() if entry.is_snapshot or entry.is_union]


class Filtering(Section):
    """Which pictures are not suggested."""

    maximum_usage: Rare[Count] = 100
    """Most pages that show a picture; what is on more is an icon."""
    free: bool = True
    """Whether pictures whose licence is not free are left out."""


class Publishing(Filtering):
    """Which suggestions are published."""

    precision: _Within = 0.9
    """Share of suggestions that are to be right."""
    most: Annotated[Integer, Field(ge=1, le=10)] = 3
    """Most suggestions for a section."""


class Suggest(Publishing, PluginSection):
    """Suggestions of pictures for sections without one. No collection gets any unless the key is
    there, if only as `{}`."""

    removed: ClassVar[Removed] = {
        "pixels": Constant(100, "pixels that a thumbnail has at least"),
        "aspect_tail": Constant(0.005, "the share of pictures whose aspect is odd, at each end"),
        "same_bits": Constant(6, "the distance of perceptual hashes of the same picture"),
        "same_cosine": Constant(0.98, "the cosine of vectors of the same picture"),
        "confidence": Constant(0.9, "the probability with which `precision` is reached"),
        "diversity": Constant(0.3, "the weight of how unlike a suggestion is to those before it"),
        "depth": Constant(50, "candidates of each source, of which at most `most` are shown"),
        "sheet": Constant(100, "suggestions that people judge, which tell a share by a tenth"),
    }

    collections: Opt[Distinct[Annotated[str, Ref(_wikis, "build", "collect")]]] = None
    """Built collections whose sections get suggestions. Unless given, all that are made of a
    snapshot of Wikipedia, or of several."""
    bm25: Opt[Annotated[str, Ref("search.systems", kind="bm25")]] = None
    """System of kind bm25 whose hits are candidates; unless given, the first that is searched."""
    dense: Opt[Annotated[str, Ref("search.systems", kind="dense")]] = None
    """System of kind dense whose hits are candidates; unless given, `tabulate.system` if it is one,
    else the first that is searched. Without one there are no dense candidates, and near duplicates
    are found by their pixels alone."""
    minimum_need: _Within = 0.5
    """Least probability that a section needs a picture, for one that gets suggestions."""
    seed: Rare[Integer] = 0
    """The same seed draws the same sheet."""

    def candidate(self, params: Params, kind: str) -> str | None:
        """Return the system of a kind, bm25 or dense, whose hits are suggested; None without one.

        It is the one that the key names, or else the first that is searched, of kind dense the
        report's own before all others.
        """
        searched, shown = params.search.systems, params.tabulate.system
        order = [shown, *searched] if kind == "dense" else searched
        fit = (s for s in order if s in searched and params.systems[s].kind_name() == kind)
        return getattr(self, kind) or next(fit, None)
