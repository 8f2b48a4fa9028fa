"""isotope: rebuild the AToMiC collection from any Wikipedia snapshot, and measure systems on it."""

from typing import Any


def __getattr__(name: str) -> Any:  # noqa: ANN401 (a module's attribute)
    """Return `__version__`, that of the installed distribution, when it is asked for."""
    if name != "__version__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib.metadata import version  # noqa: PLC0415 (every job imports this module)

    return version("isotope-ir")
