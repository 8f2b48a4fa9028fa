"""What became of a URL: img2dataset's words turned into named outcomes."""

import polars as pl

COLUMNS: dict[str, pl.DataType] = {
    "image_id": pl.String(),
    "image_url": pl.String(),
    "status": pl.String(),
    "error_message": pl.String(),
    "width": pl.Int32(),
    "height": pl.Int32(),
    "sha256": pl.String(),
}
_BY_CODE = {404: "not_found", 410: "gone", 401: "forbidden", 403: "forbidden", 429: "rate_limited"}
_BY_WORDS = {
    r"IncompleteRead": "truncated",
    r"timed out|timeout": "timeout",
    r"X-Robots-Tag": "refused",
    r"[Ii]mage decoding error|image size|not decode|cannot identify": "not_an_image",
    r"urlopen error|Connection|Remote end closed": "connection",
}
_MAY_PASS = ("rate_limited", "server_error", "truncated", "timeout", "connection")
_OK, _FIRST_SERVER_ERROR = 200, 500


def outcome(found: pl.DataFrame) -> pl.DataFrame:
    """Turn img2dataset's rows into status, http_status, error and the picture's size.

    A failure that no pattern knows is `failed`; its message stays in `error`.
    """
    message = pl.col("error_message")
    code = message.str.extract(r"HTTP Error (\d{3})").cast(pl.Int32)
    named = pl.when(pl.col("status") == "success").then(pl.lit("success"))
    for number, name in _BY_CODE.items():
        named = named.when(code == number).then(pl.lit(name))
    named = named.when(code >= _FIRST_SERVER_ERROR).then(pl.lit("server_error"))
    named = named.when(code.is_not_null()).then(pl.lit("http_error"))
    for words, name in _BY_WORDS.items():
        named = named.when(message.str.contains(words)).then(pl.lit(name))
    success = pl.col("status") == "success"
    return found.select(
        "image_id",
        "image_url",
        status=named.otherwise(pl.lit("failed")),
        http_status=pl.when(success).then(pl.lit(_OK, pl.Int32)).otherwise(code),
        width=pl.when(success).then("width"),
        height=pl.when(success).then("height"),
        upstream_sha256=pl.when(success).then("sha256"),
        error=message,
    )


def worth_another_try(outcomes: pl.DataFrame) -> pl.DataFrame:
    """Return the rows whose failure may pass."""
    return outcomes.filter(pl.col("status").is_in(_MAY_PASS))
