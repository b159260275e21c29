"""Figures hold what they should, for tasks in the plane, in space and without an arm."""

import dataclasses
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from matplotlib.collections import LineCollection
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from vigor.basics.errors import UserError
from vigor.evaluation.policies import Policies
from vigor.learning.mixture import Mixture
from vigor.motion.kinematics import path
from vigor.motion.promp import ProMP, rollout
from vigor.reports import figures
from vigor.tasks.reachers import panda_reacher, planar_reacher
from vigor.tasks.task import Display, Judge, Region, Task

COMPONENTS = 3
POINT = Task(
    name="point",
    promp=ProMP(bases=3, dimensions=2, steps=10, free_start=True),
    context_names=("x", "y"),
    sample_contexts=lambda rng, count: rng.normal(size=(count, 2)),
    kinematics=path,
    descriptors=(),
    judge=Judge(distance=lambda motion: jnp.zeros(())),
    display=Display(regions=lambda context: (Region((float(context[0]), float(context[1])), 0.2, "goal"),)),
)
TASKS = [planar_reacher.TASK, panda_reacher.TASK, POINT]


def policies_of(task: Task, training: int = 1, test: int = 1) -> Policies:
    rng, contexts, size = np.random.default_rng(0), training + test, task.promp.weights
    log_weights = np.full((contexts, COMPONENTS), -np.log(COMPONENTS), np.float32)
    means = rng.normal(size=(contexts, COMPONENTS, size)).astype(np.float32)
    roots = np.broadcast_to(0.1 * np.eye(size, dtype=np.float32), (contexts, COMPONENTS, size, size))
    return Policies(task.sample_contexts(rng, contexts), training, Mixture(log_weights, means, roots))


def joints_of(task: Task, count: int) -> np.ndarray:
    steps = np.random.default_rng(1).normal(size=(count, task.promp.steps, task.promp.dimensions))
    return 0.1 * np.cumsum(steps, axis=1)


def mean_path(task: Task, policies: Policies, context: int, component: int) -> np.ndarray:
    joints = rollout(task.promp, policies.mixtures.means[context, component], figures.STEPS)
    return np.asarray(jax.jit(task.kinematics)(joints))[:, -1]


def labelled(ax, label: str) -> list:
    return [line for line in ax.lines if line.get_label() == label]


def texts(figure: Figure) -> str:
    return " ".join(text.get_text() for legend in figure.legends for text in legend.get_texts())


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
def test_traces_show_every_component_in_every_view(task: Task):
    success = np.linspace(0, 1, 2 * COMPONENTS).reshape(2, COMPONENTS)
    demos = [joints_of(task, 4)]
    figure = figures.traces(task, policies_of(task), demos, samples=5, success=success)
    views = 3 if task is panda_reacher.TASK else 1
    assert len(figure.axes) == 2 * views
    titles = [ax.get_title(loc="left") for ax in figure.axes[::views]]
    assert titles == ["training context 1", "test context 1"]
    for ax in figure.axes:
        assert all(len(labelled(ax, f"component {i + 1}")) == 1 for i in range(COMPONENTS))
    thin = [sum(isinstance(artist, LineCollection) for artist in ax.collections) for ax in figure.axes]
    assert thin == [COMPONENTS + 1] * views + [COMPONENTS] * views, "only the training context has demonstrations"
    rates = [text.get_text() for text in figure.axes[views].get_legend().get_texts()]
    assert rates == ["60%", "80%", "100%"]
    assert "demonstration" in texts(figure)


def test_means_and_samples_of_a_component_share_its_colour_and_means_are_outlined():
    ax = figures.traces(planar_reacher.TASK, policies_of(planar_reacher.TASK), samples=5).axes[0]
    for component, samples in enumerate(ax.collections):
        (mean,) = labelled(ax, f"component {component + 1}")
        np.testing.assert_allclose(samples.get_edgecolor()[0][:3], to_rgb(figures.PALETTE[component]))
        assert mean.get_color() == figures.PALETTE[component]
        assert mean.get_path_effects()


def test_ways_of_a_kind_share_a_colour_and_the_first_alone_is_outlined():
    policies, kinds = policies_of(planar_reacher.TASK), np.array([1, 0, 1])
    success = np.array([[1.0, 0.5, 0.0]] * len(policies.contexts))
    figure = figures.traces(planar_reacher.TASK, policies, samples=5, success=success, kinds=kinds)
    ax = figure.axes[0]
    first, other = labelled(ax, "component 2")
    assert first.get_color() == other.get_color() == figures.PALETTE[1]
    assert first.get_path_effects()
    assert not other.get_path_effects()
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["50%", "50%"]
    assert "kind 2" in texts(figure)
    assert "kind 3" not in texts(figure)


def test_a_mean_is_drawn_where_the_end_effector_goes():
    task, policies = planar_reacher.TASK, policies_of(planar_reacher.TASK)
    (line,) = labelled(figures.traces(task, policies, samples=5).axes[1], "component 2")
    np.testing.assert_allclose(line.get_xydata(), mean_path(task, policies, 1, 1), atol=1e-5)


def test_arms_are_drawn_for_arms_alone():
    arm = figures.traces(planar_reacher.TASK, policies_of(planar_reacher.TASK), samples=5)
    assert labelled(arm.axes[0], "arm")
    point = figures.traces(POINT, policies_of(POINT), samples=5)
    assert not labelled(point.axes[0], "arm")


