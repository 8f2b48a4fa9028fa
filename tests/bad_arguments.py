"""Bad values of arguments that several commands have; `tests/lib/cli/test_cli_bad.py` gives them.

A plug-in has a module tests/bad_arguments.py with BAD, a mapping of its commands as there. It may
have MESSAGES, what some lines are told; ROWS, by any name the table, row and schema that it needs
of the project; FILES, their bytes; STAND_INS, functions that its commands do without; GOOD, lines
that are done.
"""

T = "projected-00000001-000"


def configured(command: str) -> dict[str, list[str]]:
    """Return bad values of `--configfile` and `--config` for a command that reads params."""
    files = [f"{command} --configfile {at}" for at in ("{n}", "{d}", "{f}", "{yaml}", "{bytes}")]
    return {
        "--configfile": [*files, f"{command} --configfile {{empty}}", f"{command} --configfile"],
        "--config": [f"{command} --config {pair}" for pair in ("name", "rooot=x", "name='A B'")],
    }
