"""Bad values of the arguments of this plug-in's commands; see `tests.bad_arguments`."""

BAD = {
    "geval": {
        "collection": ["geval toi {challenge} out", "geval '' {challenge} out"],
        "challenge": ["geval toy {n} out", "geval toy {f} out", "geval toy {d} out"],
        "folder": ["geval toy {challenge} {f}", "geval toy {challenge} {f}/below"],
        "--split": [
            "geval toy {challenge} out --split dev",
            "geval toy {challenge} out --split train",
        ],
        "--setting": ["geval toy {challenge} out --setting huge"],
    },
}
FILES = {
    "challenge/in-header.tsv": b"picture_id\n",
    "challenge/test/in.tsv": b"i1.png\n",
    "challenge/test/captions.tsv": b"7\n",
}
