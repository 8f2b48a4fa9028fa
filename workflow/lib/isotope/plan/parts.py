"""The digests of the package's parts, which the stages of an experiment's `dvc.yaml` depend on.

DVC knows a file by its path, and an installed package lies elsewhere in every environment. So the
stage `code` runs `python -m isotope.plan.parts`, which writes a file a part below `.isotope/code`.
A part is a package of the library, a schema, a file of rules, a folder of queries, or a plug-in.
"""

from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

from isotope.core import plugins, store
from isotope.core.resources import PACKAGE
from isotope.plan.closures import file_digest, files_of_jobs

FOLDER = Path(".isotope/code")
# In these folders each entry is a part.
_DIVIDED = ("rules", "schemas", "sql")


def part_of(file: str) -> str:
    """Return the part that a file of the package belongs to, by its path below the package."""
    names = file.split("/")
    return "/".join(names[: 2 if names[0] in _DIVIDED else 1])


def digests() -> Mapping[str, str]:
    """Return by part the XXH128 of each of its files, in hexadecimal, with its name: a line a file.

    Lines are sorted by names. What no job uses is left out.
    """
    lines = defaultdict[str, list[str]](list)
    of_plugins = plugins.packages().values()
    for folder in (path for path in (*PACKAGE.iterdir(), *of_plugins) if path.is_dir()):
        package = folder.resolve()  # rules, queries and scripts are behind links in a checkout
        for path in files_of_jobs(package):
            file = f"{folder.name}/{path.relative_to(package).as_posix()}"
            lines[part_of(file)].append(f"{file_digest(file)}  {file}\n")
    return {part: "".join(digests_of_part) for part, digests_of_part in lines.items()}


def write() -> None:
    """Write the file of each part below the current folder, in place of those that are there.

    Raises:
        DiskFull: no room for them.
        Unwritable: a folder that the system does not let be written.
    """
    with store.folder_aside(FOLDER) as aside:
        for part, text in digests().items():
            path = aside / part
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write()
