"""Blocks of a shard share memory, and none is overwritten while it is in use."""

from hypothesis import given
from hypothesis import strategies as st

from isotope.core.parallel import ahead
from isotope.parse.wit import BlockBuffers


@given(st.lists(st.tuples(st.binary(max_size=9), st.integers(0, 20)), max_size=30))
def test_blocks_are_the_bytes_added_in_turn_and_stay_while_two_are_made_ahead(pieces):
    def blocks():
        buffers = BlockBuffers(4)
        for piece, cut in pieces:
            buffers.add(piece)
            yield buffers.take(min(cut, buffers.size))
        yield buffers.take(buffers.size)

    whole = b"".join(piece for piece, _ in pieces)
    assert b"".join(bytes(block) for block in ahead(blocks())) == whole


def test_a_block_stays_as_it_is_until_the_third_after_it_is_taken():
    buffers = BlockBuffers(9)
    taken = []
    for number in range(7):
        buffers.add(bytes([number]) * 5)
        taken.append(buffers.take(3))
        whole = b"".join(bytes([n]) * 5 for n in range(number + 1))
        for at in range(max(number - 2, 0), number + 1):
            assert bytes(taken[at]) == whole[3 * at : 3 * at + 3]
