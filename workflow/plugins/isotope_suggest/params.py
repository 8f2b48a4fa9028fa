"""What the phase suggest suggests, and how sure it has to be: the key `suggest` of params.yaml."""

from typing import Annotated, Any

from pydantic import Field

from isotope.params.messages import KeyPath
from isotope.params.references import Ref
from isotope.params.sections import (
    Count,
    Distinct,
    Integer,
    Natural,
    Number,
    Opt,
    Params,
    PluginSection,
    Section,
    Share,
)

_Within = Annotated[Number, Field(gt=0, lt=1)]


def _wikis(params: Any, _path: KeyPath) -> list[str]:  # noqa: ANN401
    built = {name: params.collect[name] for name in params.build if name in params.collect}
    return [name for name, entry in built.items() if entry.is_snapshot or entry.is_union]


class Filtering(Section):
    """Which pictures are not suggested."""

    pixels: Count = 100
    """Shortest side of a picture."""
    pages: Count = 100
    """Most pages that show a picture; what is on more is an icon."""
    aspect_tail: Annotated[Number, Field(ge=0, lt=0.5)] = 0.005
    """Share of the pictures of a kind at each end, by width / height, whose aspect is not
    suggested."""
    same_bits: Annotated[Integer, Field(ge=0, le=64)] = 6
    """Bits of 64 of the perceptual hash in which near duplicates differ at most."""
    same_cosine: Annotated[Number, Field(gt=0, le=1)] = 0.98
    """Least cosine of the vectors of near duplicates."""
    free: bool = True
    """Whether pictures whose licence is not free are left out."""


class Publishing(Filtering):
    """Which suggestions are published."""

    precision: _Within = 0.9
    """Share of suggestions that are to be right."""
    confidence: _Within = 0.9
    """Probability, over draws of the validation sections, with which that share is reached."""
    most: Annotated[Integer, Field(ge=1, le=10)] = 3
    """Most suggestions for a section."""
    diversity: Share = 0.3
    """Weight, in maximal marginal relevance, of how unlike a suggestion is to those before it."""


class Suggest(Publishing, PluginSection):
    """Suggestions of pictures for sections without one. No collection gets any unless the key is
    there, if only as `{}`."""

    collections: Opt[Distinct[Annotated[str, Ref(_wikis, "build", "collect")]]] = None
    """Built collections whose sections get suggestions. Unless given, all that are made of a
    snapshot of Wikipedia, or of several."""
    bm25: Opt[Annotated[str, Ref("search.systems", kind="bm25")]] = None
    """System of kind bm25 whose hits are candidates; unless given, the first that is searched."""
    dense: Opt[Annotated[str, Ref("search.systems", kind="dense")]] = None
    """System of kind dense whose hits are candidates; unless given, `tabulate.system` if it is one,
    else the first that is searched. Without one there are no dense candidates, and near duplicates
    are found by their pixels alone."""
    depth: Count = 50
    """Candidates of each source for a section."""
    ought: _Within = 0.5
    """Least probability that a section ought to have a picture, for one that gets suggestions."""
    sheet: Natural = 100
    """Suggestions on the sheet that assessors judge."""
    seed: Integer = 0
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
