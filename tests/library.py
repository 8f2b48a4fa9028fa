"""The modules and rules of isotope and of its plug-ins in this checkout."""

from pathlib import Path

from isotope.core import plugins
from isotope.core.resources import PACKAGE
from isotope.core.syntax import file_of

ROOT = Path(__file__).parents[1]
PLUGINS = ROOT / "workflow/plugins"


def modules() -> dict[str, Path]:
    """Return every module by what the core calls it: `core/store.py`, `isotope_judge/pool.py`."""
    packages = (PACKAGE, *plugins.packages().values())
    paths = (path for package in packages for path in package.rglob("*.py"))
    return {file_of(p): p for p in paths if "tests" not in p.relative_to(ROOT).parts}


def rules() -> list[Path]:
    """Return every file of rules."""
    of_phases = sorted((ROOT / "workflow/rules").glob("*.smk"))
    return [*of_phases, *sorted(PLUGINS.glob("*/rules/*.smk"))]


def installed(files: dict[str, str]) -> dict[str, str]:
    """Return what is said of files, without those of plug-ins that are not there."""
    packages = plugins.packages()
    absent = {f for f in files if f.startswith("isotope_") and f.split("/")[0] not in packages}
    return {file: said for file, said in files.items() if file not in absent}
