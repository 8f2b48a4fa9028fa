"""Where the package lies, with queries, rules, templates and Java classes; also in a checkout."""

from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from pkgutil import resolve_name

from isotope.core.errors import BadParams
from isotope.core.extras import named

PACKAGE = Path(str(files("isotope")))


def function(call: str) -> Callable[..., object]:
    """Return the function `package.module:name` of isotope, or of a plug-in with its package.

    Raises:
        BadParams: no such module or name.
        MissingExtra: what the module imports is of an extra.
    """
    is_of_ours = (PACKAGE / call.partition(".")[0]).is_dir()
    try:
        with named():
            return resolve_name(f"isotope.{call}" if is_of_ours else call)
    except (ModuleNotFoundError, AttributeError) as error:
        raise BadParams(f"call={call!r}", str(error), "name a function as module:name") from error
