"""The templates of the page, and the functions that they call."""

import re
from collections.abc import Callable
from typing import cast

from jinja2 import Environment, PackageLoader, StrictUndefined

from isotope.tabulate.render import spans


def environment() -> Environment:
    """Return the templates, escaping every value and refusing every unknown name."""
    found = Environment(
        loader=PackageLoader("isotope"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    filters = cast("dict[str, Callable[..., object]]", found.filters)
    filters.update(excerpt=excerpt, web=web)
    names = cast("dict[str, Callable[..., object]]", found.globals)
    names.update(spans=spans, symbol=symbol)
    return found


def excerpt(text: str, characters: int) -> str:
    """Return the beginning of `text`, at most `characters` and an ellipsis, ended at a word."""
    whole = " ".join(text.split())
    if len(whole) <= characters:
        return whole
    return (whole[: characters + 1].rpartition(" ")[0] or whole[:characters]) + " …"


def web(url: str) -> str:
    """Return `url` if a browser may follow it: other schemes could run code."""
    return url if re.match(r"https?://", url) else ""


def symbol(collection: str) -> str:
    """Return a chemical-looking symbol: the first two letters of the name."""
    return (re.sub(r"[\W\d_]", "", collection) or "Is")[:2].capitalize()
