"""The box pusher: scene, control, simulation, search, descriptors, shipped demonstrations and pictures."""

import subprocess
import sys
from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from helpers import SHARED
from vigor.basics.engine import mujoco
from vigor.basics.errors import UserError
from vigor.demonstrations import dataset as demos
from vigor.demonstrations import preprocessing as recordings
from vigor.demonstrations import splits
from vigor.motion.panda import model
from vigor.tasks import load_task
from vigor.tasks.box_pusher import (
    TASK,
    control,
    geometry,
    mechanics,
    pictures,
    pushes,
    scene,
    search,
    simulation,
    transfer,
)
from vigor.tasks.check import check

MENAGERIE = SHARED / "models" / "mujoco_menagerie"


@pytest.fixture(params=["capsules", "menagerie"])
def arm(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both Pandas; Menagerie's only where it lies beside the project."""
    if request.param == "menagerie":
        pytest.importorskip("mujoco_menagerie")
        if not MENAGERIE.exists():
            pytest.skip("MuJoCo Menagerie is not here (../shared/models/mujoco_menagerie)")
        monkeypatch.setenv("MENAGERIE_ROOT", str(MENAGERIE))
    return request.param


@pytest.fixture(scope="module")
def shipped() -> demos.Demonstrations:
    assert TASK.source.shipped is not None
    return demos.load(TASK.source.shipped, TASK)


@pytest.fixture(scope="module")
def some_pushes() -> tuple[np.ndarray, simulation.Rollouts]:
    """Two random pushes of each way, and what became of them."""
    plans = pushes.paths(pushes.draw(np.random.default_rng(0), np.arange(16) % 8))
    return plans, simulation.roll_out(plans)


# Scene and control


def test_the_rod_stands_where_it_is_told_to(arm: scene.Arm):
    model = scene.model(arm)
    data = mujoco.MjData(model)
    rng = np.random.default_rng(0)
    radius, angle = rng.uniform(*geometry.REACH, 50), rng.uniform(-1.5, 1.5, 50)
    points = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
    for point, joints in zip(points, control.joint_angles(points), strict=True):
        data.qpos[:7] = joints
        mujoco.mj_kinematics(model, data)
        np.testing.assert_allclose(data.site("tip").xpos, [*point, control.HEIGHT], atol=1e-9)
        np.testing.assert_allclose(data.site("tip").xmat[[2, 5, 8]], [0, 0, -1], atol=1e-6)
        assert np.all((joints > model.jnt_range[:7, 0]) & (joints < model.jnt_range[:7, 1]))


def test_inverse_kinematics_agrees_with_a_solver():
    mink = pytest.importorskip("mink")
    model = scene.model("capsules")
    configuration = mink.Configuration(model)
    points = np.array([[0.42, -0.2], [0.55, 0.0], [0.7, 0.15]])
    joints = control.joint_angles(points)
    for point, expected in zip(points, joints, strict=True):
        task = mink.FrameTask("tip", "site", position_cost=1.0, orientation_cost=1.0, lm_damping=1e-6)
        start = np.array(scene.model("capsules").qpos0)
        start[:7] = joints[1] + 0.05
        configuration.update(start)
        down = mink.SE3.from_rotation_and_translation(
            mink.SO3.from_matrix(_down(expected, model)), np.array([*point, control.HEIGHT])
        )
        task.set_target(down)
        posture = mink.PostureTask(model, cost=1e-4)
        posture.set_target(np.concatenate([expected, start[7:]]))
        for _ in range(80):
            velocity = mink.solve_ik(configuration, [task, posture], 0.1, "daqp")
            velocity[7:] = 0
            configuration.integrate_inplace(velocity, 0.1)
        reached = configuration.get_transform_frame_to_world("tip", "site").translation()
        np.testing.assert_allclose(reached, [*point, control.HEIGHT], atol=1e-3)
        np.testing.assert_allclose(configuration.q[:7], expected, atol=0.02)


def _down(joints: np.ndarray, model) -> np.ndarray:
    data = mujoco.MjData(model)
    data.qpos[:7] = joints
    mujoco.mj_kinematics(model, data)
    return data.site("tip").xmat.reshape(3, 3).copy()


def test_both_arms_are_the_same_robot(arm: scene.Arm):
    own, other = scene.model("capsules"), scene.model(arm)
    data, other_data = mujoco.MjData(own), mujoco.MjData(other)
    rng = np.random.default_rng(1)
    for _ in range(20):
        data.qpos[:7] = other_data.qpos[:7] = rng.uniform(own.jnt_range[:7, 0], own.jnt_range[:7, 1])
        data.qvel[:7] = other_data.qvel[:7] = rng.normal(size=7)
        for part, where in ((own, data), (other, other_data)):
            mujoco.mj_forward(part, where)
        np.testing.assert_allclose(data.site("tip").xpos, other_data.site("tip").xpos, atol=1e-9)
        np.testing.assert_allclose(data.qacc, other_data.qacc, rtol=1e-6, atol=1e-9)
    for name in ("jnt_range", "actuator_ctrlrange", "actuator_forcerange", "actuator_gainprm", "actuator_biasprm"):
        np.testing.assert_allclose(getattr(own, name), getattr(other, name), err_msg=name)
    assert np.allclose(own.jnt_range[1], [-1.7628, 1.7628])


def test_without_menagerie_the_arm_is_of_capsules(monkeypatch: pytest.MonkeyPatch, tmp_path):
    pytest.importorskip("mujoco_menagerie")
    monkeypatch.setenv("MENAGERIE_ROOT", str(tmp_path))
    assert not model.spec().meshes
    with pytest.raises(UserError, match="MENAGERIE_ROOT"):
        model.spec("menagerie")


def test_points_out_of_reach_are_drawn_into_it():
    near, far = control.joint_angles(np.array([[0.1, 0.0], [2.0, 2.0]]))
    np.testing.assert_allclose(near, control.joint_angles(np.array([0.31, 0.0])))
    np.testing.assert_allclose(far, control.joint_angles(0.78 * np.array([1, 1]) / np.sqrt(2)))


# Simulation


def test_rollouts_are_the_same_alone_together_and_with_either_arm(some_pushes, arm: scene.Arm):
    plans, together = some_pushes
    again = simulation.roll_out(plans[[5, 2]], arm)
    np.testing.assert_array_equal(simulation.roll_out(plans[5:6]).states, together.states[5:6])
    np.testing.assert_allclose(again.states, together.states[[5, 2]], atol=1e-9)


def test_a_push_moves_the_box_and_leaves_it_standing(some_pushes):
    plans, rollouts = some_pushes
    assert rollouts.states.shape[:2] == (16, 351)
    moved = geometry.corner_distance(rollouts.poses[:, -1], geometry.goal(np.zeros(3)))
    assert np.all(moved > 0.01)
    assert np.degrees(rollouts.tilts.max()) < 0.5
    assert np.abs(rollouts.heights).max() < 0.001
    np.testing.assert_allclose(rollouts.tips[:, 0, :2], plans[:, 0], atol=1e-9)
    # Contact deflects the rod; it ends near its plan all the same. The box has come to rest.
    deflection = np.linalg.norm(rollouts.tips[:, -1, :2] - plans[:, -1], axis=1)
    assert 0.002 < deflection.mean() < 0.02
    np.testing.assert_allclose(rollouts.poses[:, -1], rollouts.poses[:, -10], atol=5e-4)


def test_a_box_pushed_at_random_for_a_minute_stays_whole_and_on_the_table():
    rng = np.random.default_rng(0)
    model = scene.model("capsules")
    data = mujoco.MjData(model)
    steps = round(60 / scene.TIMESTEP)
    knots = geometry.START + rng.uniform(-1, 1, (45, 2)) * [0.2, 0.25]
    knots[0] = geometry.START
    targets = control.follow(knots[None], steps, 0)[0]
    state = simulation.initial_states(knots[:1])[0]
    mujoco.mj_setState(model, data, state, mujoco.mjtState.mjSTATE_FULLPHYSICS)
    states, _ = mujoco.rollout.rollout(model, data, state[None], targets[None])
    rollout = simulation.Rollouts(states, np.zeros((1, steps, 3)))
    poses = rollout.poses[0]
    assert np.linalg.norm(np.diff(poses[:, :2], axis=0), axis=1).sum() > 0.5
    assert np.degrees(rollout.tilts.max()) < 2
    assert np.abs(rollout.heights).max() < 0.003
    table = model.geom("table")
    assert np.all(np.abs(geometry.corners(poses) - table.pos[:2]) < table.size[:2])
    assert np.abs(states[0, :, 1 + model.nq + 7 :]).max() < 5  # No jump.


def test_corner_distance_by_hand():
    start = geometry.goal(np.zeros(3))
    assert geometry.corner_distance(start, geometry.goal(np.array([0.03, 0.04, 0.0]))) == pytest.approx(0.05)
    # Turned by half, every corner goes to the one across: a diagonal of 16 by 24 cm.
    assert geometry.initial_distance(np.array([0, 0, np.pi])) == pytest.approx(np.hypot(0.16, 0.24))
    # Turned by a quarter, corner (8, 12) goes to (-12, 8).
    assert geometry.initial_distance(np.array([0, 0, np.pi / 2])) == pytest.approx(np.hypot(0.20, 0.04))


def test_the_rod_is_set_down_beside_a_wall_and_the_box_not_fired_away():
    half_x, half_y = np.array(geometry.SIZE) / 2
    offsets = np.array([[half_x - 0.001, 0.02], [-half_x + 0.006, -0.05], [0.01, half_y - 0.004], [half_x, half_y]])
    points = offsets + geometry.START
    assert np.all(geometry.clearance(points) < 0)
    moved = geometry.beside_walls(points)
    assert np.all(geometry.clearance(moved) > 0.0009)
    assert np.linalg.norm(moved - points, axis=1).max() < 0.03
    still = np.broadcast_to(points[:, None], (4, 50, 2))
    rollouts = simulation.roll_out(still)
    assert geometry.corner_distance(rollouts.poses, geometry.goal(np.zeros(3))).max() < 0.03
    free = np.array([[0.55, 0.0], [0.7, 0.1]])
    np.testing.assert_array_equal(geometry.beside_walls(free), free)


# Contexts and demonstrations


def test_contexts_come_in_turn_from_the_sign_combinations():
    contexts = pushes.sample_contexts(np.random.default_rng(0), 6)
    assert geometry.sign_combination(contexts).tolist() == [0, 1, 2, 3, 0, 1]
    away = geometry.initial_distance(contexts)
    assert np.all((away > pushes.NEAREST) & (away < pushes.FARTHEST))
    np.testing.assert_array_equal(contexts[:4], pushes.sample_contexts(np.random.default_rng(0), 4))


def test_mirrored_pushes_end_mirrored():
    weights = pushes.draw(np.random.default_rng(3), np.array([0, 5]))
    outcomes = simulation.outcomes(pushes.paths(weights)) - geometry.goal(np.zeros(3))
    images, expected = geometry.mirrored(weights, outcomes)
    np.testing.assert_array_equal(images[0], weights)
    ends = simulation.outcomes(pushes.paths(images.reshape(-1, weights.shape[1])))
    away = geometry.corner_distance(ends, geometry.goal(expected.reshape(-1, 3))).reshape(4, 2)
    assert away[1].max() < 0.003  # To the side the arm is its own mirror image.
    assert away.max() < 0.01


def test_a_carried_push_keeps_its_begin_and_its_end_in_the_frame_of_the_goal(shipped: demos.Demonstrations):
    weights, own = shipped.weights[:3], shipped.contexts[shipped.context_of[:3]]
    to = np.array([0.03, -0.05, 0.3])
    moved = np.asarray(jax.vmap(transfer.carry, (0, 0, None))(jnp.asarray(weights), jnp.asarray(own), jnp.asarray(to)))
    before, after = pushes.paths(weights), pushes.paths(moved)
    np.testing.assert_allclose(after[:, 0], before[:, 0], atol=0.003)

    def in_frame(points: np.ndarray, poses: np.ndarray) -> np.ndarray:
        x, y = (points - poses[:, :2]).T
        cos, sin = np.cos(poses[:, 2]), np.sin(poses[:, 2])
        return np.stack([cos * x + sin * y, cos * y - sin * x], axis=-1)

    ends = in_frame(after[:, -1], geometry.goal(np.tile(to, (3, 1))))
    np.testing.assert_allclose(ends, in_frame(before[:, -1], geometry.goal(own)), atol=0.003)
    same = jax.vmap(transfer.carry)(jnp.asarray(weights), jnp.asarray(own), jnp.asarray(own))
    np.testing.assert_allclose(same, weights, atol=1e-3)


def test_contexts_that_ask_for_the_same_motion_are_near_however_far_it_goes():
    context, arm = np.array([0.03, -0.04, 0.2]), geometry.SIZE[1] / 2

    def away(other: np.ndarray) -> float:
        return float(transfer.away(jnp.asarray(context), jnp.asarray(other)))

    assert away(3 * context) < 1e-3
    assert away(-context) == pytest.approx(np.pi, abs=1e-3)
    one, other = (np.array([*part[:2], arm * part[2]]) for part in (context, np.array([0.03, -0.04, -0.2])))
    cosine = one @ other / np.linalg.norm(one) / np.linalg.norm(other)
    assert away(context * [1, 1, -1]) == pytest.approx(np.arccos(cosine), rel=1e-5)


def test_images_of_the_task_are_those_of_the_geometry(shipped: demos.Demonstrations):
    weights, contexts = shipped.weights[:2], shipped.contexts[shipped.context_of[:2]]
    images, placed = geometry.mirrored(weights, contexts)
    for number, image in enumerate(transfer.IMAGES, start=1):
        found, context = jax.vmap(image)(jnp.asarray(weights), jnp.asarray(contexts))
        np.testing.assert_allclose(found, images[number], rtol=1e-6)
        np.testing.assert_allclose(context, placed[number], rtol=1e-6)


def test_random_pushes_begin_and_end_at_times_of_their_own():
    paths = pushes.paths(pushes.draw(np.random.default_rng(0), np.zeros(200, int)))
    speed = np.linalg.norm(np.diff(paths, axis=1), axis=-1)
    gone = np.cumsum(speed, axis=1) / speed.sum(axis=1, keepdims=True)
    halfway = np.argmax(gone > 0.5, axis=1)
    assert np.ptp(halfway) > 10
    assert 20 < halfway.mean() < 30


def test_shipped_demonstrations_are_what_they_should_be(shipped: demos.Demonstrations):
    counts = np.bincount(shipped.context_of)
    assert len(counts) >= 24
    assert counts.min() >= 3
    assert len(shipped.contexts) >= len(counts) + 6
    assert len(np.unique(shipped.contexts, axis=0)) == len(shipped.contexts)
    groups = np.bincount(geometry.sign_combination(shipped.contexts[: len(counts)]))
    assert groups.max() - groups.min() <= 1
    movements = demos.trajectories(TASK, shipped)
    assert np.all(geometry.clearance(movements[:, 0]) > 0)
    within = geometry.inside(movements[:, 0])
    assert 0.3 < within.mean() < 0.7
    both = [0 < within[shipped.of(context)].sum() < len(shipped.of(context)) for context in shipped.demonstrated]
    assert np.mean(both) > 0.7
    for context in shipped.demonstrated:
        of = shipped.of(context)
        apart = np.sqrt(((movements[of, None] - movements[None, of]) ** 2).sum(-1).mean(-1))
        assert np.all(apart[~np.eye(len(of), dtype=bool)] > 0.029)
    assert 0.6 < shipped.weights.std() < 1.3


def test_some_shipped_demonstrations_succeed(shipped: demos.Demonstrations):
    some = np.arange(0, len(shipped.weights), 7)
    errors = TASK.distances(demos.trajectories(TASK, shipped)[some], shipped.contexts[shipped.context_of[some]])
    assert np.all(TASK.succeeds(errors))
    assert errors.mean() < 0.0076


def test_training_contexts_are_balanced(shipped: demos.Demonstrations):
    for seed in range(5):
        split = splits.draw(shipped, TASK, seed, 12, 8, 3)
        assert np.bincount(geometry.sign_combination(split.train_contexts)).tolist() == [3, 3, 3, 3]
        assert not set(map(tuple, split.train_contexts)) & set(map(tuple, split.test_contexts))


@pytest.fixture
def near_misses(shipped: demos.Demonstrations, monkeypatch: pytest.MonkeyPatch) -> np.ndarray:
    """The pushes that searches begin at: a context's demonstrations and 1.5 cm of noise. Returns the context."""
    context = int(np.argmax(np.bincount(shipped.context_of)))
    weights = shipped.weights[shipped.of(context)]
    weights = weights + np.random.default_rng(0).normal(0, 0.15, weights.shape)
    outcomes = simulation.outcomes(pushes.paths(weights)) - geometry.goal(np.zeros(3))
    known = pushes.Pushes(weights, outcomes)
    monkeypatch.setattr(pushes, "library", lambda: known)
    return shipped.contexts[context]


def test_generated_demonstrations_differ_and_are_the_same_again(near_misses: np.ndarray, monkeypatch):
    monkeypatch.setattr(search, "TOGETHER", 1)  # One search is enough, and quick.
    small = replace(TASK, sample_contexts=lambda rng, count: np.tile(near_misses, (count, 1)))
    seen: list[tuple[int, int]] = []
    one, two = (
        recordings.generate(small, 0, 1, per_context=2, spare=1, report=lambda *done: seen.append(done))
        for _ in range(2)
    )
    np.testing.assert_array_equal(one.weights, two.weights)
    assert seen == [(0, 1), (1, 1)] * 2
    movements = demos.trajectories(TASK, one)
    assert len(movements) == 2
    assert np.all(TASK.distances(movements, one.contexts[one.context_of]) < 0.012)
    assert np.sqrt(((movements[0] - movements[1]) ** 2).sum(-1).mean()) > 0.99 * search.APART


def test_a_search_comes_nearer(near_misses: np.ndarray, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(search, "GENERATIONS", 4)
    begin = pushes.library().weights[:2]
    goals = np.tile(near_misses, (2, 1))
    found, errors = search.search(np.random.default_rng(0), near_misses, begin)
    np.testing.assert_allclose(errors, TASK.distances(pushes.paths(found), goals), atol=1e-9)
    assert errors.sum() < 0.7 * TASK.distances(pushes.paths(begin), goals).sum()
    assert search.generate(np.random.default_rng(0), np.array([0.5, 0.5, 1.0]), 2) == []


def test_plans_are_chosen_that_differ_in_turn_from_inside_and_outside():
    ways = np.array([0, 0, 0, 2, 4, 5, 6, 4])
    weights = pushes.draw(np.random.default_rng(1), ways)
    weights[1] = weights[0] + 0.01
    errors = np.array([0.0, 0.001, 0.009, 0.005, 0.006, 0.02, 0.004, 0.007])
    chosen = search.choose(weights, errors, 6).tolist()
    assert 5 not in chosen  # Fails.
    assert {0, 1} & set(chosen) == {0}  # Nearly the same.
    for within in (True, False):
        some = [i for i in chosen if (ways[i] < 4) == within]
        assert some == sorted(some)
    assert {ways[i] < 4 for i in chosen[:2]} == {True, False}
    assert search.choose(weights, errors, 2).tolist() == chosen[:2]


def test_mechanics_foretell_what_pushes_do(some_pushes: tuple[np.ndarray, simulation.Rollouts]):
    plans, rollouts = some_pushes
    found = np.asarray(jax.jit(jax.vmap(lambda path: mechanics.poses(path)[-1]))(jnp.asarray(plans)))
    ends = rollouts.poses[:, -1]
    away = geometry.corner_distance(geometry.goal(found), ends)
    moved = geometry.corner_distance(geometry.goal(np.zeros_like(found)), ends)
    assert np.median(away) < 0.008
    assert away.mean() < moved.mean() / 5


# The task


def test_descriptors_against_numpy():
    rng = np.random.default_rng(0)
    weights, context = rng.normal(size=14), np.array([0.05, -0.03, 0.4])
    plan = np.asarray(TASK.promp.rollout(jnp.asarray(weights)), float)
    seen = np.asarray(TASK.describe(jnp.asarray(plan), jnp.asarray(context)))
    assert seen.shape == (50, TASK.features)
    # And the time step, which networks are given as the phase: 19.
    assert TASK.with_descriptors("paper").features == 18
    turn = np.exp(-1j * context[2])
    corners = [(0.08, 0.12), (-0.08, 0.12), (-0.08, -0.12), (0.08, -0.12)]
    for t in (0, 17, 49):
        tip = complex(*plan[t])
        expected = []
        for x, y in corners:
            offset = (tip - (0.55 + x + 1j * y)) * turn
            expected += [offset.real, offset.imag]
        for x, y in corners:
            goal = 0.55 + context[0] + 1j * context[1] + (x + 1j * y) * np.conj(turn)
            offset = (tip - goal) * turn
            expected += [offset.real, offset.imag]
        np.testing.assert_allclose(seen[t, :16], np.array(expected) / 0.1, atol=1e-5)
    for t, (x, y, angle) in enumerate(np.asarray(mechanics.poses(jnp.asarray(plan)), float)):
        missing = (x + 1j * y - (context[0] + 1j * context[1])) * turn
        expected = [missing.real, missing.imag, 0.12 * (angle - context[2])]
        np.testing.assert_allclose(seen[t, 18:], np.array(expected) / 0.1, atol=1e-4)
    velocity, acceleration = np.diff(plan, axis=0), np.diff(plan, n=2, axis=0)
    np.testing.assert_allclose(seen[1:, 16], (velocity**2).sum(1) / 0.02**2, rtol=2e-3, atol=1e-4)
    np.testing.assert_allclose(seen[2:, 17], (acceleration**2).sum(1) / 0.005**2, rtol=2e-2, atol=1e-3)


def test_descriptors_are_differentiable_and_the_task_has_no_mistakes():
    context = jnp.array([0.05, -0.03, 0.4])
    slopes = jax.jit(jax.grad(lambda w: jnp.sum(TASK.describe(TASK.promp.rollout(w), context))))(jnp.ones(14))
    assert np.all(np.isfinite(slopes))
    few = replace(TASK, sample_contexts=lambda rng, count: rng.uniform(-0.1, 0.1, (count, 3)))
    check(few)
    with pytest.raises(UserError, match="either by its distance or by simulate"):
        check(replace(few, judge=replace(few.judge, distance=lambda motion: jnp.sum(motion.joints))))
    check(replace(few, judge=replace(few.judge, simulate=None)))  # Not judged: success is predicted.
    with pytest.raises(UserError, match=r"simulate gives \[8, 2\]"):
        check(replace(few, judge=replace(few.judge, simulate=lambda paths, contexts: np.zeros((len(paths), 2)))))


def test_mujoco_is_imported_only_when_needed_and_missed_in_one_sentence():
    program = """
import sys
from vigor.tasks import load_task
task = load_task("box-pusher")
assert not any(name.startswith("mujoco") for name in sys.modules)
sys.modules["mujoco"] = None
import numpy as np
from vigor.basics.errors import UserError
try:
    task.distances(np.zeros((1, 50, 2)), np.zeros((1, 3)))
except UserError as error:
    print(error)
"""
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert 'pip install "vigor-skills[sim]"' in said
    assert load_task("box-pusher") is TASK


# Pictures


@pytest.mark.parametrize("view", ["front", "above"])
def test_frames_show_box_and_goal(some_pushes, arm: scene.Arm, view: str):
    _, rollouts = some_pushes
    (picture,) = pictures.frames(rollouts.states[0, :1], np.array([0.1, 0.05, 0.3]), view, arm)
    assert picture.shape == (480, 640, 3)
    red, green, blue = picture.reshape(-1, 3).astype(int).T
    assert np.mean((red > 1.8 * green) & (red > 1.8 * blue)) > 0.01
    assert np.mean((green > 1.8 * red) & (green > 1.8 * blue)) > 0.003


def test_a_video_has_all_its_frames(some_pushes, tmp_path):
    imageio_ffmpeg = pytest.importorskip("imageio_ffmpeg")
    plans, _ = some_pushes
    path = tmp_path / "push.mp4"
    count = pictures.video(path, plans[0], np.array([0.1, 0.0, 0.0]), arm="capsules")
    frames, _ = imageio_ffmpeg.count_frames_and_secs(str(path))
    assert frames == count == 88  # 3.5 s


def test_figures_of_final_states_and_executed_paths(some_pushes):
    plans, _ = some_pushes
    contexts = np.tile([0.05, 0.0, 0.1], (4, 1))
    final = pictures.final_states(plans[:4], contexts, arm="capsules")
    assert sum(bool(ax.images) for ax in final.axes) == 4
    both = pictures.planned_and_executed(plans[:3], contexts[0])
    assert [len(ax.patches) for ax in both.axes] == [3, 3, 3]


def test_a_report_shows_the_best_component_of_each_context(some_pushes):
    plans, _ = some_pushes
    contexts = np.array([[0.05, 0.0, 0.1], [0.0, 0.05, -0.1]])
    success = np.array([[0.0, 0.2, 0.0], [0.0, 0.0, 1.0]])
    made = TASK.display.pictures(contexts, np.asarray(plans[:6]).reshape(2, 3, *plans[0].shape), success)
    expected = {
        "planned_and_executed": pictures.planned_and_executed(plans[3:6], contexts[1]),
        "final_states": pictures.final_states(np.asarray(plans)[[1, 5]], contexts),
    }
    assert made.keys() == expected.keys()
    for name, figure in expected.items():
        assert [ax.get_title("left") for ax in made[name].axes] == [ax.get_title("left") for ax in figure.axes]
