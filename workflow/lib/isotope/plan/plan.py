"""The plan of a run: what rules ask of the resolved params, one object a subject.

Each is made of its params and of what stands before it on the road; none knows what comes after,
but for what plug-ins add.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from isotope.core import plugins
from isotope.params.root import Params
from isotope.plan.collections import Collections
from isotope.plan.diff import Diff
from isotope.plan.exhibits import Exhibits
from isotope.plan.extension import Extension
from isotope.plan.facts import FactFiles
from isotope.plan.models import Models
from isotope.plan.needs import Jobs
from isotope.plan.paths import Paths
from isotope.plan.report import Report
from isotope.plan.shards import ShardPlan
from isotope.plan.sources import Sources
from isotope.plan.systems import Systems


@dataclass
class Plan:
    """The objects of a plan, side by side: of resolved params, and the runs of
    others by their place.
    """

    params: Params
    external: Mapping[Any, str]

    def __post_init__(self) -> None:
        """Make them, each of what stands before it."""
        params = self.params
        self.paths = paths = Paths(params)
        self.shards = ShardPlan(params)
        self.sources = Sources(params)
        self.collections = built = Collections(params, self.sources)
        self.jobs = Jobs(params, built)
        self.models = Models(params, paths)
        self.systems = systems = Systems(params, built, self.models, self.external)
        self.facts = FactFiles(params, paths, built, self.models)
        # What plug-ins add asks all other objects, and some of these ask it.
        self.extensions = added = dict[str, Extension]()
        self.exhibits = Exhibits(params, paths, built, systems, self.facts, added)
        self.diff = Diff(params, built, systems)
        self.report = Report(params, built, systems, self.exhibits, self.diff, added)
        for name, plugin in plugins.registered().items():
            if plugin.plan:
                added[name] = plugin.load(plugin.plan)(self)
