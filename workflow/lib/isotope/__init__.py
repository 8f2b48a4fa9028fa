"""isotope: rebuild the AToMiC collection from any Wikipedia snapshot, and measure systems on it.

The names of `__all__` are the public API (docs/api.md). Each is imported when it is asked for.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from isotope.api.collection import Collection, read_collection
    from isotope.api.plugged import Suggestions, Verification, suggest, verify
    from isotope.api.reading import catalog, read_qrels, read_run, write_run
    from isotope.api.scoring import Summary, compare, fuse, score, summarise
    from isotope.api.searching import search

    __version__: str

__all__ = [
    "Collection",
    "Suggestions",
    "Summary",
    "Verification",
    "__version__",
    "catalog",
    "compare",
    "fuse",
    "read_collection",
    "read_qrels",
    "read_run",
    "score",
    "search",
    "suggest",
    "summarise",
    "verify",
    "write_run",
]


def __getattr__(name: str) -> Any:  # noqa: ANN401 (a module's attribute)
    """Return a public name when it is asked for, `__version__` that of what is installed."""
    if name == "__version__":
        from importlib.metadata import version  # noqa: PLC0415 (every job imports this module)

        return version("isotope-ir")
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from isotope.core.public import public  # noqa: PLC0415 (as above)

    return public(name)


def __dir__() -> list[str]:
    """Return what the module has, and what it would import."""
    return sorted({*globals(), *__all__})
