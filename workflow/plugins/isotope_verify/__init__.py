"""Numbers of reports and releases, recomputed by other people's tools."""

from isotope.core.plugins import Plugin

PLUGIN = Plugin(
    name="verify",
    package="isotope_verify",
    summary="recomputes the numbers of a report or a release by other people's tools",
    section="isotope_verify.params:Verify",
    renamed={"tabulate.verify": "verify"},
    rules="rules/verify.smk",
    phases={"verify": "tabulate"},
    plan="isotope_verify.plan:VerifyExtension",
    commands="isotope_verify.commands:add",
    functions={"verify": "isotope_verify.api:verify"},
)
