"""The names that releases have in the package ir_datasets.

ir_datasets 0.6 does not look for data sets of other packages (its issue 297), so `isotope.irds`
hands it this pattern. `isotope.release.irds`, which reads releases, is imported with the first.
"""

from collections.abc import Sequence
from typing import Any

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
