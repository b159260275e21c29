"""Robots from files: poses are those of yourdfpy and of MuJoCo, and whatever is wrong is one sentence."""

import math
import xml.etree.ElementTree as ElementTree

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from helpers import SHARED, quick
from vigor.basics.errors import UserError
from vigor.motion.catalogue import find
from vigor.motion.description import elements
from vigor.motion.robots import Robot

yourdfpy = pytest.importorskip("yourdfpy")
mujoco = pytest.importorskip("vigor.basics.engine").mujoco
pytest.importorskip("cmeel", reason="example-robot-data is not installed")

MENAGERIE = SHARED / "models" / "mujoco_menagerie" / "franka_emika_panda"

URDF = """<?xml version="1.0"?>
<robot name="two-link">
  <link name="base"/><link name="upper"/><link name="lower"/><link name="hand"/>
  <link name="finger"/><link name="other"/>
  <joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/><axis xyz="0 0 1"/>
    <limit lower="-1.5" upper="2" velocity="1.2" effort="10"/></joint>
  <joint name="elbow" type="continuous"><parent link="upper"/><child link="lower"/><origin xyz="1 0 0"/>
    <axis xyz="0 0 1"/><limit velocity="2.5" effort="10"/></joint>
  <joint name="weld" type="fixed"><parent link="lower"/><child link="hand"/><origin xyz="0.5 0 0"/></joint>
  <joint name="finger" type="prismatic"><parent link="hand"/><child link="finger"/><axis xyz="0 2 0"/>
    <limit upper="0.04" velocity="0.1" effort="1"/></joint>
  <joint name="other_finger" type="prismatic"><parent link="hand"/><child link="other"/><axis xyz="0 1 0"/>
    <mimic joint="finger" multiplier="-1"/><limit upper="1" velocity="1" effort="1"/></joint>
</robot>
"""


@pytest.fixture
def urdf(tmp_path):
    path = tmp_path / "robot.urdf"
    path.write_text(URDF)
    return path


def poses(robot, count=4):
    return robot.random_poses(count, seed=1)


def frames(robot, joints):
    """Names, positions [pose, link, 3] and rotations [pose, link, 3, 3] of all links that move with the tool."""
    names = [link.name for link in robot.kinematics.links if link.joint > 0]
    with jax.enable_x64(True):
        found = quick(lambda q: robot.kinematics.frames(q, names))(jnp.asarray(joints))
    return names, np.asarray(found.position), np.asarray(found.rotation)


def assert_same_frame(position, rotation, matrix):
    """Within 1e-6 m and 1e-6 rad."""
    np.testing.assert_allclose(position, matrix[:3, 3], atol=1e-6)
    np.testing.assert_allclose(rotation, matrix[:3, :3], atol=1e-6)


def by_yourdfpy(path, robot, joints, names):
    """Frames [4, 4] of links in the robot's base."""
    model = yourdfpy.URDF.load(str(path), load_meshes=False)
    given = dict(zip(robot.joints, joints, strict=True))
    model.update_cfg({name: given.get(name, 0.0) for name in model.actuated_joint_names})
    return [model.get_transform(name, robot.kinematics.base) for name in names]


def by_mujoco(path, robot, joints, names):
    """The same by MuJoCo, without geometry; mimics are moved by hand."""
    root = ElementTree.parse(path).getroot()
    mimics = {joint.get("name"): joint.find("mimic") for joint in root.iter("joint") if joint.find("mimic") is not None}
    for link in root.iter("link"):
        for part in list(link):
            link.remove(part)
    extension = ElementTree.SubElement(root, "mujoco")
    ElementTree.SubElement(extension, "compiler", fusestatic="false", boundmass="1", boundinertia="1")
    model = mujoco.MjModel.from_xml_string(ElementTree.tostring(root, encoding="unicode"))
    data = mujoco.MjData(model)
    given = dict(zip(robot.joints, joints, strict=True))
    for name, mimic in mimics.items():
        leader = given.get(mimic.get("joint"), 0.0)
        given[name] = float(mimic.get("multiplier", 1)) * leader + float(mimic.get("offset", 0))
    for name, value in given.items():
        data.joint(name).qpos[0] = value
    mujoco.mj_kinematics(model, data)
    return [np.linalg.inv(matrix(data, robot.kinematics.base)) @ matrix(data, name) for name in names]


