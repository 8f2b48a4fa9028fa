"""Arguments that commands share: their types, and the readers of what they may be."""

import re
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from isotope.params import SETTINGS, SPLITS

_LANGUAGE = re.compile(r"(.+=)?[a-z]{2,3}(-[A-Za-z0-9]{1,12})*")
_DATES = {"%Y%m%d": 8, "%Y-%m-%d": 10, "%Y-%m": 7}
_LARGEST_PORT = 65_535
_VERSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_MOST_JOBS = 64


class Configured(TyperCommand):
    """A command with options that take several values behind one name, as snakemake's do."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401 (as above)
        """Take apart what stands behind one name."""
        several = [name for parameter in self.params for name in _names(parameter)]
        return super().parse_args(ctx, [*repeated(args, several)])


def _names(parameter: Any) -> list[str]:  # noqa: ANN401 (typer's parameter)
    return parameter.opts if getattr(parameter, "multiple", False) else []


def repeated(arguments: Sequence[str], options: Sequence[str]) -> Iterator[str]:
    """Write `--option A B` as `--option A --option B`, for options that take several values."""
    option = last = ""
    for word in arguments:
        if last in options and word.startswith("-"):
            yield last
        if word in options:
            option = word
        elif word.startswith("-"):
            option = ""
            yield word
        else:
            yield from filter(None, (option, word))
        last = word
    if last in options:
        yield last


def choice(text: str, allowed: Sequence[str]) -> str:
    """Return what is said of a word that is none of those that may stand there."""
    return f"invalid choice: {text!r} (choose from {', '.join(map(repr, allowed))})"


def one_of(allowed: Sequence[str]) -> Callable[[str], str]:
    """Return a reader of an argument that is one of these words."""

    def read(text: str) -> str:
        if text not in allowed:
            raise ValueError(choice(text, allowed))
        return text

    return read


def integer_between(least: int, most: int | None = None) -> Callable[[str], int]:
    """Return a reader of a whole number, `least` and `most` included."""
    upper = "" if most is None else f" and at most {most}"

    def read(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            number = least - 1
        if number < least or (most is not None and number > most):
            raise ValueError(f"{text!r}: give a whole number, at least {least}{upper}")
        return number

    return read


def share(text: str) -> float:
    """Return a share of a whole, above 0 and at most 1.

    Raises:
        ValueError: it is none.
    """
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number <= 1:
        raise ValueError(f"{text!r}: give a number above 0 and at most 1, such as 0.01")
    return number


def date(text: str) -> str:
    """Return a snapshot's date as a dump's address has it: a day of the calendar, or a month.

    Raises:
        ValueError: it is no such date.
    """
    for form, length in _DATES.items():
        try:
            datetime.strptime(text, form)  # noqa: DTZ007 (a day, nowhere)
        except ValueError:
            continue
        if len(text) == length:
            return text
    form = "20230101, 2023-01-01 or 2023-01"
    raise ValueError(f"{text!r} is no date: give one as in the dump's address: {form}")


def filled(text: str) -> str:
    """Return an argument that is not blank.

    Raises:
        ValueError: it is.
    """
    if not text.strip():
        raise ValueError(f"{text!r} is empty")
    return text


def assignment(text: str) -> str:
    """Return an argument that is a role, `=` and a column.

    Raises:
        ValueError: it is not.
    """
    role, _, column = text.partition("=")
    if not role.strip() or not column.strip():
        raise ValueError(f"{text!r}: give ROLE=COLUMN, such as text=caption")
    return text


def language_code(text: str) -> str:
    """Return an argument that is a code of a language, or a column, `=` and its code.

    Raises:
        ValueError: it is not.
    """
    if not _LANGUAGE.fullmatch(text):
        raise ValueError(f"{text!r}: give a code such as de, or COLUMN=CODE such as caption_fr=fr")
    return text


def words(allowed: Sequence[str]) -> dict[str, Any]:
    """Return what an option has that is one of these words."""
    return {"parser": one_of(allowed), "metavar": "|".join(allowed)}


def version_name(text: str) -> str:
    """Return the name of a version of a remote.

    Raises:
        ValueError: it is none.
    """
    if not _VERSION.fullmatch(text):
        raise ValueError(f"{text!r}: give letters, digits, `.`, `_` or `-`, such as 2026-03")
    return text


def result_path(text: str) -> str:
    """Return a path below the project, as `data/collect` is, without a slash at its end.

    Raises:
        ValueError: it leads elsewhere, or is empty.
    """
    path = text.removeprefix("./").rstrip("/")
    if not path or path.startswith("/") or ".." in path.split("/"):
        raise ValueError(f"{text!r}: give a phase or a path of results, such as data/collect")
    return path


# A list that is empty unless it is given.
NONE: dict[str, Any] = {"default_factory": list, "show_default": False}
Collection = Annotated[str, typer.Argument(help="A built collection.", parser=filled)]
Setting = Annotated[str, typer.Option(help="The candidate pool.", **words(SETTINGS))]
Split = Annotated[str, typer.Option(help="The split of the queries.", **words(SPLITS))]
Catalog = Annotated[Path, typer.Option(help="The catalog that the workflow writes.")]
LOOPBACK = "127.0.0.1"
Host = Annotated[str, typer.Option(help="The default is this machine only.")]
Port = Annotated[
    int,
    typer.Option(
        help="0 is any free one.", parser=integer_between(0, _LARGEST_PORT), metavar="NUMBER"
    ),
]
Remote = Annotated[bool, typer.Option("--remote", help="Allow a host that others can reach.")]
Overlays = Annotated[
    list[Path],
    typer.Option(help="Overlays, as for snakemake; several may follow.", metavar="FILE", **NONE),
]
Pairs = Annotated[
    list[str],
    typer.Option(help="Such as root=FOLDER; several may follow.", metavar="KEY=VALUE", **NONE),
]
Where = Annotated[
    str | None,
    typer.Argument(
        metavar="REMOTE",
        help="A folder, s3://BUCKET/FOLDER, https://... (pull), or another address of fsspec; by "
        "default `remote` of params.yaml.",
        envvar="ISOTOPE_REMOTE",
        parser=filled,
        default_factory=lambda: None,
        show_default=False,
    ),
]
Results = Annotated[
    list[str],
    typer.Argument(
        help="Phases, or paths such as data/collect/toy; patterns with *; all without any.",
        parser=result_path,
        metavar="PATH",
        **NONE,
    ),
]
OfCollection = Annotated[
    str | None,
    typer.Option("--collection", help="Only of this collection, by its name.", parser=filled),
]
VersionName = Annotated[
    str, typer.Option("--version", help="By its name.", parser=version_name, metavar="NAME")
]
Jobs = Annotated[
    int,
    typer.Option(
        "--jobs", help="Files at a time.", parser=integer_between(1, _MOST_JOBS), metavar="NUMBER"
    ),
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only say how many files and bytes.")]
