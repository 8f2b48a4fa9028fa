"""A real Slurm of several nodes on this machine, on loopback, all of it in one folder."""

import ctypes
import os
import pwd
import secrets
import shlex
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import psutil

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "srun", "squeue", "scontrol", "scancel")
_PATH = os.pathsep.join((os.environ["PATH"], "/usr/sbin", "/usr/local/sbin"))
_BECOME_SUBREAPER = 36
_CONFIGURATION = """
ClusterName=isotope
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket,cred_expire=5
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/%n.spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MailProg=/bin/true
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
GresTypes=gpu
SlurmdParameters=config_overrides
JobRequeue=1
MinJobAge=3600
SlurmdTimeout=10
ReturnToService=0
SchedulerParameters=bf_interval=2,sched_interval=2,sched_min_interval=0
NodeName=DEFAULT CPUs={cpus} RealMemory=400000 Gres=gpu:1 State=UNKNOWN
{nodes}
PartitionName=all Nodes=ALL Default=YES LLN=YES MaxTime=INFINITE State=UP
"""


def missing() -> list[str]:
    """The programs of Slurm that this machine lacks."""
    return [name for name in PROGRAMS if shutil.which(name, path=_PATH) is None]


def _program(name: str) -> str:
    return shutil.which(name, path=_PATH) or name


def _adopt() -> None:
    """Slurm's job steps leave their parent; adopted again, a node is one tree of processes."""
    ctypes.CDLL(None).prctl(_BECOME_SUBREAPER, 1)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a program and all that it started or adopted, at once, as a power cut does."""
    try:
        tree = psutil.Process(process.pid).children(recursive=True)
    except psutil.NoSuchProcess:
        tree = []
    process.kill()
    for child in tree:
        if child.is_running():
            child.kill()
    process.wait()


def _free_ports(number: int) -> list[int]:
    with ExitStack() as stack:
        opened = [stack.enter_context(socket.socket()) for _ in range(number)]
        for one in opened:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in opened]


@dataclass
class Cluster:
    """A running Slurm; `environment` leads its programs to it."""

    folder: Path
    nodes: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    @property
    def environment(self) -> dict[str, str]:
        """The variables of a user of this cluster."""
        path = f"{self.folder / 'bin'}{os.pathsep}{_PATH}"
        return {**os.environ, "SLURM_CONF": str(self.folder / "slurm.conf"), "PATH": path}

    def ask(self, *command: str) -> str:
        """Run a program of Slurm's and return what it says."""
        done = subprocess.run(
            [_program(command[0]), *command[1:]],
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )
        return done.stdout

    def jobs(self) -> list[dict[str, str]]:
        """Every job that Slurm remembers, task by task: id, comment, state, node and restarts."""
        lines = self.ask("scontrol", "show", "job", "--oneliner").splitlines()
        records = (dict(w.split("=", 1) for w in line.split() if "=" in w) for line in lines)
        return [r for r in records if "JobId" in r]

    def running(self, node: str) -> list[dict[str, str]]:
        """The jobs that a node is busy with."""
        return [j for j in self.jobs() if j.get("NodeList") == node and j["JobState"] == "RUNNING"]

    def cut_power(self, node: str) -> None:
        """Kill a node's daemon and everything that runs on the node."""
        _end(self.nodes.pop(node))

    def state(self, node: str) -> str:
        """What Slurm thinks of a node: IDLE, MIXED, ALLOCATED, DOWN ..."""
        words = self.ask("scontrol", "show", "node", node, "--oneliner").split()
        return next((w.removeprefix("State=") for w in words if w.startswith("State=")), "")


def until(true: Callable[[], bool], limit_s: float, what: str) -> None:
    """Wait for a condition; a TimeoutError says what did not come."""
    end = time.monotonic() + limit_s
    while not true():
        if time.monotonic() > end:
            raise TimeoutError(f"not within {limit_s:.0f} s: {what}")
        time.sleep(0.2)


def _configure(folder: Path, names: Sequence[str], cpus: int) -> None:
    for made in ("munge", "state", "bin", *(f"{n}.spool" for n in names)):
        (folder / made).mkdir(mode=0o755, parents=True)
    key = folder / "munge/key"
    key.touch(mode=0o600)
    key.write_bytes(secrets.token_bytes(1024))
    controller, *ports = _free_ports(1 + len(names))
    host = socket.gethostname().partition(".")[0]
    form = "NodeName={} NodeHostname={} NodeAddr=127.0.0.1 Port={}"
    told = {
        "folder": folder,
        "host": host,
        "controller": controller,
        "user": pwd.getpwuid(os.getuid()).pw_name,
        "cpus": cpus,
        "nodes": "\n".join(
            form.format(n, host, port) for n, port in zip(names, ports, strict=True)
        ),
    }
    (folder / "slurm.conf").write_text(_CONFIGURATION.format(**told))
    (folder / "gres.conf").write_text("Name=gpu File=/dev/null\n")
    # Snakemake's executor starts `srun` without Slurm's variables, so the way is told here again.
    srun = folder / "bin/srun"
    srun.write_text(f'#!/bin/sh\nSLURM_CONF={folder}/slurm.conf exec {_program("srun")} "$@"\n')
    srun.chmod(0o755)
    (folder / "cgroup.conf").write_text("CgroupPlugin=cgroup/v1\nCgroupAutomount=no\n")


def _daemons(
    folder: Path, names: Sequence[str], beside: Callable[[str], Sequence[str]]
) -> dict[str, list[str]]:
    munge = folder / "munge"
    places = {"socket": "socket", "key-file": "key", "pid-file": "pid", "seed-file": "seed"}
    options = [f"--{option}={munge / name}" for option, name in places.items()]
    return {
        "munged": ["munged", "--foreground", "--force", f"--log-file={munge / 'log'}", *options],
        "slurmctld": ["slurmctld", "-D", "-c"],
        # A child of the daemon dies with the node.
        **{
            n: ["sh", "-c", f"{shlex.join(beside(n))} & exec {_program('slurmd')} -D -N {n}"]
            for n in names
        },
    }


@contextmanager
def started(
    folder: Path,
    beside: Callable[[str], Sequence[str]],
    names: Sequence[str] = ("n1", "n2"),
    cpus: int = 16,
) -> Iterator[Cluster]:
    """Start a cluster of these nodes, each with `cpus` CPUs and a GPU in name, and end it.

    Args:
        folder: where its configuration, state and logs lie.
        beside: the command that runs on a node beside its daemon.
        names: the nodes.
        cpus: the CPUs of each.

    Raises:
        TimeoutError: a node that did not come up; `folder` holds the logs.
    """
    cluster = Cluster(folder)
    _configure(folder, names, cpus)
    with ExitStack() as stack:
        for name, command in _daemons(folder, names, beside).items():
            log = stack.enter_context((folder / f"{name}.out").open("wb"))
            process = subprocess.Popen(
                [_program(command[0]), *command[1:]],
                env=cluster.environment,
                stdout=log,
                stderr=log,
                preexec_fn=_adopt,  # noqa: PLW1509
                start_new_session=True,
            )
            stack.callback(_end, process)
            if name in names:
                cluster.nodes[name] = process
            if name == "munged":
                until((folder / "munge/socket").exists, 30, "munged")
        for node in names:
            until(lambda node=node: cluster.state(node).startswith("IDLE"), 60, f"{node} is idle")
        yield cluster
