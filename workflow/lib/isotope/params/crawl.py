"""How the images of a source are downloaded: the keys of `crawl.<source>`."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from isotope.core.contact import is_contact
from isotope.params.messages import KeyPath, refuse
from isotope.params.pairs import DATA
from isotope.params.references import OptPath, Ref
from isotope.params.references import Source as AcquiredSource
from isotope.params.removed import Constant, Removed
from isotope.params.sections import (
    UNSET,
    Count,
    Distinct,
    Integer,
    NotNegative,
    Opt,
    Positive,
    Rare,
    Section,
    Share,
    Text,
)

# Keys that say where pictures are requested, how large they become, and how many may fail; keys by
# which none is requested; and keys of decoders.
ORIGIN = ("serve", "mirror", "pictures", "lost_share", "side_px")
OF_POLICY = ("after", "lost_share", "side_px")
DECODING = ("decoders", "as_img2dataset")
# What crawls were recorded with that are done, in this order: Snakemake compares the whole text.
_RECORDED = (
    *("of", "user_agent", "threads", "connections", "rate_per_s", "burst", "megabits_per_s"),
    *("timeout_s", "attempts", "wait_s", "patience_s", "breaker_failures", "breaker_pause_s"),
    *("breaker_openings", "redirects", "max_mib", "max_pixels", "decoders", "decode_s"),
    "decode_mb",
)
# Why keys have gone.
_BREAKER = "15 minutes of pauses in all, in which a server that was restarted is back"
_OUTAGE = "so that a host that is repaired within a day loses no picture"
_SCALED = "and `intake.scale` multiplies it"
_DECODED = "so that a hostile picture harms no other"


def _check_contact(value: str) -> str:
    if not is_contact(value):
        remedy = "give a mail address or a web page of yours, such as me@example.org"
        raise refuse(repr(value), remedy)
    return value


def _parts(params: Any, source: object) -> list[str]:  # noqa: ANN401
    return [*(getattr(params.acquire.get(source), "files", None) or ())]


def _own_parts(params: Any, path: KeyPath) -> list[str]:  # noqa: ANN401
    """The parts of a crawl's own source; what lies on this machine is read where it is."""
    has_rows = getattr(params.collect.get(path[1]), "parsed", ())
    return [*_parts(params, path[1]), *[DATA] * bool(has_rows)]


def _bulk_parts(params: Any, path: KeyPath) -> list[str]:  # noqa: ANN401
    return _parts(params, params.crawl[path[1]].bulk[path[3]].source)


def _other_crawls(params: Any, path: KeyPath) -> list[str]:  # noqa: ANN401
    return [name for name in params.crawl if name != path[1]]


def crawls_alike(params: Any, path: KeyPath) -> list[str]:  # noqa: ANN401
    """The other crawls whose pictures have the same bytes: of one width, made by the same."""
    bytes_of = {name: (e.width, bool(e.as_img2dataset)) for name, e in params.crawl.items()}
    return [n for n in bytes_of if n != path[1] and bytes_of[n] == bytes_of[str(path[1])]]


class Pictures(Section):
    """Pictures that are part of the data set, instead of downloads."""

    part: Annotated[str, Ref(_own_parts, "acquire", "collect")]
    """The part of `acquire.<source>.files` with picture files, zip or tar archives of them, Parquet
    files with `image_url` and the bytes, or Kiwix ZIM files."""
    base: str = ""
    """The part of an image_url before the file's name."""


# A word, a host, or an address with a place for the picture's own.
_ALTERNATE = (
    r"^(renamed|archive@[0-9]{4,14}|https?://[^/\s{}]+/?|https?://[^\s{}]+\{url\}[^\s{}]*)$"
)


