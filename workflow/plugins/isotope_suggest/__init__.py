"""Pictures for the sections of a wiki that have none, measured; and answers at once."""

from isotope.core.plugins import Plugin

PLUGIN = Plugin(
    name="suggest",
    package="isotope_suggest",
    summary="finds pictures for the sections of a wiki that have none, and measures them",
    needs=("judge",),
    section="isotope_suggest.params:Suggest",
    renamed={
        "suggest.ought": "suggest.minimum_need",
        "suggest.pages": "suggest.maximum_usage",
    },
    rules="rules/suggest.smk",
    phases={"suggest_page": "tabulate"},
    plan="isotope_suggest.plan:SuggestExtension",
    outs=("results/suggest",),
    views="isotope_suggest.views:VIEWS",
    commands="isotope_suggest.command:add",
    advice="isotope_suggest.advice:steps",
    functions={"suggest": "isotope_suggest.api:suggest"},
    demo="demo.yaml",
)
