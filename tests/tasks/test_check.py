"""Mistakes in a user's task are found before training and named."""

from dataclasses import replace

import jax.numpy as jnp
import numpy as np
import pytest

from helpers import EXAMPLE
from vigor.basics.errors import UserError
from vigor.motion.panda import PANDA
from vigor.tasks import Arm, Display, Judge, load_task
from vigor.tasks.check import check


@pytest.fixture(scope="module")
def task():
    return load_task(f"{EXAMPLE}:TASK")


def with_descriptor(task, descriptor):
    return replace(task, descriptors=(*task.descriptors, descriptor))


def wrong_shape(motion):
    return motion.effector[:5, 0]


def scalar(motion):
    return jnp.sum(motion.effector)


def infinite(motion):
    return 1.0 / (motion.effector[:, 0] * 0.0)


def bad_slope(motion):
    return jnp.sqrt(motion.effector[:, 0] * 0.0)


def leaves_jax(motion):
    return np.abs(np.asarray(motion.effector[:, 0]))


def decides(motion):
    return motion.effector[:, 0] if motion.effector[-1, 0] > 0 else motion.effector[:, 1]


def steps(motion):
    return jnp.round(motion.effector[:, 0] * 10)


def crashes(motion):
    return motion.effector[:, 0] @ motion.effector


@pytest.mark.parametrize(
    ("descriptor", "said"),
    [
        (wrong_shape, r"descriptor 6 \(wrong_shape\) gives \[5\]; it must give \[T\]"),
        (scalar, r"descriptor 6 \(scalar\) gives a single number"),
        (infinite, r"descriptor 6 \(infinite\) is not finite"),
        (bad_slope, r"the gradient of descriptor 6 \(bad_slope\) is not finite"),
        (leaves_jax, r"descriptor 6 \(leaves_jax\) is not differentiable: it leaves JAX"),
        (decides, r"descriptor 6 \(decides\) is not differentiable: it decides"),
        (steps, r"descriptor 6 \(steps\) is not differentiable: its value changes"),
    ],
)
def test_a_bad_descriptor_is_named(task, descriptor, said):
    with pytest.raises(UserError, match=said):
        check(with_descriptor(task, descriptor))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"descriptors": ()}, "descriptors is empty"),
        ({"descriptors": (crashes,)}, r"descriptor 1 \(crashes\)"),
        ({"kinematics": lambda joints: joints[..., 0]}, "kinematics maps joints"),
        ({"sample_contexts": lambda rng, n: rng.normal(size=(n, 3))}, r"sample_contexts gives \[8, 3\]"),
        ({"sample_contexts": lambda rng, n: np.full((n, 4), np.nan)}, "sample_contexts is not finite"),
        ({"judge": Judge(lambda motion: motion.effector)}, "distance gives"),
        ({"judge": Judge(lambda motion: motion.effector[-1, 0] < 1)}, "distance gives values of type bool"),
        ({"promp": None}, "promp is a NoneType"),
        ({"context_names": 3}, "context_names must list"),
        ({"descriptors": wrong_shape}, "descriptors must be a tuple"),
        ({"judge": Judge(scalar, success_distance="0.1")}, "success_distance must be a number"),
        ({"judge": Judge(scalar, distinct=-1)}, "distinct must be a number"),
        ({"arm": Arm(seconds=0)}, "seconds must be a positive number"),
        ({"arm": Arm("panda")}, "robot is a str"),
        ({"arm": Arm(PANDA)}, "as many joints as the robot has"),
        ({"display": Display(lambda context: context[7])}, "regions fails"),
        ({"display": Display(lambda context: [(1, 2)])}, "regions gives a tuple"),
        ({"judge": None}, "judge is a NoneType; it must be a vigor.tasks.Judge"),
        ({"other_descriptors": {"mine": (wrong_shape,)}}, r"mine descriptor 1 \(wrong_shape\)"),
        ({"judge": Judge(lambda motion: jnp.nan * motion.effector[0, 0])}, "distance is not finite"),
    ],
)
def test_other_bad_parts_are_named(task, change, said):
    with pytest.raises(UserError, match=said):
        check(replace(task, **change))


def test_the_tasks_of_the_package_have_no_mistakes(task):
    for good in (task, load_task("planar-reacher"), load_task("panda-reacher")):
        check(good)
