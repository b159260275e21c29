"""The Franka Panda: limits, kinematics, dimensions and capsules; `model.py` has it for MuJoCo."""

import math

from vigor.motion.kinematics import Chain
from vigor.motion.panda.capsules import CAPSULES, PAIRS
from vigor.motion.robots import Robot

SHOULDER, FLANGE, OFFSET = 0.333, 0.107, 0.088
"""Height of the shoulder, length from the wrist down to the flange, and from the wrist forward to the flange's axis."""
UPPER, LOWER = (0.0825, 0.316), (-0.0825, 0.384)
"""Shoulder to elbow and elbow to wrist, forward and up, when all joints are at zero."""


_QUARTER = math.pi / 2
DH = (
    (0.0, 0.0, SHOULDER),
    (0.0, -_QUARTER, 0.0),
    (0.0, _QUARTER, UPPER[1]),
    (UPPER[0], _QUARTER, 0.0),
    (LOWER[0], -_QUARTER, LOWER[1]),
    (0.0, _QUARTER, 0.0),
    (OFFSET, _QUARTER, 0.0),
)
"""Modified Denavit-Hartenberg parameters (a, alpha, d) of every joint."""


TOOL = 0.212
"""Length from joint 7 to the tool point: the flange and a hand."""


def chain(tool: float = TOOL) -> Chain:
    """Kinematics with the tool point so far beyond joint 7."""
    return Chain.from_dh(DH, tool)


PANDA = Robot(
    name="Franka Panda",
    joints=tuple(f"panda_joint{i}" for i in range(1, 8)),
    position=(
        (-2.8973, 2.8973),
        (-1.7628, 1.7628),
        (-2.8973, 2.8973),
        (-3.0718, -0.0698),
        (-2.8973, 2.8973),
        (-0.0175, 3.7525),
        (-2.8973, 2.8973),
    ),
    velocity=(2.175, 2.175, 2.175, 2.175, 2.61, 2.61, 2.61),
    acceleration=(15.0, 7.5, 10.0, 12.5, 15.0, 20.0, 20.0),
    thickness=0.06,
    kinematics=chain(),
    capsules=CAPSULES,
    pairs=PAIRS,
)
"""From the manufacturer's data sheet; the thickness is that of the slimmer half of its links."""
