"""Plans of params whose sections a test names; the others are those of params.yaml."""

from pathlib import Path
from typing import Any

from isotope.params import files
from isotope.params.root import Params, parse
from isotope.plan.plan import Plan

ROOT = Path(__file__).parents[1]


def typed(**sections: Any) -> Params:
    """Return params with these sections, which are checked by their types alone."""
    return parse({**files.load(root=ROOT).spec(), **sections})


def plan_of(**sections: Any) -> Plan:
    """Return the plan of such params."""
    return Plan(typed(**sections), {})
