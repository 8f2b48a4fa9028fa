"""The kinds of retrieval systems: a module has the class of the kind whose name it bears."""
