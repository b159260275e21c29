"""Words and figures of a session as HTML: lights, sentences, the cards of a plan."""

import math
import re
from collections.abc import Mapping, Sequence
from html import escape

import numpy as np

from vigor.planning.plans import Solution
from vigor.planning.violations import Violation, by_kind
from vigor.studio.planning_thread import Essential
from vigor.studio.recorder import LONGEST
from vigor.studio.shared import Trace
from vigor.studio.traces import colour_of
from vigor.tasks.layouts import length
from vigor.tasks.stage import Missing

GREEN, RED, GREY = "#26a65b", "#d64541", "#b9bec6"
LINE = "font-size:.875em;padding:0 1em .3em 1em"
CARD = "display:flex;gap:.5em;align-items:baseline;padding:.25em .5em;margin-bottom:.3em;border-radius:.25em;"
BORDER = "rgba(128,128,128,.35)"
UNITS = {"position": 1.0, "velocity": 1.0}
"""Unit that margins are compared in, by constraint; others in tenths of a metre."""
FAR = 4.0
"""Deviations of demonstrations from which on a value is far from theirs."""
HINT = "click to play it; it is then the one to export"
LIKELY = "how many of its samples are predicted to solve this"
EYE = (
    '<svg width="15" height="11" viewBox="0 0 15 11" fill="none" stroke="currentColor"><path d="M.5 5.5Q7.5-3 14.5 5.5Q'
    '7.5 14 .5 5.5Z"/><circle cx="7.5" cy="5.5" r="2" fill="currentColor"/>{}</svg>'
)
"""Picture of an eye, open or crossed out."""
CROSS = '<path d="M2 10.5L13 .5"/>'


def light(colour: str, text: str) -> str:
    style = f"flex:none;width:.8em;height:.8em;border-radius:50%;background:{colour};position:relative;top:.35em"
    said = f'<span style="min-width:0;overflow-wrap:anywhere">{text}</span>'  # Paths are long words.
    return f'<div style="{LINE};display:flex;gap:.4em"><span style="{style}"></span>{said}</div>'


def say(text: str) -> str:
    return f'<div style="{LINE}">{escape(text)}</div>'


def quiet(text: str) -> str:
    return f'<div style="{LINE};opacity:.6;font-size:.75em">{escape(text)}</div>'


def cards(
    solutions: Sequence[Solution], ways: Sequence[Trace], names: Sequence[str], chosen: int, hidden: Sequence[bool]
) -> str:
    """A card for each solution, the best first: to be clicked, pointed at and hidden.

    names: of the task's regions; chosen: rank of the one that is exported.
    """
    rows, kinds = [], 1 < len({part.group for part in solutions}) < len(solutions)
    for rank, (part, way) in enumerate(zip(solutions, ways, strict=True)):
        style = f"{CARD}cursor:pointer;border:1px solid {BORDER};border-left:.5em solid {colour_of(way)}"
        style += f";outline:2px solid {colour_of(way)}" if rank == chosen else ""
        style += ";opacity:.45" if hidden[rank] else ""
        picture = EYE.format(CROSS if hidden[rank] else "")
        eye = f'<span data-click="hide {rank}" title="hide or show" style="margin-left:auto">{picture}</span>'
        said, colour = (facts(part, way, names), "inherit") if part.holds else ([failure(part, way, names)], RED)
        kind = f'<span style="opacity:.6" title="ways of a kind are alike">kind {part.group}</span>' if kinds else ""
        # Of targets alone: beside a broken limit it would promise too much.
        share = "" if part.violated is not None else f'<b title="{LIKELY}">{likely(part):.0%}</b> '
        rows.append(
            f'<div data-click="play {rank}" data-point="point {rank}" title="{HINT}" style="{style}"><b>{rank + 1}</b>'
            f'<span>{share}{kind} <span style="color:{colour}">'
            f"{escape('; '.join([*said, *clearance(part)]))}</span></span>{eye}</div>"
        )
    return f'<div style="font-size:.8em;padding:0 1em">{"".join(rows)}</div>'


def likely(part: Solution) -> float:
    """Share of a solution's samples that solve the context; predicted where nothing judges them."""
    return part.predicted if part.success is None else part.success


def facts(part: Solution, way: Trace, names: Sequence[str]) -> list[str]:
    """Duration, length of the path and smallest margin of a solution, in words; obstacles apart."""
    path = float(np.linalg.norm(np.diff(way.points, axis=0), axis=1).sum())
    seconds = [] if part.situation is None else [f"{part.situation.constraints.seconds:.1f} s"]
    return [", ".join([*seconds, length(path)]), *margin(part, way, names)]


