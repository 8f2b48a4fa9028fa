"""What a run on a benchmark of entities ends with: what its organisers want to be sent."""

from collections.abc import Sequence

from isotope.plan.extension import Extension
from isotope.plan.paths import expanded

SUBMISSION = "results/search/{collection}/submissions/{setting}/{split}/{system}.jsonl"


class Submissions(Extension):
    """The answers to splits whose judgements are withheld."""

    def ends(self, collection: str) -> Sequence[str]:
        """Return a submission of each system, on the largest pool, where texts are entities."""
        systems, entry = self.plan.systems, self.plan.collections[collection].entry
        if not (entry.has_entities and "m2t" in systems.search.tasks):
            return []
        cells = {
            "setting": systems.largest,
            "split": systems.unjudged,
            "system": systems.ranked_here,
        }
        return expanded(SUBMISSION, collection=collection, **cells)
