"""Makes releases known to the package ir_datasets as soon as that is imported.

ir_datasets 0.6 has no place for data sets of other packages (its issue 297). So the installation
has a file isotope_ir_datasets.pth, which imports this module whenever Python starts
(https://docs.python.org/3/library/site.html); it loads nothing but itself. When ir_datasets is
imported, its registry gets a pattern of names, and `isotope.release.irds`, which reads releases, is
imported with the first data set that has such a name.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    # typing would take most of the time, in every start of Python.
    from collections.abc import Sequence
    from typing import Any

_PACKAGE = "ir_datasets"
# Collection, and one of its sides, or split, task and setting.
PATTERN = (
    r"^isotope/([^/]+)/(?:(texts|images)|(train|validation|test)/(t2m|m2t)"
    r"(?:/(small|base|large))?)$"
)


def register(package: Any) -> None:  # noqa: ANN401 (a module)
    """Give the pattern to the registry of ir_datasets, once."""
    registry = package.registry
    if not any(pattern.pattern == PATTERN for pattern, _ in registry._patterns):
        registry.register_pattern(PATTERN, _dataset)


def _dataset(name: str, groups: Sequence[str | None]) -> Any:  # noqa: ANN401 (a Dataset)
    from isotope.release import irds  # noqa: PLC0415 (with the first data set)

    return irds.dataset(name, groups)


class _Finder:
    """Finds ir_datasets as Python would, and registers the pattern when it has been loaded."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> Any:  # noqa: ANN401
        """Return the specification of ir_datasets, the first time; None for any other module."""
        if name != _PACKAGE:
            return None
        from importlib.util import find_spec  # noqa: PLC0415 (not at the start of Python)

        sys.meta_path.remove(self)  # pyright: ignore[reportArgumentType]
        spec = find_spec(name)
        if spec is not None and spec.loader is not None:
            load = spec.loader.exec_module

            def load_and_register(module: Any) -> None:  # noqa: ANN401 (a module)
                load(module)
                register(module)

            spec.loader.exec_module = load_and_register
        return spec


if _PACKAGE not in sys.modules:
    sys.meta_path.insert(0, _Finder())  # pyright: ignore[reportArgumentType]
