"""Clicks on parts of HTML: known words with a number do something, anything else nothing."""

from types import SimpleNamespace

from vigor.studio.clicks import Clicks

GUI = SimpleNamespace(
    add_text=lambda label, value: SimpleNamespace(_impl=SimpleNamespace(uuid="f-17"), value="", on_update=print),
    add_html=lambda content: None,
)


def test_only_known_words_are_heard():
    heard = []
    clicks = Clicks(GUI, {"play": heard.append})
    for said in (
        "play 2 17",
        "play -1 3",
        "play 2",
        "stop 2 17",
        "play 2 17; rm",
        "play 999999 1",
        None,
        7,
        "",
        "x" * 99,
    ):
        clicks.hear(said)
    assert heard == [2, -1]


def test_parts_know_the_field():
    html = Clicks(GUI, {}).around('<b data-click="play 1">1</b>', "point -1")
    assert html.count("f-17") == 3
    assert "onmouseover" in html
    assert "onmouseover" not in Clicks(GUI, {}).around("<b></b>")
