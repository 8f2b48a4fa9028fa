"""Bad values of the arguments of this plug-in's commands; see `tests.bad_arguments`."""

from tests.bad_arguments import T, configured

from isotope.core import plugins
from isotope_judge.schemas import POOL

BAD = {
    "judge": configured("judge toy --assessor ann --port 0")
    | {
        "collection": [f"judge {name} --assessor ann --port 0" for name in ("toi", "toy-later")],
        "--assessor": ["judge toy"]
        + [f"judge toy --port 0 --assessor {name}" for name in ("''", "../ann", "-", "ann/bob")],
        "--sheet": ["judge toy --assessor ann --sheet pool"]
        + [
            f"judge toy --assessor ann --port 0 --sheet {name}"
            for name in ("failures", "mistakes", "suggestions")
        ],
        "--host": [
            "judge toy --assessor ann --host 0.0.0.0",
            "judge toy --assessor ann --host no.host",
        ],
        "--port": [f"judge toy --assessor ann --port {n}" for n in ("-1", "65536", "http")],
        "--remote": ["judge toy --assessor ann --remote=yes"],
    },
}
MESSAGES = {
    "judge toy --assessor ann --port 65536": "at least 0 and at most 65535",
    "judge toy --assessor ../ann --port 0": "'../ann' can't be the name of a file",
    "judge toy --assessor ann --host 0.0.0.0": "--host: 0.0.0.0 can be reached from elsewhere",
    "judge toy --assessor ann --sheet failures --port 0": (
        "study.parquet: no sheet to judge"
        if "explain" in plugins.registered()
        else "they hand out no sheet `failures` of toy"
    ),
}
ROWS = {
    "a pool": (
        "results/score/toy/pool",
        {"task": "t2m", "query_id": T, "doc_id": "i1", "split": "validation"},
        POOL,
    ),
}
STAND_INS = {"isotope_judge.app.serve": lambda *_: "served"}
GOOD = ("judge toy --assessor ann --port 0",)
