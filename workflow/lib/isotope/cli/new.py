"""`isotope new`: the folder of an experiment.

Its files are those of this project's own folder, which the package has below `experiment`; but for
`dvc.yaml`, whose stages depend on digests of the installed code, and DVC's settings without git.
"""

import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path

from isotope.core import extras
from isotope.core.errors import BadArgument
from isotope.core.resources import PACKAGE
from isotope.core.store import aside
from isotope.core.terminal import shortened

# What is written, with its template, whose name neither git nor DVC reads where it lies. Snakefile
# comes last: a folder that has it has all of them.
FILES: Mapping[str, str] = {
    ".dvc/.gitignore": "dvc/gitignore",
    ".dvc/config": "dvc/config",
    ".dvcignore": "dvcignore",
    ".gitignore": "gitignore",
    "dvc.yaml": "stages.yaml",
    "judgements/README.md": "judgements/README.md",
    "params.yaml": "params.yaml",
    "profiles/default/config.yaml": "profiles/default/config.yaml",
    "runs/README.md": "runs/README.md",
    "Snakefile": "Snakefile",
}
_NAMED = 5
_REMEDY = "name a new or an empty folder"


def template(name: str) -> bytes:
    """Return what a file of FILES has."""
    return (PACKAGE / "experiment" / FILES[name]).read_bytes()


def is_experiment(folder: Path) -> bool:
    """Tell whether a folder is that of an experiment."""
    return (folder / "Snakefile").is_file()


def complete(folder: Path) -> list[str]:
    """Write the files of an experiment that a folder lacks, each whole; return their names.

    A file that is there stays as it is. After an interruption the next call writes what is left.

    Raises:
        Unwritable, DiskFull: as `core.store.aside`.
    """
    lacking = [name for name in FILES if not (folder / name).exists()]
    for name in lacking:
        with aside(folder / name) as part:
            part.write_bytes(template(name))
    return lacking


def new(folder: Path) -> str:
    """Make the folder of an experiment; return what to do in it.

    Raises:
        BadArgument: something lies there that an interrupted `new` has not left.
        Unwritable, DiskFull: as `complete`.
    """
    demand_empty(folder)
    complete(folder)
    lacking = extras.line_for_runs()
    installing = f"  {lacking}    # what builds is not installed\n" if lacking else ""
    return f"""Made the experiment {folder}. Next:
  cd {shlex.quote(str(folder))}
{installing}  snakemake --cores all    # builds what params.yaml describes: at first a demo
  isotope init TABLE       # makes a collection of your own pictures and texts
"""


def demand_empty(folder: Path) -> None:
    """Check that an experiment may be made in a folder.

    Raises:
        BadArgument: something lies there that an interrupted `new` has not left.
    """
    if folder.exists() and not folder.is_dir():
        raise BadArgument("FOLDER", f"{folder} is a file", _REMEDY)
    if is_experiment(folder) or any(_is_strange(name, folder) for name in _entries(folder)):
        names = sorted(path.name for path in folder.iterdir())
        problem = f"{folder} is not empty, it has {shortened(names, _NAMED)}"
        raise BadArgument("FOLDER", problem, _REMEDY)


def _entries(folder: Path) -> Iterator[Path]:
    """Yield by their names what lies in a folder, and in those below it in which FILES lie."""
    folders = {parent for name in FILES for parent in Path(name).parents}
    for below in folders:
        if (folder / below).is_dir():
            names = (path.relative_to(folder) for path in (folder / below).iterdir())
            yield from (name for name in names if name not in folders)


def _is_strange(name: Path, folder: Path) -> bool:
    """Tell whether a file is none that `complete` has written, nor one that it has begun."""
    if name.suffix == ".part":
        begun = name.with_name(name.stem.removeprefix("."))
        return begun.as_posix() not in FILES
    file = name.as_posix()
    return file not in FILES or (folder / name).read_bytes() != template(file)
