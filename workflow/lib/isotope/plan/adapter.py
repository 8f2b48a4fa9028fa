"""The script by which Snakemake runs every job, in the folder of a run.

Snakemake takes a script that is newer than what it made for another one. So it is written once,
and bears no time of its own: another installation of isotope is no reason to do anything anew.
"""

import os
from pathlib import Path

from isotope.core import store
from isotope.core.resources import PACKAGE

SCRIPT = Path(".isotope/call.py")
# The start of the times of zip files, which any file system knows.
_TIME_S = 315_532_800


def write() -> str:
    """Write the script below the current folder, unless it is there; return where it lies.

    Raises:
        DiskFull: no room for it.
    """
    text = (PACKAGE / "scripts/call.py").read_text(encoding="utf-8")
    if not SCRIPT.is_file() or SCRIPT.read_text(encoding="utf-8") != text:
        with store.aside(SCRIPT) as part:
            part.write_text(text, encoding="utf-8")
            os.utime(part, (_TIME_S, _TIME_S))
    return str(SCRIPT.absolute())
