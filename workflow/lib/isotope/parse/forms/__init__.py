"""Forms of data that a collection of kind pairs is made of: a module has the one of its name, here
or in a package of a plug-in.

`form_of` finds one by its name, when no other is imported, or by the files. `base` says what a form
is; other modules here are what several forms read by.
"""

import pkgutil
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from itertools import islice
from pathlib import Path

from isotope.core import plugins
from isotope.core.errors import BadPlugin, UnknownForm
from isotope.params.messages import suggest
from isotope.parse.forms.base import FORM_ROLES, ROLES, Form, Picture, Rejection

__all__ = ["FORM_ROLES", "ROLES", "Form", "Picture", "Rejection", "form_of", "forms"]


@cache
def forms() -> Mapping[str, Form]:
    """Return every form by its name, in the order in which files are shown to them.

    Raises:
        BadPlugin: a form that bears the name of another one.
    """
    named = [form for module in modules() if (form := _form(module))]
    twice = [name for name, count in Counter(form.name for form in named).items() if count > 1]
    if twice:
        raise BadPlugin(f"form {twice[0]}", "two packages have it", "uninstall one of the two")
    ordered = sorted((form.turn, form.name, form) for form in named)
    return {name: form for _, name, form in ordered}


def modules() -> Iterator[str]:
    """Yield the modules that may have a form: ours, and those of plug-ins."""
    for package in [__name__, *plugins.kinds("forms")]:
        path = import_module(package).__path__
        yield from (f"{package}.{module.name}" for module in pkgutil.iter_modules(path))


@cache
def _form(module: str) -> Form | None:
    """Return the form that a module has and bears the name of; None for any other module."""
    classes = (kind for kind in vars(import_module(module)).values() if isinstance(kind, type))
    stem = module.rpartition(".")[2]
    named = [kind for kind in classes if issubclass(kind, Form) and hasattr(kind, "name")]
    return next((kind() for kind in named if kind.name.replace("-", "_") == stem), None)


def form_of(paths: Sequence[Path], name: str | None = None) -> Form:
    """Return the form of this name, or without a name the first that recognises the files.

    Raises:
        UnknownForm: no such name, with the likely spelling; files that none recognises.
    """
    if name is not None:
        ending = f".{name.replace('-', '_')}"
        module = next((module for module in modules() if module.endswith(ending)), None)
        form = module and _form(module)
        if not form:
            raise UnknownForm("form", f"no form is called {name!r}", suggest(name, forms()))
        return form
    for form in forms().values():
        if form.recognises(paths):
            return form
    names = ", ".join(path.name for path in islice(paths, 3)) + (", …" if paths[3:] else "")
    raise UnknownForm(
        paths[0] if paths else "data",
        f"no form is known by these files ({names})",
        f"name the form; known: {', '.join(sorted(forms()))}",
    )
