"""`vigor robot`."""

import math
from dataclasses import dataclass
from typing import Annotated

from tyro.conf import Positional, arg

from vigor.basics.device import use_device
from vigor.basics.errors import UserError
from vigor.cli.arguments import MaybeFile

LinkName = Annotated[str | None, arg(metavar="LINK", help_behavior_hint="")]


@dataclass(frozen=True)
class Robot:
    """Show a robot: joints and limits, links, reach, collisions that are looked for, and what is missing."""

    robot: Positional[Annotated[str | None, arg(metavar="ROBOT", help_behavior_hint="")]] = None
    """A name such as ur5, so101 or panda, or a URDF or MJCF file. Default: the names that are known are listed."""
    base: LinkName = None
    """Link that stands still. Default: that of the named robot, or the root."""
    tool: LinkName = None
    """Link of the tool. Default: that of the named robot, or the only end."""
    out: MaybeFile = None
    """A .png file for a picture."""

    def __call__(self, words: list[str]) -> int:
        from vigor.motion import catalogue
        from vigor.motion.robots import Robot as Arm
        from vigor.reports import figures
        from vigor.reports import robot as reports

        use_device("cpu")
        if self.robot is None:
            print("\n".join(catalogue.names()))
            return 0
        if self.out is not None and (self.out.suffix != ".png" or self.out.is_dir()):
            raise UserError(f"--out must be a .png file, not {self.out}")
        robot = Arm.load(self.robot, self.base, self.tool, velocity=math.inf, capsules=True)
        reports.show(robot)
        if self.out is not None:
            figures.save(reports.figure(robot), self.out)
            print(self.out)
        return 0
