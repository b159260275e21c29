"""The commands of `vigor` and their options; `cli.py` carries them out."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

from tyro.conf import Positional, arg, subcommand

from vigor.basics.device import Device
from vigor.learning.algorithm import Config

TaskName = Annotated[str, arg(metavar="TASK")]
RunFolder = Annotated[Path, arg(metavar="RUN")]
Folder = Annotated[Path, arg(metavar="DIR")]


@dataclass(frozen=True)
class Train:
    """Learn from demonstrations: a mixture of movements for every training and test context."""

    task: Positional[TaskName] = ""
    """planar-reacher, panda-reacher, box-pusher, or path/to/file.py:NAME for a task of your own."""
    method: Literal["vigor", "em-drex", "bc-t", "bc-gmm-t", "bc-s", "bc-gmm-s", "gail"] = "vigor"
    """VIGOR, or a method that the paper compares with. Each has settings of its own: see --method bc-t --help."""
    demos: Path | None = None
    """Folder with demonstrations (see `vigor demos`). Without it, the task's own: shipped with it, or generated."""
    preset: Literal["default", "paper"] = "default"
    """Settings to start from; `paper` are those of the paper's appendix E."""
    train_contexts: int = 6
    """Training contexts, drawn from those with demonstrations."""
    test_contexts: int = 6
    """Test contexts, drawn from all other contexts."""
    test_contexts_file: Path | None = None
    """Test contexts [n, C] in an .npy file, instead of drawn ones."""
    demos_per_context: int | None = None
    """Demonstrations of each training context that are learned from. Default: 5, for the box pusher 3."""
    descriptors: str = "geometric"
    """Descriptor set; the reachers also have `angles` and `jointwise`."""
    raw: bool = False
    """Learn from the recordings themselves, subsampled, instead of the ProMPs fitted to them."""
    seed: int = 0
    """Seed of the split and of everything random in training."""
    device: Device = "auto"
    """Where to compute; auto takes a GPU if there is one."""
    out: Path | None = None
    """New folder for the run. Default: runs/TASK-NUMBER."""
    resume: Path | None = None
    """Continue the run in this folder, with its own settings."""
    config: Any = field(default_factory=Config)


@dataclass(frozen=True)
class Evaluate:
    """Draw fresh samples of a run's policies and judge them."""

    run: Positional[RunFolder]
    """Folder of the run."""
    samples: int | None = None
    """Samples per component. Default: as many as the task says, 100 for the reachers and 5 for the box pusher."""
    seed: int = 0
    """Seed of the samples."""


@dataclass(frozen=True)
class Report:
    """Draw the figures of a run or a benchmark and write its report.html again."""

    run: Positional[RunFolder]
    """Folder of the run or the benchmark."""


@dataclass(frozen=True)
class Benchmark:
    """Repeat the paper's experiments with ours beside its figures. Start it again to go on where it stopped."""

    suite: Positional[Literal["paper", "ablations", "contexts"]]
    """All methods on all tasks, the ablations of appendix D, or the box pusher over the number of training contexts."""
    tasks: Annotated[tuple[str, ...], arg(metavar="TASK ...")] = ()
    """Only these tasks."""
    methods: Annotated[tuple[str, ...], arg(metavar="METHOD ...")] = ()
    """Only these methods."""
    seeds: int = 10
    """Seeds 0, 1, ... of each configuration."""
    quick: bool = False
    """One task, two seeds and shortened runs: to see in a few minutes that everything works."""
    data: Annotated[tuple[Literal["published"], Path] | None, arg(metavar="published PATH")] = None
    """Learn from the human demonstrations in a clone of github.com/NiklasFreymuth/VIGOR, where a task has any. Default:
    demonstrations that come with the task, or that it generates."""
    backend: Literal["local", "dask"] = "local"
    """Processes of this machine, or the workers of a Dask cluster."""
    scheduler: str | None = None
    """Address of the Dask scheduler, for instance tcp://127.0.0.1:8786."""
    workers: int | None = None
    """Processes of this machine. Default: one a core; a GPU trains all seeds of a configuration in one."""
    device: Device = "auto"
    """Where to compute; auto takes a GPU if there is one."""
    out: Path | None = None
    """Folder of the benchmark, new or begun. Default: runs/benchmark, with -quick and -published where they apply."""


@dataclass(frozen=True)
class Plan:
    """Plan movements for contexts that a run never saw, without training; writes them, and a figure of them."""

    run: Positional[RunFolder]
    """Folder of a finished run."""
    context: Annotated[tuple[float, ...], arg(metavar="NUMBER ...")] = ()
    """A context, number by number."""
    contexts_file: Path | None = None
    """Contexts [n, C] in an .npy file, instead."""
    keep_out: Annotated[tuple[str, ...], arg(metavar="SHAPE ...")] = ()
    """Where no link of the arm may be: sphere:X,Y,Z,RADIUS or box:X,Y,Z,X,Y,Z (lower, then upper corner), in the plane
    without Z."""
    seconds: float | None = None
    """How long a movement takes, for the robot's velocity limits. Default: what the task says."""
    samples: int = 0
    """Further movements that are drawn for each context."""
    every: int = 1
    """Use every n-th of the run's ensembles: 2 takes half the time."""
    seed: int = 0
    """Seed of the mixtures that planning begins with, and of the samples."""
    device: Device = "auto"
    """Where to compute; auto takes a GPU if there is one."""
    out: Path | None = None
    """New .json file for the plan; its figure lies beside it. Default: RUN/plans/NUMBER.json."""


