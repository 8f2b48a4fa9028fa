"""Where the names of the public API stand, and what `isotope.search` and `isotope.score` are.

These two are phases and verbs of the API: Python has one name for a package and for what its
parent calls so. So their packages are modules that can be called.
"""

from collections.abc import Mapping
from importlib import import_module
from inspect import Signature, signature
from types import ModuleType
from typing import Any

# The module of `isotope.api` that has each name.
MODULES: Mapping[str, str] = {
    **dict.fromkeys(("Collection", "read_collection"), "collection"),
    **dict.fromkeys(("catalog", "read_qrels", "read_run", "write_run"), "reading"),
    **dict.fromkeys(("Summary", "compare", "fuse", "score", "summarise"), "scoring"),
    "search": "searching",
    **dict.fromkeys(("Suggestions", "Verification", "suggest", "verify"), "plugged"),
}
_PHASES = frozenset({"search", "score"})


def public(name: str) -> Any:  # noqa: ANN401 (a function or class)
    """Return what `isotope` calls so."""
    return import_module(f"isotope.{name}") if name in _PHASES else defined(name)


def defined(name: str) -> Any:  # noqa: ANN401 (a function or class)
    """Return the function or class of a name of MODULES."""
    return getattr(import_module(f"isotope.api.{MODULES[name]}"), name)


class Phase(ModuleType):
    """The package of a phase; called, it is the function of its name in the public API."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 (as the function)
        """Call the function."""
        return self._function(*args, **kwargs)

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        """Be pickled by name, as functions are: pools of processes do."""
        return import_module, (self.__name__,)

    @property
    def __doc__(self) -> str | None:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The function's, which `help(isotope.score)` and `isotope.score?` show."""
        return self._function.__doc__

    @property
    def __signature__(self) -> Signature:
        """The function's."""
        return signature(self._function)

    @property
    def __wrapped__(self) -> Any:  # noqa: ANN401 (as above)
        """The function, by which `inspect.unwrap` and tools of documentation find it."""
        return self._function

    @property
    def _function(self) -> Any:  # noqa: ANN401 (as above)
        return defined(self.__name__.rpartition(".")[2])
