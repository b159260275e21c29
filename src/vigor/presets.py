"""Settings by task: the project's own defaults, and those of the paper (appendix E)."""

from dataclasses import replace

from vigor.algorithm import Config
from vigor.density_ratio import DensityRatio
from vigor.errors import UserError

_DEFAULT = {
    "planar-reacher": Config(samples=50, density_ratio=DensityRatio(layers=2, width=32, kernel=5)),
    "panda-reacher": Config(compared="training", density_ratio=DensityRatio(layers=3, width=64, kernel=7)),
}
_PAPER_SAMPLES = {"planar-reacher": 512, "panda-reacher": 1536}

TASKS = tuple(_DEFAULT)
NAMES = ("default", "paper")


def preset(task: str, name: str = "default") -> Config:
    """Settings for a task by name. A task that the package does not know has the planar reacher's networks."""
    default = _DEFAULT.get(task, Config())
    if name == "default":
        return default
    if name == "paper":
        return replace(
            default,
            iterations=301,
            kl_bound=0.2,
            surrogate="values",
            samples=_PAPER_SAMPLES.get(task, 512),
            compared="all",
            density_ratio=replace(default.density_ratio, epochs=50, learning_rate=3e-4, decay=1.0),
        )
    raise UserError(f"there is no preset {name!r}; choose from {', '.join(NAMES)}")
