"""What the jobs of a rule may take."""

from functools import cached_property
from pathlib import Path
from typing import ClassVar

from isotope.core import memory as needs
from isotope.plan.shards import Shards


class Memory(Shards):
    """What the jobs of a rule may take."""

    # Inputs that no job holds: code, queries, what only tells of a change, and what is mapped or
    # streamed by design.
    UNREAD_INPUTS = frozenset(
        [
            "code",
            "sql",
            "templates",
            "configs",
            "manifest",
            "ledgers",
            "pixels",
            "features",
            "witness",
            "vocabulary",
            "summariser",
            "detector",
        ]
    )
    # The shards of a rule are its phase's but here.
    SHARDS_OF: ClassVar = {"project_index": "index"}

    @cached_property
    def search_memory(self):
        """What params let a rule hold besides, in MB."""
        return dict.fromkeys(
            ("search_dense", "search_approximate"), 2 * self.params["search"]["memory_mb"]
        )

    def memory(self, rule):
        """What a job of a rule may take, from the sizes of its inputs; see isotope.core.memory."""

        def of(wildcards, input):
            names = needs.NEEDS[rule].reads or [
                k for k, _ in input.items() if k not in self.UNREAD_INPUTS
            ]
            read = {path for name in names for path in self.as_list(input[name])}
            size_mb = sum(Path(p).stat().st_size for p in sorted(read)) / 1e6
            n = self.params["shards"].get(self.SHARDS_OF.get(rule, rule.split("_")[0]), 1)
            return needs.mem_mb(rule, size_mb, shards=n, held_mb=self.search_memory.get(rule, 0))

        return of

    def as_list(self, paths):
        """One path or several, as a list."""
        return [paths] if isinstance(paths, str) else list(paths)
