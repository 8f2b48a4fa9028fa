"""Tests of isotope, and what they share; a package, since one that is installed has this name, too."""
