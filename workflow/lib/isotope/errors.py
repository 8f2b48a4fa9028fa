"""Named errors: each says where, what was found there, and what to do about it."""

from pathlib import Path


class IsotopeError(Exception):
    """Base of all errors that a user can mend; shown without a traceback."""

    def __init__(self, where: str | Path, found: str, remedy: str) -> None:
        """Join the three parts into one sentence that reads well on a terminal."""
        self.where, self.found, self.remedy = str(where), found, remedy
        super().__init__(f"{where}: {found}; {remedy}")

    def __reduce__(self) -> tuple[type["IsotopeError"], tuple[str, str, str]]:
        """Keep the three parts across process boundaries."""
        return type(self), (self.where, self.found, self.remedy)


class BadParams(IsotopeError):
    """A key or value of params.yaml that the schema or a cross-check refuses."""


class MissingFile(IsotopeError):
    """A file that the params name and that is not there."""


class MissingColumn(IsotopeError):
    """A table without a column that its format promises."""


class TruncatedFile(IsotopeError):
    """A file that ends before its format says it should."""


class CorruptFile(IsotopeError):
    """Bytes that are not what their format says they should be."""


class ChecksumMismatch(IsotopeError):
    """A file whose size or digest is not the published one."""


class FetchFailed(IsotopeError):
    """A download that did not complete; what arrived is kept for the next try."""


class EmptyTable(IsotopeError):
    """A table that must have rows and has none."""


class UnknownModel(IsotopeError):
    """A model or pretrained tag that no loader knows."""


class BrokenPromise(IsotopeError):
    """A check of workflow/sql/check that returned rows."""


class ToolFailed(IsotopeError):
    """An outside program that returned an error."""
