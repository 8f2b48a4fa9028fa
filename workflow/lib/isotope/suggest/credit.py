"""The credit line of a picture: who made it, under which licence, and where its file is."""

UNKNOWN_AUTHOR, UNKNOWN_LICENCE, UNKNOWN_PAGE = (
    "author unknown",
    "licence unknown",
    "file page unknown",
)


def credit_line(author: str | None, licence: str | None, file_page: str | None) -> str:
    """Return `Author, licence, file page`, ready to paste; what is unknown is said to be."""
    licence = None if licence == "unknown" else licence
    return ", ".join(
        [author or UNKNOWN_AUTHOR, licence or UNKNOWN_LICENCE, file_page or UNKNOWN_PAGE]
    )
