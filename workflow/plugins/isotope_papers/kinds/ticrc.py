from pathlib import PurePosixPath
from typing import Annotated, Literal

from pydantic import Field

from isotope.core.errors import BadParams
from isotope.params import SPLITS
from isotope.params.collect import CollectionKind
from isotope.params.messages import suggest
from isotope.params.sections import Distinct, Opt, Params, Text


class Ticrc(CollectionKind):
    """A collection of the sets of the text-image challenge, as its organisers cut them."""

    kind: Literal["ticrc"]  # pyright: ignore[reportIncompatibleVariableOverride]
    source_splits: Opt[Annotated[Distinct[Text], Field(min_length=1)]] = None
    """Of kind ticrc, the challenge's own sets to collect, such as train2 or test-B: names of the
    folders of the source's files. By default all of them."""

    def check(self, where: str, params: Params) -> None:
        """Check the names of sets: the name of a set is that of its files' folder.

        A folder with `*` may have any name.

        Raises:
            BadParams: a set that the source does not have.
        """
        files = params.acquire[self.source].files or {}
        listed = [file for split in SPLITS for file in files.get(split, [])]
        urls = [file if isinstance(file, str) else file.url for file in listed]
        folders = sorted({PurePosixPath(url).parent.name for url in urls})
        unknown = [name for name in self.source_splits or () if name not in folders]
        if unknown and not any("*" in folder for folder in folders):
            problem = f"unknown name {unknown[0]!r}"
            raise BadParams(f"{where}.source_splits", problem, suggest(unknown[0], folders))
