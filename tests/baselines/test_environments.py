"""Environments: as Gymnasium wants them, and their episodes are the movements that the tasks judge."""

import jax
import numpy as np
import pytest

gymnasium = pytest.importorskip("gymnasium")
from gymnasium.utils.env_checker import check_env  # noqa: E402

from vigor.baselines import environments, stepwise  # noqa: E402
from vigor.basics.errors import UserError  # noqa: E402
from vigor.demonstrations import dataset as demonstrations  # noqa: E402
from vigor.demonstrations import preprocessing as recordings  # noqa: E402
from vigor.tasks import load_task  # noqa: E402

REACHERS = ("PlanarReacher", "PandaReacher")


@pytest.mark.filterwarnings("ignore:.*we recommend using a symmetric and normalized space")
@pytest.mark.parametrize("name", environments.NAMES)
def test_gymnasium_has_no_complaints(name):
    contexts = [[0.02, 0.05, 0.3]] if name == "BoxPusher" else None
    check_env(gymnasium.make(f"vigor/{name}-v0", contexts=contexts).unwrapped, skip_render_check=True)


@pytest.fixture(scope="module", params=environments.NAMES)
def shown(request):
    """A task's environment, and demonstrations of it: joints, contexts."""
    task = load_task(environments.NAMES[request.param])
    if task.source.shipped is not None:
        known, few = demonstrations.load(task.source.shipped, task), 3
    else:
        known, few = recordings.generate(task, seed=0, contexts=2, per_context=3), 6
    joints = demonstrations.trajectories(task, known)[:few]
    return request.param, task, joints, known.contexts[known.context_of[:few]]


def velocities(task, joints):
    return np.asarray(jax.vmap(lambda one: stepwise.actions(task, one))(joints))


def test_the_velocities_of_demonstrations_solve_their_contexts(shown):
    """The dynamics are those of the trajectory: the same distances, all at once and one by one."""
    name, task, joints, contexts = shown
    acted = velocities(task, joints)
    expected = task.distances(joints, contexts)
    assert np.all(task.succeeds(expected))
    many = gymnasium.make_vec(f"vigor/{name}-v0", num_envs=len(joints))
    many.reset(options={"context": contexts})
    for step in range(task.promp.steps):
        _, rewards, over, _, info = many.step(acted[:, step])
        assert np.all(over == (step == task.promp.steps - 1))
    np.testing.assert_allclose(info["final_info"]["distance"], expected, atol=2e-3)
    np.testing.assert_allclose(rewards, -info["final_info"]["distance"])
    assert np.all(info["final_info"]["success"])

    one = gymnasium.make(f"vigor/{name}-v0", disable_env_checker=True)
    first, told = one.reset(options={"context": contexts[0]})
    np.testing.assert_allclose(told["context"], contexts[0], rtol=1e-6)
    assert first.shape == one.observation_space.shape
    for action in acted[0]:
        last, reward, over, cut, told = one.step(action)
        assert not cut
    assert over
    assert told["success"]
    assert reward == -told["distance"]
    np.testing.assert_allclose(last, info["final_obs"][0], atol=1e-3)


def test_published_demonstrations_succeed_step_by_step(published):
    from vigor.demonstrations.formats import published as authors

    for name in REACHERS:
        task = load_task(environments.NAMES[name])
        known = authors.load(task, published / "VIGOR")
        acted = velocities(task, demonstrations.trajectories(task, known))
        many = environments.VectorEnvironment(task, len(acted))
        many.reset(options={"context": known.contexts[known.context_of]})
        for step in range(task.promp.steps):
            *_, info = many.step(acted[:, step])
        assert np.all(info["final_info"]["success"])


def test_episodes_draw_their_contexts():
    own = np.array([[0.5, 2.0, 0.5, -2.0], [0.0, 2.5, 0.0, -2.5]])
    given = environments.VectorEnvironment("planar-reacher", 50, contexts=own)
    _, info = given.reset(seed=0)
    assert {tuple(context) for context in info["context"]} == {tuple(map(np.float32, context)) for context in own}
    free = environments.VectorEnvironment("planar-reacher", 50, frames=2, target_encoding=True)
    seen, info = free.reset(seed=0)
    assert len(np.unique(info["context"], axis=0)) == 50
    assert seen.shape == (50, 2 * (4 + 2 + 1))
    again, same = free.reset(seed=0)
    np.testing.assert_array_equal(same["context"], info["context"])
    np.testing.assert_array_equal(again, seen)


def test_the_next_episodes_begin_in_the_step_that_ends_the_last():
    many = environments.VectorEnvironment("planar-reacher", 3, judge=False)
    begun, first = many.reset(seed=0)
    for _ in range(30):
        seen, rewards, over, cut, info = many.step(np.zeros((3, 5)))
    assert over.all()
    assert not cut.any()
    assert not rewards.any(), "nobody judges"
    np.testing.assert_array_equal(seen[:, -1], begun[:, -1], err_msg="the time starts again")
    assert np.all(info["final_obs"][:, -1] == 1)
    assert np.all(info["context"] != first["context"])


@pytest.mark.parametrize("contexts", [np.zeros(4), np.zeros((2, 3)), np.zeros((0, 4)), np.full((1, 4), np.nan)])
def test_contexts_that_do_not_fit_are_one_sentence(contexts):
    with pytest.raises(UserError, match=r"contexts of planar-reacher must be finite numbers \[n, 4\]"):
        environments.Environment("planar-reacher", contexts=contexts)
