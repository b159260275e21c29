"""Tables of what the studio says, and of what it keeps, as Markdown."""

import json
from pathlib import Path

from docs.tables.markdown import DOCS, result, table

TOUR = DOCS / "pictures" / "studio"
"""Folder of the pictures of the studio."""


def studio_sentences() -> str:
    """Sentences of the studio's page on its tours, with a picture of each sentence and links to the others."""
    said: dict[tuple[str, str], list[str]] = {}
    for visit in json.loads((TOUR / "tour.json").read_text(encoding="utf-8")).values():
        for one in visit["seen"]:
            said.setdefault((one["sentence"], one["button"]), []).append(one["picture"])
    return table(
        [
            {"sentence": sentence, "button": button, "": f"![{sentence}]({_seen(first)})"}
            | {"others": ", ".join(f"[{Path(picture).stem.replace('_', ' ')}]({_seen(picture)})" for picture in others)}
            for (sentence, button), (first, *others) in said.items()
        ]
    )


def _seen(picture: str) -> str:
    """Path of a picture, from a page."""
    return f"pictures/{TOUR.name}/{picture}"


def studio_kills() -> str:
    words = {
        "recording": "killed while a movement is recorded",
        "saving": "killed while demonstrations are saved",
        "learning": "killed while a run learns",
        "reload": "reloaded while a movement is recorded",
        "two pages": "two pages that drag and save at once",
    }
    return table(
        [
            {"": words[kind], "nothing lost in": f"{one['kept']} of {one['tries']}"}
            for kind, one in result("studio_kills").items()
        ]
    )


def studio_rates() -> str:
    """Rates at which the page follows the hand and the targets, on two cores without a graphics card."""
    found = result("studio")
    lines = {
        f"the robot follows the hand: {task}": f"{one['updates a second']} times a second, "
        f"nearly all at most {one['95% apart, ms']} ms apart"
        for task, one in found["hand"].items()
    }
    lines["planar-reacher: rough plans while a target is dragged"] = f"{found['plans a second']} a second"
    let_go = found["let go, s"]
    lines["planar-reacher: whole plans after it is let go"] = (
        f"{let_go['median']} s (median), {let_go['most']} s at most"
    )
    return table([{"": words, f"at a load of {found['load']:.1f}": figure} for words, figure in lines.items()])


TABLES = (studio_sentences, studio_kills, studio_rates)
