"""Where the package lies, with queries, rules, templates and Java classes; also in a checkout."""

from importlib.resources import files
from pathlib import Path

PACKAGE = Path(str(files("isotope")))
