"""What the report shows: the key `tabulate` of params.yaml."""

from collections.abc import Sequence
from typing import Annotated, ClassVar, Literal

from pydantic import Field, Tag

from isotope.params.sections import (
    BY_TYPE,
    Count,
    Distinct,
    Name,
    Natural,
    NotNegative,
    Number,
    Opt,
    Section,
    Setting,
    Share,
    Split,
    Text,
    Whole,
)

_Check = Literal["digests", "means", "significance", "printed", "measures", "rankings", "vectors"]
_Class = Annotated[str, Field(pattern="^[^;,]+$")]


class Study(Section):
    """The human study of failures."""

    failures: Count = Field(description="Failures of each system and task on the sheet.")
    classes: Annotated[Distinct[_Class], Field(min_length=1)] = Field(
        description="What may be wrong; an assessor names as many as apply. The default ones are "
        "the paper's."
    )
    alternative: Opt[_Class] = Field(
        default=None,
        description="What an assessor names alone, if the returned picture is as good an answer.",
    )
    common_words: Natural = Field(
        default=0,
        description="Fewest words that a query and the captions of its right picture share; with "
        "fewer the data may be wrong. Stop words do not count.",
    )
    support: Share = Field(
        description="Least share of judgements that a rule between classes rests on."
    )
    confidence: Share = Field(
        description="Least share of those with the premise that also have the conclusion."
    )


class Explain(Section):
    """How the failures on a collection are explained."""

    fills: ClassVar[bool] = True

    wordnet: Opt[Text] = Field(
        default=None,
        description="Folder with WordNet's dict files, a data folder of NLTK or wn, or a file of "
        "WN-LMF or the folder that has it; by default the usual places are searched.",
    )
    threshold: NotNegative = Field(
        default=1.0,
        description="Two boxes differ in size when the difference of their areas is this many times"
        " the smaller area or more; 1.0 is the paper's 100 %.",
    )
    shown: Count = Field(
        default=3,
        description="Failures of each system and task that the page shows, the least similar to the"
        " right answer and the most similar.",
    )
    seed: Whole = Field(
        default=0, description="Seed of the replaced words, and of the failures that people judge."
    )
    colour_distance: NotNegative = Field(
        default=150.0,
        description="Smallest Euclidean distance in RGB of a colour and its replacement.",
    )
    match: Literal["grammar", "plain"] = Field(
        default="grammar",
        description="Which words are exchanged: those that are colours, sizes and adjectives where "
        "they stand, or all in the lists, as the paper's shares have it.",
    )
    study: Study = Field(
        default=Study(
            failures=20,
            common_words=2,
            classes=[
                "object class",
                "object color",
                "object enumeration",
                "action",
                "size",
                "details",
            ],
            alternative="successful alternative",
            support=0.05,
            confidence=0.5,
        ),
        description="The human study of failures.",
    )


class Bootstrap(Section):
    """Bootstrap intervals of the means."""

    samples: Count = Field(description="Number of samples of the queries.")
    seed: Natural = Field(description="Of the draws.")
    level: Annotated[Number, Field(gt=0, lt=1)] = Field(
        description="Share of the sampled means that an interval contains."
    )


class Verify(Section):
    """What other people's tools recompute at the end of a run, for the report to say so."""

    fills: ClassVar[bool] = True

    checks: Distinct[_Check] = Field(
        default=["digests", "means", "significance", "printed", "measures", "rankings"],
        description="What is compared; [] is nothing, and the report says so. `rankings` holds the "
        "words of the collection in memory and indexes every pool again, which takes hours at full "
        "size; `vectors` loads every model again.",
    )
    sample: Annotated[Number, Field(gt=0, le=1)] = Field(
        default=0.01,
        description="Share of the scores, rankings and vectors that is recomputed.",
    )


class Facts(Section):
    """What others know of a collection's pages and images."""

    topics: Opt[str] = Field(
        default=None,
        description="Wikimedia's article-topic predictions: wiki_db, qid, pid, num_outlinks, a "
        "probability a topic.",
    )
    views: Opt[str] = Field(
        default=None,
        description="Page views, for OVEN the average of a month: page_id or page_title, and "
        "views.",
    )
    objects: Opt[str] = Field(default=None, description="Objects in images: image_url, synset.")
    styles: Opt[str] = Field(default=None, description="Styles of images: image_id, style.")


class MonthlyViews(Section):
    """The head and the tail of OVEN's entities."""

    head: NotNegative = Field(description="An entity with more views is in the head.")
    tail: NotNegative = Field(
        description="An entity with fewer views is in the tail; at most `head`."
    )


class Styles(Section):
    """Zero-shot classification of every image by style, for Fig."""

    model: str = Field(description="A key of `models` whose vectors are compared.")
    classes: Annotated[Distinct[Text], Field(min_length=2)] = Field(
        description="The styles, each a name or `<name>: <description>`."
    )
    prompts: Annotated[Distinct[Text], Field(min_length=1)] = Field(
        description="Sentences with `{style}`; a class is the mean of its sentences."
    )


