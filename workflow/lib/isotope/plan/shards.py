"""How the work of a phase is cut."""

from functools import cached_property
from pathlib import Path
from typing import ClassVar

from snakemake.io import expand, temp

from isotope.collect import build as names
from isotope.core import shards as cut
from isotope.plan.systems import Systems


class Shards(Systems):
    """How the work of a phase is cut."""

    PART = r"\d{5}-of-\d{5}"
    WIT: ClassVar = {
        "associations": "associations.parquet",
        "rejected": "associations.rejected.parquet",
    }
    DUMP: ClassVar = {
        "sections": "sections.parquet",
        "links": "links.parquet",
        "rejected": "sections.rejected.parquet",
        "infoboxes": "infoboxes.parquet",
        "pictures": "pictures.parquet",
        "counts": "sections.counts.json",
    }
    COLLECT_PIECE = ".isotope/collect/{{collection}}/{{part}}/{}.parquet"

    @cached_property
    def index_pieces(self):
        """The indexes over one slice of a collection."""
        return expand(
            ".isotope/index/{{collection}}/{{part}}/{setting}/{{system}}", setting=self.settings
        )

    def parts(self, phase):
        """The names of a phase's shards, each with its number and how many there are."""
        n = self.params["shards"][phase]
        return [f"{i:05d}-of-{n:05d}" for i in range(n)]

    def part(self, wildcards):
        """Which shard, counted from 0, and of how many: numbers for the library."""
        return [int(number) for number in wildcards.get("part", "0-of-1").split("-of-")]

    def is_sharded(self, phase):
        """Whether a phase has shards; one alone writes where nothing needs to be gathered."""
        return self.params["shards"][phase] > 1

    def part_suffix(self, phase, separator):
        """What tells the logs of a phase's shards apart."""
        return f"{separator}{{part}}" if self.is_sharded(phase) else ""

    def piece(self, phase, whole, of_part):
        """The output of a shard: a piece to be gathered, or the whole."""
        return temp(of_part) if self.is_sharded(phase) else whole

    def part_files(self, phase, pattern):
        """What every shard of a phase wrote, by the pattern of one, whose other wildcards stay."""
        return expand(pattern, part=self.parts(phase), allow_missing=True)

    def parse_output(self, file):
        """A table of parse, or a shard's piece of it."""
        whole, of_part = (
            f"data/parse/{{source}}/{file}",
            f".isotope/parse/{{source}}/{{part}}/{file}",
        )
        return self.piece("parse", whole, of_part)

    def association_sources(self, *ways):
        """A wildcard constraint: the sources whose associations come from one of these."""
        told = self.params["parse"]
        return self.any_of(
            s for s in self.params["acquire"] if told.get(s, {}).get("associations", "wit") in ways
        )

    def wit_pieces(self, file):
        """What every shard of WIT has, where a source uses WIT beside the snapshot."""
        pattern = f".isotope/parse/{{source}}/{{part}}/{file}"

        def of(wildcards):
            both = self.params["parse"][wildcards.source]["associations"] == "both"
            return expand(pattern, part=self.parts("parse"), **wildcards) if both else []

        return of

    def score_slice(self, wildcards):
        """The runs that a shard of score is about: a slice of them in the order of the table."""
        every = self.runs_of(wildcards.collection, self.systems)
        return cut.part_of(
            sorted(every, key=lambda p: Path(p).with_suffix("").parts), self.part(wildcards)
        )

    def sharded_collections(self, *, shards):
        """A wildcard constraint: the collections that are cut, which are snapshots, or the
        others.
        """
        return self.any_of(
            c
            for c in self.params["collect"]
            if (self.is_sharded("collect") and self.is_snapshot(c)) == shards
        )

    def half_inputs(self, half):
        """The tables of a source that the shards of one half of a collection read."""
        return lambda wildcards: {t: self.relations(wildcards)[t] for t in names.READ_BY[half]}

    def collect_pieces(self, tables):
        """What a shard of a collection leaves."""
        return {t: temp(self.COLLECT_PIECE.format(t)) for t in tables}

    def collect_piece_files(self, tables):
        """What all shards of a collection leave."""
        return {t: self.part_files("collect", self.COLLECT_PIECE.format(t)) for t in tables}
