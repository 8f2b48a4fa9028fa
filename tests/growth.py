"""How much longer work takes on longer input: a ratio, which a busy machine hardly moves."""

import time
from collections.abc import Callable


def seconds(work: Callable[[], object]) -> float:
    """Return the processor seconds of the quicker of two runs."""
    spent: list[float] = []
    for _ in range(2):
        start = time.process_time()
        work()
        spent.append(time.process_time() - start)
    return min(spent)
