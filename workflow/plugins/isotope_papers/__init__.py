"""Collections of other papers than AToMiC's: OVEN, TICRC, and Visual Genome with COCO."""

from isotope.core.plugins import Plugin

PLUGIN = Plugin(
    name="papers",
    package="isotope_papers",
    summary="builds the collections of other papers: OVEN, TICRC, and Visual Genome with COCO",
    kinds={"collect": "isotope_papers.kinds"},
    rules="rules/papers.smk",
    phases={"papers": "search"},
    plan="isotope_papers.plan:Submissions",
    exhibits="exhibits.yaml",
    commands="isotope_papers.commands:add",
)
