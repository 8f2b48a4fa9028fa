"""Pictures that somebody brings: decoded by the crawl's own process for what nobody trusts."""

from typing import Any

from isotope.core.errors import BadQuery
from isotope.intake.pictures import PictureDecoders

MOST_BYTES = 20 * 2**20
# As the crawl's defaults, but for the time: somebody waits.
_LIMITS = {"max_pixels": 64_000_000, "decode_s": 20, "decode_mb": 1_500}
_WHERE = "the picture"
_REMEDY = "give a photograph as JPEG, PNG or WebP"
# What the decoder says of a file that is none that it takes, by its status.
_STATUS_PROBLEMS = {
    "not_an_image": "not a picture",
    "svg": "a drawing in SVG, which has no pixels",
    "pdf": "a PDF document, not a picture",
    "polyglot": "a picture and something else in one file",
    "too_many_pixels": f"more than {_LIMITS['max_pixels']:,} pixels",
    "decode_timeout": f"not decoded within {_LIMITS['decode_s']} s",
    "decoder_died": "it takes more memory to decode than a picture may",
}


class Uploads:
    """One decoder in a process with limits, started with the first picture."""

    def __init__(self) -> None:
        """Start nothing yet."""
        self._pictures = PictureDecoders(_LIMITS)

    def webp(self, data: bytes) -> bytes:
        """Return a file's picture as WebP that our own decoder wrote.

        Raises:
            BadQuery: no picture, one that is too large, or one that can't be decoded in time.
            ToolFailed: the decoder can't be started.
        """
        if not data:
            raise BadQuery(_WHERE, "an empty file", _REMEDY)
        if len(data) > MOST_BYTES:
            problem = f"{len(data):,} bytes, at most {MOST_BYTES:,} are decoded"
            raise BadQuery(_WHERE, problem, "give a smaller copy")
        row, webp = self._pictures.convert(data, "an upload")
        if row["status"] != "success":
            raise BadQuery(_WHERE, _sentence(row), _REMEDY)
        return webp

    def close(self) -> None:
        """End the process and the thread."""
        self._pictures.close()


def _sentence(row: dict[str, Any]) -> str:
    status, error = str(row["status"]), row.get("error")
    problem = _STATUS_PROBLEMS.get(status, status.replace("_", " "))
    return f"{problem} ({error})" if error else problem
