"""Tasks: what is learned, and in groups beside it how it is judged, who moves, how it is shown, where demonstrations
come from, and what they are elsewhere."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from vigor.basics.batching import in_blocks
from vigor.basics.errors import UserError
from vigor.motion.descriptors import Descriptor, Motion, describe, name_of
from vigor.motion.promp import ProMP
from vigor.motion.robots import Robot

Array = jax.Array

BLOCK = 256
"""Trajectories that are judged at a time."""


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
class Judge:
    """Judgement of movements, for evaluation alone: training never sees it.

    A distance is a pure JAX function of one motion. A task that only a simulation can judge has `simulate` instead. A
    task with neither is not judged: success is predicted, from what its demonstrations have in common.
    """

    distance: Callable[[Motion], Array] | None = None
    """Distance of a motion from solving its context."""
    simulate: Callable[[np.ndarray, np.ndarray], np.ndarray] | None = None
    """The same by simulation: distances [n] of trajectories [n, T, dimensions] in contexts [n, context]."""
    success_distance: float = 0.0
    """Largest distance of a motion that succeeds."""
    distinct: float | None = None
    """Smallest difference between two solutions that count as distinct: the root mean square over steps of the joints'
    distance; None for half the typical difference of two demonstrations."""
    samples: int = 100
    """Samples of each component that an evaluation draws."""


@dataclass(frozen=True)
class Gripper:
    """A gripper: the last dimension of the ProMP, from 0 to 1 between the ends of its range."""

    channel: str = "gripper"
    """Name of what opens and closes it, in recordings and in what is exported."""
    range: tuple[float, float] = (0.0, 1.0)
    """Its lowest and its highest value, as recordings have it."""

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[\w./ -]{1,80}", self.channel):
            raise UserError(
                f"a gripper's channel is named in letters, digits, dots and lines, not {self.channel!r:.80}"
            )
        if not -np.inf < self.range[0] < self.range[1] < np.inf:
            raise UserError(f"the range of a gripper needs its lower end first, not {self.range}")


@dataclass(frozen=True, eq=False)
class Arm:
    """The robot that makes the movements."""

    robot: Robot | None = None
    """Robot whose limits plans keep to; None if there are none."""
    joints: Callable[[Array], Array] = lambda joints: joints
    """Joints [..., joint] of the robot from those of the ProMP [..., dimensions]; a JAX function."""
    seconds: float = 3.0
    """Duration of a movement unless a plan says otherwise."""
    gripper: Gripper | None = None
    """Gripper that moves with the arm; None if there is none."""


@dataclass(frozen=True, eq=False)
class Display:
    """Pictures of a task."""

    regions: Callable[[np.ndarray], Sequence[Region]] = lambda context: ()
    """Circles or spheres that a figure draws for a context: targets, obstacles."""
    outlines: Callable[[np.ndarray], Sequence[Outline]] = lambda context: ()
    """Polygons that a figure in the plane draws for a context beside its regions."""
    film: Callable[[Path, np.ndarray, np.ndarray, Sequence[Any]], None] | None = None
    """Writer of an mp4 of a trajectory [T, dimensions] in a context [context] among keep-outs."""
    pictures: Callable[[np.ndarray, np.ndarray, np.ndarray], Mapping[str, Any]] | None = None
    """Further figures of a report by name, from contexts [context, C], the means [context, component, T, dimensions] of
    their components, and the components' success [context, component]."""
    captions: Mapping[str, str] = field(default_factory=dict)
    """Captions of these figures by name."""
    unit: str = ""
    """Unit of lengths, for axes: "m"; empty if they have none."""
    instruction: str = ""
    """A sentence that tells a person what to do in the studio: "Drag the orange ball through 1, then into 2."; empty
    for one made of the labels of the regions."""
    stage: Callable[["Task"], Any] | None = None
    """The task as the studio shows it, a `vigor.tasks.stage.Stage`; None for one made of regions and kinematics."""


