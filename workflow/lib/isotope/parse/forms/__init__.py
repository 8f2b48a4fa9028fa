"""Forms of data that a collection of kind pairs is made of, one module each.

`FORMS` has them by name; `form_of` finds the one that files are of. `base` says what a form is.
"""

from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path

from isotope.core.errors import UnknownForm
from isotope.params.schema import suggest
from isotope.parse.forms.base import ROLES, Form, Picture, Rejection
from isotope.parse.forms.beir import Beir
from isotope.parse.forms.coco import Coco, Karpathy
from isotope.parse.forms.delimited import Delimited, JsonLines, Parquet
from isotope.parse.forms.flickr import Flickr
from isotope.parse.forms.folder import Folder
from isotope.parse.forms.hf import HuggingFace
from isotope.parse.forms.image_folder import ImageFolder
from isotope.parse.forms.ir_datasets import IrDatasets
from isotope.parse.forms.knowledge import EncyclopedicVqa, InfoSeek
from isotope.parse.forms.webdataset import WebDataset

__all__ = ["FORMS", "ROLES", "Form", "Picture", "Rejection", "form_of"]

# Asked in this order: a form before those whose files look like its own.
_ALL: Sequence[Form] = (
    *(
        IrDatasets(),
        EncyclopedicVqa(),
        InfoSeek(),
        Karpathy(),
        Coco(),
        Beir(),
        HuggingFace(),
        WebDataset(),
        Flickr(),
    ),
    *(Delimited("csv"), Delimited("tsv"), JsonLines(), Parquet()),
    *(Folder(), ImageFolder()),
)
FORMS: Mapping[str, Form] = {form.name: form for form in _ALL}


def form_of(paths: Sequence[Path], name: str | None = None) -> Form:
    """Return the form of this name, or without a name the first that recognises the files.

    Raises:
        UnknownForm: no such name, with the likely spelling; files that none recognises.
    """
    if name is not None:
        if name not in FORMS:
            raise UnknownForm("form", f"no form is called {name!r}", suggest(name, FORMS))
        return FORMS[name]
    for form in FORMS.values():
        if form.recognises(paths):
            return form
    names = ", ".join(path.name for path in islice(paths, 3)) + (", …" if paths[3:] else "")
    raise UnknownForm(
        paths[0] if paths else "data",
        f"no form is known by these files ({names})",
        f"name the form; known: {', '.join(sorted(FORMS))}",
    )
