"""Where the package lies, with its queries and templates."""

from importlib.resources import files
from pathlib import Path

PACKAGE = Path(str(files("isotope_explain")))
SQL = PACKAGE / "sql"