@dataclass(frozen=True, eq=False)
class Source:
    """Demonstrations of a task, where a run is given no others."""

    generate: Callable[[np.random.Generator, np.ndarray, int], list[np.ndarray]] | None = None
    """Generator of that many recordings [T, dimensions], each with a T of its own, that solve one context [context];
    those that fail as ProMPs are drawn again."""
    exact: bool = False
    """Generated recordings are movements of the ProMP already, and fitted as they are: without dropping the rest before
    a movement or holding its last pose. There may be fewer than asked for: as many as a search has found."""
    shipped: Path | None = None
    """Folder with demonstrations that come with the task."""
    per_context: int = 5
    """Demonstrations of each training context that a run learns from unless told otherwise."""
    group: Callable[[np.ndarray], np.ndarray] | None = None
    """Number [n] of the group of each context [n, context]; training contexts are drawn evenly from all groups."""


@dataclass(frozen=True, eq=False)
class Transfer:
    """Movements in other contexts than their own, as far as the geometry of a task says it; pure JAX functions."""

    carry: Callable[[Array, Array, Array], Array] | None = None
    """Weights [D] that do in one context what others do in another: carry(weights [D], own context [C], other context
    [C]). Where demonstrations are carried, mixtures begin at them, each in its own context."""
    away: Callable[[Array, Array], Array] | None = None
    """Distance of two contexts, away(one [C], other [C]), in any unit: movements are carried from the nearest. None
    where nothing is known: contexts are then compared in deviations of those demonstrated."""
    images: Sequence[Callable[[Array, Array], tuple[Array, Array]]] = ()
    """Mirror images of a movement: each from weights [D] and their context [C] to other weights and a context that they
    solve as well. Every method learns from the images of demonstrations beside them."""
    as_near: Callable[[Array, Array], Array] = lambda context, other: context
    """The same context in those of its numbers that are nearest to another's, as_near(context [C], other [C]): an angle
    with other full turns, a quaternion or its negative."""


