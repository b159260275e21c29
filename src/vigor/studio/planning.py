"""The part of a session that plans: for the context on the screen and around obstacles, with the latest run."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from vigor.basics.errors import UserError
from vigor.motion.promp import ProMP
from vigor.planning import planner
from vigor.planning.plans import Plan, Plans, Solution
from vigor.planning.suggestions import Suggestion
from vigor.studio import obstacles
from vigor.studio.planning_thread import Answer, PlanningThread, Question
from vigor.studio.shared import Shared, Trace
from vigor.tasks.layouts import off

SAMPLES = 12
"""Samples of a mixture that are shown, if any are."""
SUGGESTED = 3
"""Contexts that are suggested one after the other."""


class Planning:
    """Plans for the context on the screen, and which of them are looked at."""

    def __init__(self, shared: Shared) -> None:
        self._shared = shared
        self._asked: Question | None = None
        self._answer: Answer | None = None
        self._ways: tuple[Trace, ...] = ()
        """Traces of the answer's solutions, in the order of their rank."""
        self._samples: tuple[Trace, ...] = ()
        self._exported: Answer | None = None
        self._suggestions: tuple[Question, list[Suggestion]] | None = None
        self.pointed: int | None = None
        """Rank of the solution that somebody points at."""
        self.chosen = 0
        """Rank of the solution to export, the last one played."""
        self._hidden: set[int] = set()
        """Colours of ways that are hidden."""
        self._thread = PlanningThread(self._receive, lambda run: planner.load(run, task=shared.task, stopped=True))

    def close(self) -> None:
        self._thread.close()

    def ask(self, run: Path, iteration: int, moving: bool) -> None:
        """Plan for the context with a run that has come to an iteration, unless that was asked for already.

        moving: whether the context or an obstacle is on its way; plans are rough then, and soon there.
        """
        drawn = SAMPLES if self._shared.samples else 0
        question = Question(run, iteration, self._shared.context, self._shared.obstacles, drawn)
        asked = question.same(self._asked)
        if moving and not asked:
            question = replace(question, rough=True)
            asked = question.same(self._asked)
        if not asked:
            self._asked = question
            self._thread.ask(question)

    def forget(self) -> None:
        """Show no plans until a run has ended."""
        self._asked = self._answer = self.pointed = None
        self._ways = self._samples = ()

    def _receive(self, answer: Answer) -> None:
        with self._shared.lock:
            if answer.question.suggest:
                self._suggest(answer)
            elif self._asked is not None and self._asked.run == answer.question.run:
                self._answer = answer
                self._ways, self._samples = self._coloured(answer)
                self.chosen = 0
                self._shared.changes += 1

    def _coloured(self, answer: Answer) -> tuple[tuple[Trace, ...], tuple[Trace, ...]]:
        """Traces of an answer's solutions and samples; each has the colour of the one before that it is most like."""
        plan = None if answer.plans is None else answer.plans.plans[0]
        if plan is None:
            return self._ways, ()
        new = [self._trace(part, answer.question.context, rank) for rank, part in enumerate(plan.solutions)]
        if self._ways:
            old = [trace.colour or 0 for trace in self._ways]
            kept = alike([trace.points for trace in self._ways], old, [trace.points for trace in new])
            new = [replace(trace, colour=colour) for trace, colour in zip(new, kept, strict=True)]
        drawn = ((promp_of(part), np.array(part.movement)) for part in plan.samples)
        return tuple(new), tuple(self._shared.trace(promp, weights, kind="sample") for promp, weights in drawn)

    def _trace(self, part: Solution, context: np.ndarray, rank: int) -> Trace:
        shared, movement, promp = self._shared, np.array(part.movement), promp_of(part)
        left: dict[str, Any] = {}
        if shared.robot.picture.bodies:
            end = shared.frames(promp, movement)[0][-1].bodies
            goals = [mark for mark in shared.stage.layout.marks(context) if mark.size is not None]
            left = {"end": end, "off": off(end[0], goals[0]) if goals else ""}
        return shared.trace(promp, movement, colour=rank, kind="way", holds=part.holds, rank=rank, **left)

    # What there is

    @property
    def busy(self) -> bool:
        return self._thread.busy

    @property
    def latest(self) -> Answer | None:
        """The last answer; while something is dragged it may be for where that was a moment ago."""
        return self._answer

    @property
    def answer(self) -> Answer | None:
        """The answer for the context and the obstacles as they are; None as long as there is none, or a rough one."""
        answer, shared = self._answer, self._shared
        if answer is None or answer.question.rough or not np.array_equal(answer.question.context, shared.context):
            return None
        return answer if answer.question.obstacles == shared.obstacles else None

    @property
    def plan(self) -> Plan | None:
        """The plan for the context."""
        answer = self.answer
        return None if answer is None or answer.plans is None else answer.plans.plans[0]

    @property
    def ways(self) -> tuple[Trace, ...]:
        """Traces of the latest answer's solutions, in the order of their rank."""
        return self._ways

    def traces(self) -> tuple[Trace, ...]:
        """Traces of what is to be seen: samples, the best ways that are not hidden, and the one pointed at."""
        with self._shared.lock:
            ways = [trace for trace in self._ways if not self.hides(trace)][: self._shared.most]
            pointed = [trace for trace in self._ways if trace.rank == self.pointed and trace not in ways]
            return (*self._samples, *ways, *pointed)

    # What is looked at

    def hides(self, trace: Trace) -> bool:
        return trace.colour in self._hidden

    def hide(self, rank: int) -> None:
        """Hide a way, or show it again; it stays hidden while targets are dragged."""
        with self._shared.lock:
            if 0 <= rank < len(self._ways):
                self._hidden ^= {self._ways[rank].colour or 0}
                self._shared.changes += 1

    def point(self, rank: int) -> None:
        """Point at a solution; at none with a rank below 0."""
        with self._shared.lock:
            before, self.pointed = self.pointed, rank if 0 <= rank < len(self._ways) else None
            self._shared.changes += self.pointed != before

    def play(self, rank: int) -> None:
        """Play one of the plan's solutions, which is the one to export from now on."""
        with self._shared.lock:
            _, plans, solution = self._choose(rank)
            self.chosen = rank
            pairs = zip(self._ways, plans.plans[0].solutions, strict=True)
            others = [(way, np.array(part.movement)) for way, part in pairs if way.rank != rank and not self.hides(way)]
        assert solution.situation is not None
        seconds = solution.situation.constraints.seconds
        self._shared.play(promp_of(solution), np.array(solution.movement), seconds, others)
        self._shared.changes += 1

    def export(self) -> Path:
        """Write the chosen solution as a table for a robot, and the plan that it is of; returns the table's path."""
        with self._shared.lock:
            rank = self.chosen
            run, plans, solution = self._choose(rank)
        trajectory = solution.trajectory()
        path = planner.keep(plans, run)
        table = path.with_name(f"{self._shared.task.name}_plan{path.stem}_way{rank + 1}.csv")
        trajectory.save(table)
        with self._shared.lock:
            self._exported = self.answer
            self._shared.tell(exported(table, solution.holds))
        return table

    @property
    def exported(self) -> bool:
        """Whether the plan for the context was written."""
        return self._exported is not None and self._exported is self.answer

    def _choose(self, rank: int) -> tuple[Path, Plans, Solution]:
        """The run, its plans and one of their solutions for the context."""
        answer, plan = self.answer, self.plan
        if answer is None or answer.plans is None or plan is None or not 0 <= rank < len(plan.solutions):
            busy = self._asked is not None and answer is None
            raise UserError("it is still planning" if busy else "there is no such plan; learn first")
        return answer.question.run, answer.plans, plan.solutions[rank]

    # Obstacles

    def add_obstacle(self, kind: str) -> None:
        """Put a ball or a box in the way of the best plan, clear of the robot where it starts and of targets."""
        shared = self._shared
        with shared.lock:
            shared.refuse_while_recording()
            if len(shared.obstacles) >= obstacles.MOST:
                raise UserError(f"there are {obstacles.MOST} obstacles, which is as many as the studio has")
            shared.robot.stop_playing()
            view, marks = shared.stage.view, shared.stage.layout.marks(shared.context)
            picture = shared.stage.picture()
            where = self._ways[0].points if self._ways else obstacles.among(picture.points, marks)
            shape = obstacles.new(kind, where, obstacles.body(picture, shared.stage.surfaces), marks, view)
            shared.obstacles = (*shared.obstacles, shape)
            shared.tell(f"A {kind}: drag it, or its knob to size it. No link of a plan may enter it.")

    def remove_obstacle(self) -> None:
        """Take the last obstacle away."""
        with self._shared.lock:
            if self._shared.obstacles:
                self._shared.obstacles = self._shared.obstacles[:-1]
                self._shared.tell("")

    # Suggestions

    def suggest(self, run: Path, iteration: int) -> None:
        """Go to the next context in which a demonstration would help the run most; found in the thread, if need be."""
        question = Question(run, iteration, np.zeros(0), suggest=SUGGESTED)
        if self._suggestions is not None and question.same(self._suggestions[0]):
            self._show_next(self._suggestions[1])
            return
        self._asked = None
        self._thread.ask(question)
        self._shared.tell("Looking for a context where showing something would help most; a minute, perhaps.")

    def _suggest(self, answer: Answer) -> None:
        if answer.problem is not None:
            self._shared.tell(answer.problem)
            return
        self._suggestions = answer.question, list(answer.suggested)
        self._show_next(self._suggestions[1])

    def _show_next(self, suggested: list[Suggestion]) -> None:
        """Go to the first of some contexts, which becomes the last."""
        if self._shared.robot.recorder.active:
            self._shared.tell("A context is suggested; save the recording or drop it first, then ask again.")
            return
        first = suggested.pop(0)
        suggested.append(first)
        self._shared.go_to(np.array(first.context))
        self._shared.tell(f"Show something here: {first.reason}.")


def exported(table: Path, holds: bool) -> str:
    """Sentence about a table that was written."""
    return f"Exported to {table}" + ("." if holds else "; this plan is predicted to fail.")


def promp_of(solution: Solution) -> ProMP:
    """The movement primitive of a solution."""
    assert solution.situation is not None
    return solution.situation.task.promp


def alike(old: Sequence[np.ndarray], colours: Sequence[int], new: Sequence[np.ndarray]) -> list[int]:
    """Colours of new paths [T, 3]: those of the old paths that they are most like, so that a way keeps its colour."""
    apart = np.array([[np.linalg.norm(one - other, axis=-1).mean() for other in old] for one in new])
    kept = {int(row): colours[column] for row, column in zip(*linear_sum_assignment(apart), strict=True)}
    free = (colour for colour in count() if colour not in kept.values())
    return [kept[i] if i in kept else next(free) for i in range(len(new))]
