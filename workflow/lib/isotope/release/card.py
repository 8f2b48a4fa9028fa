"""The data card: README.md of a release, with the front matter that Hugging Face reads.

Source: https://huggingface.co/docs/hub/datasets-cards
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import yaml

from isotope.core.grid import JUDGED
from isotope.release.words import SPLITS

# https://huggingface.co/docs/hub/repositories-licenses has the identifiers of SPDX in lower case.
_LICENCES = re.compile(
    r"cc0-1\.0|cc-by(-nc)?(-sa|-nd)?-(2\.0|2\.5|3\.0|4\.0)|apache-2\.0|mit|bsd-[23]-clause|odc-by"
    r"|odbl|gfdl|unknown"
)
_SIZES = ((10**3, "n<1K"), (10**4, "1K<n<10K"), (10**5, "10K<n<100K"), (10**6, "100K<n<1M"))
_LARGE = ((10**7, "1M<n<10M"), (10**8, "10M<n<100M"), (10**9, "100M<n<1B"))
_CODE = re.compile(r"[a-z]{2,3}")
_TYPES = {"string": "string", "int32": "int32", "binary": "image"}
_CONFIGS = {"texts": SPLITS, "images": SPLITS, "qrels": JUDGED}


def front_matter(header: Mapping[str, Any]) -> str:
    """Return a mapping as the YAML between the two lines at the head of a card."""
    text = yaml.safe_dump(dict(header), sort_keys=False, allow_unicode=True, width=100)
    return f"---\n{text}---\n"


def card(folder: Path, about: Mapping[str, Any]) -> str:
    """Return README.md of the release in `folder`: the front matter, and the page for people."""
    header = front_matter(_header(folder, about))
    parts = (_opening(about), _use(about), _tables(about), _origin(about), _terms(about))
    return "\n".join([header, *parts])


def _header(folder: Path, about: Mapping[str, Any]) -> dict[str, Any]:
    licence = about["licence"].lower()
    size = sum(counts["texts"] for counts in about["statistics"]["texts"].values())
    size += sum(counts["images"] for counts in about["statistics"]["images"].values())
    header: dict[str, Any] = {"pretty_name": about["title"]}
    header["license"] = licence if _LICENCES.fullmatch(licence) else "other"
    if header["license"] == "other":
        header["license_name"] = re.sub(r"[^a-z0-9.]+", "-", licence).strip("-")
    if about["licence_url"]:
        header["license_link"] = about["licence_url"]
    codes = [code for code in about["languages"] if _CODE.fullmatch(code)]
    if codes:
        header["language"] = codes
    names = [name for most, name in (*_SIZES, *_LARGE) if size < most]
    header["size_categories"] = [names[0] if names else "n>1T"]
    header["task_categories"] = ["text-retrieval", "image-to-text", "text-to-image"]
    header["task_ids"] = ["document-retrieval"]
    header["tags"] = ["image-text-retrieval", "test-collection", "isotope"]
    return {**header, **_configs(folder, about)}


def _configs(folder: Path, about: Mapping[str, Any]) -> dict[str, Any]:
    """Return the configurations that `datasets` loads, and the types of their columns."""
    configs: list[dict[str, Any]] = []
    infos: list[dict[str, Any]] = []
    for name, splits in _CONFIGS.items():
        paths = {split: folder / name / f"{split}.parquet" for split in splits}
        filled = [s for s, path in paths.items() if pq.read_metadata(path).num_rows]
        if filled:
            files = [{"split": s, "path": f"{name}/{s}.parquet"} for s in filled]
            configs.append({"config_name": name, "data_files": files})
            features = [_feature(column) for column in pq.read_schema(paths[filled[0]])]
            infos.append({"config_name": name, "features": features})
    if about["statistics"]["licences"]["images"]:
        files = [{"split": "images", "path": "attributions.parquet"}]
        configs.append({"config_name": "attributions", "data_files": files})
    if configs:
        configs[0]["default"] = True
    return {"configs": configs, "dataset_info": infos}


def _feature(column: Any) -> dict[str, Any]:  # noqa: ANN401 (a field of Arrow has no type)
    kind = str(column.type)
    if kind.startswith("list"):
        return {"name": column.name, "sequence": "string"}
    return {"name": column.name, "dtype": _TYPES[kind]}


def _opening(about: Mapping[str, Any]) -> str:
    source = f" ({about['homepage']})" if about["homepage"] else ""
    lines = [f"# {about['title']}", "", f"{about['description']}{source}", ""]
    if lite := about.get("lite_of"):
        lines += [
            f"This is the small form of `{lite['collection']}`: of a split and direction at most "
            f"{lite['queries']:,} judged queries, their judged documents, and for each query "
            f"{lite['negatives']:,} hard negatives, which are the highest hits of the systems that "
            "nobody judged. It is for comparing systems cheaply: its values are higher "
            "than those on the whole pool, and `lite.csv` has both.",
            "",
        ]
        lines += [_lite(lite), ""]
    return "\n".join(lines)


def _lite(lite: Mapping[str, Any]) -> str:
    """Return the sizes of the pools of a small release, and how it orders systems."""
    head = ["pool", "queries", "judged pairs", "hard negatives", "of setting"]
    keys = ("queries", "judged", "negatives")
    sizes = [
        [name, *(f"{size[key]:,}" for key in keys), size["setting"]]
        for name, size in lite["pools"].items()
    ]
    taus = [
        [
            agreement["split"],
            agreement["task"],
            agreement["measure"],
            f"{agreement['systems']}",
            _number(agreement["tau"]),
        ]
        for agreement in lite["agreement"]
    ]
    order = ["split", "task", "measure", "systems", "Kendall's tau"]
    caption = (
        "Order of the systems by their means on the small pools, against that on the whole pool:"
    )
    return "\n".join([_table(head, sizes), "", caption, "", _table(order, taus)])


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def _use(about: Mapping[str, Any]) -> str:
    name, splits = about["name"], about["evaluated"]
    judged = [split for split in JUDGED if about["statistics"]["qrels"].get(split, {}).get("pairs")]
    lines = ["## Use", "", "```python", "from datasets import load_dataset", ""]
    lines += [f'images = load_dataset("{name}", "images")', "```"]
    if splits:
        lines += ["", "```python", "import mteb, runpy"]
        lines += [f'mteb.evaluate(model, runpy.run_path("{name}/mteb/tasks.py")["TASKS"])', "```"]
    if judged:
        lines += ["", "```python", "import ir_datasets", "import isotope.irds", ""]
        lines += [f'data = ir_datasets.load("isotope/{name}/{judged[-1]}/t2m")', "```", ""]
        lines += ["The environment variable `ISOTOPE_RELEASES` names the folder that has this one."]
    lines += ["", "`beir/t2m` and `beir/m2t` have the form of BEIR, `runs` TREC runs.", ""]
    return "\n".join(lines)


def _tables(about: Mapping[str, Any]) -> str:
    counts, lines = about["statistics"], ["## Statistics", ""]
    head = ["split", "texts", "words a text (mean, median)", "images", "with picture"]
    head += ["with caption", "judged pairs", "judged texts", "judged images"]
    rows = [_row(counts, split) for split in SPLITS]
    lines += [_table(head, rows), ""]
    for title, key, unit in (
        ("Grades", "grades", "pairs"),
        ("Languages of the texts", "text_languages", "texts"),
        ("Languages of the captions", "caption_languages", "images"),
    ):
        if counts[key]:
            pairs = [[k, f"{v:,}"] for k, v in counts[key].items()]
            lines += [f"{title}:", "", _table([title.split()[0].lower().rstrip("s"), unit], pairs)]
            lines.append("")
    return "\n".join(lines)


def _row(counts: Mapping[str, Any], split: str) -> list[str]:
    texts, images = counts["texts"][split], counts["images"][split]
    judged = counts["qrels"].get(split, {"pairs": 0, "texts": 0, "images": 0})
    words = f"{texts['mean_words']:,.1f}, {texts['median_words']:,}"
    numbers = [images["images"], images["pictures"], images["captioned"]]
    numbers += [judged["pairs"], judged["texts"], judged["images"]]
    return [split, f"{texts['texts']:,}", words, *(f"{n:,}" for n in numbers)]


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _origin(about: Mapping[str, Any]) -> str:
    lines = ["## How it was made", "", f"By isotope {about['version']}, kind `{about['kind']}`."]
    dates = ", ".join(about["snapshots"])
    lines += [f"Snapshots: {dates}."] if dates else []
    lines += [f"Fingerprint of all params: `{about['fingerprint']}`. Those of the collection:", ""]
    entry = yaml.safe_dump({about["name"]: about["entry"]}, sort_keys=False, allow_unicode=True)
    lines += ["```yaml", entry.rstrip(), "```", ""]
    if about["sources"]:
        files = [[s["source"], f"`{s['path']}`", f"`{s['sha256'][:16]}`"] for s in about["sources"]]
        lines += ["Upstream files:", "", _table(["source", "file", "SHA-256 begins"], files), ""]
    if about["limits"]:
        lines += ["## Limits", "", about["limits"], ""]
    return "\n".join(lines)


def _terms(about: Mapping[str, Any]) -> str:
    counts = about["statistics"]["licences"]
    url = f" ({about['licence_url']})" if about["licence_url"] else ""
    lines = ["## Licences", ""]
    if about["licence"] == "unknown":
        lines += ["Nobody has stated a licence for the texts: ask their source before reuse."]
    else:
        lines += [f"Texts: {about['licence']}{url}."]
    lines += [
        "Every image keeps its own licence; what is known of it is in `attributions.parquet`, and "
        "where that is nothing it is `unknown`: ask its page before reuse.",
        "",
    ]
    for side in ("texts", "images"):
        if counts[side]:
            pairs = [[licence, f"{n:,}"] for licence, n in counts[side].items()]
            lines += [_table([f"licence of {side}", side], pairs), ""]
    if about["citation"]:
        lines += ["## Citation", "", f"Please cite: {about['citation']}", ""]
    return "\n".join(lines)
