"""The phases from acquire to score in params.yaml: their keys, defaults and descriptions."""

from typing import Annotated, ClassVar, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from isotope.core import measures
from isotope.core.errors import BadParams
from isotope.params.messages import refuse
from isotope.params.references import (
    Collection,
    CollectionName,
    System,
)
from isotope.params.removed import Constant, Removed
from isotope.params.sections import (
    UNSET,
    Count,
    Distinct,
    Integer,
    Name,
    NotNegative,
    Opt,
    Positive,
    Rare,
    Section,
    Setting,
    Share,
    Split,
    Task,
    Text,
)
from isotope.params.summary import Summaries

# Why keys of limits have gone.
_SCALED = "and `intake.scale` multiplies it"


def _check_measure(name: str) -> str:
    try:
        measures.parse(name)
    except BadParams as error:
        raise refuse(error.problem, error.remedy) from None
    return name


Measure = Annotated[str, AfterValidator(_check_measure)]


class PageSplits(Section):
    """Shares of the pages that WIT lacks; all others are in the split train."""

    validation: Share
    """Share of validation."""
    test: Share
    """Share of test."""

    @model_validator(mode="after")
    def _leave_some(self) -> Self:
        if self.validation + self.test > 1:
            problem = f"validation {self.validation:g} and test {self.test:g}"
            raise refuse(problem, "give shares that add up to 1 at most; the rest trains")
        return self


class Parse(Section):
    """Where the associations of a source come from."""

    associations: Literal["wit", "dump", "both"] = "wit"
    """Which picture belongs to which section: wit is what WIT says, dump what the wikitext (or
    HTML) of the snapshot itself says, both is WIT and what it lacks."""
    splits: Rare[PageSplits] = PageSplits(validation=0.1, test=0.1)
    """Shares of the pages that WIT lacks, by the hash of their page id: a page has the same split
    in every snapshot. All others are in the split train."""
    variant: Rare[Opt[str]] = Field(default=None, pattern=r"^[A-Za-z]{2,3}(-[A-Za-z]+)*$")
    """The variant of the wiki's language whose words are read where a page has several
    (`-{zh-cn:甲;zh-tw:乙}-`), such as `zh-hant` or `sr-el`; without it what readers see who chose
    none."""


class Shards(Section):
    """Jobs that a phase is cut into, by phase."""

    parse: Count = 1
    """Of WIT, by whole files, and of the dump, by bytes, by entries of a ZIM file, or by whole
    files of Wikimedia Enterprise."""
    project: Count = 1
    """Of the texts that are matched with sections."""
    collect: Count = 1
    """Of a snapshot's texts, by page title, and of its images, by id; collections of other kinds
    are not sharded."""
    index: Count = 1
    """Of the documents of an index of words, those of `bm25` and that of the sections which texts
    look for."""
    search: Count = 1
    """Of the queries of every cell."""
    score: Count = 1
    """Of the runs."""


class Digests(Section):
    """How jobs compare what they read with the digests that were written when it was made."""

    by_time_above_mb: Annotated[NotNegative | None, UNSET] = None
    """Files larger than this many MB are compared once; then, as long as they have the same size
    and time, they are taken as they are. Without it every job reads all of each input."""


class Intake(Section):
    """What may come from outside: bounds of archives and records, beyond which they are refused."""

    removed: ClassVar[Removed] = {
        "member_mib": Constant("isotope.intake.limits:MEMBER_MIB", _SCALED),
        "unpacked_gib": Constant("isotope.intake.limits:UNPACKED_GIB", _SCALED),
        "ratio": Constant("isotope.intake.limits:RATIO", _SCALED),
        "members": Constant("isotope.intake.limits:MEMBERS", _SCALED),
        "depth": Constant("isotope.intake.limits:DEPTH", "which no data of people goes beyond"),
        "digits": Constant("isotope.intake.limits:DIGITS", "which no data of people goes beyond"),
    }

    scale: Positive = 1
    """What the bounds are multiplied by, for sources that are trusted: a picture, a file within an
    archive, and a line or item of a text, of 100 MiB; 10,000 GiB that a packed file may unpack to;
    500 bytes that a packed byte may become, once a file has more than 64 MiB; and 10 million files
    within an archive."""
    refused: Share = 0.5
    """Share of a collection's records, and of its own pictures, that may be unreadable; above it
    the job fails and says so."""


