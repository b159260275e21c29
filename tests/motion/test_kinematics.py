"""Chains against complex numbers, matrix products, MuJoCo and the published end-effector positions."""

from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import quick
from vigor.basics.errors import UserError
from vigor.motion.kinematics import Chain, Frame, Joint, Link, PlanarChain, path
from vigor.motion.panda import PANDA
from vigor.motion.panda import chain as panda

SHARED = Path(__file__).parents[3] / "shared"
PUBLISHED = SHARED / "published" / "VIGOR" / "environments" / "panda_reacher" / "promp_fits"
MENAGERIE = SHARED / "models" / "mujoco_menagerie" / "franka_emika_panda" / "panda_nohand.xml"

LINKS = (1.0, 0.5, 2.0, 0.1)
DH = [
    (0, 0, 0.333),
    (0, -np.pi / 2, 0),
    (0, np.pi / 2, 0.316),
    (0.0825, np.pi / 2, 0),
    (-0.0825, -np.pi / 2, 0.384),
    (0, np.pi / 2, 0),
    (0.088, np.pi / 2, 0),
]

compiled = jax.jit(lambda chain, joints: chain(joints), static_argnums=0)


def exact(chain, joints):
    """Points in double precision."""
    with jax.enable_x64(True):
        return np.asarray(compiled(chain, jnp.asarray(joints)))


def poses(count):
    """Random Panda configurations [count, 7] within the joint limits."""
    low, high = np.array(PANDA.position).T
    return np.random.default_rng(0).uniform(low, high, (count, 7))


def frames(joints):
    """Frame [4, 4] of every Panda joint by a product of homogeneous matrices."""
    frame, every = np.eye(4), []
    for (a, alpha, d), angle in zip(DH, joints, strict=True):
        c, s, ca, sa = np.cos(angle), np.sin(angle), np.cos(alpha), np.sin(alpha)
        frame = frame @ np.array(
            [[c, -s, 0, a], [s * ca, c * ca, -sa, -d * sa], [s * sa, c * sa, ca, d * ca], [0, 0, 0, 1]]
        )
        every.append(frame)
    return every


def central_differences(function, point, step=1e-6):
    """Gradient [n] of a function of [n]."""
    moves = step * np.eye(len(point))
    return np.array([(function(point + move) - function(point - move)) / (2 * step) for move in moves])


def test_planar_chain_is_a_sum_of_complex_numbers():
    joints = np.random.default_rng(0).uniform(-4, 4, (6, 4))
    links = np.array(LINKS) * np.exp(1j * np.cumsum(joints, axis=1))
    ends = np.concatenate([np.zeros((6, 1)), np.cumsum(links, axis=1)], axis=1)
    points = exact(PlanarChain(LINKS), joints)
    assert points.shape == (6, 5, 2)
    np.testing.assert_allclose(points, np.stack([ends.real, ends.imag], axis=-1), atol=1e-13)


def test_straight_planar_chain_lies_along_x():
    points = PlanarChain((1.0, 2.0))(jnp.zeros(2))
    np.testing.assert_array_equal(points, [[0, 0], [1, 0], [3, 0]])


def test_panda_is_a_product_of_matrices():
    joints = poses(20)
    points = exact(panda(), joints)
    assert points.shape == (20, 9, 3)
    for pose, found in zip(joints, points, strict=True):
        every = frames(pose)
        np.testing.assert_array_equal(found[0], 0.0)
        np.testing.assert_allclose(found[1:8], [frame[:3, 3] for frame in every], atol=1e-14)
        np.testing.assert_allclose(found[8], (every[-1] @ [0, 0, 0.212, 1])[:3], atol=1e-14)


def test_panda_is_accurate_in_single_precision():
    joints = poses(20)
    np.testing.assert_allclose(compiled(panda(), jnp.asarray(joints, jnp.float32)), exact(panda(), joints), atol=2e-6)


