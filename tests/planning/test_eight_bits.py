"""Networks in 8 bits: no entry of a matrix moves by more than half a unit, and vectors not at all."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from vigor.basics import contents
from vigor.basics.contents import Numbers
from vigor.planning import eight_bits

HALVES = st.floats(-60000, 60000, width=16)


@given(arrays.arrays(np.float16, (2, 3, 4, 5), elements=HALVES), arrays.arrays(np.float16, (2, 3, 5), elements=HALVES))
def test_what_is_rounded_comes_back(matrix, vector):
    described = {
        "matrix": Numbers(("iteration", "network", 4, 5), -65504, 65504),
        "vector": Numbers(("iteration", "network", 5), -65504, 65504),
    }
    found = eight_bits.rounded({"matrix": matrix, "vector": vector})
    contents.check(eight_bits.contents(described), found)
    again = eight_bits.restored(found)
    assert found["matrix"].dtype == np.int8
    assert again["matrix"].dtype == np.float16
    np.testing.assert_array_equal(again["vector"], vector)
    for i, network in np.ndindex(2, 3):
        largest = np.abs(matrix[i, network].astype(float)).max()
        moved = again["matrix"][i, network].astype(float) - matrix[i, network].astype(float)
        # Half precision has 11 digits, and below 6e-8 none.
        assert np.abs(moved).max() <= largest / 254 * (1 + 1e-5) + largest / 2048 + 6e-8
