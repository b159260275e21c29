"""Foreign programs of `torture.py` in robots' descriptions, scenes, pages and the working folder."""

import json
import os
import subprocess
import sys
from functools import partial
from pathlib import Path

from torture_foreign import PROGRAM, WAYS, Words, changed, way, written
from torture_processes import ROOT, TASK
from vigor.tasks import trust

# Robots and scenes


def _robot(content: str, path: str = "arm.urdf") -> Words:
    written(path, content)
    written("evil.py", PROGRAM), written("evil.so", b"\x7fELF"), written("evil.stl", PROGRAM)
    return "robot", path


def _urdf(head: str = "", name: str = "r", inside: str = "", mesh: str = "", joint: str = "") -> str:
    """A robot of a joint, with something else in it."""
    shown = f'<visual><geometry><mesh filename="{mesh}"/></geometry></visual>' if mesh else ""
    ends = '<parent link="a"/><child link="b"/><limit lower="-1" upper="1" velocity="1"/>'
    links = f'<link name="a">{shown}</link><link name="b"/>'
    return f'{head}<robot name="{name}">{inside}{links}<joint name="j" type="revolute">{ends}{joint}</joint></robot>'


ENTITY = '<!DOCTYPE r [<!ENTITY e SYSTEM "file:///proc/self/cwd/evil.py">]>'
LAUGHS = "".join(f'<!ENTITY l{i} "{f"&l{i - 1};" * 10}">' for i in range(1, 10))
MACRO = '<xacro:include xmlns:xacro="http://www.ros.org/wiki/xacro" filename="evil.py"/>'
ROBOTS = {
    "URDF: an entity from outside": _urdf(ENTITY, "&e;"),
    "URDF: entities without end": _urdf(f'<!DOCTYPE r [<!ENTITY l0 "ha">{LAUGHS}]>', "&l9;"),
    "URDF: macros": _urdf("", "$(eval open('mark', 'w'))", MACRO, joint='<origin xyz="${open(1)} 0 0"/>'),
    "URDF: a mesh that is a program": _urdf(mesh="evil.py"),
    "URDF: a mesh of a package": _urdf(mesh="package://os/../evil.stl"),
    "URDF: a mesh from the network": _urdf(mesh="http://localhost:1/evil.stl"),
    "URDF: a stylesheet": _urdf('<?xml-stylesheet type="text/python" href="evil.py"?>'),
    "URDF: a plugin": _urdf(joint='<plugin filename="evil.so"/>'),
}
BODY = '<worldbody><body name="b"><joint name="j" range="-1 1"/><geom size="1"/></body></worldbody>'
MODELS = {
    "MJCF: a plugin": f'<mujoco><extension><plugin plugin="evil.so"/></extension>{BODY}</mujoco>',
    "MJCF: another file": f'<mujoco><include file="evil.py"/><include file="/etc/passwd"/>{BODY}</mujoco>',
    "MJCF: itself": f'<mujoco><include file="arm.xml"/>{BODY}</mujoco>',
    "MJCF: a mesh that is a program": f'<mujoco><asset><mesh name="m" file="evil.py"/></asset>{BODY}</mujoco>',
}
for _name, _content in ROBOTS.items():
    WAYS[_name] = partial(_robot, _content)
for _name, _content in MODELS.items():
    WAYS[_name] = partial(_robot, _content, "arm.xml")


def _scene(robot: str) -> Words:
    written("scene/evil.py", PROGRAM), written("scene/robot_descriptions/evil.py", PROGRAM)
    file = Path("scene/small.toml")
    file.write_text(file.read_text().replace('"arm.urdf"', json.dumps(robot)))
    return "demos", "import", str(file), "scene/recorded", "--out", "new"


for _named in (
    "evil.py",
    "evil.py:ROBOT",
    "../scene/evil",
    "os",
    "evil_description",
    "__import__('evil')",
    "evil.urdf",
):
    WAYS[f"scene: the robot {_named}"] = partial(_scene, _named)


@way("scene: a run's own copy")
def _scene_copy() -> Words:
    written("scene_run/task.py", PROGRAM)
    changed("scene_run/scene.json", format="vigor-scene", robot={"program": "task.py"})
    changed("scene_run/config.json", task_digest=trust.digest(Path("scene_run/scene.json")))
    return "export", "scene_run", "--format", "csv", "--out", "new.csv"


# Pages, and the working folder


@way("report: a script in what is shown")
def _script() -> Words:
    changed("run/result.json", demos="<script>mark</script>", device="<script>mark</script>")
    return "report", "run", "--task", TASK


@way("report: a script in a benchmark")
def _script_row() -> Words:
    changed(str(next(Path("benchmark/cells").iterdir())), demonstrations="<script>mark()</script>")
    return "report", "benchmark"


def _started(*start: str) -> Words:
    """A new process in a folder with programs that are named as packages are."""
    for name in ("numpy", "jax", "h5py", "rosbags", "pyarrow", "sitecustomize", "tyro", "task", "vigor_user_task"):
        written(f"{name}.py", PROGRAM)
    words = ["demos", "check", "demos", "--task", "planar-reacher"]
    path = os.pathsep.join([str(ROOT / "src"), *filter(None, sys.path)])
    subprocess.run([sys.executable, *start, *words], env=os.environ | {"PYTHONPATH": path}, capture_output=True)
    return ("--version",)


@way("the working folder: packages")
def _packages() -> Words:
    script = written("bin/vigor", "from vigor.cli.main import main\nmain()\n")
    return _started(str(script))


@way("the working folder: packages, with python -m")
def _packages_of_module() -> Words:
    return _started("-m", "vigor")
