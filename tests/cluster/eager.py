"""Snakemake that asks a cluster for its jobs every second: `eager.py PYTHON OPTION...`.

The Slurm executor waits 10 s longer after each answer without news, and no option says otherwise.
PYTHON is what the jobs start.
"""

import sys

from snakemake import cli
from snakemake_interface_executor_plugins.executors import remote

PAUSE_S = 1

if __name__ == "__main__":
    setattr(  # noqa: B010
        remote.RemoteExecutor,
        "next_seconds_between_status_checks",
        property(lambda _: PAUSE_S, lambda *_: None),
    )
    sys.executable = sys.argv.pop(1)
    cli.main()
