"""Why first answers are wrong: pictures compared by their objects, and queries by their words."""

from isotope.core.plugins import Plugin

PLUGIN = Plugin(
    name="explain",
    package="isotope_explain",
    summary="explains wrong first answers by the objects in pictures, and hands them to people",
    section="isotope_explain.params:Explain",
    renamed={
        "tabulate.explain": "explain.failures",
        "tabulate.rankings": "explain.rankings",
        "tabulate.mistakes": "explain.mistakes",
    },
    rules="rules/explain.smk",
    phases={"explain": "tabulate"},
    plan="isotope_explain.plan:Explanations",
    views="isotope_explain.views:VIEWS",
    exhibits="exhibits.yaml",
    findings="isotope_explain.findings:findings",
    demo="demo.yaml",
)
