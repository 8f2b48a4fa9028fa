"""Forms of data that a collection of kind pairs is made of: a module has the one of its name.

`form_of` finds one by its name, when no other is imported, or by the files. `base` says what a form
is; other modules here are what several forms read by.
"""

import pkgutil
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from itertools import islice
from pathlib import Path

from isotope.core.errors import UnknownForm
from isotope.params.messages import suggest
from isotope.parse.forms.base import FORM_ROLES, ROLES, Form, Picture, Rejection

__all__ = ["FORM_ROLES", "ROLES", "Form", "Picture", "Rejection", "form_of", "forms"]


@cache
def forms() -> Mapping[str, Form]:
    """Return every form by its name, in the order in which files are shown to them."""
    named = [_form(module.name) for module in pkgutil.iter_modules(__path__)]
    ordered = sorted((form.turn, form.name, form) for form in named if form)
    return {name: form for _, name, form in ordered}


@cache
def _form(module: str) -> Form | None:
    """Return the form that a module has and bears the name of; None for any other module."""
    each = (
        of for of in vars(import_module(f"{__name__}.{module}")).values() if isinstance(of, type)
    )
    own = [of for of in each if issubclass(of, Form) and hasattr(of, "name")]
    return next((of() for of in own if of.name.replace("-", "_") == module), None)


def form_of(paths: Sequence[Path], name: str | None = None) -> Form:
    """Return the form of this name, or without a name the first that recognises the files.

    Raises:
        UnknownForm: no such name, with the likely spelling; files that none recognises.
    """
    if name is not None:
        module = name.replace("-", "_")
        is_there = module in {each.name for each in pkgutil.iter_modules(__path__)}
        form = _form(module) if is_there else None
        if form is None:
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