@dataclass(frozen=True, eq=False, repr=False)
class Task:
    """A family of task configurations ("contexts"), and how movements in them are described.

    Kinematics and descriptors take one motion and are pure JAX functions, so that they can be compiled, lifted over
    thousands of samples and differentiated. These are learned from; the groups after them say how movements are
    judged, who makes them, how they are shown, where demonstrations come from and what they are in other contexts.
    """

    name: str
    """Name on the command line, for instance "planar-reacher"."""
    promp: ProMP
    """Movement primitive: from weights to trajectories."""
    context_names: tuple[str, ...]
    """A name for every number of a context."""
    sample_contexts: Callable[[np.random.Generator, int], np.ndarray]
    """Sampler of that many contexts [n, context] from the task's distribution."""
    kinematics: Callable[[Array], Array]
    """Points [..., points, 2 or 3] of joints [..., dimensions]: base first, end effector last."""
    descriptors: Sequence[Descriptor]
    """Descriptors of a motion that the networks see."""
    other_descriptors: Mapping[str, Sequence[Descriptor]] = field(default_factory=dict)
    """Further descriptor sets by name, for ablations."""
    reached: Descriptor | None = None
    """Targets [T, targets] that a motion has reached up to each step, 0 or 1: for methods that act step by step and are
    shown them beside the descriptors."""
    judge: Judge = Judge()
    arm: Arm = Arm()
    display: Display = Display()
    source: Source = Source()
    transfer: Transfer = Transfer()
    settings: Mapping[tuple[str, str], Mapping[str, Any]] = field(default_factory=dict)
    """Settings by preset and method, for instance {("default", "vigor"): {"samples": 50}}, where they differ from the
    method's own."""
    settle: Callable[[np.ndarray, np.ndarray], "Task"] | None = None
    """The task itself from demonstrated movements [n, T, dimensions] and their contexts [m, C], which decide its ProMP
    and where contexts lie; None if nothing is left to decide."""
    data: str = ""
    """Text that a run keeps of a task that is data, see `vigor.tasks.scenes`; empty for one that is a program."""
    origin: str = field(default="", init=False)
    """Reference of a task in a user's file, path/to/file.py:NAME or path/to/scene.toml, as it was loaded from there;
    `dataclasses.replace` leaves it out, since a task that was changed is in no file."""
    digest: str = field(default="", init=False)
    """SHA-256 of that file as it was loaded; of a scene that of `data`."""

    @property
    def context_dimension(self) -> int:
        """Numbers C of a context."""
        return len(self.context_names)

    def __repr__(self) -> str:
        promp = f"{self.promp.bases} bases for {self.promp.dimensions} dimensions"
        return f"Task({self.name}, contexts of {self.context_dimension} numbers, movements of {promp})"

    def with_descriptors(self, name: str) -> "Task":
        """The same task seen through another of its descriptor sets; "geometric" is the task's own."""
        if name == "geometric":
            return self
        if name not in self.other_descriptors:
            known = ", ".join(["geometric", *self.other_descriptors])
            raise UserError(f"{self.name} has no descriptors named {name!r}; it has {known}")
        return replace(self, descriptors=self.other_descriptors[name]).with_origin(self.origin, self.digest)

    def with_origin(self, origin: str, digest: str) -> "Task":
        """The same task, as it was loaded from a user's file."""
        task = replace(self)
        object.__setattr__(task, "origin", origin)
        object.__setattr__(task, "digest", digest)
        return task

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
    def _widths(self) -> list[int]:
        """Features of each descriptor; 0 for one that is a single number."""
        sizes = (self.promp.steps, self.promp.dimensions), (self.context_dimension,)
        motion = jax.eval_shape(self.motion, *(jax.ShapeDtypeStruct(size, jnp.float32) for size in sizes))
        shapes = [jax.eval_shape(descriptor, motion).shape for descriptor in self.descriptors]
        return [0 if len(shape) == 1 else shape[1] for shape in shapes]

    @property
    def features(self) -> int:
        """Descriptors per time step."""
        return sum(width or 1 for width in self._widths)

    @cached_property
    def feature_names(self) -> tuple[str, ...]:
        """Name of each descriptor per time step."""
        names: list[str] = []
        for descriptor, width in zip(self.descriptors, self._widths, strict=True):
            name = name_of(descriptor, self.context_names)
            own = getattr(descriptor, "names", None)
            names += own or ([f"{name} {number + 1}" for number in range(width)] if width else [name])
        return tuple(names)

    @property
    def finest(self) -> tuple[float, ...]:
        """Least deviation of each descriptor per time step that tells anything, as far as its `finest` says it."""
        widths = zip(self.descriptors, self._widths, strict=True)
        return tuple(getattr(descriptor, "finest", 0.0) for descriptor, width in widths for _ in range(width or 1))

    @property
    def judged(self) -> bool:
        """Whether something says how good a movement is."""
        return self.judge.distance is not None or self.judge.simulate is not None

    @cached_property
    def _distances(self) -> Callable[[Array, Array], Array]:
        distance = self.judge.distance
        assert distance is not None
        return jax.jit(jax.vmap(lambda joints, context: distance(self.motion(joints, context))))

    def distances(self, joints: np.ndarray | Array, contexts: np.ndarray | Array) -> np.ndarray:
        """Distance [n] of every trajectory [n, T, dimensions] in its context [n, context].

        Zero for a task that is not judged: nothing says that a movement fails.
        """
        if not self.judged:
            return np.zeros(len(joints))
        if self.judge.simulate is not None:
            return np.asarray(self.judge.simulate(np.asarray(joints), np.asarray(contexts)))
        return in_blocks(BLOCK, self._distances, joints, contexts)

    def contexts_near(self, contexts: np.ndarray, other: np.ndarray) -> np.ndarray:
        """Contexts [n, C] in those of their numbers that are nearest to another's [C]."""
        with jax.enable_x64(True):
            return np.asarray(self._as_near(np.asarray(contexts, float), np.asarray(other, float)))

    @cached_property
    def _as_near(self) -> Callable[[np.ndarray, np.ndarray], Array]:
        return jax.jit(jax.vmap(self.transfer.as_near, (0, None)))

    def succeeds(self, distances: np.ndarray) -> np.ndarray:
        return distances <= self.judge.success_distance
