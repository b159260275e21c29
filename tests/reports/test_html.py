"""Templates escape what they show, miss nothing silently, and round numbers in one way."""

import numpy as np
import pytest
from jinja2 import UndefinedError

from pages import tags
from vigor.reports import html


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (html.short(0.98765), "0.988"),
        (html.short(2.0), "2"),
        (html.short(-0.0001), "0"),
        (html.short(12), "12"),
        (html.short([0.125, -2.0, None]), f"0.125, -2, {html.NOTHING}"),
        (html.short(None), html.NOTHING),
        (html.short("a word"), "a word"),
        (html.fixed(0.25, 4), "0.2500"),
        (html.fixed(None, 4), html.NOTHING),
        (html.percent(0.98765), "98.8%"),
        (html.percent(1), "100%"),
        (html.percent(0.9999), "100.0%"),
        (html.short([0.0] * 30 + [0.001]), f"0 {html.TIMES}30, 0.001"),
        (html.largest([0.25, 0.75]), "25, 75"),
        (html.largest([0.05, 0.4, 0.1, 0.2, 0.1, 0.05, 0.1]), "40, 20, 10, 10, 10 and 2 smaller"),
        (html.factor(133.3), "130"),
        (html.factor(1.6e7), "more than 1,000"),
        (html.percent("none"), "none"),
        (html.moment("2026-01-02T03:04:05+00:00"), "2026-01-02 03:04"),
    ],
)
def test_numbers_are_rounded_and_words_stay(words, expected):
    assert words == expected


def test_neighbours_with_the_same_percent_are_one():
    rates = [1.0, 0.999, np.float64(0.98), 0.98, "worse", None, 1.0]
    found = [(words, count) for words, _, count in html.alike(rates)]
    assert found == [("100", 2), ("98", 2), ("worse", 1), (html.NOTHING, 1), ("100", 1)]
    assert [share for _, share, _ in html.alike(rates)] == [1.0, 0.98, 0.0, 0.0, 1.0]


def test_a_value_that_a_template_lacks_is_an_error():
    with pytest.raises(UndefinedError):
        html.render("vigor.reports", "run.html", title="a run")


def test_a_page_is_escaped_and_whole():
    empty = {
        "facts": {"<i>": "<u>"},
        "common": [],
        "splits": [],
        "pictures": [],
        "command": None,
        "settings": {"<s>": "<b>"},
        "moved": {},
        "course": None,
        "calibration": None,
        "cannot": [],
        "compared": [],
        "practice": None,
    }
    text = html.render("vigor.reports", "run.html", title="<em>", **empty)
    assert not {"em", "i", "u", "s"} & set(tags(text))
    assert text.startswith("<!doctype html>")
    assert text.count("&lt;em&gt;") == 2


def test_numbers_have_the_figures_that_count():
    assert html.significant(0.0123456) == "0.0123"
    assert html.significant(2.2e-8, 0.0014) == "0"
    assert html.significant(2.2e-5, 0.0014) == "2.2e-05"
    assert html.significant("<b>", "x") == "<b>"
    assert html.significant(None) == html.NOTHING
