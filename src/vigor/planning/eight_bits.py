"""Networks in 8 bits: every matrix as whole numbers, and the unit that they are multiples of.

Vectors are small, and stay as they are.
"""

from collections.abc import Mapping

import numpy as np

from vigor.basics.contents import Contents, Numbers

MOST = 127
"""Largest whole number of a matrix."""
UNIT = ".unit"
"""Ending of the name of a matrix's unit."""
Arrays = dict[str, np.ndarray]
"""Parameters [iteration, network, ...] by name."""


def rounded(networks: Mapping[str, np.ndarray]) -> Arrays:
    """Parameters with matrices as whole numbers [iteration, network, in, out], and their units [iteration, network].

    The largest entry of a matrix is 127 units, so that none moves by more than half a unit.
    """
    arrays: Arrays = {}
    for name, array in networks.items():
        if array.ndim < 4:
            arrays[name] = array
            continue
        exact = np.asarray(array, np.float32)
        unit = np.abs(exact).max(axis=(2, 3)) / MOST
        counts = np.rint(exact / np.where(unit > 0, unit, 1)[..., None, None])
        # A quotient may be rounded up to just above the largest number.
        arrays |= {name: np.clip(counts, -MOST, MOST).astype(np.int8), name + UNIT: unit}
    return arrays


def restored(arrays: Mapping[str, np.ndarray]) -> Arrays:
    """Parameters in half precision of what `rounded` gives."""
    return {
        name: (array * arrays[name + UNIT][..., None, None]).astype(np.float16) if name + UNIT in arrays else array
        for name, array in arrays.items()
        if not name.endswith(UNIT)
    }


def contents(described: Contents) -> Contents:
    """Description of what `rounded` gives, from that of the parameters themselves."""
    found: Contents = {}
    for name, meant in described.items():
        if len(meant.axes) < 4:
            found[name] = meant
        else:
            found[name] = Numbers(meant.axes, -MOST, MOST, whole=True)
            found[name + UNIT] = Numbers(meant.axes[:2], 0.0, meant.high / MOST)
    return found
