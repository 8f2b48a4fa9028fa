"""Fixtures of all tests: those of the core in tests/, and those of plug-ins beside their code."""

pytest_plugins = ["tests.fixtures", "tests.demo"]
