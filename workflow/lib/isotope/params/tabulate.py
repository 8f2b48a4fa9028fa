"""What the report shows: the key `tabulate` of params.yaml."""

import difflib
from collections.abc import Sequence
from typing import Annotated, Any, ClassVar, Literal, TypeVar

from pydantic import AfterValidator, Field, Tag

from isotope.params.messages import KeyPath, refuse
from isotope.params.references import (
    Built,
    Collection,
    CollectionName,
    LocalPath,
    Model,
    OptPath,
    Ref,
    Searched,
    Source,
    System,
    Vocabulary,
)
from isotope.params.removed import Constant, Removed
from isotope.params.sections import (
    BY_TYPE,
    Count,
    Distinct,
    Name,
    Natural,
    Number,
    Opt,
    Rare,
    Section,
    Setting,
    Share,
    Split,
    Text,
)

_BUILT_IN = ("open_clip", "toy")
# Why keys have gone.
_PAGE = "so that a browser opens the page at once"
_DRAWN = "so that the intervals of any two reports can be compared"
_OF_OVEN = "as in section 6 of OVEN (Hu et al., ICCV 2023)"
_T = TypeVar("_T")
_Two = Annotated[_T, Field(min_length=2, max_length=2)]


def _check_style(prompt: str) -> str:
    if "{style}" not in prompt:
        raise refuse(repr(prompt), "write {style} in each")
    return prompt


def _check_tokenizer(spec: str) -> str:
    """Refuse a likely misspelling of the name of a built-in tokenizer."""
    near = difflib.get_close_matches(spec.lower(), _BUILT_IN, n=1, cutoff=0.75)
    if near and spec not in _BUILT_IN:
        allowed = "open_clip, toy, a vocabulary file or a name on the hub"
        raise refuse(f"no tokenizer {spec!r}", f"did you mean {near[0]!r}? (allowed: {allowed})")
    return spec


def _described(params: Any, _path: KeyPath) -> list[str]:  # noqa: ANN401
    return [entry.source for entry in params.tabulate.captioners.values()]


_Tokenizer = Annotated[
    Text,
    Vocabulary,
    AfterValidator(_check_tokenizer),
    Field(
        description="open_clip for CLIP's; toy for a small WordPiece; a vocabulary file; or a name "
        "on the hub such as google-bert/bert-base-uncased."
    ),
]
_Tables = Annotated[list[LocalPath], Field(min_length=1)]
_Choices = Annotated[
    _Tables,
    Field(
        description="Local .csv, .jsonl, .jsonl.gz or .parquet files, or patterns with `*`: a row a"
        " person, with `image`, `language`, `first` and `second` (two captioners) and `choice` "
        "(first, second or same)."
    ),
]
_Part = Annotated[
    Distinct[Built],
    Field(min_length=1, description="Built collections, with equal weights in the mean."),
]
_Parts = Annotated[
    dict[Name, _Part],
    Field(
        min_length=1,
        description="Parts of the group, such as `all` and `low-resource`; a collection may be in "
        "several.",
    ),
]


class Facts(Section):
    """What others know of a collection's pages and images."""

    topics: OptPath = None
    """Wikimedia's article-topic predictions: wiki_db, qid, pid, num_outlinks, a probability a
    topic."""
    views: OptPath = None
    """Page views, for OVEN the average of a month: page_id or page_title, and views."""
    objects: OptPath = None
    """Objects in images: image_url, synset."""
    styles: OptPath = None
    """Styles of images: image_id, style."""


class Styles(Section):
    """Zero-shot classification of every image by style."""

    model: Model
    """A key of `models` whose vectors are compared."""
    classes: Annotated[Distinct[Text], Field(min_length=2)]
    """The styles, each a name or `<name>: <description>`."""
    prompts: Annotated[Distinct[Annotated[Text, AfterValidator(_check_style)]], Field(min_length=1)]
    """Sentences with `{style}`; a class is the mean of its sentences."""


class Against(Section):
    """The other collection, the measures and where both are compared."""

    collection: Built
    """The other collection."""
    here: Annotated[str, Ref("score.measures")]
    """Measure of this collection, such as R@10; one of `score.measures`."""
    there: Annotated[str, Ref("score.measures")]
    """Measure of the other, such as Success@10; one of `score.measures`."""
    setting: Opt[Annotated[Setting, Ref("search.settings")]] = None
    """Setting of both; by default the first of `search.settings`."""
    splits: Opt[_Two[list[Annotated[Split, Ref("search.splits")]]]] = None
    """Split of this collection and split of the other; by default the first of `search.splits` for
    both."""


class Captioner(Section):
    """Captions by a model."""

    source: Source
    """The source whose pictures it describes, a key of `acquire`."""
    files: _Tables
    """Local .csv, .jsonl, .jsonl.gz or .parquet files, or patterns with `*`: a row a picture and
    language, with `image` (its id, its URL, or its file's name without suffix), `language` and
    `caption`."""


