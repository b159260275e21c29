"""The tab of plans: obstacles, cards, and what of it is drawn."""

from typing import Any

from vigor.planning.plans import Plan
from vigor.studio.cards import cards, essentials, say
from vigor.studio.clicks import Clicks
from vigor.studio.planning_thread import Answer
from vigor.studio.session import Session
from vigor.studio.widgets import PALE, careful, download, show

PLANNING = "planning; the first plan takes longest"


class PlanTab:
    """A card for each way."""

    def __init__(self, gui: Any, session: Session, clicks: Clicks) -> None:
        self._session, self._shared, self._clicks = session, session.shared, clicks
        planning = session.planning
        self._obstacle = gui.add_button_group("Obstacle", ("Ball", "Box", "Remove"))
        self._most = gui.add_slider("Ways drawn", 0, 20, step=1, initial_value=session.shared.most)
        self._export = gui.add_button("Export plan", color=PALE, hint="A table of joints over time, for a controller")
        self._said = gui.add_html("")
        self._cards = gui.add_html("")
        self._common = gui.add_html("")  # Apart: cards that change under a finger cannot be clicked.
        self._export.on_click(careful(lambda client: download(client, planning.export())))
        self._obstacle.on_click(careful(lambda client: self._change()))
        self._most.on_update(careful(lambda client: self._draw(self._most.value)))

    def _change(self) -> None:
        planning, what = self._session.planning, self._obstacle.value
        if what == "Remove":
            planning.remove_obstacle()
        else:
            planning.add_obstacle("box" if what == "Box" else "ball")

    def _draw(self, most: Any) -> None:
        self._shared.most = int(most) if isinstance(most, int | float) and 0 <= most <= 20 else self._shared.most
        self._shared.changes += 1

    def refresh(self, primary: str) -> None:
        """Show what changes now and then; primary: the button on top, which need not be here too."""
        planning, progress = self._session.planning, self._session.learning.progress
        with self._shared.lock:
            latest, current, ways, chosen = planning.latest, planning.answer, planning.ways, planning.chosen
            hidden = [planning.hides(way) for way in ways]
        plans = None if latest is None else latest.plans
        show(self._export, visible=planning.plan is not None and primary != "Export plan")
        if current is None or plans is None or latest is None:
            can = progress is not None and progress.can_plan
            text = PLANNING if can and plans is None else "planning" if can else "learn first"
            problem = "" if current is None else current.problem
            show(self._said, content=say(problem or text))
        else:
            show(self._said, content="".join(say(note) for note in _notes(plans.plans[0], latest)))
        if plans is None or latest is None:
            show(self._cards, content="")
            show(self._common, content="")
            return
        html = cards(plans.plans[0].solutions, ways, self._shared.names, chosen, hidden)
        looked = chosen if planning.pointed is None else planning.pointed
        show(self._common, content=essentials(latest.essentials, looked, self._shared.labels))
        faint = "" if current is not None else '<div style="opacity:.5">'
        show(self._cards, content=self._clicks.around(faint + html + ("</div>" if faint else ""), "point -1"))


def _notes(plan: Plan, answer: Answer) -> list[str]:
    """Sentences above the cards of a plan."""
    count, good = len(plan.solutions), sum(part.holds for part in plan.solutions)
    return [
        f"{good} of {count} ways solve it, planned in {answer.seconds:.1f} s",
        *([plan.warning.replace("keep-out", "obstacle")] if plan.warning else []),  # As it is called here.
    ]
