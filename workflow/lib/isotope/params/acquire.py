"""Where the upstream files of each source come from: the keys of `acquire.<source>`."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, ClassVar

from pydantic import AfterValidator, Field, Tag

from isotope.core.patterns import Stated
from isotope.params.messages import refuse
from isotope.params.references import LocalPath
from isotope.params.sections import BY_TYPE, Folder, Integer, Natural, Opt, Rare, Section


def check_day(value: str) -> str:
    """Refuse eight digits that are no day of the calendar."""
    try:
        datetime.strptime(value, "%Y%m%d")  # noqa: DTZ007 (a day, nowhere)
    except ValueError:
        problem = f"{value!r} is no day of the calendar"
        raise refuse(problem, "give a day as year, month and day: 20230101") from None
    return value


class File(Section):
    """A file to fetch, with what its publisher says of it."""

    url: LocalPath
    """Path or URL; any step of it may hold `*`, and `**` is any number of folders."""
    bytes: Opt[Natural] = None
    """Size that the publisher states."""
    md5: Opt[Annotated[str, Field(pattern="^[0-9a-f]{32}$")]] = None
    """Published digest."""
    sha1: Opt[Annotated[str, Field(pattern="^[0-9a-f]{40}$")]] = None
    """Published digest."""
    sha256: Opt[Annotated[str, Field(pattern="^[0-9a-f]{64}$")]] = None
    """Published digest."""


_AnyFile = Annotated[
    Annotated[LocalPath, Tag("string")] | Annotated[File, Tag("object")],
    BY_TYPE,
    Field(
        description="A local path, a URL (http, https, file, s3), or an object with its published "
        "size and digest."
    ),
]


class Generate(Section):
    """Make the embedded encyclopedia instead of fetching anything."""

    pages: Annotated[Integer, Field(ge=10)]
    """Articles; sections and images follow."""
    seed: Integer = 0
    """The same seed gives the same bytes."""
    date: Annotated[str, Field(pattern="^[0-9]{8}$"), AfterValidator(check_day)] = "20230101"
    """Date of the first edition's dump."""
    edition: Annotated[Integer, Field(ge=1, le=2)] = 1
    """1 or 2: the second edition is a month later, and one page in twenty is revised, new or
    gone."""


class Source(Section):
    """Where the upstream files of a source come from."""

    either: ClassVar[Sequence[str]] = ("generate", "files")

    needs: ClassVar[Mapping[str, Sequence[str]]] = {"endpoint": ["files"]}

    endpoint: Rare[Opt[Annotated[str, Field(pattern="^https?://[^/ ]+")]]] = None
    """The server that answers for `s3:` addresses; without it boto3's own rule, `AWS_ENDPOINT_URL`
    first."""
    generate: Opt[Generate] = None
    """Make the embedded encyclopedia instead of fetching anything."""
    files: Opt[dict[Folder, Annotated[list[_AnyFile], Field(min_length=1)]]] = None
    """Files to fetch, by folder of `data/acquire/<source>/`; the queries of a kind that is no
    snapshot read each folder by its name."""

    def stated(self) -> dict[str, list[Stated]]:
        """Return the files of each folder, as `core.patterns` has them; none of what is made."""
        return {
            folder: [Stated(f) if isinstance(f, str) else Stated(**dict(f)) for f in files]
            for folder, files in (self.files or {}).items()
        }


class DigestedSource(Source):
    """A source, and a digest of its local files that changes when these do."""

    originals: Opt[str] = None
