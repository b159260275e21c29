"""What viser's page lacks, as a script in it: the name of its tab, and a view from above that a mouse cannot turn.

A press of the mouse beside everything that can be dragged does not reach the camera; to move and to zoom the view, with
the right button and the wheel, stays. A finger points at nothing before it presses, so presses of fingers are let
through.
"""

import json
from html import escape

NAME = "document.title = {};"
STILL = """
if (!window.vigorStill) {
  window.vigorStill = true;
  window.addEventListener("pointerdown", (event) => {
    const missed = event.target.tagName === "CANVAS" && event.target.style.cursor !== "pointer";
    if (missed && event.button === 0 && event.pointerType === "mouse") event.stopImmediatePropagation();
  }, true);
}
"""


def script(name: str, still: bool) -> str:
    """HTML that names the tab; still: and lets no press that misses turn the view."""
    code = NAME.format(json.dumps(name)) + (STILL if still else "")
    # A page that is drawn by React runs no scripts of HTML that it is given, but hears when a picture is not there.
    return f'<img src="data:," alt="" style="display:none" onerror="{escape(code, quote=True)}">'
