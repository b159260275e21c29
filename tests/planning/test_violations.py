"""Margins by the kind of their constraint. (Which one is violated: see the tests of constraints.)"""

from vigor.planning.violations import by_kind


def test_margins_are_found_by_kind_and_number():
    found = by_kind({"position": 0.1, "keep-out 1": 0.2, "keep-out 12": -0.3, "via 1": 0.4})
    assert found == {"position": {"": 0.1}, "keep-out": {"1": 0.2, "12": -0.3}, "via": {"1": 0.4}}
    assert by_kind({}) == {}