class Against(Section):
    """The other collection, the measures and where both are compared."""

    collection: str = Field(description="The other collection.")
    here: str = Field(
        description="Measure of this collection, such as R@10; one of `score.measures`."
    )
    there: str = Field(
        description="Measure of the other, such as Success@10; one of `score.measures`."
    )
    setting: Opt[Setting] = Field(
        default=None, description="Setting of both; by default the first of `search.settings`."
    )
    splits: Opt[Annotated[list[Split], Field(min_length=2, max_length=2)]] = Field(
        default=None,
        description="Split of this collection and split of the other; by default the first of "
        "`search.splits` for both.",
    )


class Captioner(Section):
    """Captions by a model."""

    source: str = Field(description="The source whose pictures it describes, a key of `acquire`.")
    files: Annotated[list[Text], Field(min_length=1)] = Field(
        description="Local .csv, .jsonl, .jsonl.gz or .parquet files, or patterns with `*`: a row a"
        " picture and language, with `image` (its id, its URL, or its file's name "
        "without suffix), `language` and `caption`."
    )


class Mistakes(Section):
    """A random sample of answers for people to sort."""

    examples: Count = Field(
        description="Questions on the sheet, the same for every system; OVEN has 100."
    )
    subset: Opt[Text] = Field(
        default=None,
        description="Only questions of this subset, in any of `search.splits`; OVEN has human. By "
        "default all questions of the first split.",
    )
    seed: Whole = Field(description="Of the draw.")
    classes: Annotated[Distinct[_Class], Field(min_length=2)] = Field(
        description="Classes of answers: correct, and kinds of mistakes."
    )


class Cases(Section):
    """Case studies (Fig."""

    fills: ClassVar[bool] = True

    systems: Opt[Annotated[Distinct[str], Field(min_length=2, max_length=2)]] = Field(
        default=None,
        description="Two of `search.systems`; by default `tabulate.system` and the first of kind "
        "bm25, or else the first other one.",
    )
    queries: Annotated[
        Annotated[Natural, Tag("integer")]
        | Annotated[Distinct[Text], Field(min_length=1), Tag("array")],
        BY_TYPE,
    ] = Field(
        default=2,
        description="Number of queries with the largest gain of the first system over the second, "
        "with the largest loss, and at random, each for each task; or a list of query "
        "ids.",
    )
    seed: Natural = Field(default=0, description="Seed of the random queries.")
    hits: Count = Field(default=10, description="Hits shown from each end of a list.")


class Queries(Section):
    """The page of two systems, query by query: those of the case studies, on the largest pool."""

    fills: ClassVar[bool] = True

    shown: Count = Field(
        default=100,
        description="Queries of each task on the page, each of about 20 kB: those with the "
        "greatest differences, as many gains as losses, a tenth of them equal.",
    )
    hits: Count = Field(default=5, description="Hits shown of each list.")


class Detector(Section):
    """What looks for objects."""

    either: ClassVar[Sequence[str]] = ("name", "kind")

    kind: Opt[Literal["ssd"]] = Field(
        default=None,
        description="ssd: on MobileNet v2, from a package of the dependency group `offline`; give "
        "this or `name`.",
    )
    name: Opt[Text] = Field(
        default=None,
        description="DETR of the transformers library: a folder, or a name on the hub such as "
        "facebook/detr-resnet-101.",
    )
    revision: Opt[str] = Field(default=None, description="Commit of the hub.")
    threshold: Share = Field(description="Least probability of an object.")
    batch: Count = Field(description="Images in a batch.")


class Tail(Section):
    """Shares below which a part of a figure is summed into `others`."""

    fills: ClassVar[bool] = True

    categories: Share = Field(
        default=0.025, description="Of a category of pages in Fig. 2; the default is the paper's."
    )
    styles: Share = Field(
        default=0.01, description="Of a style of images in Fig. 3; the default is the paper's."
    )
    objects: Share = Field(
        default=0.02,
        description="Of a class of objects beside Fig. 4; the paper has no such figure.",
    )


