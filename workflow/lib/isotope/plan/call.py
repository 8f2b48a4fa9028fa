"""How a rule calls its function: what Snakemake hands to the one script becomes arguments.

A rule names its function in `params: call="index.bm25:index_bm25"`. Inputs, outputs, params (as
one `RuleParams`) and wildcards become arguments of the same name, `threads` and `part` where the
function has such a parameter. Annotations say what a value becomes (`converted`). A parameter
`inputs` or `outputs`, a mapping, takes all names that are not parameters themselves; a param that
lists names of inputs, for a parameter that is a mapping, hands these over as one. Not handed over
are `call` and the inputs that only have to be there: PREREQUISITES. The param `intake` sets the
limits of what the job reads, unless the function has such a parameter.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import is_dataclass
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Union, cast, get_args, get_origin, get_type_hints

from snakemake.io import apply_wildcards

from isotope.core import digests
from isotope.core.extras import named
from isotope.core.resources import function
from isotope.intake.limits import using
from isotope.params.sections import Kind, Section

# Inputs that a job waits for, or is made anew for, and does not read by name.
PREREQUISITES = frozenset({"after"})
_GROUPS = ("inputs", "outputs")


class RuleParams:
    """All params of a rule that its function is given, as one: a function of Snakemake's `params`.

    Snakemake compares params as a set of values, without their names: two of a rule that are
    swapped plan nothing. In one dict they do.
    """

    def __init__(self, values: Mapping[str, Any]) -> None:
        """Take values as a rule says them: plain ones, and functions of the wildcards."""
        self.values = values

    def __call__(self, wildcards: Any) -> dict[str, Any]:  # noqa: ANN401
        """Return the plain values of a job by the names of the function's parameters."""
        return {name: _of_job(value, wildcards) for name, value in sorted(self.values.items())}


def _of_job(value: Any, wildcards: Any) -> Any:  # noqa: ANN401
    if callable(value):
        return value(wildcards)
    if isinstance(value, str):
        return apply_wildcards(value, wildcards)
    return [_of_job(item, wildcards) for item in value] if isinstance(value, list) else value


def part_named(wildcards: Mapping[str, str]) -> tuple[int, int]:
    """Return which shard a job is, counted from 0, and of how many, by its wildcard `part`."""
    number, count = wildcards.get("part", "0-of-1").split("-of-")
    return int(number), int(count)


def run(job: Any) -> None:  # noqa: ANN401 (what Snakemake hands to a script has no type)
    """Call the function of a job's rule: inputs are compared with their digests, outputs get them.

    Raises:
        As `core.digests.job`.
    """
    target, params = function(job.params.call), dict(job.params.items())
    params |= params.pop("given", {})
    reads_limits = "intake" in inspect.signature(target).parameters
    limits = None if reads_limits else params.pop("intake", None)
    values = arguments(
        target,
        inputs=dict(job.input.items()),
        outputs=dict(job.output.items()),
        rule_params=params,
        wildcards=dict(job.wildcards.items()),
        threads=job.threads,
    )
    inputs, outputs = ([Path(path) for path in paths] for paths in (job.input, job.output))
    # From how many bytes on a file's size and time stand for its digest; None is never.
    above = (job.config.get("digests") or {}).get("by_time_above_mb")
    with named(), using(limits), digests.job(inputs, outputs, above and above * 1e6):
        target(**values)


