"""Descriptions of robots from files: URDF or MJCF, whichever a file is."""

from pathlib import Path

from vigor.basics.errors import UserError
from vigor.motion.description import Description, elements, mjcf, urdf


def read(path: str | Path) -> Description:
    """The robot that a file describes."""
    path = Path(path)
    root = elements.read(path)
    if root.tag == "robot":
        return urdf.read(path, root)
    if root.tag == "mujoco":
        return mjcf.read(path, root)
    raise UserError(f"{path} describes a {root.tag[:40]!r} instead of a robot; name a URDF or an MJCF file")
