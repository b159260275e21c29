"""What a task is: everything that training, evaluation, baselines, figures and the studio need to know of it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from vigor.basics.errors import UserError
from vigor.motion.descriptors import Descriptor, Motion, describe
from vigor.motion.promp import ProMP
from vigor.motion.robots import Robot

Array = jax.Array


@dataclass(frozen=True)
class Region:
    """A circle or sphere that a figure draws for a context."""

    centre: tuple[float, ...]
    radius: float
    label: str


@dataclass(frozen=True)
class Outline:
    """A polygon in the plane that a figure draws for a context."""

    corners: tuple[tuple[float, float], ...]
    label: str


@dataclass(frozen=True, eq=False)
class Task:
    """A family of task configurations ("contexts") and how movements in them are described and judged.

    Kinematics, descriptors and distance take one motion or one context and are pure JAX functions, so that they can be
    compiled, lifted over thousands of samples and differentiated. A task that only a simulation can judge has
    `simulate` in place of `distance`; training needs neither.
    """

    name: str
    """As the command line names it, for instance "planar-reacher"."""
    promp: ProMP
    """How weights become trajectories."""
    context_names: tuple[str, ...]
    """A name for every number of a context."""
    sample_contexts: Callable[[np.random.Generator, int], np.ndarray]
    """Draws that many contexts [n, context] from the task's distribution."""
    kinematics: Callable[[Array], Array]
    """Points [..., points, 2 or 3] of joints [..., dimensions]: base first, end effector last."""
    descriptors: Sequence[Descriptor]
    """What the networks see of a motion."""
    distance: Callable[[Motion], Array] | None = None
    """How far a motion is from solving its context."""
    simulate: Callable[[np.ndarray, np.ndarray], np.ndarray] | None = None
    """The same by simulation: distances [n] of trajectories [n, T, dimensions] in contexts [n, context]."""
    success_distance: float = 0.0
    """A motion succeeds when its distance is at most this."""
    distinct: float = 1.0
    """Two plans are different solutions when their trajectories differ by more than this: the root mean square over
    steps of the joints' distance."""
    samples: int = 100
    """Samples of each component that an evaluation draws."""
    demos_per_context: int = 5
    """Demonstrations of each training context that a run learns from unless told otherwise."""
    reached: Descriptor | None = None
    """Which targets [T, targets] a motion has reached up to each step, 0 or 1: what methods that act step by step can
    be shown beside the descriptors."""
    regions: Callable[[np.ndarray], Sequence[Region]] = lambda context: ()
    """What a figure draws for a context: targets, obstacles."""
    outlines: Callable[[np.ndarray], Sequence[Outline]] = lambda context: ()
    """Polygons that a figure in the plane draws for a context beside its regions."""
    other_descriptors: Mapping[str, Sequence[Descriptor]] = field(default_factory=dict)
    """Further descriptor sets by name, for ablations."""
    generate: Callable[[np.random.Generator, np.ndarray, int], list[np.ndarray]] | None = None
    """Draws that many recordings [T, dimensions], each with a T of its own, that solve one context [context]; those
    that fail as ProMPs are drawn again."""
    generates_plans: bool = False
    """Generated recordings are movements of the ProMP already, and fitted as they are: without dropping the rest before
    a movement or holding its last pose. There may be fewer than asked for: what a search has found."""
    shipped: Path | None = None
    """Folder with demonstrations that come with the task, for runs that are given no others."""
    robot: Robot | None = None
    """Whose limits plans keep to; None if there are none."""
    robot_joints: Callable[[Array], Array] = lambda joints: joints
    """The robot's joints [..., joint] of what the ProMP moves [..., dimensions]; a JAX function."""
    seconds: float = 3.0
    """How long a movement takes unless a plan says otherwise."""
    film: Callable[[Path, np.ndarray, np.ndarray, Sequence[Any]], None] | None = None
    """Writes an mp4 of a trajectory [T, dimensions] in a context [context] among keep-outs."""
    pictures: Callable[[np.ndarray, np.ndarray, np.ndarray], Mapping[str, Any]] | None = None
    """Further figures of a report by name, of contexts [context, C], the means [context, component, T, dimensions] of
    their components, and the components' success [context, component]."""
    group: Callable[[np.ndarray], np.ndarray] | None = None
    """A number [n] for each context [n, context]; training contexts are drawn evenly from those with the same."""

    @property
    def context_dimension(self) -> int:
        return len(self.context_names)

    def with_descriptors(self, name: str) -> "Task":
        """The same task seen through another of its descriptor sets; "geometric" is the task's own."""
        if name == "geometric":
            return self
        if name not in self.other_descriptors:
            known = ", ".join(["geometric", *self.other_descriptors])
            raise UserError(f"{self.name} has no descriptors named {name!r}; it has {known}")
        return replace(self, descriptors=self.other_descriptors[name])

    def motion(self, joints: Array, context: Array) -> Motion:
        """A trajectory [T, dimensions] in a context [context]."""
        return Motion(joints, self.kinematics(joints), context)

    def describe(self, joints: Array, context: Array) -> Array:
        """Descriptors [T, features] of a trajectory [T, dimensions]."""
        return describe(self.motion(joints, context), self.descriptors)

    def describe_weights(self, weights: Array, context: Array) -> Array:
        """Descriptors [T, features] of a movement by its weights [D]."""
        return self.describe(self.promp.rollout(weights), context)

    @cached_property
    def features(self) -> int:
        """Descriptors per time step."""
        joints = jax.ShapeDtypeStruct((self.promp.steps, self.promp.dimensions), jnp.float32)
        context = jax.ShapeDtypeStruct((self.context_dimension,), jnp.float32)
        return jax.eval_shape(self.describe, joints, context).shape[1]

    @cached_property
    def _distances(self) -> Callable[[Array, Array], Array]:
        distance = self.distance
        if distance is None:
            raise UserError(f"{self.name} has neither `distance` nor `simulate`; give it one, to judge movements by")
        return jax.jit(jax.vmap(lambda joints, context: distance(self.motion(joints, context))))

    def distances(self, joints: np.ndarray | Array, contexts: np.ndarray | Array) -> np.ndarray:
        """Distance [n] of every trajectory [n, T, dimensions] in its context [n, context]."""
        if self.simulate is not None:
            return np.asarray(self.simulate(np.asarray(joints), np.asarray(contexts)))
        return np.asarray(self._distances(jnp.asarray(joints), jnp.asarray(contexts)))

    def succeeds(self, distances: np.ndarray) -> np.ndarray:
        return distances <= self.success_distance