@dataclass(frozen=True)
class Export:
    """Write a planned movement for a robot's controller, slowed down as far as its limits need."""

    plan: Positional[Annotated[Path, arg(metavar="PLAN")]]
    """A file that `vigor plan` wrote, or the folder of a run for its own contexts."""
    format: Literal["csv", "json", "ros2", "mcap"]
    """`ros2`: a trajectory_msgs/JointTrajectory as YAML; `mcap`: a rosbag2 folder with such a message."""
    context: int = 1
    """Which of the plan's contexts, counted from 1."""
    solution: int = 1
    """Which of its solutions, by rank."""
    rate: float = 100.0
    """Samples a second."""
    seconds: float | None = None
    """How long the movement takes, or longer if a limit needs it. Default: what the plan says."""
    start_pose: Annotated[tuple[float, ...], arg(metavar="NUMBER ...")] = ()
    """Where the robot's joints are now; a movement that starts elsewhere is refused."""
    urdf: Path | None = None
    """The robot's limits, for another robot than the task's."""
    joints: tuple[str, ...] = ()
    """Which joints of the URDF file are moved, in the order of the task; by default all."""
    acceleration: float | None = None
    """Largest acceleration of every joint, which a URDF file cannot say."""
    out: Path | None = None
    """New file, or folder for mcap. Default: beside the plan."""


@dataclass(frozen=True)
class Show:
    """Draw the movements of a plan, or film one."""

    plan: Positional[Annotated[Path, arg(metavar="PLAN")]]
    """A file that `vigor plan` wrote, or the folder of a run for its own contexts."""
    context: int = 1
    """Which of the plan's contexts a film shows, counted from 1."""
    solution: int = 1
    """Which of its solutions, by rank."""
    out: Path | None = None
    """A .png file for a figure of all contexts, or .mp4 for a film (panda-reacher, box-pusher). Default: a .png beside
    the plan."""


@dataclass(frozen=True)
class DemosGenerate:
    """Make demonstrations with the task's own generator. They are generated, not human."""

    task: Positional[TaskName]
    """planar-reacher, panda-reacher, box-pusher, or path/to/file.py:NAME."""
    out: Path
    """New folder for the demonstrations."""
    seed: int = 0
    """The same seed makes the same demonstrations."""
    contexts: int = 12
    """Contexts with demonstrations."""
    per_context: int = 10
    """Demonstrations of each."""


@dataclass(frozen=True)
class DemosImport:
    """Read demonstrations of another layout and keep those that succeed as ProMPs."""

    task: Positional[TaskName]
    """planar-reacher, panda-reacher, box-pusher, or path/to/file.py:NAME."""
    path: Positional[Path]
    """The authors' repository or a folder in it (published, published-raw), a folder (csv), or a file (npz)."""
    format: Literal["published", "published-raw", "csv", "npz"]
    """`published`: the ProMPs of github.com/NiklasFreymuth/VIGOR; `published-raw`: its recordings (planar reacher);
    `csv`: contexts.csv and demonstrations/CONTEXT_NAME.csv; `npz`: contexts, context_of, trajectories."""
    out: Path
    """New folder for the demonstrations."""


@dataclass(frozen=True)
class DemosCheck:
    """Check a folder with demonstrations and say what is in it."""

    folder: Positional[Folder]
    """Folder with demonstrations."""
    task: str | None = None
    """Only needed for a task of your own: path/to/file.py:NAME."""


@dataclass(frozen=True)
class DemosShow:
    """Draw a folder's demonstrations."""

    folder: Positional[Folder]
    """Folder with demonstrations."""
    task: str | None = None
    """Only needed for a task of your own: path/to/file.py:NAME."""
    out: Path | None = None
    """The picture's file. Default: demonstrations.png in the folder."""


Demos = Annotated[
    Annotated[DemosGenerate, subcommand("generate")]
    | Annotated[DemosImport, subcommand("import")]
    | Annotated[DemosCheck, subcommand("check")]
    | Annotated[DemosShow, subcommand("show")],
    arg(name=""),
]


@dataclass(frozen=True)
class DemosCommand:
    """Make, import, check and draw demonstrations."""

    action: Demos


@dataclass(frozen=True)
class Studio:
    """Record demonstrations in a browser, watch them being learned, drag targets and see plans."""

    task: Positional[TaskName]
    """planar-reacher, panda-reacher or box-pusher."""
    out: Path | None = None
    """Folder for demonstrations and runs; one that exists is continued. Default: studio/TASK."""
    demos: Path | None = None
    """Folder with other demonstrations that can be learned from (see `vigor demos`)."""
    port: int = 8080
    """Where the browser finds it."""
    host: str = "127.0.0.1"
    """Address to listen on. Any but a loopback address lets others on the network in who have the printed token."""
