"""Live answers: pictures for a text, sections for a picture, of one built collection."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from isotope.suggest.answers import Answer, Found, Place

Params = Mapping[str, Any]


class Engine:
    """What answers for a collection; methods may be called by several threads at once."""

    collection: str

    @classmethod
    def load(
        cls, collection: str, params: Params, root: Path = Path(), *, system: str | None = None
    ) -> "Engine":
        """Open a collection that is built; `system` is suggest, bm25, dense or wikimedia.

        Raises:
            BadParams: a collection that the params lack.
            MissingFile: one that is not built.
        """
        raise NotImplementedError

    def pictures(self, text: str, *, top: int = 10, section: str | None = None) -> Found[Answer]:
        """Return pictures for a text, best first; `.notes` has sentences for its reader.

        Raises:
            BadQuery: an empty text.
        """
        raise NotImplementedError

    def pictures_of_section(self, text_id: str, *, top: int = 10) -> Found[Answer]:
        """Return pictures for a section of the collection.

        Raises:
            UnknownId: no such section.
        """
        raise NotImplementedError

    def sections(self, picture: bytes | str, *, top: int = 10) -> Found[Place]:
        """Return sections for a picture: bytes of any file, or an id or URL of the collection.

        Raises:
            BadQuery: bytes that are no picture, or that can't be decoded within limits.
            UnknownId: no such picture.
            MissingFile: a collection without vectors.
        """
        raise NotImplementedError

    def unillustrated(self, *, search: str = "", after: str = "", most: int = 50) -> Found[Place]:
        """Return open sections, the likeliest to need a picture first, after the section `after`.

        `reasons` counts the feed's suggestions; `search` is a part of a page's or section's title.

        Raises:
            MissingFile: the phase suggest was not run.
        """
        raise NotImplementedError

    def thumbnail(self, image_id: str) -> bytes:
        """Return a small WebP picture.

        Raises:
            UnknownId: no such picture, or none that was crawled.
        """
        raise NotImplementedError

    def close(self) -> None:
        """End the processes and threads that answer."""
        raise NotImplementedError