def matrix(data, name):
    """Frame of a body in the world, or the world's own, which is the root link of a URDF for MuJoCo."""
    found = np.eye(4)
    try:
        body = data.body(name)
    except KeyError:
        return found
    found[:3, :3], found[:3, 3] = body.xmat.reshape(3, 3), body.xpos
    return found


ARMS = {
    "so100": {},
    "so101": {},
    "ur5": {},
    "xarm7": {},
    "panda": {},
    "kinova": {},  # Continuous joints.
    "tiago": {},  # A torso that slides.
    "panda with a finger": {"name": "panda", "tool": "panda_rightfinger"},  # It mimics the other.
    "ur10 from the forearm": {"name": "ur10", "base": "forearm_link", "tool": "ee_link"},
}


@pytest.mark.parametrize("case", ARMS)
def test_poses_are_those_of_yourdfpy_and_mujoco(case):
    options = {"name": case} | ARMS[case]
    robot, path = Robot.load(**options), find(options["name"]).path
    joints = poses(robot)
    names, position, rotation = frames(robot, joints)
    # What the fingers do that are not on the way is no matter of the arm's.
    moved = [i for i, name in enumerate(names) if "finger" not in name or name == robot.kinematics.tool.name]
    names, position, rotation = [names[i] for i in moved], position[:, moved], rotation[:, moved]
    assert robot.kinematics.tool.name in names
    for i, pose in enumerate(joints):
        for other in (by_yourdfpy, by_mujoco):
            for j, expected in enumerate(other(path, robot, pose, names)):
                assert_same_frame(position[i, j], rotation[i, j], expected)


def test_arms_have_their_joints():
    for name, count, slides in (("so101", 5, 0), ("so100", 5, 0), ("ur5", 6, 0), ("xarm7", 7, 0), ("tiago", 8, 1)):
        robot = Robot.load(name)
        assert (len(robot.joints), sum(robot.slides)) == (count, slides)
    finger = Robot.load("panda", tool="panda_rightfinger")
    assert finger.joints[-1] == "panda_finger_joint1"
    assert finger.kinematics.joints[-1].coordinate == 7


@pytest.mark.skipif(not MENAGERIE.exists(), reason="the Menagerie's Panda is not beside the repository")
@pytest.mark.parametrize("tool", ["hand", "left_finger", "right_finger"])
def test_poses_of_an_mjcf_file_are_those_of_mujoco(tool):
    robot = Robot.load(MENAGERIE / "panda.xml", tool=tool, velocity=2.0)
    model = mujoco.MjModel.from_xml_path(str(MENAGERIE / "panda.xml"))
    data = mujoco.MjData(model)
    joints = poses(robot)
    position, rotation = frames(robot, joints)[1:]
    names = frames(robot, joints)[0]
    for i, pose in enumerate(joints):
        for name, value in zip(robot.joints, pose, strict=True):
            data.joint(name).qpos[0] = value
        for number in (1, 2) if tool != "hand" else ():  # One follows the other.
            data.joint(f"finger_joint{number}").qpos[0] = pose[-1]
        mujoco.mj_kinematics(model, data)
        for name in ("link3", "link7", tool):
            j = names.index(name)
            assert_same_frame(position[i, j], rotation[i, j], matrix(data, name))


MJCF = """<mujoco model="odd">
  <compiler angle="degree" eulerseq="zyx"/>
  <asset>
    <mesh name="gone" file="gone.stl"/><texture name="t" type="2d" file="gone.png"/><material name="m" texture="t"/>
  </asset>
  <worldbody>
    <geom type="plane" size="1 1 1"/>
    <body name="stand" pos="0 0 1" euler="30 20 10">
      <geom type="mesh" mesh="gone" material="m" pos="0 0 .1" euler="90 0 0"/>
      <body name="cart" pos="1 0 0">
        <joint name="rail" type="slide" axis="1 1 0" range="-1 2"/>
        <joint name="turn" axis="0 0 1" pos=".1 .2 .3" ref="40" range="-90 90"/>
        <geom size=".1"/>
        <body name="arm" pos="0 0 .5">
          <joint name="back" axis="1 0 0" limited="false"/>
          <geom type="capsule" size=".05 .2"/>
          <site name="tip" pos="0 .3 0" euler="0 45 0"/>
        </body>
      </body>
    </body>
  </worldbody>
  <equality><joint joint1="back" joint2="turn" polycoef=".1 -2 0 0 0"/></equality>
  <sensor><jointpos joint="turn"/></sensor>
  <actuator><position joint="turn" kp="1"/></actuator>
</mujoco>
"""


