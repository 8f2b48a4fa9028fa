"""How a rule calls its function: what Snakemake hands to the one script becomes arguments.

A rule names its function in `params: call="index.bm25:index_bm25"`. Inputs, outputs, params (as
one `Given`) and wildcards become arguments of the same name, `threads` where the function has such
a parameter. Annotations say what a value becomes: `Path`, `Path | None` (None for an input without
files), a sequence of paths, a mapping of names to paths, `int`, a tuple. A class of the params
(`params.sections.Section`) is the object of the plain data that the rule hands over, one of several
kinds that of its key `kind`; so are lists and mappings of such classes. A record, which is a
NamedTuple or a dataclass, is made of a mapping of its fields.

Not handed over are `call`, and the inputs that only have to be there: PREREQUISITES. The param
`intake` sets the limits of what the job reads, unless the function has such a parameter.

A parameter `inputs` or `outputs`, a mapping, takes all names that are not parameters themselves. A
param that lists names of inputs, for a parameter that is a mapping of paths, hands these over as
one.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import is_dataclass
from importlib import import_module
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, TypeGuard, Union, cast, get_args, get_origin, get_type_hints

from snakemake.io import apply_wildcards

from isotope.core import digests
from isotope.core.errors import BadParams
from isotope.intake.limits import using
from isotope.params.sections import Kind, Section

# Inputs that a job waits for, or is made anew for, and does not read by name.
PREREQUISITES = frozenset({"code", "kind", "sql", "templates", "after"})
_GROUPS = ("inputs", "outputs")


class Given:
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
    return [_of_job(each, wildcards) for each in value] if isinstance(value, list) else value


def function(call: str) -> Callable[..., object]:
    """Return the function `package.module:name` of isotope.

    Raises:
        BadParams: no such module or name.
    """
    module, _, name = call.partition(":")
    try:
        return getattr(import_module(f"isotope.{module}"), name)
    except (ModuleNotFoundError, AttributeError) as error:
        raise BadParams(f"call={call!r}", str(error), "name a function as module:name") from error


def run(job: Any) -> None:  # noqa: ANN401 (what Snakemake hands to a script has no type)
    """Call the function of a job's rule: inputs are compared with their digests, outputs get them.

    Raises:
        As `core.digests.job`.
    """
    target, params = function(job.params.call), dict(job.params.items())
    params |= params.pop("given", {})
    limits = (
        None if "intake" in inspect.signature(target).parameters else params.pop("intake", None)
    )
    values = arguments(
        target,
        inputs=dict(job.input.items()),
        outputs=dict(job.output.items()),
        params=params,
        wildcards=dict(job.wildcards.items()),
        threads=job.threads,
    )
    inputs, outputs = ([Path(path) for path in paths] for paths in (job.input, job.output))
    with using(limits), digests.job(inputs, outputs, _by_time_above(job.config)):
        target(**values)


def _by_time_above(config: Mapping[str, Any]) -> float | None:
    """Return from how many bytes on a file's size and time stand for its digest; None for never."""
    above = (config.get("digests") or {}).get("by_time_above_mb")
    return None if above is None else above * 1e6


def arguments(  # noqa: PLR0913
    target: Callable[..., object],
    *,
    inputs: Mapping[str, Any],
    outputs: Mapping[str, Any],
    params: Mapping[str, Any],
    wildcards: Mapping[str, str],
    threads: int,
) -> dict[str, Any]:
    """Return the arguments by name; params come before wildcards of the same name."""
    hints = get_type_hints(target)
    names = inspect.signature(target).parameters
    read = {k: v for k, v in inputs.items() if k not in PREREQUISITES}
    own = {k: v for k, v in params.items() if k != "call"}
    for name, value in own.items():
        if name in names and _is_group(hints.get(name), value, read):
            own[name] = {k: read[k] for k in value}
    mappings = {k: v for k, v in own.items() if isinstance(v, Mapping) and k in names}
    groups = [set(v) for k, v in mappings.items() if not has_objects(hints.get(k, Any))]
    grouped = {k for group in groups for k in group if k in read and k not in names}
    values: dict[str, Any] = {k: v for k, v in wildcards.items() if k in names}
    values |= {"threads": threads} if "threads" in names else {}
    for group, files in zip(_GROUPS, (read, outputs), strict=True):
        single = {k: v for k, v in files.items() if files is not read or k not in grouped}
        if group in names:
            values[group] = {k: v for k, v in single.items() if k not in names}
            values |= {k: v for k, v in single.items() if k in names}
        else:
            values |= single
    values |= own
    return {k: converted(v, hints.get(k, Any)) for k, v in values.items()}


