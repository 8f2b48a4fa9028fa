"""Where the package lies, with its queries."""

from importlib.resources import files
from pathlib import Path

PACKAGE = Path(str(files("isotope_papers")))
SQL = PACKAGE / "sql"
