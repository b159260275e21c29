"""Capsules enclose what they are drawn around, closely."""

import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from vigor.basics.errors import UserError
from vigor.motion.capsules import PARTS, around, enclosing
from vigor.motion.description import Solid, meshes
from vigor.motion.kinematics import Frame

trimesh = pytest.importorskip("trimesh")


def outside(points, capsules):
    """Distance of the farthest point outside of all capsules."""
    distances = []
    for capsule in capsules:
        start, way = np.array(capsule.start), np.subtract(capsule.end, capsule.start)
        share = np.clip((points - start) @ way / max(way @ way, 1e-12), 0, 1)
        distances.append(np.linalg.norm(points - start - share[:, None] * way, axis=1) - capsule.radius)
    return np.min(distances, axis=0).max()


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 1000), scale=st.sampled_from([1e-3, 1.0, 30.0]), count=st.integers(1, 30))
@example(seed=1, scale=30.0, count=2)  # Two points far apart, of which a capsule without digits to spare missed one.
def test_a_capsule_encloses_its_points(seed, scale, count):
    points = scale * np.random.default_rng(seed).normal(size=(count, 3)) * [3.0, 1.0, 0.5] + 5 * scale
    assert outside(points, [enclosing(points)]) < 1e-9 * scale + 1e-12


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 1000), length=st.floats(0.3, 3.0))
def test_a_capsule_is_found_from_its_surface(seed, length):
    """Hardly larger than the one whose surface the points are on."""
    rng = np.random.default_rng(seed)
    axis, centre = rng.normal(size=(2, 3))
    axis /= np.linalg.norm(axis)
    ball = rng.normal(size=(600, 3))
    ball /= np.linalg.norm(ball, axis=1, keepdims=True)
    points = centre + 0.2 * ball + np.sign(ball @ axis)[:, None] * length / 2 * axis
    found = enclosing(points)
    assert found.volume < 1.05 * math.pi * 0.2**2 * (length + 4 / 3 * 0.2)
    way = np.subtract(found.end, found.start)
    assert abs(way @ axis) / np.linalg.norm(way) > 0.99


def test_spheres_and_capsules_are_themselves(tmp_path):
    frame = Frame((1.0, 2.0, 3.0), ((0.0, 0.0, 1.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)))
    (ball,) = around([Solid("sphere", frame, (0.3,))], tmp_path)
    assert (ball.start, ball.end, ball.radius) == ((1.0, 2.0, 3.0), (1.0, 2.0, 3.0), 0.3)
    (rod,) = around([Solid("capsule", frame, (0.3, 2.0))], tmp_path)
    assert (rod.start, rod.end, rod.radius) == ((0.0, 2.0, 3.0), (2.0, 2.0, 3.0), 0.3)


def test_shapes_are_enclosed(tmp_path):
    solids = [
        Solid("box", Frame((0.0, 0.0, 0.1)), (0.2, 0.1, 0.3)),
        Solid("cylinder", Frame((0.1, 0.0, 0.0)), (0.05, 0.4)),
        Solid("sphere", Frame((0.0, 0.2, 0.0)), (0.07,)),
    ]
    angles = np.linspace(0, 2 * np.pi, 100)
    rim = np.stack([0.1 + 0.05 * np.cos(angles), 0.05 * np.sin(angles), np.full(100, 0.2)], axis=1)
    ball = np.random.default_rng(0).normal(size=(500, 3))
    ball = np.array([0.0, 0.2, 0.0]) + 0.07 * ball / np.linalg.norm(ball, axis=1, keepdims=True)
    corners = np.array(np.meshgrid([-0.1, 0.1], [-0.05, 0.05], [-0.05, 0.25])).reshape(3, -1).T
    assert outside(np.concatenate([rim, rim * [1, 1, -1], ball, corners]), around(solids, tmp_path)) < 1e-9


def test_a_bent_link_has_several_capsules_that_enclose_it_and_are_smaller_than_one(tmp_path):
    bent = trimesh.util.concatenate(
        [
            trimesh.creation.box(bounds=[[0, 0, 0], [1.0, 0.1, 0.1]]),
            trimesh.creation.box(bounds=[[0.9, 0, 0], [1.0, 0.1, 1.0]]),
        ]
    ).subdivide()
    bent.export(tmp_path / "bent.stl")
    found = around([Solid("mesh", Frame(), (2.0, 2.0, 2.0), "bent.stl")], tmp_path / "robot.urdf")
    assert 2 <= len(found) <= PARTS
    surface = 2.0 * trimesh.sample.sample_surface(bent, 2000, seed=0)[0]
    assert outside(surface, found) < 1e-6
    assert sum(capsule.volume for capsule in found) < 0.3 * enclosing(2.0 * bent.vertices).volume


def test_meshes_are_found_beside_the_file_and_in_packages(tmp_path, monkeypatch):
    file = tmp_path / "arm_description" / "urdf" / "arm.urdf"
    mesh = tmp_path / "arm_description" / "meshes" / "a.stl"
    for folder in (mesh.parent, file.parent):
        folder.mkdir(parents=True)
    mesh.touch()
    assert meshes.find("package://arm_description/meshes/a.stl", file) == mesh
    assert meshes.find("../meshes/a.stl", file).resolve() == mesh
    assert meshes.find(f"file://{mesh}", file) == mesh
    assert meshes.find("package://other/meshes/a.stl", file) is None
    assert meshes.find("http://arm_description/meshes/a.stl", file) is None
    other = tmp_path / "ros" / "other" / "b.stl"
    other.parent.mkdir(parents=True)
    other.touch()
    monkeypatch.setenv("ROS_PACKAGE_PATH", f"/nowhere:{tmp_path / 'ros'}")
    assert meshes.find("package://other/b.stl", file) == other


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.stl", b"solid nothing", "cannot be read|no faces"),
        ("a.stl", b"\x00" * 200, "cannot be read|no faces"),
        ("a.obj", b"", "cannot be read|no faces"),
        ("a.zip", b"PK", "no mesh that is read"),
        ("a.stl", None, "a.stl is not there"),
        ("a.stl", b"0" * 2000, "is larger than"),
    ],
)
def test_a_wrong_mesh_is_one_sentence(tmp_path, monkeypatch, name, content, said):
    monkeypatch.setattr(meshes, "MAX_BYTES", 1000)
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(UserError, match=said):
        around([Solid("mesh", Frame(), (1.0, 1.0, 1.0), name)], tmp_path / "robot.urdf")