class Encode(Section):
    """How collections become vectors."""

    shards: Count
    """Jobs (and files) that each side of a collection is cut into."""
    batch: Count
    """Texts or images encoded at a time."""
    after: Rare[
        dict[CollectionName, Annotated[Collection, Field(description="An earlier collection.")]]
    ] = {}
    """For a collection, an earlier one: items with the same content there are not encoded again,
    and an index of the same words is not built again. By default each built collection of a
    snapshot has that of the snapshot before."""
    precision: Literal["float32", "float16"] = "float32"
    """Type of the stored vectors; float16 halves disk and memory."""
    summaries: Rare[Opt[dict[Name, Summaries]]] = None
    """Abstractive summaries of the captions of images, by name; models read them in place of
    captions."""


class PublishedRuns(Section):
    """Runs of a track's participants, in the files that were published."""

    files: Annotated[list[Text], Field(min_length=1)]
    """TREC runs, or patterns with `*`, plain or packed; a file `input.NAME.gz`, as NIST names them,
    or `NAME.trec` is the system NAME."""
    without: list[Text] = []
    """Files or patterns, of those files, that are left out; one may match nothing."""


class Search(Section):
    """Which cells of the grid of systems, settings, splits and tasks are searched."""

    systems: Annotated[Distinct[System], Field(min_length=1)]
    """Systems to run, in the order of tables and figures."""
    settings: Annotated[Distinct[Setting], Field(min_length=1)]
    """Candidate pools: the split itself, train+validation+test, everything."""
    splits: Annotated[Distinct[Split], Field(min_length=1)]
    """Splits whose judged texts and images are the queries."""
    unjudged: Rare[Opt[Distinct[Split]]] = None
    """Splits whose answers are not published: all their texts and images are queries, and their
    runs are in a folder of their own and not scored. A split that is in `splits` as well is also
    scored, as far as it has judgements."""
    tasks: Annotated[Distinct[Task], Field(min_length=1)]
    """t2m: search images for a text; m2t: search texts for an image."""
    runs: Rare[Opt[PublishedRuns]] = None
    """Runs of others where they lie, beside those below `runs/`, for a grid of one cell: one
    collection, setting, split and task."""
    depth: Count
    """Hits kept for each query."""
    memory_mb: Annotated[Integer, Field(ge=16)]
    """Memory limit of exact vector search."""
    device: Rare[Literal["auto", "cpu", "cuda"]] = "auto"
    """Where exact vector search finds candidates: auto is the GPU if there is one."""


class Score(Section):
    """What is measured."""

    measures: Annotated[Distinct[Measure], Field(min_length=1)]
    """Measures such as MRR@10, R@1000, Success@10, nDCG@10, MAP."""


_Address = Annotated[str, Field(pattern=r"^https?://[^/ ]+")]


class Publication(Section):
    """What a card says of a collection; what is left out is what its kind says of itself."""

    title: Opt[Text] = None
    """Its name for readers."""
    licence: Opt[Text] = None
    """Licence of the texts, by an identifier of SPDX, such as CC-BY-4.0, or in words; without it
    that of the kind, or of the columns, or `unknown`."""
    licence_url: Opt[_Address] = None
    """Where the licence stands."""
    homepage: Opt[_Address] = None
    """Where the data come from."""
    citation: Opt[Text] = None
    """What users are to cite."""
    limits: Opt[Text] = None
    """What users have to know before use."""


class Release(Section):
    """What releases have, and what they say of their collections."""

    removed: ClassVar[Removed] = {
        "lite": {
            "negatives": Constant(250, "unless `isotope release --lite --negatives` says more"),
            "queries": Constant(1000, "unless `isotope release --lite --queries` says more"),
        },
    }

    about: dict[CollectionName, Publication] = {}
    """What the card says, by collection."""
