"""Writes src/vigor/motion/panda/capsules.py: capsules of the built-in Panda, from the meshes of MuJoCo Menagerie.

    python benchmarks/panda_capsules.py

Capsules of hand and fingers, which are closed, are in the frame of the last link. Numbers are rounded to a tenth of a
millimetre, radii upwards, so that the capsules enclose the meshes still.
"""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np

import vigor
from vigor.motion.loading import with_pairs
from vigor.motion.robots import LinkCapsule, Robot
from vigor.motion.shapes import Capsule

PLACE = Path(__file__).parents[1] / "src" / "vigor" / "motion" / "panda" / "capsules.py"
HEAD = '''"""Capsules of the Panda with its hand, from the meshes of MuJoCo Menagerie (Apache-2.0).

Written by `python benchmarks/panda_capsules.py`.
"""

from vigor.motion.robots import LinkCapsule
from vigor.motion.shapes import Capsule

# fmt: off
'''


def rounded() -> Robot:
    """The Menagerie's Panda with capsules on its links alone."""
    robot = vigor.robot("franka_emika_panda", base="link0", tool="hand", velocity=math.inf, capsules=True)
    chain = robot.kinematics
    capsules = []
    for item in robot.capsules:
        link = chain.link(item.link)
        carrier = chain.link(f"link{link.joint}")
        moved = np.linalg.inv(carrier.frame.matrix) @ link.frame.matrix
        ends = [(moved @ [*end, 1.0])[:3].round(4) + 0.0 for end in (item.capsule.start, item.capsule.end)]
        radius = math.ceil(1e4 * item.capsule.radius + 1) / 1e4
        capsules.append(LinkCapsule(carrier.name, Capsule(*(tuple(end.tolist()) for end in ends), radius)))
    return with_pairs(replace(robot, capsules=tuple(capsules), pairs=()))


def main() -> None:
    robot = rounded()
    lines = ["CAPSULES = ("]
    for link, capsule in ((item.link, item.capsule) for item in robot.capsules):
        lines.append(f"    LinkCapsule({link!r}, Capsule({capsule.start}, {capsule.end}, {capsule.radius})),")
    lines += [")", "PAIRS = ("]
    words = [f"{pair}," for pair in robot.pairs]
    for first in range(0, len(words), 12):
        lines.append(f"    {' '.join(words[first : first + 12])}")
    lines += [")", '"""Numbers of the capsules that could touch each other."""']
    PLACE.write_text(HEAD + "\n".join(lines).replace("'", '"') + "\n")
    print(f"{PLACE}: {len(robot.capsules)} capsules, {len(robot.pairs)} pairs")


if __name__ == "__main__":
    main()