def test_joints_that_are_not_given_stay_at_zero():
    joints = poses(3)
    still = joints.copy()
    still[:, 6] = 0.0
    np.testing.assert_allclose(exact(panda(), joints[:, :6]), exact(panda(), still), atol=1e-15)


def test_chains_keep_batch_axes():
    joints = poses(6).reshape(2, 3, 7)
    points = exact(panda(), joints)
    assert points.shape == (2, 3, 9, 3)
    np.testing.assert_allclose(points[1, 2], exact(panda(), joints[1, 2]), atol=1e-15)


def test_a_path_is_its_own_end_effector():
    coordinates = np.random.default_rng(0).normal(size=(4, 5, 2)).astype(np.float32)
    points = path(jnp.asarray(coordinates))
    assert points.shape == (4, 5, 1, 2)
    np.testing.assert_array_equal(points[..., -1, :], coordinates)


@pytest.mark.parametrize(
    ("chain", "joints"), [(PlanarChain(LINKS), poses(1)[0, :4]), (panda(), poses(1)[0])], ids=["planar", "panda"]
)
def test_gradients_are_those_of_finite_differences(chain, joints):
    direction = np.random.default_rng(1).normal(size=exact(chain, joints).shape)
    with jax.enable_x64(True):
        gradient = jax.jit(jax.grad(lambda q: jnp.sum(chain(q) * direction)))(jnp.asarray(joints))
    expected = central_differences(lambda q: np.sum(exact(chain, q) * direction), joints)
    np.testing.assert_allclose(gradient, expected, atol=1e-8)


def matrix_points(parameters, tool, angles):
    """Points [joints + 2, 3] of a chain of parameters [joints, 3] by a product of 4 x 4 matrices."""
    frame, points = jnp.eye(4), [jnp.zeros(3)]
    for (a, alpha, d), angle in zip(parameters, angles, strict=True):
        c, s, ca, sa = jnp.cos(angle), jnp.sin(angle), jnp.cos(alpha), jnp.sin(alpha)
        frame = frame @ jnp.array(
            [[c, -s, 0, a], [s * ca, c * ca, -sa, -d * sa], [s * sa, c * sa, ca, d * ca], [0, 0, 0, 1]]
        )
        points.append(frame[:3, 3])
    return jnp.stack([*points, frame[:3] @ jnp.stack([0.0, 0.0, tool, 1.0])])


matrix_jacobian = quick(jax.jacrev(matrix_points, argnums=2))


@given(
    seed=st.integers(0, 2**32 - 1), count=st.integers(1, 4), still=st.integers(0, 3), scale=st.sampled_from([1e-3, 1.0])
)
@settings(max_examples=12, deadline=None)
def test_the_gradient_of_a_serial_chain_is_that_of_matrices_and_of_finite_differences(seed, count, still, scale):
    """For every coordinate of every point; joints that are not given do not move."""
    moved = max(1, count - still)
    rng = np.random.default_rng(seed)
    parameters = rng.normal(size=(count, 3)) * [scale, 2.0, scale]
    angles = np.concatenate([rng.uniform(-4, 4, moved), np.zeros(count - moved)])
    tool = scale * rng.normal()
    chain = Chain.from_dh(parameters.tolist(), tool)
    moves = 1e-5 * np.eye(moved)
    with jax.enable_x64(True):
        jacobian, ahead, behind = quick(lambda q: (jax.jacrev(chain)(q), chain(q + moves), chain(q - moves)))(
            angles[:moved]
        )
        expected = matrix_jacobian(parameters, tool, angles)[..., :moved]
    assert jacobian.shape == (count + 2, 3, moved)
    np.testing.assert_allclose(jacobian, expected, rtol=0, atol=1e-12 * scale)
    differences = np.moveaxis((np.asarray(ahead) - np.asarray(behind)) / 2e-5, 0, -1)
    np.testing.assert_allclose(jacobian, differences, rtol=0, atol=1e-8 * scale)


