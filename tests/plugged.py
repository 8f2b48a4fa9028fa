"""What plug-ins say beside their tests, for tests of the core that ask what is registered.

`tests.effects`, `tests.bad_arguments` and `tests.examples` of a plug-in's folder are modules that
bear these names there.
"""

from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from isotope.core import plugins

ROOT = Path(__file__).parents[1]


def modules(name: str) -> list[ModuleType]:
    """Return the modules of a name beside the tests of the plug-ins that are registered here."""
    folders = {package: ROOT / "workflow/plugins" / package for package in plugins.packages()}
    having = [of for of, folder in folders.items() if (folder / f"tests/{name}.py").is_file()]
    return [import_module(f"workflow.plugins.{package}.tests.{name}") for package in having]


def merged(module: str, name: str) -> dict[str, Any]:
    """Return the mappings of a name in these modules as one."""
    whole = dict[str, Any]()
    for each in modules(module):
        whole |= getattr(each, name, {})
    return whole