class Bulk(Section):
    """Pictures that others publish whole: tables with addresses and bytes, archives, a folder."""

    either: ClassVar[Sequence[str]] = ("folder", "crawl", "source")
    needs: ClassVar[Mapping[str, Sequence[str]]] = {
        "source": ["part"],
        "part": ["source"],
        **{k: ["source", "part"] for k in ("columns", "image", "width", "height", "licence")},
    }

    source: Opt[AcquiredSource] = None
    """A key of `acquire` whose files are read, each once and in order."""
    part: Opt[Annotated[str, Ref(_bulk_parts, "acquire", "crawl")]] = None
    """The part of `acquire.<source>.files` with Parquet files, tables of texts between tabs whose
    pictures are base64, plain or packed, zip or tar archives, or pictures."""
    crawl: Opt[Annotated[str, Ref(_other_crawls, "crawl")]] = None
    """A key of `crawl`: an earlier crawl whose pictures are taken."""
    folder: OptPath = None
    """A folder of pictures, a mirror by path, which is read where it is."""
    address: Rare[Text] = "image_url"
    """The column with the address of a picture."""
    image: Rare[Opt[Text]] = None
    """The column with its bytes, or with a struct that has `bytes`, or with base64; without it the
    first column of bytes or, of texts between tabs, the column `image`."""
    columns: Rare[Opt[Annotated[list[Text], Field(min_length=2)]]] = None
    """Names for the columns of texts between tabs that have no line of names."""
    width: Rare[Opt[Text]] = None
    """The column with the width of a picture's original, in pixels."""
    height: Rare[Opt[Text]] = None
    """Likewise its height."""
    licence: Rare[Opt[Text]] = None
    """The column with the licence of a picture, for the ledger; without it nothing is said of
    licences."""
    base: Rare[str] = "https://upload.wikimedia.org/"
    """What stands before the path of a picture in an archive or a folder to make its address."""


