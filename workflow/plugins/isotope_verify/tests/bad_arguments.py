"""Bad values of the arguments of this plug-in's commands; see `tests.bad_arguments`."""

from tests.bad_arguments import configured

BAD = {
    "verify": configured("verify toy")
    | {
        "report": [f"verify {name}" for name in ("toi", "''", "{f}", "{d}", "results/report/toi")],
        "--sample": [f"verify toy --sample {n}" for n in ("0", "1.5", "-1", "many")],
        "--all": ["verify toy --all=yes"],
        "--check": [
            "verify toy --check fast",
            "verify toy --check means fast",
            "verify toy --check",
        ],
        "--json": ["verify toy --json=yes"],
    },
}
