"""Training in several processes: torchrun starts them, errors come back by name.

`torchrun ... -m isotope.train.launch JOB` joins machines too; JOB holds a module and the arguments
of its function `train`.
"""

import importlib
import json
import logging
import subprocess
import sys
from collections import deque
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from isotope.core import errors
from isotope.core.progress import log
from isotope.core.store import aside

_PATHS = ("texts", "images", "qrels", "weights", "curve", "scratch", "start")
_TOLD = 20


def launch(module: str, arguments: Mapping[str, Any], processes: int, scratch: Path) -> None:
    """Run `train(**arguments)` of a module in `processes` processes of this machine.

    Raises:
        IsotopeError: what the first process raised.
        ToolFailed: torchrun, or a process, ended otherwise.
    """
    job, failure = scratch / "job.json", scratch / "error.json"
    failure.unlink(missing_ok=True)
    with aside(job) as part:
        part.write_text(json.dumps({**arguments, "module": module}, default=str))
    told: deque[str] = deque(maxlen=_TOLD)
    command = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(processes)]
    with subprocess.Popen(
        [sys.executable, *command, "-m", "isotope.train.launch", str(job)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as running:
        try:
            for line in running.stdout or ():
                told.append(line.rstrip())
                log.info("%s", told[-1])
        except BaseException:
            running.terminate()
            raise
    if running.returncode:
        raise _failure(failure, running.returncode, told)


def _failure(path: Path, code: int, told: deque[str]) -> errors.IsotopeError:
    if not path.is_file():
        return errors.ToolFailed("torchrun", f"status {code}: {' | '.join(told)}", "see the log")
    kind, parts = json.loads(path.read_text())
    return getattr(errors, kind)(*parts)


def run(job: Path) -> None:
    """Train as one of the processes that torchrun started.

    Raises:
        As `train` of the job's module; the first process leaves its error beside the job.
    """
    given = json.loads(job.read_text())
    train = importlib.import_module(given.pop("module")).train
    for key in _PATHS:
        given[key] = None if given[key] is None else Path(given[key])
    given["pixels"] = [Path(p) for p in given["pixels"]]
    try:
        train(**given)
    except errors.IsotopeError as error:
        parts = type(error).__name__, [error.where, error.found, error.remedy]
        with aside(job.with_name("error.json")) as part:
            part.write_text(json.dumps(parts))
        raise


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    run(Path(sys.argv[1]))
