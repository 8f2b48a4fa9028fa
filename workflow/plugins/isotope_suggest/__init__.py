"""The phase suggest: pictures for the sections of a wiki that have none, measured."""
