"""How ranx is loaded: compiled, or as the Python that it is written in.

In a new environment numba compiles what ranx measures and fuses with for 40 s, which a sample of a
hundredth takes 10 ms of Python for. Which of the two it is, is decided once in a process, since
numba looks when a function is defined; the answers are the same.
"""

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType

_PLAIN = "_isotope_plain"


def load(*, plain: bool) -> None:
    """Load ranx, `plain` as Python; what is loaded already stays as it is."""
    if "ranx" not in sys.modules:
        with _numba(plain), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import ranx  # noqa: PLC0415

            setattr(ranx, _PLAIN, plain)


@contextmanager
def ranx() -> Iterator[ModuleType]:
    """Give ranx as it was loaded, without what compiling it prints on newer versions of others."""
    load(plain=False)
    loaded = sys.modules["ranx"]
    with _numba(getattr(loaded, _PLAIN, False)), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield loaded


@contextmanager
def _numba(off: bool) -> Iterator[None]:
    """Switch numba off: its dictionaries are Python's, and what is defined now is not compiled."""
    from numba.core import config  # noqa: PLC0415 (with ranx alone)

    before = config.DISABLE_JIT  # pyright: ignore[reportAttributeAccessIssue]
    config.DISABLE_JIT = off or before  # pyright: ignore[reportAttributeAccessIssue]
    try:
        yield
    finally:
        config.DISABLE_JIT = before  # pyright: ignore[reportAttributeAccessIssue]
