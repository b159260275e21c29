import pytest

from vigor.basics.errors import UserError
from vigor.evaluation import summaries

GOOD = {
    "predicted_best": 1.0,
    "predicted_mixture": 0.5,
    "versatility": {"working_components": 1.0, "distinct_solutions": 1.0, "entropy": 0.0},
}


@pytest.mark.parametrize(
    "figures",
    [
        {"coverage": 1.5},
        {"coverage": 0.5, "ways": [{"name": "way 1", "demonstrations": -0.5, "samples": 0.5}]},
    ],
)
def test_figures_of_a_resemblance_that_are_no_shares_are_refused(figures):
    with pytest.raises(UserError, match="figures of a resemblance must be from 0 to 1"):
        summaries.components(GOOD | {"resemblance": figures})


CONTEXT = {"context": [0.0], "versatility": {}, "weights": [1.0], "predicted": [0.5]}


@pytest.mark.parametrize("change", [{"predicted": None}, {"weights": [], "predicted": []}])
def test_contexts_have_figures_of_their_components(change):
    context = {name: value for name, value in (CONTEXT | change).items() if value is not None}
    with pytest.raises(UserError, match=r"predicted of a context is missing|a context has no component"):
        summaries.components(GOOD | {"contexts": [context]})


def test_figures_of_a_resemblance_may_lack_what_cannot_be_told():
    alone = {"coverage": 0.5, "alike": None, "demonstrations": [1.0], "samples": [0.5]}
    assert summaries.components(GOOD | {"contexts": [CONTEXT | {"resemblance": alone}]}) == {1}
