"""`vigor robot`: a table within 80 columns, a picture, and one sentence for what is wrong."""

import pytest

from helpers import refused
from vigor.cli import main as cli
from vigor.motion.description import meshes

pytest.importorskip("yourdfpy")

URDF = """<robot name="gantry">
  <link name="frame"><collision><geometry><box size="0.2 0.2 0.2"/></geometry></collision></link>
  <link name="beam"><collision><geometry><mesh filename="package://gone/beam.stl"/></geometry></collision></link>
  <link name="pen"><collision><geometry><cylinder radius="0.1" length="0.5"/></geometry></collision></link>
  <joint name="a_joint_whose_name_is_as_long_as_those_of_large_robots" type="prismatic">
    <parent link="frame"/><child link="beam"/><axis xyz="1 0 0"/><limit lower="-1" upper="2" velocity="0.5"/>
  </joint>
  <joint name="[red]y" type="revolute">
    <parent link="beam"/><child link="pen"/><origin xyz="0 0 .3"/><axis xyz="0 1 0"/><limit lower="-1" upper="1"/>
  </joint>
</robot>
"""


@pytest.fixture
def urdf(tmp_path):
    path = tmp_path / "gantry.urdf"
    path.write_text(URDF)
    return path


def test_a_robot_is_shown_within_80_columns_and_drawn(urdf, tmp_path, capsys):
    cli.main(["robot", str(urdf), "--out", str(tmp_path / "gantry.png")])
    shown = capsys.readouterr().out
    assert all(len(line) <= 80 or line.startswith(str(tmp_path)) for line in shown.splitlines())
    words = " ".join(shown.split())
    assert "gantry: 2 joints from frame to pen" in words
    assert "slides, m" in words
    assert "[red]y" in words
    assert "m from frame; x -1.00 to 2.00, y 0.00 to 0.00" in words
    assert "links: frame, beam, pen" in words
    assert "capsules: " in words
    assert "could touch: frame and pen" in words
    assert "missing: largest velocity of [red]y" in words
    assert "missing: largest accelerations" in words
    assert "missing: capsule of beam: the mesh package://gone/beam.stl is not there" in words
    assert (tmp_path / "gantry.png").read_bytes().startswith(b"\x89PNG")


def test_without_a_robot_all_names_are_listed(capsys):
    cli.main(["robot"])
    shown = capsys.readouterr().out.split()
    assert {"so101", "ur5", "xarm7", "panda"} <= set(shown)


def test_wrong_robots_are_one_sentence(urdf, tmp_path, capsys):
    assert "no link 'pan' (did you mean pen?)" in refused(capsys, "robot", urdf, "--tool", "pan")
    assert "no robot 'ur55' (did you mean ur5?)" in refused(capsys, "robot", "ur55")
    assert "must be a .png file" in refused(capsys, "robot", urdf, "--out", tmp_path / "a.jpg")
    assert "does not exist" in refused(capsys, "robot", tmp_path / "no.urdf")
    urdf.write_text("hello")
    assert "not a readable XML file" in refused(capsys, "robot", urdf)


def test_nothing_that_a_file_names_is_fetched(urdf, monkeypatch, capsys):
    """A mesh on the network is missing, and no socket is opened."""
    import socket

    def refuse(*arguments):
        raise AssertionError("a socket was opened")

    monkeypatch.setattr(socket, "socket", refuse)
    urdf.write_text(URDF.replace("package://gone", "http://localhost"))
    assert meshes.find("http://localhost/beam.stl", urdf) is None
    cli.main(["robot", str(urdf)])
    assert "http://localhost/beam.stl is not there" in " ".join(capsys.readouterr().out.split())