def test_an_mjcf_file_may_have_several_joints_on_a_body_and_zeros_elsewhere(tmp_path):
    """Offsets of joints, references, sites, equalities; meshes and textures that are not there are not needed."""
    path = tmp_path / "odd.xml"
    path.write_text(MJCF)
    robot = Robot.load(path, tool="tip", velocity=1.0)
    assert robot.joints == ("rail", "turn")
    assert robot.slides == (True, False)
    np.testing.assert_allclose(robot.position, [(-1, 2), (-math.pi / 2, math.pi / 2)])
    plain = MJCF.replace('<geom type="mesh" mesh="gone" material="m" pos="0 0 .1" euler="90 0 0"/>', "")
    plain = plain[: plain.index("<asset>")] + plain[plain.index("</asset>") + 8 :]
    model = mujoco.MjModel.from_xml_string(plain)
    data = mujoco.MjData(model)
    joints = poses(robot)
    with jax.enable_x64(True):
        found = quick(robot.kinematics.frames)(jnp.asarray(joints))
    for i, (rail, turn) in enumerate(joints):
        data.qpos[:] = rail, turn, 0.1 - 2 * (turn - math.radians(40))
        mujoco.mj_kinematics(model, data)
        site = data.site("tip")
        np.testing.assert_allclose(found.position[i, 0], site.xpos, atol=1e-9)
        np.testing.assert_allclose(found.rotation[i, 0], site.xmat.reshape(3, 3), atol=1e-9)


def test_a_tool_offset_moves_the_end_effector_in_the_tools_frame(urdf):
    robot = Robot.load(urdf, tool="hand", tool_offset=(0.1, 0.2, 0.3))
    with jax.enable_x64(True):
        points = np.asarray(robot.kinematics(jnp.array([math.pi / 2, 0.0])))
    np.testing.assert_allclose(points, [[0, 0, 0], [0, 0, 0], [0, 1, 0], [-0.2, 1.6, 0.3]], atol=1e-15)


def test_limits_names_and_units_come_from_the_file(urdf):
    robot = Robot.load(urdf, tool="other", acceleration=3.0)
    assert robot.joints == ("shoulder", "elbow", "finger")
    assert robot.position == ((-1.5, 2.0), (-math.inf, math.inf), (0.0, 0.04))
    assert robot.velocity == (1.2, 2.5, 0.1)
    assert robot.acceleration == (3.0, 3.0, 3.0)
    assert robot.slides == (False, False, True)
    assert robot.missing == ()
    assert Robot.load(urdf, tool="hand").missing == ("largest accelerations",)


def test_a_speed_that_the_file_does_not_say_is_given_or_not_known(urdf):
    urdf.write_text(URDF.replace(' velocity="1.2"', ""))
    with pytest.raises(UserError, match="gives shoulder no velocity limit"):
        Robot.load(urdf, tool="hand")
    assert Robot.load(urdf, tool="hand", velocity=0.7).velocity == (0.7, 2.5)
    unknown = Robot.load(urdf, tool="hand", velocity=math.inf)
    assert unknown.missing == ("largest velocity of shoulder", "largest accelerations")


