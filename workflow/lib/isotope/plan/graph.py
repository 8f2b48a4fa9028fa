"""What stands behind a file: the outputs of the rules that would make it, and of those before.

Snakemake makes what is asked for and what that lacks; an intermediate file that is gone is no
reason to run. So `all` and each phase ask for every lasting output behind the ends of the graph,
and what is missing is made. The rules themselves say which these are: no list is kept by hand.
"""

from collections.abc import Iterable
from functools import cached_property, reduce
from typing import Any, NamedTuple

from snakemake.exceptions import InputFunctionException
from snakemake.io import is_flagged
from snakemake.output_index import OutputIndex

from isotope.core import plugins


class PlannedJob(NamedTuple):
    """A rule at work on some wildcards: its phase, what it reads, and its lasting outputs."""

    phase: str
    reads: tuple[str, ...]
    lasting: tuple[str, ...]


class Graph:
    """The files behind others, by the rules of a workflow."""

    def __init__(self, workflow: Any) -> None:  # noqa: ANN401 (Snakemake gives it no type)
        """Of a workflow whose rules are, or will be, read; nothing is looked up before."""
        self._workflow = workflow
        self._steps: dict[str, PlannedJob | None] = {}

    @cached_property
    def _producers(self) -> OutputIndex:
        return OutputIndex([rule for rule in self._workflow.rules if rule.has_products()])

    def behind(self, ends: Iterable[str], phases: Iterable[str] = ()) -> list[str]:
        """Return the lasting outputs that some files are, and are made from, sorted.

        With `phases` only those of their rules, by `plugins.phase_of`.

        Raises:
            snakemake.exceptions.InputFunctionException: an input function that fails.
        """
        chosen, waiting, outputs = {*phases}, [*ends], set[str]()
        visited = {*waiting}
        while waiting:
            step = self._step(waiting.pop())
            if step:
                if not chosen or step.phase in chosen:
                    outputs.update(step.lasting)
                fresh = [path for path in step.reads if path not in visited]
                visited.update(fresh)
                waiting += fresh
        return sorted(outputs)

    def _step(self, path: str) -> PlannedJob | None:
        """Return what makes a file; None for what no rule makes."""
        if path not in self._steps:
            step = self._step_of_rule(path)
            self._steps[path] = step
            self._steps |= dict.fromkeys(step.lasting if step else (), step)
        return self._steps[path]

    def _step_of_rule(self, path: str) -> PlannedJob | None:
        """Return the step of the rule that Snakemake would choose, by its order of rules."""
        steps, failure = dict[Any, PlannedJob](), None
        for rule in self._producers.match_producers(path):
            try:
                steps[rule] = _step_of(rule, path)
            except InputFunctionException as error:
                failure = error
        if failure and not steps:
            raise failure
        return steps[reduce(lambda a, b: b if b > a else a, steps)] if steps else None


def _step_of(rule: Any, path: str) -> PlannedJob:  # noqa: ANN401
    wildcards = rule.get_wildcards(path)
    outputs, _ = rule.expand_output(wildcards)
    return PlannedJob(
        plugins.phase_of(rule.name),
        tuple(map(str, rule.expand_input(wildcards)[0])),
        tuple(str(f) for f in outputs if not is_flagged(f, "temp")),
    )