def arguments(  # noqa: PLR0913
    target: Callable[..., object],
    *,
    inputs: Mapping[str, Any],
    outputs: Mapping[str, Any],
    rule_params: Mapping[str, Any],
    wildcards: Mapping[str, str],
    threads: int,
) -> dict[str, Any]:
    """Return the arguments by name; params come before wildcards of the same name."""
    hints, names = get_type_hints(target), inspect.signature(target).parameters
    read = {k: v for k, v in inputs.items() if k not in PREREQUISITES}
    handed = {k: v for k, v in rule_params.items() if k not in ("call", "code")}
    groups = {k: v for k, v in handed.items() if is_group(hints.get(k), v, read)}
    handed |= {k: {name: read[name] for name in group} for k, group in groups.items()}
    grouped = {name for group in groups.values() for name in group if name not in names}
    left = {k: v for k, v in read.items() if k not in grouped}
    offered = {"threads": threads, **wildcards, "part": part_named(wildcards)}
    values = {k: v for k, v in offered.items() if k in names}
    for kind, files in (("inputs", left), ("outputs", outputs)):
        grouped_files = {k: v for k, v in files.items() if kind in names and k not in names}
        values |= {k: v for k, v in files.items() if k not in grouped_files}
        values |= {kind: grouped_files} if kind in names else {}
    return {k: converted(v, hints.get(k, Any)) for k, v in (values | handed).items()}


def is_group(hint: Any, value: object, files: Mapping[str, Any]) -> bool:  # noqa: ANN401
    """Tell whether a param lists inputs, for a parameter that is a mapping."""
    takes = issubclass(get_origin(hint) or object, Mapping)
    return takes and _listed(value) is value and all(name in files for name in _listed(value))


def converted(value: Any, hint: Any) -> Any:  # noqa: ANN401
    """Return a value as its annotation says; what no annotation converts stays as it is.

    A `Path`, or a sequence of them, is made of one file or of several; of no files there is None
    where that may be. A class of the params (`params.sections.Section`) is the object of the plain
    data that the rule hands over, one of several kinds that of its key `kind`; a record, which is
    a NamedTuple or a dataclass, is made of a mapping of its fields. Sequences and mappings have
    what they hold converted.

    Raises:
        ValueError: several files for one path.
        BadParams: as `Section.of_spec`.
    """
    origin, inner = get_origin(hint) or hint, get_args(hint)
    if origin in (Union, UnionType):
        return _in_branch(value, inner)
    if origin is Path:
        [value] = _listed(value)
        return Path(value)
    if origin is int:
        return value if isinstance(value, bool) else int(value)
    return _converted_parts(value, origin, inner) if isinstance(origin, type) else value


def _in_branch(value: Any, branches: Sequence[Any]) -> Any:  # noqa: ANN401
    """Return a value as the branch of a union says; of several, a class of the params may fit."""
    if NoneType in branches and (value is None or not _listed(value)):
        return None
    hints = [branch for branch in branches if branch is not NoneType]
    fitting = hints if len(hints) == 1 else [hint for hint in hints if _fits(value, hint)]
    return converted(value, fitting[0]) if fitting else value


def _converted_parts(value: Any, origin: type, inner: Sequence[Any]) -> Any:  # noqa: ANN401
    if isinstance(value, Mapping):
        if issubclass(origin, Section):
            return origin.of_spec(cast("Mapping[str, Any]", value))
        if _is_record(origin):
            hints = get_type_hints(origin)
            return origin(**{k: converted(v, hints[k]) for k, v in value.items()})
        is_mapping = issubclass(origin, Mapping) and inner
        return {k: converted(v, inner[1]) for k, v in value.items()} if is_mapping else value
    if origin is tuple:
        return tuple(value)
    is_whole = isinstance(value, str) and inner[:1] != (Path,)
    if is_whole or not inner or not issubclass(list, origin):
        return value
    return [converted(item, inner[0]) for item in _listed(value)]


def _is_record(origin: type) -> bool:
    """Tell whether a class is a NamedTuple or a dataclass."""
    return is_dataclass(origin) or hasattr(origin, "_fields")


def _listed(value: Any) -> Sequence[Any]:  # noqa: ANN401
    return value if isinstance(value, Sequence) and not isinstance(value, str) else [value]


def _fits(value: Any, hint: object) -> bool:  # noqa: ANN401
    """Tell whether plain data are of a class of the params."""
    if not (isinstance(value, Mapping) and isinstance(hint, type) and issubclass(hint, Section)):
        return False
    return not issubclass(hint, Kind) or hint.kind_name() in ("", value.get("kind"))
