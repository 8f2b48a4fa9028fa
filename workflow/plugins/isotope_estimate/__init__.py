"""What a run costs before it is begun, and what this machine lacks for it."""

from isotope.core.plugins import Plugin

PLUGIN = Plugin(
    name="estimate",
    package="isotope_estimate",
    summary="foretells what a run costs, and names what is missing here for it",
    commands="isotope_estimate.commands:add",
)
