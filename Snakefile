# The rules are isotope's, wherever it is installed. Rules of one's own may stand below.
from isotope.core.resources import PACKAGE


include: PACKAGE / "rules/_workflow.smk"


rule all:
    input:
        everything,
