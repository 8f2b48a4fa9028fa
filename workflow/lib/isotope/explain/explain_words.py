"""An explained failure in sentences, and what each concept of the two pictures is to the other."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

Row = Mapping[str, Any]


class Part(NamedTuple):
    """A concept's part in the matching: `common`, `paired` or `alone`, and the number to show."""

    kind: str
    number: int


def parts(failure: Row, concepts: Sequence[str]) -> dict[str, Part]:
    """Return the part of each concept of a picture; paired ones share their number."""
    common = [c["concept"] for c in failure["counts"]]
    found = {name: Part("common", n) for n, name in enumerate(common, 1)}
    for n, pair in enumerate(failure["pairs"], len(common) + 1):
        found |= dict.fromkeys((pair["truth"], pair["found"]), Part("paired", n))
    return {name: found.get(name, Part("alone", 0)) for name in concepts}


def sentences(failure: Row) -> list[str]:
    """Say in words what agrees, what stands in for what, and how counts and sizes differ."""
    return [
        _agreement(failure),
        *map(_pair, failure["pairs"]),
        *filter(None, map(_count, failure["counts"])),
        *filter(None, (_sizes(c["concept"], failure["sizes"]) for c in failure["counts"])),
    ]


def noun(concept: str) -> str:
    """Return `street sign` for `street_sign.n.01`."""
    return concept.partition(".")[0].replace("_", " ")


def _agreement(failure: Row) -> str:
    whole = failure["hit"] + failure["miss"]
    named = ", ".join(noun(c["concept"]) for c in failure["counts"])
    told = f": {named}" if named else ""
    return (
        f"Of the {_many(whole, 'concept')} of the right picture the returned one has "
        f"{failure['hit'] or 'none'}{told} (CA {failure['ca']:.2f})."
    )


def _pair(pair: Row) -> str:
    one, other = noun(pair["truth"]), noun(pair["found"])
    return f"For {one} it has {other}, {pair['similarity']:.3f} alike on WordNet's paths."


def _count(count: Row) -> str:
    more = count["found"] - count["truth"]
    if not more:
        return ""
    way = "too many" if more > 0 else "too few"
    told = f"{count['found']} instead of {count['truth']}"
    return f"It has {told} of {noun(count['concept'])}, {abs(more)} {way}."


def _sizes(concept: str, sizes: Sequence[Row]) -> str:
    own = [size for size in sizes if size["concept"] == concept]
    apart = [size for size in own if size["differs"]]
    if not apart:
        return ""
    told = ", ".join(f"{s['found_px']:,.0f} px² for {s['truth_px']:,.0f}" for s in apart)
    return f"{noun(concept).capitalize()} differs in size in {len(apart)} of {len(own)}: {told}."


def _many(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"
