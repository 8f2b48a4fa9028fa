from isotope.core import shards as cut

INDEX_PIECES = expand(
    ".isotope/index/{{collection}}/{{part}}/{setting}/{{system}}", setting=SETTINGS
)
PART = r"\d{5}-of-\d{5}"
WIT = {"associations": "associations.parquet", "rejected": "associations.rejected.parquet"}
DUMP = {
    "sections": "sections.parquet",
    "links": "links.parquet",
    "rejected": "sections.rejected.parquet",
    "infoboxes": "infoboxes.parquet",
    "pictures": "pictures.parquet",
    "counts": "sections.counts.json",
}


def parts(phase):
    """The names of a phase's shards, each with its number and how many there are."""
    n = PARAMS["shards"][phase]
    return [f"{i:05d}-of-{n:05d}" for i in range(n)]


def part(wildcards):
    """Which shard, counted from 0, and of how many: numbers for the library."""
    return [int(number) for number in wildcards.get("part", "0-of-1").split("-of-")]


def is_cut(phase):
    """Whether a phase has shards; one alone writes where nothing needs to be gathered."""
    return PARAMS["shards"][phase] > 1


def by_part(phase, separator):
    """What tells the logs of a phase's shards apart."""
    return f"{separator}{{part}}" if is_cut(phase) else ""


def piece(phase, whole, of_part):
    """The output of a shard: a piece to be gathered, or the whole."""
    return temp(of_part) if is_cut(phase) else whole


def shards(phase, pattern):
    """What every shard of a phase wrote, by the pattern of one, whose other wildcards stay."""
    return expand(pattern, part=parts(phase), allow_missing=True)


def parsed(file):
    """A table of parse, or a shard's piece of it."""
    whole, of_part = f"data/parse/{{source}}/{file}", f".isotope/parse/{{source}}/{{part}}/{file}"
    return piece("parse", whole, of_part)


def associated(*ways):
    """A wildcard constraint: the sources whose associations come from one of these."""
    told = PARAMS["parse"]
    return any_of(
        s for s in PARAMS["acquire"] if told.get(s, {}).get("associations", "wit") in ways
    )


def known(file):
    """What every shard of WIT has, where a source uses WIT beside the snapshot."""
    pattern = f".isotope/parse/{{source}}/{{part}}/{file}"

    def of(wildcards):
        both = PARAMS["parse"][wildcards.source]["associations"] == "both"
        return expand(pattern, part=parts("parse"), **wildcards) if both else []

    return of


def scored_part(wildcards):
    """The runs that a shard of score is about: a slice of them in the order of the table."""
    every = runs_of(wildcards.collection, SYSTEMS)
    return cut.part_of(sorted(every, key=lambda p: Path(p).with_suffix("").parts), part(wildcards))


wildcard_constraints:
    part=PART,
