"""The code of the kind that a job works for, which is code of no other kind's jobs.

A job of the phases train and encode works for a model, one of search, or of what its kind calls,
for a system, one of collect for a collection, and one that reads a data set of pairs for the form
of its data.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from isotope.core.resources import PACKAGE
from isotope.core.syntax import module_of
from isotope.params.pairs import IR_DATASETS, Rows, listed, sharing
from isotope.params.root import Params
from isotope.params.sections import ModelKind
from isotope.parse.forms import modules

# What reads data in a form.
READ_FORMS = ("parse.pairs:parse_pairs", "crawl.contents:")


@dataclass(frozen=True)
class KindCode:
    """The code of the kinds that params name."""

    params: Params

    def roots(self, call: str, wildcards: Mapping[str, str]) -> list[str]:
        """Return the roots, for `provenance.closure`, of the kind that a job works for, if for any.

        `call` is the function that it calls, as `module:function`.
        """
        phase, model = call.partition(".")[0], wildcards.get("model")
        system, collection = wildcards.get("system"), wildcards.get("collection")
        if model and phase in ("train", "encode"):
            return model_roots(self.params.models, model)
        if system and (phase == "search" or call == self.params.systems[system].call):
            entry, models = self.params.systems[system], self.params.models
            runs = model_roots(models, getattr(entry, "model", "")) if entry.loads_model else []
            return [*entry.roots(), *runs]
        if collection and phase == "collect":
            return [*self.params.collect[collection].roots()]
        if call.startswith(READ_FORMS):
            read = sharing(self.params.collect, str(wildcards.get("source"))).values()
            return list(dict.fromkeys(root for entry in read for root in form_roots(entry)))
        return []


def model_roots(models: Mapping[str, ModelKind], model: str) -> list[str]:
    """Return the roots of the kind of a model, and of the one whose weights it shares; and the
    architectures of these, or of the model that they are made of, that are files of ours.
    """
    entries = models[model], models[getattr(models[model], "weights_of", model)]
    made_of = (models[base] for entry in entries if (base := getattr(entry, "of", "")) in models)
    files = (f"models/{getattr(entry, 'config', '')}.json" for entry in (*entries, *made_of))
    ours = (file for file in files if (PACKAGE / file).is_file())
    return list(dict.fromkeys([*(root for entry in entries for root in entry.roots()), *ours]))


def form_roots(entry: Rows) -> Sequence[str]:
    """Return the roots of the form of an entry's data; of each form where it is to be found."""
    data = listed(entry.data)
    is_installed = data and all(path.startswith(IR_DATASETS) for path in data)
    name = entry.form or ("ir-datasets" if is_installed else "")
    roots = filter(None, map(module_of, modules()))
    return [root for root in roots if not name or root.endswith(f".{name.replace('-', '_')}")]