@pytest.mark.parametrize("moved", [7, 5])
def test_gradients_keep_batch_axes(moved):
    joints = poses(6)[:, :moved].reshape(2, 3, moved)
    direction = np.random.default_rng(1).normal(size=(2, 3, 9, 3))
    still = np.concatenate([joints, np.zeros((2, 3, 7 - moved))], axis=-1).reshape(6, 7)
    with jax.enable_x64(True):
        gradient = quick(jax.grad(lambda q: jnp.sum(panda()(q) * direction)))(joints)
        jacobians = np.stack([matrix_jacobian(np.array(DH), 0.212, pose) for pose in still]).reshape(2, 3, 9, 3, 7)
    expected = np.einsum("abpij,abpi->abj", jacobians, direction)[..., :moved]
    np.testing.assert_allclose(gradient, expected, atol=1e-12)


def test_a_serial_chain_without_tool_ends_in_its_last_joint():
    points = exact(panda(0.0), poses(2))
    np.testing.assert_array_equal(points[:, -1], points[:, -2])


def rotation_about(axis, angle):
    """Rodrigues' formula, [3, 3]."""
    x, y, z = axis
    cross = jnp.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return jnp.eye(3) + jnp.sin(angle) * cross + (1 - jnp.cos(angle)) * cross @ cross


def random_frame(rng, kind):
    """A frame that is turned anyhow, by quarters, or not at all."""
    turn = np.asarray(rotation_about(rng.permutation([0.0, 0.0, 1.0]), rng.integers(-2, 3) * np.pi / 2))
    if kind == "any":
        turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        turn *= np.sign(np.linalg.det(turn))
    matrix = np.eye(4)
    matrix[:3, :3], matrix[:3, 3] = np.eye(3) if kind == "none" else turn, rng.normal(size=3)
    return Frame.of(matrix)


def random_chain(seed, count=4):
    """Joints that turn, slide and mimic others about axes of all kinds, and a link on each."""
    rng = np.random.default_rng(seed)
    axes = [(0, 0, 1), (0, 0, -1), (0, 1, 0), (-1, 0, 0), *rng.normal(size=(2, 3))]
    joints, moved = [], 0
    for _ in range(count):
        mimics = moved > 0 and rng.random() < 0.3
        axis = np.asarray(axes[rng.integers(len(axes))], float)
        joints.append(
            Joint(
                random_frame(rng, rng.choice(["any", "quarters", "none"])),
                tuple((axis / np.linalg.norm(axis)).tolist()),
                slides=bool(rng.random() < 0.3),
                coordinate=int(rng.integers(moved)) if mimics else moved,
                factor=float(rng.normal()) if mimics else 1.0,
                offset=float(rng.normal()) if mimics else 0.0,
            )
        )
        moved += not mimics
    links = tuple(Link(f"link{i}", i, random_frame(rng, "any")) for i in range(count + 1))
    return Chain(tuple(joints), Link("tool", count, random_frame(rng, "any")), links)


def product_posture(chain, coordinates):
    """Points, positions and rotations of a chain's links by a product of 4 x 4 matrices."""
    frame, frames = jnp.eye(4), [jnp.eye(4)]
    for joint in chain.joints:
        value = joint.factor * coordinates[joint.coordinate] + joint.offset
        axis = jnp.array(joint.axis)
        turn, way = (jnp.eye(3), value * axis) if joint.slides else (rotation_about(axis, value), jnp.zeros(3))
        frame = frame @ joint.origin.matrix @ jnp.eye(4).at[:3, :3].set(turn).at[:3, 3].set(way)
        frames.append(frame)
    links = jnp.stack([frames[link.joint] @ link.frame.matrix for link in chain.links])
    tool = frame @ chain.tool.frame.matrix
    return jnp.stack([*frames, tool])[:, :3, 3], links[:, :3, 3], links[:, :3, :3]


