"""Charts put data where their axes say, and what they draw is SVG that answers."""

import re
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from studio_page import CHROMIUM, chromium
from vigor.reports import html
from vigor.reports.charts import Chart, Circle, Dot, Line
from vigor.reports.overview import Charts

PATH = np.array([(0.0, 0.0), (1.0, 2.0), (2.0, 0.0)])


def tick(ticks, word):
    return next(at for at, own in ticks if own == word)


@pytest.mark.parametrize("log", [False, True])
def test_points_lie_at_their_ticks(log):
    chart = Chart("t", "x", "y", dots=[Dot("a", "#000", (x, 1.0)) for x in (0.01, 1.0, 100.0)], log=log)
    for word, at in chart.x_ticks:
        assert chart.left <= word <= chart.right
        assert float(at) > 0 or not log
    where = chart.place(np.array([(1.0, 1.0), (100.0, 1.0)]))[:, 0]
    word = "1" if log else "100"
    assert where[0 if log else 1] == pytest.approx(tick([(at, own) for at, own in chart.x_ticks], word), abs=0.1)
    if log:
        ends = chart.place(np.array([(0.01, 1.0), (1.0, 1.0), (100.0, 1.0)]))[:, 0]
        assert ends[1] - ends[0] == pytest.approx(ends[2] - ends[1])


@pytest.mark.parametrize("far", [0.07, 0.5, 3.0, 500.0])
def test_words_of_a_logarithmic_scale_have_room(far):
    chart = Chart("t", "x", "y", dots=[Dot("a", "#000", (x, 1.0)) for x in (0.035, far)], log=True)
    assert len(chart.x_ticks) >= 2
    ends = [(at - 3.5 * len(word), at + 3.5 * len(word)) for at, word in chart.x_ticks]
    assert all(right < left for (_, right), (left, _) in pairwise(ends))


def test_axes_of_one_scale_keep_circles_round():
    chart = Chart("t", "x", "y", [Line("a", "#000", 3 * PATH)], circles=[Circle("goal", (1.0, 1.0), 0.5)], equal=True)
    corners = chart.place(np.array([(1.0, 1.0), (1.5, 1.0), (1.0, 1.5)]))
    assert corners[1, 0] - corners[0, 0] == pytest.approx(chart.radius(chart.circles[0]))
    assert corners[0, 1] - corners[2, 1] == pytest.approx(chart.radius(chart.circles[0])), "up is up"


def test_what_is_not_finite_interrupts_a_line():
    chart = Chart("t", "x", "y", [Line("a", "#000", PATH)])
    broken = np.array([(0.0, 0.0), (0.5, np.nan), (1.0, 1.0), (2.0, 1.0)])
    assert re.sub(r"[\d. ]+", "", chart.path(broken)) == "MML"


def test_rows_have_names_from_top_to_bottom():
    chart = Chart(
        "t", "x", "", dots=[Dot("a", "#000", (0.5, 0)), Dot("b", "#000", (0.5, 1))], rows=("first", "a longer name")
    )
    assert [word for _, word in chart.y_ticks] == ["first", "a longer name"]
    assert chart.y_ticks[0][0] < chart.y_ticks[1][0]
    assert chart.left > Chart("t", "x", "y").left


def test_names_are_escaped_and_lines_have_keys():
    made = Chart("<b>", "x", "y", [Line('way "1"', "#123456", PATH, key="way 1")], [Dot("<i>", "#000", (1, 1), (0, 2))])
    text = html._environment("vigor.reports").from_string('{% from "chart.html" import chart %}{{ chart(one) }}')
    drawn = text.render(one=made)
    assert "<b>" not in drawn
    assert "<i>" not in drawn
    assert 'data-key="way 1"' in drawn
    assert 'data-name="way &#34;1&#34;"' in drawn
    assert drawn.count("<svg") == drawn.count("</svg>") == 2


def test_a_legend_has_the_marks_of_what_it_switches():
    dots = [Dot("", "#000", (0, 0), key="ours"), Dot("", "#000", (1, 1), key="theirs", mark="diamond")]
    lines = [Line("", "#000", PATH, key="course")]
    keys = [(key, key, "#000") for key in ("ours", "theirs", "course")]
    group = Charts([Chart("t", "x", "y", lines, dots)], keys, "")
    text = html._environment("vigor.reports").from_string('{% from "chart.html" import charts %}{{ charts(group) }}')
    drawn = text.render(group=group)
    assert re.findall(r'<button type="button" class="(\w*)"', drawn) == ["full", "diamond", ""]
    assert re.findall(r'<path class="dot (\w+)"', drawn) == ["full", "diamond"]
    assert 'class="note"' not in drawn, "nothing is said below"


PAGE = """{% extends "base.html" %}{% from "chart.html" import charts %}{% block facts %}{% endblock %}
{% block body %}{{ charts(group) }}{% endblock %}
{% block script %}<script>{% include "chart.js" %}</script>{% endblock %}"""


@pytest.mark.skipif(not Path(CHROMIUM).exists(), reason="there is no chromium")
def test_charts_answer_in_a_browser(tmp_path):
    """A legend switches, words are beside the pointer, a rectangle zooms, and a double click goes back."""
    made = Chart(
        "t",
        "x",
        "y",
        [Line("way 1", "#123456", PATH, key="way 1"), Line("", "#654321", PATH + 1, key="way 1|samples")],
    )
    group = Charts([made], [(key, key, "#123456") for key in ("way 1", "samples")], "")
    page = html._environment("vigor.reports").from_string(PAGE).render(title="t", group=group)
    (tmp_path / "page.html").write_text(page, encoding="utf-8")
    with chromium() as browser:
        tab = browser.new_page()
        tab.goto((tmp_path / "page.html").as_uri())
        line, plot = tab.locator('path[data-key="way 1"]'), tab.locator("svg.chart svg")
        sample = tab.locator('path[data-key="way 1|samples"]')
        whole, left = plot.get_attribute("viewBox"), tab.locator("svg.chart rect").bounding_box()
        tab.click("[data-switch=samples]")
        assert line.is_visible()
        assert not sample.is_visible()
        tab.click("[data-switch='way 1']")
        assert not line.is_visible()
        tab.click("[data-switch=samples]")
        assert not sample.is_visible(), "one of its keys is still off"
        assert "away" in line.get_attribute("class"), "what is pointed at is seen alone"
        tab.click("[data-switch='way 1']")
        assert line.is_visible()
        assert sample.is_visible()
        assert "away" not in line.get_attribute("class") + sample.get_attribute("class")
        drawn = line.bounding_box()
        tab.mouse.move(drawn["x"] + 2, drawn["y"] + drawn["height"] - 2)
        assert tab.locator(".words").text_content() == "way 1"
        tab.mouse.move(left["x"] + 40, left["y"] + 40)
        tab.mouse.down()
        tab.mouse.move(left["x"] + 120, left["y"] + 90)
        tab.mouse.up()
        assert plot.get_attribute("viewBox") != whole
        tab.mouse.dblclick(left["x"] + 60, left["y"] + 60)
        assert plot.get_attribute("viewBox") == whole
