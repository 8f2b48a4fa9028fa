"""Adds to an installed package the file by which ir_datasets finds releases.

isotope.release.registration says why; pyproject.toml has no place for a file beside packages.
"""

from setuptools import setup
from setuptools.command.build_py import build_py


class BuildWithPath(build_py):
    """Puts the file where the packages are, whatever Python's folder is called."""

    def run(self) -> None:
        """Build the packages, and copy the file beside them."""
        super().run()
        if not self.editable_mode:
            self.copy_file("workflow/isotope_ir_datasets.pth", self.build_lib)


setup(cmdclass={"build_py": BuildWithPath})
