"""What the shards of a collection read of its source, and what they leave (isotope.collect.parts).

The rules need the names alone, so nothing is imported here.
"""

READ_BY = {
    "texts": ["associations", "sections", "members", "projection", "ledger"],
    "images": ["associations", "urls", "ledger"],
}
# Of what the texts leave the images read some, and the gathering job the rest.
_KEPT, EXCHANGED = ["pages", "sources", "counted"], ["canonical", "split_texts"]
TEXT_PIECES = [*_KEPT, *EXCHANGED]
IMAGE_PIECES = ["one_split", "qrels", "images"]
GATHERED = [*_KEPT, *IMAGE_PIECES]
