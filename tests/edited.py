"""Params of which a test changes some entries."""

from collections.abc import Mapping
from typing import Any

from isotope.params.root import Params
from isotope.params.sections import Section


def with_keys(params: Params, **phases: Mapping[str, Any]) -> Params:
    """Return params with other values of some keys, by phase; nothing is checked anew."""
    return params.model_copy(update={k: _with(getattr(params, k), v) for k, v in phases.items()})


def _with(phase: Any, values: Mapping[str, Any]) -> Any:
    return phase.model_copy(update=values) if isinstance(phase, Section) else {**phase, **values}
