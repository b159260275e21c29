"""Violations of constraints: which one a movement violates, by how much, and the margins of all."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from vigor.planning.constraints import Constraints, Margins
from vigor.planning.demands import Met

_Demand = Literal["via", "pointing"]
Kind = Literal["position", "keep-out", "itself", "via", "pointing", "velocity"]
"""Kinds of constraints, with which the names of margins begin."""


def smallest(constraints: Constraints, found: Margins) -> dict[str, float]:
    """Margins of one movement by the constraint's name; position and pointing in radians, velocity as a part, others in
    metres.

    A joint that turns without end has no margin, nor a robot of which no links are known that could touch.
    """
    limits: dict[str, Any] = {}
    if constraints.robot is not None:
        limits = {"position": np.min(found.position), "velocity": np.min(found.velocity), "itself": found.itself}
    for name, values in (("keep-out", found.clearance), ("via", found.met.via), ("pointing", found.met.pointing)):
        limits |= {f"{name} {i}": value for i, value in enumerate(values, start=1)}
    return {name: float(value) for name, value in limits.items() if np.isfinite(value)}


def by_kind(margins: Mapping[str, float]) -> dict[Kind, dict[str, float]]:
    """Margins of each kind of constraint by its number as a word; without one where a movement has one of a kind."""
    found: dict[Any, dict[str, float]] = {}
    for name, value in margins.items():
        kind, _, number = name.partition(" ")
        found.setdefault(kind, {})[number] = value
    return found


@dataclass(frozen=True)
class Violation:
    """A constraint that a movement violates, by how much, and for a speed how long it would have to take instead."""

    kind: Kind
    name: str
    """Joint, number of the keep-out or demand counted from 1, or the robot."""
    amount: float
    """Radians or metres beyond, or for a speed the part of the largest one."""
    seconds: float | None = None
    """Duration at which a speed would hold; None for what more time does not mend."""

    def __str__(self) -> str:
        match self.kind:
            case "position":
                return f"the limit of {self.name} by {self.amount:.3f}"
            case "keep-out":
                return f"keep-out {self.name}: a link is {self.amount:.3f} inside"
            case "itself":
                return f"{self.name} itself: a link is {self.amount:.3f} inside another"
            case "via":
                return f"via-point {self.name}: the tool stays {self.amount:.3f} too far away"
            case "pointing":
                return f"direction {self.name}: the tool is turned {np.degrees(self.amount):.1f} degrees too far"
            case _:
                return f"the largest speed of {self.name}, which would need {self.seconds:.1f} s"


def violation(constraints: Constraints, found: Margins) -> Violation | None:
    """The constraint that one movement violates: joint limits first, then keep-outs, the robot itself, demands, then
    velocity.

    Velocity comes last because it alone is mended by more time: where it is named, nothing else is violated. What is
    not a number violates too.
    """
    robot = constraints.robot
    if robot is not None:
        joint = int(np.argmin(found.position))
        if not found.position[joint] >= 0:
            return Violation("position", robot.joints[joint], float(-found.position[joint]))
    for number, clearance in enumerate(found.clearance, start=1):
        if not clearance >= 0:
            return Violation("keep-out", str(number), float(-clearance))
    if not found.itself >= 0:
        return Violation("itself", "the robot" if robot is None else robot.name, float(-found.itself))
    missed = unmet(found.met)
    if robot is None or missed is not None:
        return missed
    joint = int(np.argmin(found.velocity))
    margin = float(found.velocity[joint])
    if margin >= 0:
        return None
    return Violation("velocity", robot.joints[joint], -margin, constraints.moving * (1 - margin) + constraints.hold)


def unmet(found: Met) -> Violation | None:
    """The demand on the tool that one movement does not meet."""
    for kind, margins in zip(get_args(_Demand), found, strict=True):
        for number, margin in enumerate(margins, start=1):
            if not margin >= 0:
                return Violation(kind, str(number), float(-margin))
    return None