def test_joints_off_the_way_stay_as_near_to_zero_as_their_limits_let_them(urdf):
    urdf.write_text(URDF.replace('<limit upper="0.04"', '<limit lower="0.01" upper="0.04"'))
    links = {link.name: link for link in Robot.load(urdf, tool="hand").kinematics.links}
    assert links["finger"].frame.position == (0.5, 0.01, 0.0)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda text: text[:-20], "not a readable XML file"),
        (lambda text: "hello", "not a readable XML file"),
        (lambda text: "", "not a readable XML file"),
        (lambda text: '<?xml version="1.0" encoding="morse"?>' + text, "not a readable XML file"),
        (lambda text: '<!DOCTYPE robot [<!ENTITY a "b">]>' + text.partition("?>")[2], "document type"),
        (lambda text: "<sdf/>", "'sdf' instead of a robot"),
        (lambda text: "<robot/>", "no links"),
        (
            lambda text: text.replace("<robot", '<robot xmlns:x="http://ros.org/xacro"').replace("link", "x:link"),
            "xacro",
        ),
        (lambda text: text.replace('"1.2"', '"fast"'), "velocity of the limit of shoulder has 'fast'"),
        (lambda text: text.replace('"1.2"', '"1_0"'), "has '1_0', which is no finite number"),
        (lambda text: text.replace('"1.2"', '"\uff11"'), "has '\uff11', which is no finite number"),
        (lambda text: text.replace('"1.2"', '"nan"'), "has 'nan', which is no finite number"),
        (lambda text: text.replace('"1.2"', '"1e999"'), "has '1e999', which is no finite number"),
        (lambda text: text.replace('xyz="1 0 0"', 'xyz="1 0"'), "xyz of the origin of elbow must have 3 numbers"),
        (lambda text: text.replace('xyz="1 0 0"', 'xyz="1 0 1e9"'), "no finite number of a sensible size"),
        (lambda text: text.replace('"0 0 1"', '"0 0 0"'), "joint shoulder has an axis without direction"),
        (lambda text: text.replace('upper="2"', 'upper="-2"'), "shoulder of two-link needs a lower limit below"),
        (lambda text: text.replace('name="elbow"', 'name="el&#10;bow"'), "name is empty or not printable: 'el.nbow'"),
        (lambda text: text.replace('link name="upper"', 'link name="&#133;"'), "not printable"),
        (lambda text: text.replace('name="elbow"', 'name="shoulder"'), "several joints named 'shoulder'"),
        (lambda text: text.replace('type="continuous"', 'type="screw"'), "elbow is 'screw'; it must be one of"),
        (lambda text: text.replace('type="continuous"', 'type="floating"'), "elbow between base and hand is floating"),
        (
            lambda text: text.replace('type="continuous"', 'type="planar"'),
            "planar, which no single number moves; name a b",
        ),
        (lambda text: text.replace('<child link="upper"/>', ""), "joint shoulder has no child"),
        (lambda text: text.replace('<child link="upper"/>', '<child link="uper"/>'), "a link 'uper' that is not there"),
        (
            lambda text: text.replace('<child link="hand"/>', '<child link="upper"/>'),
            "has a loop: several joints lead to upp",
        ),
        (lambda text: text.replace('<parent link="base"/>', '<parent link="hand"/>'), "has a loop through"),
    ],
)
def test_a_wrong_urdf_is_one_sentence(urdf, change, said):
    urdf.write_text(change(URDF))
    with pytest.raises(UserError, match=said) as raised:
        Robot.load(urdf, tool="hand")
    assert str(raised.value).isprintable()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, "name the tool's link; it has several ends: finger, other"),
        ({"tool": "hnad"}, r"no link 'hnad' \(did you mean hand\?\)"),
        ({"tool": "xyz"}, "no link 'xyz'; it has base, upper, lower, hand, finger, other"),
        ({"base": "finger", "tool": "other"}, "no way leads from finger outwards to other"),
        ({"base": "lower", "tool": "hand"}, "no joint moves between lower and hand"),
        ({"base": "hand", "tool": "hand"}, "no joint moves between hand and hand"),
        ({"tool": "hand", "tool_offset": (0.0, 0.0, math.nan)}, "3 finite numbers"),
    ],
)
def test_a_wrong_arm_is_one_sentence(urdf, options, said):
    with pytest.raises(UserError, match=said):
        Robot.load(urdf, **options)


def test_mimics_need_a_joint_that_moves(urdf):
    urdf.write_text(URDF.replace('mimic joint="finger"', 'mimic joint="fingr"'))
    assert Robot.load(urdf, tool="hand").joints == ("shoulder", "elbow")
    with pytest.raises(UserError, match=r"other_finger mimics 'fingr', .* \(did you mean finger\?\)"):
        Robot.load(urdf, tool="other")
    urdf.write_text(URDF.replace('mimic joint="finger"', 'mimic joint="other_finger"'))
    with pytest.raises(UserError, match="mimics a joint that mimics it"):
        Robot.load(urdf, tool="other")