def _is_group(hint: Any, value: object, files: Mapping[str, Any]) -> bool:  # noqa: ANN401
    if not isinstance(value, Sequence) or isinstance(value, str):
        return False
    return issubclass(get_origin(hint) or object, Mapping) and all(name in files for name in value)


def converted(value: Any, hint: Any) -> Any:  # noqa: ANN401
    """Return a value as its annotation says; what no annotation converts stays as it is."""
    origin, inner = get_origin(hint), get_args(hint)
    if has_objects(hint):
        return _of_spec(value, hint)
    if origin in (Union, UnionType):
        kinds = [kind for kind in inner if kind is not NoneType]
        if len(kinds) < len(inner) and (value is None or _is_empty(value)):
            return None
        return converted(value, kinds[0]) if len(kinds) == 1 else value
    if hint is Path:
        return Path(value if isinstance(value, str | Path) else _only(value))
    if hint is int:
        return value if isinstance(value, bool) else int(value)
    return _listed(value, hint) if isinstance(origin, type) else value


def _listed(value: Any, hint: Any) -> Any:  # noqa: ANN401
    origin, inner = cast("type", get_origin(hint)), get_args(hint)
    if origin is tuple:
        return tuple(value)
    if not _has_paths(hint):
        return value
    if issubclass(origin, Mapping):
        return {k: converted(v, inner[1]) for k, v in value.items()}
    if issubclass(list, origin):
        listed = [value] if isinstance(value, str | Path) else value
        return [converted(each, inner[0]) for each in listed]
    return value


def is_section(hint: object) -> TypeGuard[type[Section]]:
    """Tell whether an annotation is a class of the params."""
    return isinstance(hint, type) and issubclass(hint, Section)


def is_record(hint: object) -> TypeGuard[type]:
    """Tell whether an annotation is a NamedTuple or a dataclass."""
    return isinstance(hint, type) and (is_dataclass(hint) or hasattr(hint, "_fields"))


def has_objects(hint: object) -> bool:
    """Tell whether an annotation names a class of the params or a record, be it within a type."""
    is_one = is_section(hint) or is_record(hint)
    return is_one or any(has_objects(inner) for inner in get_args(hint))


def _of_spec(value: Any, hint: Any) -> Any:  # noqa: ANN401
    """Return the objects of plain data: of a class, of one of several kinds, or of many entries."""
    inner = get_args(hint)
    if is_section(hint):
        return hint.of_spec(value) if isinstance(value, Mapping) else value
    if is_record(hint) and isinstance(value, Mapping):
        hints = get_type_hints(hint)
        return hint(**{k: converted(v, hints[k]) for k, v in value.items()})
    if get_origin(hint) in (Union, UnionType):
        objects = [each for each in inner if has_objects(each)]
        own = (each for each in objects if _is_of_kind(value, each))
        return None if value is None else _of_spec(value, next(own, objects[0]))
    if isinstance(value, Mapping):
        return {k: _of_spec(v, inner[1]) for k, v in value.items()}
    return [_of_spec(each, inner[0]) for each in value]


def _is_of_kind(value: object, hint: object) -> bool:
    if not (isinstance(hint, type) and issubclass(hint, Kind) and isinstance(value, Mapping)):
        return False
    return hint.kind_name() == cast("Mapping[str, object]", value).get("kind")


def _is_empty(value: object) -> bool:
    return not isinstance(value, str) and isinstance(value, Sequence) and not value


def _only(value: Any) -> str:  # noqa: ANN401
    [one] = value
    return one


def _has_paths(hint: Any) -> bool:  # noqa: ANN401
    return hint is Path or any(_has_paths(inner) for inner in get_args(hint))


def mismatches(  # noqa: PLR0913
    target: Callable[..., object],
    *,
    inputs: Sequence[str],
    outputs: Sequence[str],
    params: Sequence[str],
    wildcards: Sequence[str],
    grouped: Sequence[str] = (),
) -> list[str]:
    """Return what a rule hands over and its function lacks, and what is missing.

    `grouped` are the inputs that a param hands over under its own name. Wildcards and threads may
    be left unread.
    """
    names = inspect.signature(target).parameters
    read = [k for k in inputs if k not in PREREQUISITES and k not in grouped]
    own = [k for k in params if k != "call"]
    taken = [*own]
    for group, files in zip(_GROUPS, (read, outputs), strict=True):
        taken += [k for k in files if k in names or group not in names]
    unread = [f"{k} is no parameter" for k in dict.fromkeys(taken) if k not in names]
    twice = [f"{k} is handed over twice" for k in names if taken.count(k) > 1]
    optional = {k for k, p in names.items() if p.default is not inspect.Parameter.empty}
    present = {*taken, *wildcards, *_GROUPS, "threads", *optional}
    return unread + twice + [f"{k} is missing" for k in names if k not in present]
