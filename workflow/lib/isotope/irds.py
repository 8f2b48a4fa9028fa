"""Makes releases data sets of the package ir_datasets, which has to be installed.

After `import isotope.irds`, `ir_datasets.load("isotope/toy/test/t2m")` and whatever builds on it
know these names; `python -m isotope.irds` is the command `ir_datasets` with them.

    isotope/<collection>/<split>/<task>            documents, queries, qrels: the pool of the split
    isotope/<collection>/<split>/<task>/<setting>  the same on the pool small, base or large
    isotope/<collection>/<side>                    documents alone: all texts, or all images

Of a small release the pool of a split is the one that its queries are asked on, and `scoreddocs`
are the pools of single queries. Releases are in the folder ISOTOPE_RELEASES, or results/release.
"""

import sys

from isotope.core.extras import named
from isotope.release.registration import register

with named():
    import ir_datasets

register(ir_datasets)

if __name__ == "__main__":
    ir_datasets.main(sys.argv[1:])
