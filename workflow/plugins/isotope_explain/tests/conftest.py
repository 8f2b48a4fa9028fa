"""This machine's dictionary, for tests of explanations."""

import pytest

from isotope.core.errors import MissingFile
from isotope_explain.wordnet import WordNet, find


@pytest.fixture(scope="session")
def installed_wordnet() -> WordNet:
    """This machine's WordNet, read once a session; the test skips where there is none."""
    try:
        return WordNet(find())
    except MissingFile as error:
        pytest.skip(str(error))
