"""What the jobs of a rule may take."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from isotope.core.memory import Need
from isotope.plan.call import PREREQUISITES
from isotope.plan.paths import Wildcards, as_list
from isotope.plan.shards import Shards

Inputs = Mapping[str, str | Sequence[str]]


class Memory(Shards):
    """What the jobs of a rule may take."""

    # Inputs that no job holds in memory: code, queries, what only tells of a change, and what is
    # mapped or streamed by design.
    UNREAD_INPUTS = PREREQUISITES | {
        "configs",
        "manifest",
        "ledgers",
        "pixels",
        "features",
        "witness",
        "vocabulary",
        "summariser",
        "detector",
    }

    @property
    def search_memory_mb(self) -> float:
        """What a search over vectors may hold besides its tables: a block, and its scores."""
        return 2 * self.params["search"]["memory_mb"]

    def needs(
        self, need: Need, *, reads: Sequence[str] = (), shards: str = "", extra_mb: float = 0.0
    ) -> Callable[[Wildcards, Inputs], int]:
        """Return the function of `mem_mb`: what a job may take, from the sizes of its inputs.

        `reads` names the inputs that count, where the rule streams or maps the others; without it
        all but UNREAD_INPUTS count. `shards` is the phase whose shards share what grows.
        """
        count = self.params["shards"][shards] if shards else 1

        def mem_mb(_: Wildcards, input: Inputs) -> int:
            names = reads or [k for k, _ in input.items() if k not in self.UNREAD_INPUTS]
            files = {path for name in names for path in as_list(input[name])}
            size_mb = sum(Path(p).stat().st_size for p in sorted(files)) / 1e6
            return need.mem_mb(size_mb, shards=count, extra_mb=extra_mb)

        return mem_mb