def test_huge_files_and_things_that_are_no_files_are_refused(urdf, tmp_path, monkeypatch):
    monkeypatch.setattr(elements, "MAX_BYTES", 100)
    with pytest.raises(UserError, match="is larger than"):
        Robot.load(urdf)
    with pytest.raises(UserError, match="is not a file"):
        Robot.load(tmp_path)
    with pytest.raises(UserError, match="does not exist"):
        Robot.load(tmp_path / "nothing.urdf")


MJCF_BALL = '<mujoco><worldbody><body><joint name="turn" type="ball"/><geom size="1"/></body></worldbody></mujoco>'
MJCF_LOOP = """<mujoco><worldbody><body name="upper"><geom size="1"/><body name="middle"><joint name="first"/>
<geom size="1"/><body name="lower"><joint name="second"/><geom size="1"/></body></body></body></worldbody>
<equality><connect body1="upper" body2="lower" anchor="0 0 1"/></equality></mujoco>"""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("<mujoco><worldbody><body/></worldbody>", "not a readable XML file"),
        ("<mujoco><worldbdy/></mujoco>", "not a readable MJCF file: .*worldbdy"),
        ('<mujoco><include file="gone.xml"/></mujoco>', "gone.xml does not exist"),
        ('<mujoco><include file="/dev/zero"/></mujoco>', "/dev/zero is not a file"),
        ("<mujoco/>", "no joint moves anything beyond world"),
        (MJCF.replace("-2 0 0 0", "-2 1 0 0"), "follows another by a curve"),
        (
            '<mujoco><worldbody><body name="b"><freejoint/><geom size="1"/></body></worldbody></mujoco>',
            "beyond world is floating",
        ),
        (MJCF_BALL, "turn beyond world is ball, which no single number moves"),
        (MJCF_LOOP, "has a loop: first is bound by what holds upper to lower"),
    ],
)
def test_a_wrong_mjcf_file_is_one_sentence(tmp_path, text, said):
    path = tmp_path / "robot.xml"
    path.write_text(text)
    with pytest.raises(UserError, match=said):
        Robot.load(path, velocity=1.0)


BODY = (
    '<mujoco><worldbody><body name="b" {0}><joint name="j" range="-1 1"/><geom size="{1}"/></body></worldbody></mujoco>'
)


@pytest.mark.parametrize(
    ("pos", "size", "said"),
    [
        ("nan 0 0", "0.1", "pos of body is 'nan 0 0', which is no finite number"),
        ("0 -Inf 0", "0.1", "pos of body is '0 -Inf 0', which is no finite number"),
        ("1e30 0 0", "0.1", "is at no place of a sensible size"),
        ("0 0 0", "1e20", "b has a geometry of no sensible size"),
    ],
)
def test_an_mjcf_file_with_numbers_that_are_none_is_one_sentence(tmp_path, monkeypatch, capfd, pos, size, said):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "arm.xml").write_text(BODY.format(f'pos="{pos}"', size))
    with pytest.raises(UserError, match=said):
        Robot.load("arm.xml")
    assert [path.name for path in tmp_path.iterdir()] == ["arm.xml"], "MuJoCo itself leaves a log"
    assert capfd.readouterr().err == ""


def test_a_urdf_gives_limits_alone_of_joints_that_move_by_themselves(urdf):
    robot = Robot.from_urdf(urdf)
    assert robot.name == "two-link"
    assert robot.joints == ("shoulder", "elbow", "finger")
    assert robot.position == ((-1.5, 2.0), (-math.inf, math.inf), (0.0, 0.04))
    assert robot.velocity == (1.2, 2.5, 0.1)
    assert robot.acceleration is None
    assert robot.kinematics is None
    named = Robot.from_urdf(urdf, ("elbow", "shoulder"), acceleration=3.0, thickness=0.05)
    assert named.joints == ("elbow", "shoulder")
    assert (named.velocity, named.acceleration, named.thickness) == ((2.5, 1.2), (3.0, 3.0), 0.05)
    with pytest.raises(UserError, match="no moving joint 'weld'; it has shoulder, elbow, finger"):
        Robot.from_urdf(urdf, ("weld",))
