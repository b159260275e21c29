"""Additions to viser's page: a tab's name, a view from above that no hand turns, and room for the scene on a phone.

viser's camera follows a pointer through the document's moves alone, and what is dragged through the window's: moves
that would turn the view are kept from the camera. Two fingers, the right button and the wheel move and zoom it.
"""

import json
from html import escape

NAME = "document.title = {};"
STILL = """
if (!window.vigorStill) {
  window.vigorStill = true;
  const fingers = new Set(), kept = new WeakMap();
  for (const [name, act] of [["pointerdown", "add"], ["pointerup", "delete"], ["pointercancel", "delete"]])
    window.addEventListener(name, (event) => event.pointerType === "touch" && fingers[act](event.pointerId), true);
  const turns = (event) => event.pointerType === "touch" ? fingers.size < 2 : event.buttons === 1;
  const still = (type, hear) => {
    if (type !== "pointermove") return hear;
    if (!kept.has(hear)) kept.set(hear, (event) => { if (!turns(event)) hear(event); });
    return kept.get(hear);
  };
  for (const name of ["addEventListener", "removeEventListener"]) {
    const original = document[name].bind(document);
    document[name] = (type, hear, options) => original(type, still(type, hear), options);
  }
}
"""


STYLE = "@media (max-width: 36em) {div:has(> div > div > div > canvas) {bottom: 60% !important}}"
"""Style by which the scene keeps above the panel where viser draws that over the lower part of a narrow page."""


def script(name: str, still: bool) -> str:
    """HTML that names the tab and makes room for the scene; still: and keeps the view from being turned."""
    code = NAME.format(json.dumps(name)) + (STILL if still else "")
    # A page that is drawn by React runs no scripts of HTML that it is given, but hears when a picture is not there.
    return f'<img src="data:," alt="" style="display:none" onerror="{escape(code, quote=True)}"><style>{STYLE}</style>'