def test_contexts_choose_the_panels_and_many_are_cut():
    policies = policies_of(POINT, training=3, test=14)
    chosen = figures.traces(POINT, policies, samples=5, contexts=[0, 4])
    assert [ax.get_title(loc="left") for ax in chosen.axes] == ["training context 1", "test context 2"]
    assert len(figures.traces(POINT, policies, samples=5).axes) == figures.PANELS
    with pytest.raises(UserError, match="no contexts"):
        figures.traces(POINT, policies, contexts=[])


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
def test_distances_have_a_row_per_region_and_a_column_per_context(task: Task):
    policies = policies_of(task, training=2, test=1)
    figure = figures.distances(task, policies, [joints_of(task, 4), joints_of(task, 3)], samples=5)
    regions = task.display.regions(policies.contexts[0])
    grid = np.reshape(figure.axes, (len(regions), 3))
    for row, region in enumerate(regions):
        for ax, groups in zip(grid[row], ([4], [3], [4, 3]), strict=True):
            assert [len(lines.get_segments()) for lines in ax.collections] == groups + [5] * COMPONENTS
            (radius,) = labelled(ax, "radius")
            assert set(radius.get_ydata()) == {region.radius}
            highest = max(labelled(ax, f"component {i + 1}")[0].get_ydata().max() for i in range(COMPONENTS))
            assert ax.get_ylim()[0] == 0
            assert ax.get_ylim()[1] > highest
    (mean,) = labelled(grid[0, 0], "component 1")
    expected = np.linalg.norm(mean_path(task, policies, 0, 0) - np.asarray(regions[0].centre), axis=1)
    np.testing.assert_allclose(mean.get_ydata(), expected, atol=1e-5)


def test_distances_need_regions():
    task = dataclasses.replace(POINT, display=Display())
    with pytest.raises(UserError, match="point names no regions"):
        figures.distances(task, policies_of(task))
    assert len(figures.traces(task, policies_of(task), samples=5).axes) == 2


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
def test_demonstrations_are_counted_by_context(task: Task):
    contexts = task.sample_contexts(np.random.default_rng(0), 3)
    figure = figures.demonstrations(task, contexts, np.asarray([0, 2, 2]), joints_of(task, 3))
    titles = [ax.get_title(loc="left") for ax in figure.axes if ax.get_title(loc="left")]
    assert titles == ["context 1: 1 demonstration", "context 3: 2 demonstrations"]
    assert "3 demonstrations" in figure.get_suptitle()


def test_many_demonstrated_contexts_are_cut_and_none_refused():
    contexts = POINT.sample_contexts(np.random.default_rng(0), 20)
    figure = figures.demonstrations(POINT, contexts, np.arange(20), joints_of(POINT, 20))
    assert len(figure.axes) == figures.PANELS
    assert "12 of 20 contexts" in figure.get_suptitle()
    with pytest.raises(UserError, match="no demonstrations"):
        figures.demonstrations(POINT, contexts, np.zeros(0, int), np.zeros((0, 10, 2)))


def row(iteration: int, value: float) -> dict:
    split = {
        "success_best": value,
        "success_mixture": value / 2,
        "success_components": [value, value / 2, 0.0],
        "distance_best": 1 - value,
        "versatility": {"working_components": 2 * value, "distinct_solutions": value, "entropy": None},
    }
    return {"iteration": iteration, "seconds": 1.0, "train": split, "test": split}


def test_learning_curves_show_success_beside_versatility():
    figure = figures.learning_curves([row(0, 0.1), row(10, 0.8)], POINT)
    titles = [ax.get_title(loc="left") for ax in figure.axes]
    assert titles[:2] == ["success, training contexts", "success, test contexts"]
    assert titles[3] == "versatility per context"
    (best,) = labelled(figure.axes[1], "best component")
    assert best.get_xydata().tolist() == [[0, 0.1], [10, 0.8]]
    assert len(figure.axes[3].lines) == 4


def test_learning_curves_take_rows_with_gaps(tmp_path: Path):
    gap = {"iteration": 5, "seconds": 1.0, "train": {"success_best": None}, "test": None}
    figure = figures.learning_curves([gap, row(10, 0.8)], POINT)
    (best,) = labelled(figure.axes[0], "best component")
    np.testing.assert_array_equal(best.get_ydata(), [np.nan, 0.8])
    figures.save(figure, tmp_path / "curves.png")
    with pytest.raises(UserError, match="no evaluations"):
        figures.learning_curves([], POINT)


def test_learning_curves_without_test_contexts():
    only = [{**row(i, 0.5), "test": None} for i in range(2)]
    assert len(figures.learning_curves(only, POINT).axes) == 3


def test_a_saved_figure_is_a_png_with_the_same_bytes_every_time(tmp_path: Path):
    for name in ("a.png", "b.png"):
        figures.save(figures.traces(POINT, policies_of(POINT), samples=5), tmp_path / "deep" / name)
    first, second = ((tmp_path / "deep" / name).read_bytes() for name in ("a.png", "b.png"))
    assert first.startswith(b"\x89PNG")
    assert first == second
    assert sorted(file.name for file in (tmp_path / "deep").iterdir()) == ["a.png", "b.png"]


def test_names_are_no_formulas(tmp_path: Path):
    figure = Figure()
    axes = figure.subplots()
    axes.set(title=r"$\frac{$", xlabel="$^$", xticks=[0.0], xticklabels=[r"$\q$"])
    axes.plot([0.0], [0.0], label="$_$")
    axes.legend()
    figures.save(figure, tmp_path / "names.png")
    assert (tmp_path / "names.png").exists()


def test_a_figure_in_space_can_be_saved(tmp_path: Path):
    task = panda_reacher.TASK
    figures.save(figures.traces(task, policies_of(task), samples=5, contexts=[0]), tmp_path / "panda.png")
    assert (tmp_path / "panda.png").stat().st_size > 1000
