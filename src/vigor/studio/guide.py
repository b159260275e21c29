"""The guide of the studio: the step that a session is at, what to do next in a sentence, and the button to press."""

from dataclasses import dataclass
from html import escape

from vigor.studio.cards import LINE
from vigor.studio.trainer import Progress

STEPS = ("Show", "Learn", "Plan", "Export")
SHOW, LEARN, PLAN, EXPORT = range(len(STEPS))
ENOUGH = 5
"""Demonstrations from which learning is what to do next."""


@dataclass(frozen=True)
class State:
    """State of a session, as the guide looks at it."""

    instruction: str
    """Way of giving a demonstration."""
    movable: str = "a target"
    """Thing that can be dragged to change the context."""
    demonstrations: int = 0
    here: int = 0
    """Demonstrations of the context on the screen."""
    recording: bool = False
    held: bool = False
    """The robot is being dragged."""
    solved: bool = False
    """The movement so far solves the context."""
    progress: Progress | None = None
    """Progress of the latest run."""
    holds: bool | None = None
    """A plan for the context is predicted to solve it; None if there is no plan."""
    unplanned: str = ""
    """Why there can be no plan for the context."""
    moving: bool = False
    """The context or an obstacle is on its way: plans are rough."""
    obstacles: int = 0
    exported: bool = False
    """A plan for the context was written."""
    unreachable: str = ""
    """Why nothing can be done in the context."""


@dataclass(frozen=True)
class Advice:
    """The step, what to do next, and the button to press."""

    step: int
    sentence: str
    button: str
    ready: bool = True
    """The button can be pressed; else it is what comes after something is dragged or worked out."""


def advise(now: State) -> Advice:
    """Next step."""
    progress = now.progress
    if now.recording:
        return _recording(now)
    if progress is not None and progress.running:
        if progress.stopping:
            kept = ", and keeps what it has learned." if progress.iteration else "; it cannot plan yet."
            return Advice(LEARN, f"It stops after this iteration{kept}", "Stop", False)
        return Advice(LEARN, "It is learning. More can be shown meanwhile, for the next run.", "Stop")
    if progress is not None and progress.can_plan:
        return _planning(now)
    if progress is not None:
        why = f": {progress.problem}." if progress.problem else "."
        return Advice(LEARN, f"The last run ended before it could plan{why} Learn again, or show more.", "Learn")
    if now.unreachable:
        return Advice(SHOW, now.unreachable, "New context")
    if now.demonstrations >= ENOUGH:
        return Advice(LEARN, "That is enough to learn from. More can be shown, too.", "Learn")
    if now.here:
        return Advice(SHOW, "Show another way to do it here, or press New context and show it there.", "New context")
    return Advice(SHOW, now.instruction, "Save", False)


def _recording(now: State) -> Advice:
    if now.held:
        return Advice(SHOW, "Solved: let go." if now.solved else f"{now.instruction} Then let go.", "Save", False)
    if now.solved:
        return Advice(SHOW, "Solved. Save it, or press Again to start anew.", "Save")
    return Advice(SHOW, "Not there yet: grab the robot once more to go on, or start again.", "Again")


def _planning(now: State) -> Advice:
    drag = f"Drag {now.movable}"
    if now.exported:
        return Advice(EXPORT, f"The plan is written. {drag} for another, or press New context.", "New context")
    if now.unplanned:
        return Advice(PLAN, f"No plan: {now.unplanned}.", "New context")
    if now.holds is None:
        rough = "While you drag, plans are rough: let go for better ones."
        return Advice(PLAN, rough if now.moving else "It is planning.", "Export plan", False)
    if now.holds:
        return Advice(PLAN, f"{drag}, or add an obstacle: it plans anew. Click a way to play it.", "Export plan")
    if now.unreachable:
        return Advice(PLAN, now.unreachable, "New context")
    other = "move the obstacle, " if now.obstacles else ""
    sentence = f"No way solves this. {drag}, {other}or show it here and learn again."
    return Advice(PLAN, sentence, "New context")


def line(advice: Advice, demonstrations: int) -> str:
    """The guide as HTML: all steps, the current one marked, and the sentence."""
    shown = [f" ({demonstrations}{f' of {ENOUGH}' if demonstrations < ENOUGH else ''})", "", "", ""]
    names = [
        f'<span style="{_style(i == advice.step)}">{i + 1} {name}{more}</span>'
        for i, (name, more) in enumerate(zip(STEPS, shown, strict=True))
    ]
    steps = f'<div style="display:flex;font-size:.92em;padding-bottom:.4em;margin-left:-.5em">{"".join(names)}</div>'
    return f'<div style="{LINE}">{steps}<div style="font-size:1.05em">{escape(advice.sentence)}</div></div>'


def _style(current: bool) -> str:
    shape = "padding:.1em .5em;border-radius:1em;white-space:nowrap;"
    return shape + ("background:#228be6;color:white;font-weight:bold" if current else "opacity:.6")
