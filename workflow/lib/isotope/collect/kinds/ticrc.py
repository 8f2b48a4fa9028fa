"""The text-image challenge, with the sets that its organisers have cut."""

from pathlib import PurePosixPath
from typing import Annotated, Literal

from pydantic import Field

from isotope.core.errors import BadParams
from isotope.params.phases import CollectionKind
from isotope.params.schema import suggest
from isotope.params.sections import Distinct, Opt, Params, Text


class Ticrc(CollectionKind):
    """A collection of some of the challenge's sets, or of all."""

    kind: Literal["ticrc"]  # pyright: ignore[reportIncompatibleVariableOverride]
    source_splits: Opt[Annotated[Distinct[Text], Field(min_length=1)]] = Field(
        default=None,
        description="Of kind ticrc, the challenge's own sets to collect, such as train2 or test-B: "
        "names of the folders of the source's files. All of them unless it is there.",
    )

    def check(self, where: str, params: Params) -> None:
        """Check the names of sets: a set is called as the folder of its files.

        A folder with `*` may be called anything.

        Raises:
            BadParams: a set that the source does not have.
        """
        files = params["acquire"].get(self.source, {}).get("files", {})
        listed = [
            file for split in ("train", "validation", "test") for file in files.get(split, [])
        ]
        urls = [file if isinstance(file, str) else str(file["url"]) for file in listed]
        known = sorted({PurePosixPath(url).parent.name for url in urls})
        unknown = [name for name in self.source_splits or () if name not in known]
        if unknown and not any("*" in folder for folder in known):
            found = f"unknown name {unknown[0]!r}"
            raise BadParams(f"{where}.source_splits", found, suggest(unknown[0], known))