class Crawl(Section):
    """How the images of a source are downloaded."""

    needs: ClassVar[Mapping[str, Sequence[str]]] = {
        "ask_again": ["after"],
        "refetch_smaller": ["bulk"],
    }
    removed: ClassVar[Removed] = {
        "burst": Constant("isotope.crawl.hosts:BURST", "as many as `rate_per_s` has by default"),
        "patience_s": Constant(
            "isotope.crawl.hosts:PATIENCE_S", "an hour, as the next run asks the host again"
        ),
        "breaker_failures": Constant("isotope.crawl.hosts:BREAKER_FAILURES", _BREAKER),
        "breaker_pause_s": Constant("isotope.crawl.hosts:BREAKER_PAUSE_S", _BREAKER),
        "breaker_openings": Constant("isotope.crawl.hosts:BREAKER_OPENINGS", _BREAKER),
        "outage_tries": Constant("isotope.crawl.outages:TRIES", _OUTAGE),
        "outage_hours": Constant("isotope.crawl.outages:HOURS", _OUTAGE),
        "redirects": Constant("isotope.crawl.fetch:REDIRECTS", "and files of wikis need two"),
        "max_mib": Constant("isotope.intake.limits:MEMBER_MIB", _SCALED),
        "max_pixels": Constant("isotope.intake.limits:MAX_PIXELS", _DECODED),
        "decode_s": Constant("isotope.intake.limits:DECODE_S", _DECODED),
        "decode_mb": Constant("isotope.intake.limits:DECODE_MB", _DECODED),
    }

    shards: Count
    """Jobs (and files) that the URLs are cut into."""
    serve: OptPath = None
    """A folder to serve on loopback under its upload paths; the crawl then downloads from there."""
    pictures: Opt[Pictures] = None
    """Pictures that are part of the data set, instead of downloads."""
    of: Rare[
        Annotated[Distinct[Literal["associations", "infoboxes", "pairs"]], Field(min_length=1)]
    ] = ["associations"]
    """Parsed tables whose images are downloaded: what WIT associates, the first picture of each
    infobox, or the pairs of a collection of kind pairs, which has these by itself."""
    mirror: Rare[Opt[Annotated[str, Field(pattern="^https?://[^/]+$")]]] = None
    """Scheme and host that replace those of every URL while downloading; image ids keep the
    original."""
    alternates: Rare[Opt[Distinct[Annotated[str, Field(pattern=_ALTERNATE)]]]] = None
    """Where a picture is requested that its own address does not bring, one after the other:
    `renamed` (the new name of a file of Wikimedia's), a mirror's scheme and host, `archive@DATE`
    (the Internet Archive's capture nearest to the date), or an address with `{url}` in it."""
    after: Annotated[Annotated[str, Ref(crawls_alike, "crawl")] | None, UNSET] = None
    """An earlier source that this crawl goes on from: pictures that servers call unchanged are
    taken from there. Unless given, the source of a built collection of a snapshot goes on from that
    of the snapshot before; null is none."""
    ask_again: Rare[Opt[bool]] = None
    """Whether servers are asked if pictures of `after` have changed, which is the default; false
    takes them as they are, so that only pictures which that source lacks are requested."""
    bulk: Opt[Annotated[Distinct[Bulk], Field(min_length=1)]] = None
    """Sources of whole pictures that are read before any picture is requested, the first first;
    what none of them has is requested."""
    refetch_smaller: Rare[Opt[bool]] = None
    """Whether pictures of `bulk` whose shorter side is below `side_px`, and whose originals may be
    larger, are requested all the same; false, the default, keeps them."""
    width: Opt[Literal[20, 40, 60, 120, 250, 330, 500, 960, 1280, 1920, 3840]] = None
    """Thumbnails of Wikimedia's uploads in this width, in pixels, in place of the originals; the
    widths that it permits."""
    side_px: Rare[Annotated[Annotated[Integer, Field(ge=1, le=16383)] | None, UNSET]] = None
    """Shorter side at which pictures are stored, in pixels, as img2dataset resizes: the aspect is
    kept, and nothing is enlarged; null stores them in their own size. Unless given, it is 256 for
    the source of a collection of kind wikipedia, as for AToMiC, and null for others."""
    contact: Opt[Annotated[Text, AfterValidator(_check_contact)]] = None
    """Where the operator is reached, a mail address or a web page; without it Wikimedia is not
    crawled."""
    user_agent: Rare[str] = "isotope"
    """Who is crawling."""
    threads: Count = 16
    """Downloads at a time in a job."""
    connections: Count = 2
    """Requests at a time to one host, of all jobs together; Wikimedia's policy allows 2."""
    rate_per_s: Positive = 10
    """Requests a second to one host, of all jobs together."""
    megabits_per_s: Positive = 25
    """Speed of downloads from one host, of all jobs together, over 10 s; Wikimedia's policy allows
    25."""
    timeout_s: Rare[Positive] = 20
    """Longest time that a download may take, from the first byte sent to the last received."""
    attempts: Rare[Count] = 3
    """Requests for a URL whose failures are retryable."""
    wait_s: Rare[NotNegative] = 2
    """Pause before the second attempt; it doubles before each further one, and is shortened at
    random by up to half."""
    lost_share: Rare[Share] = 0.5
    """Largest share of the URLs, of a shard and of all, that may bring no picture before the job
    fails."""
    decoders: Count = 1
    """Processes in a job that turn pictures into WebP."""
    as_img2dataset: Rare[Opt[bool]] = None
    """Whether img2dataset alone decides what a picture becomes: 16 bits are clipped to 8, EXIF's
    orientation is ignored, and what is broken beside the pixels is left in; the default is
    false."""
    budget_gib: Rare[Opt[Positive]] = None
    """Bytes that the crawl of the source may receive in all, over its jobs and runs."""
    budget_hours: Rare[Opt[Positive]] = None
    """Hours that its jobs may work in all."""

    @model_validator(mode="after")
    def _request_or_have(self) -> Self:
        if self.bulk and self.pictures:
            problem = "bulk sources beside `pictures`, which requests nothing"
            raise refuse(problem, "drop one of them")
        return self

    def recorded(self) -> dict[str, Any]:
        """Return plain data by which what is fetched is known to be fetched: with defaults, and
        with constants that were keys, as they stood when it was.
        """
        rows = ((key, self.removed.get(key)) for key in _RECORDED)
        constants = {key: row.value for key, row in rows if isinstance(row, Constant)}
        values = {**self.filled(), **constants}
        return {key: values[key] for key in (*_RECORDED, *values)}

    def joined(self, other: "Crawl") -> "Crawl":
        """Return these params with those that were given of another part of the same entry."""
        changes = {name: getattr(other, name) for name in other.model_fields_set}
        return self.model_copy(update=changes)
