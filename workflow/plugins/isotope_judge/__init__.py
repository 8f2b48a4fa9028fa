"""People judge answers, and models beside them."""

from isotope.core.plugins import Plugin

PLUGIN = Plugin(
    name="judge",
    package="isotope_judge",
    summary="pools the systems' answers for people and models to judge, and scores by their grades",
    section="isotope_judge.params:Judge",
    renamed={"score.judge": "judge"},
    rules="rules/judge.smk",
    phases={"judge": "score", "judge_studied": "tabulate", "judge_sorted": "tabulate"},
    findings="isotope_judge.findings:findings",
    plan="isotope_judge.plan:Judges",
    views="isotope_judge.views:VIEWS",
    exhibits="exhibits.yaml",
    commands="isotope_judge.commands:add",
    advice="isotope_judge.advice:steps",
)
