# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # From a table of captions to a table of scores
#
# This notebook searches pictures by the words of their captions with three systems, scores them,
# tests their differences and draws the means. It needs `pip install 'isotope-ir[build]'`, and
# neither Snakemake nor a GPU. It is a Python file that Jupyter opens as a notebook by
# [jupytext](https://jupytext.readthedocs.io), and other editors by themselves. Run it in its
# folder.

# %%
import matplotlib.pyplot as plt
import numpy as np
import polars as pl

import isotope

# %% [markdown]
# ## The collection
#
# A row of captions.csv is a picture, a sentence about it, and the text that its page has in place
# of the picture. The sentences ask; pictures are found by the other text. For a table of your own
# name its columns.

# %%
captions = isotope.read_collection(
    "captions.csv", columns={"image": "file", "text": "sentence", "caption": "alt"}
)
captions

# %%
queries = captions.queries("t2m", "test")
documents = captions.documents("t2m", "test")
qrels = captions.judgements("t2m", "test")
queries.head(3)

# %% [markdown]
# ## The systems
#
# BM25 reads words. It misses `cycling man` where the other text says `cyclist`: these share
# letters, but no word. So the second system compares vectors, here of counts of three letters in a
# row; put the vectors of your encoder in their place. The third is both, by reciprocal rank fusion.

# %%
bm25 = isotope.search(queries, documents)


# %%
def vectors(texts: pl.DataFrame) -> tuple[list[str], np.ndarray]:
    """Return ids, and vectors of length 1 that count three letters in a row, by their hashes."""
    matrix = np.zeros((len(texts), 1024), np.float32)
    for row, text in enumerate(texts["text"]):
        for n in range(len(text) - 2):
            code = int.from_bytes(text[n : n + 3].lower().encode()[:6], "little")
            matrix[row, code % 1021] += 1
    lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
    return texts["id"].to_list(), matrix / np.maximum(lengths, 1e-12)


letters = isotope.search(vectors(queries), vectors(documents))

# %%
runs = {"bm25": bm25, "letters": letters}
runs["rrf"] = isotope.fuse(runs)
runs["rrf"].head(3)

# %% [markdown]
# ## The table of scores
#
# `score` has a row a system, measure and query. `summarise` has the means, and letters of the
# systems that a mean is significantly above: paired t-tests with Bonferroni's correction.

# %%
scores = isotope.score(runs, qrels, ["MRR@10", "R@1", "R@10"])
summary = isotope.summarise(scores)
summary

# %% [markdown]
# The tests themselves, and the intervals of the means:

# %%
isotope.compare(scores).filter(measure="MRR@10").drop("measure", "t", "p")

# %%
means = summary.means.filter(measure="MRR@10")
means

# %% [markdown]
# ## The figure

# %%
figure, axes = plt.subplots(figsize=(5, 2))
spread = [means["mean"] - means["low"], means["high"] - means["mean"]]
axes.errorbar(means["mean"], means["system"], xerr=spread, fmt="o", capsize=4)
axes.set_xlabel(f"MRR@10, mean of {len(queries)} queries, interval of 95 %")
axes.margins(y=0.3)
figure.tight_layout()
figure.savefig("means.svg")
