"""BM25 over stored counts, with the answers of Lucene."""
