"""Runs against judgements."""

import sys

from isotope.core.public import Phase

sys.modules[__name__].__class__ = Phase
