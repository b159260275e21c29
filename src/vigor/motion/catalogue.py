"""Robots by name: those of the packages `example-robot-data` and `mujoco-menagerie`, or any file."""

from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

from vigor.basics.errors import UserError, near_misses
from vigor.basics.install import missing


class Known(NamedTuple):
    """Where a robot's description lies in `example-robot-data`, and its arm."""

    file: str
    base: str
    tool: str


ARMS = {
    "baxter-left": Known("baxter_description/urdf/baxter.urdf", "torso", "left_gripper"),
    "baxter-right": Known("baxter_description/urdf/baxter.urdf", "torso", "right_gripper"),
    "kinova": Known("kinova_description/robots/kinova.urdf", "base", "j2s6s200_end_effector"),
    "panda": Known("panda_description/urdf/panda.urdf", "panda_link0", "panda_hand_tcp"),
    "pr2-left": Known("pr2_description/urdf/pr2.urdf", "base_link", "l_gripper_tool_frame"),
    "pr2-right": Known("pr2_description/urdf/pr2.urdf", "base_link", "r_gripper_tool_frame"),
    "so100": Known("so_arm_description/urdf/so100.urdf", "base", "gripper"),
    "so101": Known("so_arm_description/urdf/so101.urdf", "base_link", "gripper_frame_link"),
    "talos-left": Known("talos_data/robots/talos_left_arm.urdf", "arm_left_1_link", "gripper_left_base_link"),
    "tiago": Known("tiago_description/robots/tiago.urdf", "base_footprint", "arm_tool_link"),
    "twodofs": Known("asr_twodof_description/urdf/TwoDofs.urdf", "ground", "Tip"),
    "ur3": Known("ur_description/urdf/ur3_robot.urdf", "base_link", "tool0"),
    "ur5": Known("ur_description/urdf/ur5_robot.urdf", "base_link", "tool0"),
    "ur10": Known("ur_description/urdf/ur10_robot.urdf", "base_link", "tool0"),
    "xarm7": Known("xarm_description/urdf/xarm7.urdf", "link_base", "link_eef"),
    "z1": Known("z1_description/urdf/z1.urdf", "link00", "gripperStator"),
}


class Found(NamedTuple):
    """A robot's file, and what is known of its arm."""

    name: str | None
    path: Path
    base: str | None = None
    tool: str | None = None


def names() -> list[str]:
    """Names of robots: those of `example-robot-data`, then those of MuJoCo Menagerie if its package is installed."""
    menagerie = _menagerie()
    return [*ARMS, *(menagerie.names() if menagerie is not None else ())]


def find(name: str | Path) -> Found:
    """The file of a robot by its name, or by its own path."""
    text = str(name)
    if text in ARMS:
        return Found(text, _shipped(text), ARMS[text].base, ARMS[text].tool)
    if Path(name).suffix.lower() in (".urdf", ".xml", ".mjcf") or Path(name).exists():
        return Found(None, Path(name))
    menagerie = _menagerie()
    if menagerie is not None and text in menagerie.names():
        return Found(text, _downloaded(menagerie, text))
    near = near_misses(text, names()) or f"; known are {', '.join(ARMS)}"
    raise UserError(f"there is no robot {text[:80]!r}{near}; a file is named by its path")


def _shipped(name: str) -> Path:
    """The file of a robot that `example-robot-data` has."""
    package = "example-robot-data"
    try:
        folder = Path(str(metadata.distribution(package).locate_file("cmeel.prefix/share"))) / package
    except metadata.PackageNotFoundError:
        raise missing(f"the robot {name} needs {package}", "robots") from None
    return folder / "robots" / ARMS[name].file


def _menagerie() -> Any:
    """The package `mujoco-menagerie`; None if it is not installed."""
    try:
        import mujoco_menagerie
    except ImportError:
        return None
    return mujoco_menagerie


def _downloaded(menagerie: Any, name: str) -> Path:
    """The file of a robot of MuJoCo Menagerie, which its package downloads or finds where MENAGERIE_ROOT says."""
    robot = menagerie.get(name)
    try:
        return robot.path(progress=None) / robot.entry(robot.default_model).file
    except (menagerie.MenagerieError, OSError) as error:
        raise UserError(
            f"the robot {name} of MuJoCo Menagerie cannot be had ({error}); set MENAGERIE_ROOT to a copy of it"
        ) from None