def clearance(part: Solution) -> list[str]:
    """The distance to the nearest obstacle in words, if there are any and the solution is in none."""
    away = by_kind(part.margins).get("keep-out", {})
    nearest = min(away, key=lambda number: away[number], default=None)
    if nearest is None or away[nearest] < 0:
        return []
    return [f"{length(away[nearest])} to obstacle {nearest}"]


def margin(part: Solution, way: Trace, names: Sequence[str]) -> list[str]:
    """Distance of a body from its goal in the end, in words; else the smallest margin of a solution, if anything else
    than obstacles limits it; else how far it is inside its last region."""
    if way.off:
        return [way.off]
    kinds = by_kind(part.margins).items()
    limits = {(kind, number): value for kind, own in kinds if kind != "keep-out" for number, value in own.items()}
    if limits:
        (kind, number), value = min(limits.items(), key=lambda item: item[1] / UNITS.get(item[0][0], 0.1))
        said = {
            "position": f"{value:.2f} rad to a joint's limit",
            "velocity": f"{1 - value:.0%} of the largest speed",
            "itself": f"{length(value)} between links",
        }
        return [said.get(kind, f"{value:.2g} to spare of {kind} {number}")]
    if not part.targets or not names:
        return []
    return [f"{length(-list(part.targets.values())[-1].end)} inside {names[-1]}"]


def failure(part: Solution, way: Trace, names: Sequence[str]) -> str:
    """Why a solution does not hold, in words: "misses target 2 by 4 cm", "joint4 beyond its limit by 0.10 rad"."""
    if part.violated is not None:
        return broken(part.violated)
    if way.off:
        return f"ends {way.off}"
    last = len(part.targets) - 1
    missed = [at.end if i == last else at.closest for i, at in enumerate(part.targets.values())]
    far = [f"misses {name} by {length(away)}" for name, away in zip(names, missed, strict=False) if away > 0]
    if far:
        return ", ".join(far)
    return "is likely to fail" if part.distance is None else f"stays {part.distance:.2g} away from solving it"


def broken(violated: Violation) -> str:
    """A violated constraint in words."""
    name, amount = violated.name, violated.amount
    said = {
        "position": f"{name} beyond its limit by {amount:.{2 if amount >= 0.01 else 4}f} rad",
        "velocity": f"{name} too fast; it would need {violated.seconds or 0:.1f} s",
        "itself": f"a link is {length(amount)} inside another",
        "keep-out": f"a link is {length(amount)} inside obstacle {name}",
    }
    return said.get(violated.kind, f"violates {violated}")


def essentials(common: Sequence[Essential], rank: int, names: Mapping[str, str]) -> str:
    """A table of what all demonstrations have in common, and how a solution has it; names: of regions by label."""
    rows = [
        f"<tr><td>{escape(named(item.name, names))}</td>"
        f'<td style="white-space:nowrap;padding-right:.6em">{_shown(item)} &plusmn; {item.deviation:.1g}</td>'
        f'<td style="white-space:nowrap;color:{_judged(item, rank)}">{item.values[rank]:.2g}</td></tr>'
        for item in common
        if rank < len(item.values)
    ]
    head = f"<tr><th>essential, found from what was shown</th><th>shown</th><th>way {rank + 1}</th></tr>"
    style = "width:100%;text-align:left;font-size:.75em;padding:.3em 1.2em;vertical-align:top"
    return f'<table style="{style}">{head}{"".join(rows)}</table>' if rows else ""


def named(quantity: str, names: Mapping[str, str]) -> str:
    """A quantity with the names that regions have on the page instead of their labels."""
    return re.sub(r"(?<=distance to )\w+", lambda found: names.get(found[0], found[0]), quantity)


def _shown(item: Essential) -> str:
    """A quantity among demonstrations, to a hundredth of its deviation: what is next to nothing is 0."""
    digits = 2 - math.floor(math.log10(max(item.deviation, 1e-9)))
    return f"{round(item.shown, digits) + 0.0:.2g}"


def _judged(item: Essential, rank: int) -> str:
    """Colour of a solution's value: red where it is far from what was shown."""
    return RED if abs(item.values[rank] - item.shown) > FAR * item.deviation else "inherit"


def recorded(seconds: float) -> str:
    """Length of a recording in words and, towards its end, when it ends by itself."""
    return f"recording {seconds:.0f} s" + (f", ends by itself at {LONGEST:.0f} s" if seconds > LONGEST - 20 else "")


def state(missing: Missing | None) -> str:
    """Words for what a movement lacks."""
    return "solved" if missing is None else escape(missing.words)
