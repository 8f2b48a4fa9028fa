"""Bad values of the arguments of this plug-in's commands; see `tests.bad_arguments`."""

from tests.bad_arguments import configured

BAD = {
    "doctor": configured("doctor"),
    "estimate": configured("estimate")
    | {
        "--cores": ["estimate --cores 0", "estimate --cores two", "estimate --cores -3"],
        "--json": ["estimate --json=yes"],
    },
}
MESSAGES = {
    "doctor --configfile {yaml}": "BadParams: traps/yaml:1:10: not YAML: ",
}
