from isotope.collect import build as names

COLLECT_PIECE = ".isotope/collect/{{collection}}/{{part}}/{}.parquet"


def collected_in(*, shards):
    """A wildcard constraint: the collections that are cut, which are snapshots, or the others."""
    return any_of(c for c in PARAMS["collect"] if (is_cut("collect") and snapshot(c)) == shards)


def read_by(half):
    """The tables of a source that the shards of one half of a collection read."""
    return lambda wildcards: {t: relations(wildcards)[t] for t in names.READ_BY[half]}


def collect_pieces(tables):
    """What a shard of a collection leaves."""
    return {t: temp(COLLECT_PIECE.format(t)) for t in tables}


def gathered_pieces(tables):
    """What all shards of a collection leave."""
    return {t: shards("collect", COLLECT_PIECE.format(t)) for t in tables}