class Tabulate(Section):
    """What the report shows."""

    fills: ClassVar[bool] = True

    system: str = Field(description="System whose best and worst queries the report shows.")
    alpha: Annotated[Number, Field(gt=0, lt=1)] = Field(
        description="Level of significance of the letters."
    )
    tokenizers: dict[
        Name,
        Annotated[
            Text,
            Field(
                description="open_clip for CLIP's; toy for a small WordPiece; a vocabulary file; "
                "or a name "
                "on the hub such as google-bert/bert-base-uncased."
            ),
        ],
    ] = Field(default={"clip": "open_clip"}, description="Tokenizers of Table 2, by name.")
    bootstrap: Bootstrap = Field(
        default=Bootstrap(samples=1000, seed=0, level=0.95),
        description="Bootstrap intervals of the means.",
    )
    gains: Distinct[Annotated[Distinct[str], Field(min_length=2, max_length=2)]] = Field(
        default=[],
        description="Pairs of systems; the intervals and strata also have the difference of the "
        "first and the second.",
    )
    comparisons: Distinct[Annotated[Distinct[str], Field(min_length=2)]] = Field(
        default=[],
        description="Lists of systems that Table 5 compares. Systems are compared within a list, "
        "and Bonferroni's correction counts its pairs; systems that are not searched "
        "are left out.",
    )
    sizes: Distinct[Count] = Field(
        default=[],
        description="Documents in the nested random subsets of Fig. 5; the whole pool is always one"
        " of them, and for OVEN the set of entities that answer a question.",
    )
    facts: dict[Name, Facts] = Field(
        default={},
        description="External data on a collection's pages and images: Parquet files, or csv with "
        "any delimiter.",
    )
    since: Distinct[Annotated[Distinct[str], Field(min_length=2, max_length=2)]] = Field(
        default=[],
        description="Pairs of collections whose differences are tabulated, the earlier first. A "
        "pair is used if one of the two is built; the other one is then only collected."
        " The default with `snapshots` is each one with the one before.",
    )
    temporal: Distinct[str] = Field(
        default=[],
        description="Systems whose builds on the earlier collection also answer the queries of the "
        "later one, in each pair of `since` that is built: of kind bm25 or dense, or "
        "untuned fusions of those.",
    )
    popularity: Literal["auto", "views", "inlinks"] = Field(
        default="auto",
        description="Popularity by which deciles are formed: views, inlinks (the dump's own "
        "links), or auto, which is views if `tabulate.facts` has them and inlinks otherwise.",
    )
    monthly_views: MonthlyViews = Field(
        default=MonthlyViews(head=5000, tail=2500),
        description="The head and the tail of OVEN's entities, by average monthly page views, where"
        " `tabulate.facts` has views of such a collection; an entity on a threshold or "
        "between them is in neither. Section 6 of the paper has 5,000 and 2,500.",
    )
    styles: Opt[Styles] = Field(
        default=None,
        description="Zero-shot classification of all images by style, for Fig. 3; by default none.",
    )
    verify: Verify = Field(
        default=Verify(),
        description="The verification that ends a run, by the checks of `isotope verify`.",
    )
    against: dict[Name, Against] = Field(
        default={},
        description="For Fig. 7, the other collection that a collection is compared with; both must"
        " be built.",
    )
    captions: bool = Field(
        default=False,
        description="Tabulates texts that are captions by language: their number, their lengths, "
        "and CIDEr of each against the others of its image.",
    )
    captioners: dict[Name, Captioner] = Field(
        default={},
        description="Captions by models, by the model's name: CIDEr of each against the texts of "
        "the collections of one source, which are captions; a language that a model "
        "leaves out has no value.",
    )
    side_by_side: dict[
        Name,
        Annotated[
            Annotated[list[Text], Field(min_length=1)],
            Field(
                description="Local .csv, .jsonl, .jsonl.gz or .parquet files, or patterns with "
                "`*`: a row a"
                " person, with `image`, `language`, `first` and `second` (two captioners) and "
                "`choice` (first, second or same)."
            ),
        ],
    ] = Field(
        default={},
        description="People's choices between the captions of two `captioners`, by source; the "
        "correlation of the choices with CIDEr is tabulated.",
    )
    groups: dict[
        Name,
        Annotated[
            Annotated[
                dict[
                    Name,
                    Annotated[
                        Annotated[Distinct[str], Field(min_length=1)],
                        Field(description="Built collections, with equal weights in the mean."),
                    ],
                ],
                Field(min_length=1),
            ],
            Field(
                description="Parts of the group, such as `all` and `low-resource`; a collection "
                "may be in "
                "several."
            ),
        ],
    ] = Field(
        default={},
        description="Groups of collections to compare, such as the languages of a data set: a "
        "group's parts, each with its collections and their mean.",
    )
    explain: dict[Name, Explain] = Field(
        default={},
        description="Collections with objects, on which failures are explained: systems' first "
        "answers are compared with the right ones.",
    )
    rankings: Distinct[str] = Field(
        default=[],
        description="Collections without explained failures for which the table `ranking` is made: "
        "Success and MRR, the median rank, the share of failures.",
    )
    mistakes: Opt[Mistakes] = Field(
        default=None,
        description="A random sample of questions on pictures, with the first answer of every "
        "system, on a sheet for people to sort; by default none.",
    )
    cases: Cases = Field(
        default=Cases(),
        description="Case studies (Fig. 6) on the largest pool and the first split: what two "
        "systems return for a query.",
    )
    queries: Queries = Field(
        default=Queries(),
        description="The page of two systems, query by query: those of `tabulate.cases`, on the "
        "largest pool and the first split.",
    )
    overlap: Count = Field(
        default=1000,
        description="Hits of each run that are compared with those of the others; the default is "
        "the depth of the paper's runs.",
    )
    detector: Opt[Detector] = Field(
        default=None,
        description="Object detector for Fig. 4 if `tabulate.facts` has no objects; by default "
        "none.",
    )
    tail: Tail = Field(
        default=Tail(), description="Shares below which a part of a figure is summed into `others`."
    )
