"""The guide of the studio: the step that a session is at, and what to do next, in a sentence."""

from html import escape

from vigor.studio.trainer import Progress

STEPS = ("Show", "Learn", "Plan", "Export")
SHOW, LEARN, PLAN, EXPORT = range(len(STEPS))
ENOUGH = 5
"""Demonstrations from which learning is what to do next."""


def advise(
    instruction: str,
    demonstrations: int,
    recording: bool,
    progress: Progress | None,
    holds: bool | None,
    exported: bool,
) -> tuple[int, str]:
    """Step, and what to do next.

    instruction: how a demonstration is given; demonstrations: how many there are; progress: of the latest run;
    holds: a plan for the context is predicted to solve it, None if there is no plan; exported: one was written.
    """
    if recording:
        return SHOW, f"{instruction} Then press Stop and save."
    if progress is not None and progress.running:
        return LEARN, "It is learning. More can be shown meanwhile, for the next run."
    if progress is not None and progress.can_plan:
        if exported:
            return EXPORT, "The plan is written. Drag a target for another, or show more and learn again."
        if holds is False:
            return PLAN, "No plan solves this context: drag a target elsewhere, or show it here and learn again."
        if holds:
            return PLAN, "Drag a target: it is planned for anew. Play a plan, then export it."
        return PLAN, "It is planning."
    if not demonstrations:
        return SHOW, f"Press Start. {instruction}"
    if demonstrations < ENOUGH:
        return SHOW, "Show another way, or press New context and show it there; then learn."
    return LEARN, "Press Learn in the tab Learn, or show more."


def line(step: int, sentence: str, demonstrations: int) -> str:
    """The guide as HTML: all steps, the current one in bold, and the sentence."""
    shown = [f"{i + 1} {name}" + (f" ({demonstrations})" if i == SHOW else "") for i, name in enumerate(STEPS)]
    names = [
        f"<b>{name}</b>" if i == step else f'<span style="opacity:.6">{name}</span>' for i, name in enumerate(shown)
    ]
    return (
        f'<div style="font-size:.875em;padding:0 1em .3em 1em">{" &middot; ".join(names)}<br>{escape(sentence)}</div>'
    )