@pytest.mark.parametrize("seed", range(8))
def test_any_chain_and_its_gradient_are_those_of_matrices(seed):
    """Joints that turn, slide and mimic; slopes by points, positions and rotations at once."""
    chain = random_chain(seed)
    names = [link.name for link in chain.links]
    rng = np.random.default_rng(seed)
    coordinates = rng.uniform(-3, 3, chain.coordinates)
    weights = [rng.normal(size=shape) for shape in ((6, 3), (5, 3), (5, 3, 3))]

    def own(q):
        points, (position, rotation) = chain.posture(q, names)
        return points, position, rotation

    def sums(function):
        def total(q):
            found = function(q)
            return sum(jnp.sum(w * part) for w, part in zip(weights, found, strict=True)), found

        return quick(jax.grad(total, has_aux=True))

    with jax.enable_x64(True):
        gradient, found = sums(own)(coordinates)
        expected_gradient, expected = sums(lambda q: product_posture(chain, q))(coordinates)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-12)
    np.testing.assert_allclose(gradient, expected_gradient, atol=1e-11)


def test_the_tool_has_a_frame_and_links_are_chosen_by_name():
    joints = poses(3)
    with jax.enable_x64(True):
        tool, some = quick(lambda q: (panda().frames(q), panda().frames(q, ("link3", "link0"))))(joints)
    for i, pose in enumerate(joints):
        every = frames(pose)
        np.testing.assert_allclose(tool.position[i, 0], (every[-1] @ [0, 0, 0.212, 1])[:3], atol=1e-14)
        np.testing.assert_allclose(tool.rotation[i, 0], every[-1][:3, :3], atol=1e-14)
        np.testing.assert_allclose(some.position[i], [every[2][:3, 3], np.zeros(3)], atol=1e-14)
        np.testing.assert_allclose(some.rotation[i], [every[2][:3, :3], np.eye(3)], atol=1e-14)
    with pytest.raises(UserError, match=r"no link 'link33' \(did you mean link3\?\)"):
        panda().frames(jnp.zeros(7), ("link33",))


def test_a_joint_that_mimics_another_moves_with_it():
    lead = Joint(Frame((1.0, 0.0, 0.0)))
    back = Joint(Frame((1.0, 0.0, 0.0)), factor=-1.0, offset=0.5)
    chain = Chain((lead, back), Link("tool", 2, Frame((1.0, 0.0, 0.0))))
    assert chain.coordinates == 1
    turned = np.exp(0.5j) + np.exp(0.3j) + 1
    np.testing.assert_allclose(exact(chain, [0.3])[-1], [turned.real, turned.imag, 0], atol=1e-15)


@pytest.mark.skipif(not PUBLISHED.exists(), reason="the published data is not beside the repository")
def test_panda_reproduces_the_published_end_effector():
    joints, effector = (np.load(PUBLISHED / f"{name}.npz")["arr_0"] for name in ("joint", "cartesian"))
    np.testing.assert_allclose(exact(panda(), joints)[..., -1, :], effector, atol=1e-6)


@pytest.mark.skipif(not MENAGERIE.exists(), reason="the Menagerie's Panda is not beside the repository")
def test_panda_is_that_of_mujoco():
    mujoco = pytest.importorskip("vigor.basics.engine").mujoco
    model = mujoco.MjModel.from_xml_path(str(MENAGERIE))
    data = mujoco.MjData(model)
    joints = poses(20)
    for pose, points in zip(joints, exact(panda(), joints), strict=True):
        data.qpos[:7] = pose
        mujoco.mj_kinematics(model, data)
        bodies = [data.body(f"link{i}") for i in range(1, 8)]
        np.testing.assert_allclose(points[1:8], [body.xpos for body in bodies], atol=1e-7)
        flange = data.body("attachment").xpos
        axis = bodies[-1].xmat.reshape(3, 3)[:, 2]
        np.testing.assert_allclose(points[7] + 0.107 * axis, flange, atol=1e-7)
        np.testing.assert_allclose(points[8], flange + (0.212 - 0.107) * axis, atol=1e-7)
    np.testing.assert_allclose(PANDA.position, model.jnt_range[:7])


def test_a_chain_refuses_more_angles_than_joints():
    with pytest.raises(UserError, match="7 joints cannot have 8"):
        panda()(jnp.zeros(8))