class Cases(Section):
    """What the case studies show."""

    removed: ClassVar[Removed] = {
        "hits": Constant("isotope.report.cases:HITS", "as in AToMiC's Fig. 6"),
    }

    systems: Opt[_Two[Distinct[Searched]]] = None
    """Two of `search.systems`; by default `tabulate.system` and the first of kind bm25, or else the
    first other one."""
    queries: Annotated[
        Annotated[Natural, Tag("integer")]
        | Annotated[Distinct[Text], Field(min_length=1), Tag("array")],
        BY_TYPE,
    ] = 2
    """Number of queries with the largest gain of the first system over the second, with the largest
    loss, and at random, each for each task; or a list of query ids."""
    seed: Natural = 0
    """Seed of the random queries."""


class Detector(Section):
    """What looks for objects."""

    either: ClassVar[Sequence[str]] = ("name", "kind")

    kind: Opt[Literal["ssd"]] = None
    """ssd: on MobileNet v2, from a package of the extra `offline`; give this or
    `name`."""
    name: Opt[Text] = None
    """DETR of the transformers library: a folder, or a name on the hub such as
    facebook/detr-resnet-101."""
    revision: Opt[str] = None
    """Commit of the hub."""
    threshold: Share
    """Least probability of an object."""
    batch: Count
    """Images in a batch."""


class Tabulate(Section):
    """What the report shows."""

    removed: ClassVar[Removed] = {
        "bootstrap": {
            "samples": Constant("isotope.tabulate.strata:USUAL.samples", _DRAWN),
            "seed": Constant("isotope.tabulate.strata:USUAL.seed", _DRAWN),
            "level": Constant("isotope.tabulate.strata:USUAL.level", _DRAWN),
        },
        "monthly_views": {
            "head": Constant("isotope.tabulate.strata:PAPER.head", _OF_OVEN),
            "tail": Constant("isotope.tabulate.strata:PAPER.tail", _OF_OVEN),
        },
        "tail": {
            "categories": Constant(0.025, "as in AToMiC's Fig. 2"),
            "styles": Constant(0.01, "as in AToMiC's Fig. 3"),
            "objects": Constant(0.02, "as templates/exhibits.yaml has it"),
        },
        "queries": {
            "shown": Constant("isotope.report.queries:SHOWN", _PAGE),
            "hits": Constant("isotope.report.queries:HITS", _PAGE),
        },
        "overlap": Constant("isotope.tabulate.runs:OVERLAP", "the depth of AToMiC's runs"),
    }

    system: System
    """System whose best and worst queries the report shows."""
    alpha: Annotated[Number, Field(gt=0, lt=1)]
    """Level of significance of the letters."""
    tokenizers: dict[Name, _Tokenizer] = {"clip": "open_clip"}
    """Tokenizers of Table 2, by name."""
    gains: Rare[Distinct[_Two[Distinct[Searched]]]] = []
    """Pairs of systems; the intervals and strata also have the difference of the first and the
    second."""
    comparisons: Distinct[Annotated[Distinct[System], Field(min_length=2)]] = []
    """Lists of systems that Table 5 compares. Systems are compared within a list, and Bonferroni's
    correction counts its pairs; systems that are not searched are left out."""
    sizes: Distinct[Count] = []
    """Documents in the nested random subsets of Fig. 5; the whole pool is always one of them, and
    for OVEN the set of entities that answer a question."""
    facts: dict[CollectionName, Facts] = {}
    """External data on a collection's pages and images: Parquet files, or csv with any
    delimiter."""
    diff: Distinct[_Two[Distinct[Collection]]] = []
    """Pairs of collections whose differences are tabulated, the earlier first. A pair is used if
    one of the two is built; the other one is then only collected. The default with `snapshots` is
    each one with the one before."""
    temporal: Distinct[Searched] = []
    """Systems whose builds on the earlier collection also answer the queries of the later one, in
    each pair of `diff` that is built: of kind bm25 or dense, or untuned fusions of those."""
    popularity: Literal["auto", "views", "inlinks"] = "auto"
    """Popularity by which deciles are formed: views, inlinks (the dump's own links), or auto, which
    is views if `tabulate.facts` has them and inlinks otherwise."""
    styles: Rare[Opt[Styles]] = None
    """Zero-shot classification of all images by style, for Fig. 3; by default none."""
    against: Rare[dict[Annotated[Name, Ref("build")], Against]] = {}
    """For Fig. 7, the other collection that a collection is compared with; both must be built."""
    captions: Rare[bool] = False
    """Tabulates texts that are captions by language: their number, their lengths, and CIDEr of each
    against the others of its image."""
    captioners: Rare[dict[Name, Captioner]] = {}
    """Captions by models, by the model's name: CIDEr of each against the texts of the collections
    of one source, which are captions; a language that a model leaves out has no value."""
    side_by_side: Rare[dict[Annotated[Name, Ref(_described, "tabulate")], _Choices]] = {}
    """People's choices between the captions of two `captioners`, by source; the correlation of the
    choices with CIDEr is tabulated."""
    groups: Rare[dict[Name, _Parts]] = {}
    """Groups of collections to compare, such as the languages of a data set: a group's parts, each
    with its collections and their mean."""
    cases: Rare[Cases] = Cases()
    """Case studies (Fig. 6) on the largest pool and the first split: what two systems return for a
    query."""
    detector: Rare[Opt[Detector]] = None
    """Object detector for Fig. 4 if `tabulate.facts` has no objects; by default none."""
