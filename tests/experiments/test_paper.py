"""The paper's figures agree with each other."""

import numpy as np
import pytest

from vigor.experiments import paper


@pytest.mark.parametrize("key", paper.SEEDS, ids=str)
def test_seeds_that_a_box_determines_have_its_figures(key):
    task, method = key
    values, box = np.array(paper.SEEDS[key]), paper.BOXES[task, "success", "test"][method]
    assert len(values) == 10
    assert values.mean() == pytest.approx(box.mean, abs=2e-5)
    np.testing.assert_allclose(np.quantile(values, (0.25, 0.5, 0.75)), (box.q1, box.median, box.q3), atol=2e-5)
    beyond = np.isin(values, box.outliers)
    assert beyond.sum() == len(box.outliers)
    assert (values[~beyond].min(), values[~beyond].max()) == (box.low, box.high)
