"""The command line: `vigor train`, `evaluate`, `report`, `plan`, `export`, `show`, `benchmark`, `demos`, `studio`."""

import argparse
import dataclasses
import os
import shlex
import sys
from collections.abc import Sequence
from dataclasses import field
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import tyro
from tyro.conf import OmitArgPrefixes, OmitSubcommandPrefixes, subcommand

from vigor.basics.device import use_device
from vigor.basics.errors import UserError
from vigor.cli.commands import (
    Benchmark,
    DemosCheck,
    DemosCommand,
    DemosGenerate,
    DemosImport,
    DemosShow,
    Evaluate,
    Export,
    Plan,
    Report,
    Show,
    Studio,
    Train,
)
from vigor.runs import presets
from vigor.runs.methods import METHODS, method


def main(arguments: Sequence[str] | None = None) -> None:
    """Entry point of `vigor`. Bad input is one sentence and exit code 2."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        kind = _train_type(given)
        # The help of `train` is that of the task and method it names, so these come first.
        command = _parse([word for word in given if given[0] != "train" or word not in ("-h", "--help")], kind())
        if isinstance(command, Train):
            command = _parse(given, kind(config=presets.preset(command.task, command.preset, command.method)))
        _run(command, given)
    except UserError as error:
        print(f"vigor: {error}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        print("vigor: stopped", file=sys.stderr)
        sys.exit(130)
    except (MemoryError, RuntimeError) as error:
        if not isinstance(error, MemoryError) and "RESOURCE_EXHAUSTED" not in str(error):
            raise
        print(
            "vigor: there is not enough memory; lower --chunk, --samples, --components or --test-contexts",
            file=sys.stderr,
        )
        sys.exit(2)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        print(f"vigor: {error.filename or 'a file'}: {error.strerror}; choose another place", file=sys.stderr)
        sys.exit(2)


def _train_type(given: list[str]) -> Any:
    """`Train` with the settings of the method that the arguments name."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--method", nargs="?")
    name = parser.parse_known_args(given)[0].method
    settings = method(name if name in METHODS else "vigor").settings
    config = ("config", settings, field(default_factory=settings))
    return dataclasses.make_dataclass(
        "Train", [config], bases=(Train,), frozen=True, namespace={"__doc__": Train.__doc__}
    )


def _parse(given: list[str], defaults: Train) -> Any:
    kind: Any = type(defaults)
    return tyro.cli(
        Annotated[kind, subcommand("train", default=defaults)]
        | Annotated[Evaluate, subcommand("evaluate")]
        | Annotated[Report, subcommand("report")]
        | Annotated[Plan, subcommand("plan")]
        | Annotated[Export, subcommand("export")]
        | Annotated[Show, subcommand("show")]
        | Annotated[Benchmark, subcommand("benchmark")]
        | Annotated[DemosCommand, subcommand("demos")]
        | Annotated[Studio, subcommand("studio")],
        args=given,
        prog="vigor",
        description="Versatile robot behaviour from a handful of demonstrations.",
        config=(OmitArgPrefixes, OmitSubcommandPrefixes),
    )


def _run(command: Any, given: list[str]) -> None:
    match command:
        case Train():
            _train(command, given)
        case Evaluate():
            _evaluate(command)
        case Report():
            from vigor.experiments import page
            from vigor.experiments.store import is_benchmark
            from vigor.runs import run

            print(page.write_report(command.run) if is_benchmark(command.run) else run.draw(command.run))
        case Plan():
            _plan(command)
        case Export():
            _export(command)
        case Show():
            _show(command)
        case Benchmark():
            _benchmark(command)
        case DemosCommand():
            _demos(command.action)
        case Studio():
            _studio(command)


def _train(command: Train, given: list[str]) -> None:
    from vigor.reports.terminal import progress_bar, results_table
    from vigor.runs import run
    from vigor.tasks import load_task

    use_device(command.device)
    if command.resume is not None:
        plain = type(command)(task=command.task, resume=command.resume, device=command.device)
        if command != dataclasses.replace(plain, config=presets.preset(command.task)):
            raise UserError("--resume continues a run with its own settings; give no others beside it")
        folder = command.resume
        setup = run.load_setup(folder)
    else:
        if not command.task:
            raise UserError("name a task: planar-reacher, panda-reacher, box-pusher, or path/to/file.py:NAME")
        task, demos_per_context = load_task(command.task), command.demos_per_context
        test: int | list[list[float]] = command.test_contexts
        if command.test_contexts_file is not None:
            test = _read_contexts(command.test_contexts_file, task.context_dimension).tolist()
        setup = run.Setup(
            task=command.task,
            method=command.method,
            demos=None if command.demos is None else str(command.demos.resolve()),
            seed=command.seed,
            train_contexts=command.train_contexts,
            test_contexts=test,
            demos_per_context=task.source.per_context if demos_per_context is None else demos_per_context,
            descriptors=command.descriptors,
            raw=command.raw,
            config=presets.seen_through(command.descriptors, command.config),
            command=shlex.join(["vigor", *given]),
            date=datetime.now().astimezone().isoformat(timespec="seconds"),
        )
        folder = command.out if command.out is not None else _free_folder(setup.task, setup.method)
    try:
        with progress_bar() as show:
            result = run.resume(folder, show) if command.resume else run.train(setup, folder, show)
    except (run.Interrupted, KeyboardInterrupt) as stop:
        begun = (folder / run.CONFIG).exists()
        hint = f"; continue with: vigor train --resume {folder}" if begun else " before it began"
        print(f"vigor: {str(stop) or 'stopped'}{hint}", file=sys.stderr)
        sys.exit(130)
    results_table(result)
    print(f"Report: {run.draw(folder)}")


def _read_contexts(path: Path, width: int) -> np.ndarray:
    """Contexts [n, width] of a file."""
    from vigor.basics import files

    values = files.read_array(path)
    if values.dtype.kind not in "iuf" or values.ndim != 2 or values.shape[1] != width or not len(values):
        raise UserError(f"{path} must hold real numbers [contexts, {width}]")
    if not np.all(np.isfinite(values)):
        raise UserError(f"{path} must hold finite numbers")
    return values.astype(float)


def _free_folder(task: str, method: str) -> Path:
    stem = Path(task.partition(":")[0]).stem + ("" if method == "vigor" else f"-{method}")
    number = 1
    while (folder := Path("runs") / f"{stem}-{number}").exists():
        number += 1
    return folder


def _benchmark(command: Benchmark) -> None:
    from vigor.experiments import page, runner, suites
    from vigor.experiments.cell import measure
    from vigor.experiments.data import Data
    from vigor.experiments.store import Store
    from vigor.reports.terminal import benchmark_table, cells_bar
    from vigor.tasks import absolute

    if (command.backend == "dask") != (command.scheduler is not None):
        raise UserError("--backend dask and --scheduler ADDRESS belong together; give both or neither")
    if command.workers is not None and not 1 <= command.workers <= 1000:
        raise UserError(f"--workers must be from 1 to 1000, not {command.workers}")
    tasks = tuple(map(absolute, command.tasks))
    choice = suites.Choice(tasks, command.methods, command.seeds, command.quick)
    published = command.data[1].resolve() if command.data else None
    name = f"benchmark{'-quick' if command.quick else ''}{'-published' if published else ''}"
    folder = command.out if command.out is not None else Path("runs") / name
    place = runner.Place(command.scheduler, command.workers, command.device)
    store, data = Store(folder), Data(folder, published)
    # What does not fit together shows here, before there is a folder.
    cells = suites.SUITES[command.suite](choice, data)
    store.begin()
    data.save()
    with cells_bar() as show:
        runner.run(cells, store, place, measure, show)
    benchmark_table(store.rows())
    print(f"Report: {page.write_report(folder)}")
    if failed := store.failures():
        print(f"vigor: {len(failed)} cells failed, see the report; start again to run them again", file=sys.stderr)
        sys.exit(1)


def _evaluate(command: Evaluate) -> None:
    from vigor.evaluation import evaluation
    from vigor.reports.terminal import results_table
    from vigor.runs import run

    fits = command.samples is None or 1 <= command.samples <= 10**5
    if not fits or not 0 <= command.seed < 2**32:
        raise UserError("--samples must be from 1 to 100,000 and --seed from 0 to 2**32 - 1")
    use_device("auto")
    setup, task, learned = run.load_policies(command.run)
    if not (command.run / run.RESULT).exists():
        print(f"vigor: the run in {command.run} has not finished; this is what it has learned so far", file=sys.stderr)
    judged = evaluation.evaluate(task, learned, command.samples, command.seed)
    results_table({"task": task.name, "method": setup.method, "train": judged.train, "test": judged.test})


def _plan(command: Plan) -> None:
    from vigor.planning import constraints
    from vigor.planning import planner as plan
    from vigor.reports import figures
    from vigor.reports.terminal import plans_table

    if bool(command.context) == (command.contexts_file is not None):
        raise UserError("say what to plan for: either --context NUMBER ... or --contexts-file F.npy")
    if not 0 <= command.samples <= 10**4 or not 0 <= command.seed < 2**32:
        raise UserError("--samples must be from 0 to 10,000 and --seed from 0 to 2**32 - 1")
    if command.out is not None and (command.out.suffix != ".json" or command.out.is_dir()):
        raise UserError(f"--out must be a .json file, not {command.out}")
    for path in (command.out, command.out.with_suffix(".png")) if command.out is not None else ():
        if path.exists():
            raise UserError(f"{path} exists already; choose another --out")
    use_device(command.device)
    shapes = tuple(constraints.parse(text) for text in command.keep_out)
    planner = plan.load(command.run, command.every)
    contexts: Any = command.context
    if command.contexts_file is not None:
        contexts = _read_contexts(command.contexts_file, planner.task.context_dimension)
    limits = constraints.of_task(planner.task, shapes, command.seconds)
    made = planner.plan(contexts, limits, command.samples, command.seed)
    if command.out is None:
        path = plan.save(made, command.run)
    else:
        path = command.out
        made.save(path, new=True)
    figures.save(figures.plans(made), path.with_suffix(".png"))
    plans_table(planner.task, made)
    print(path, path.with_suffix(".png"), sep="\n")


def _load_plans(path: Path) -> Any:
    """Plans of a file, or of a run's folder."""
    from vigor.planning import planner as plan
    from vigor.planning import plans as solutions

    return plan.of_run(path) if path.is_dir() else solutions.load(path)


def _chosen(made: Any, context: int, solution: int) -> tuple[Any, Any]:
    """A plan and a solution by number, counted from 1."""
    if not 1 <= context <= len(made.plans):
        raise UserError(f"--context must be from 1 to {len(made.plans)}, not {context}")
    ranked = made.plans[context - 1].solutions
    if not 1 <= solution <= len(ranked):
        raise UserError(f"--solution must be from 1 to {len(ranked)}, not {solution}")
    return made.plans[context - 1], ranked[solution - 1]


def _export(command: Export) -> None:
    from vigor.motion import robots
    from vigor.planning import export

    if command.urdf is None and (command.joints or command.acceleration is not None):
        raise UserError("--joints and --acceleration belong to a robot that --urdf describes")
    use_device("cpu")
    made = _load_plans(command.plan)
    _, solution = _chosen(made, command.context, command.solution)
    limits = made.constraints
    if command.urdf is not None:
        robot = robots.from_urdf(command.urdf, command.joints, command.acceleration)
        limits = dataclasses.replace(limits, robot=robot)
    if command.seconds is not None:
        limits = dataclasses.replace(limits, seconds=command.seconds)
    pose = np.array(command.start_pose) if command.start_pose else None
    moved = export.trajectory(made.load_task(), solution, limits, command.rate, pose)
    ending = {"csv": ".csv", "json": ".trajectory.json", "ros2": ".yaml", "mcap": ""}[command.format]
    stem = command.plan / "plan" if command.plan.is_dir() else command.plan.with_suffix("")
    name = f"{stem.name}_{command.context}_{command.solution}{ending}"
    path = command.out or stem.with_name(name)
    export.write(path, moved, command.format)
    takes = f"{moved.times[-1]:.2f} s"
    said = "" if limits.robot is not None else "; no limits are known, give a --urdf"
    if moved.slowed_by is not None:
        said = f"; slowed from {limits.seconds:.2f} s to {takes} by {moved.slowed_by}"
    print(f"{path}: {len(moved.times)} samples, {takes}{said}")
    if solution.solves is False:
        print("vigor: this movement is predicted to fail: it does not solve its context", file=sys.stderr)


def _show(command: Show) -> None:
    from vigor.reports import figures

    use_device("cpu")
    stem = command.plan / "plan" if command.plan.is_dir() else command.plan
    path = command.out or stem.with_suffix(".png")
    if path.suffix not in (".png", ".mp4") or path.is_dir():
        raise UserError(f"--out must be a .png or .mp4 file, not {path}")
    made = _load_plans(command.plan)
    plan, solution = _chosen(made, command.context, command.solution)
    if path.suffix == ".png":
        figures.save(figures.plans(made), path)
    else:
        task = made.load_task()
        if task.display.film is None:
            raise UserError(f"{task.name} has no films; draw a figure with --out F.png")
        joints = np.asarray(task.promp.rollout(np.array(solution.movement, np.float32)))
        task.display.film(path, joints, np.array(plan.context), made.constraints.keep_out)
    print(path)


def _demos(command: DemosGenerate | DemosImport | DemosCheck | DemosShow) -> None:
    from vigor.demonstrations import dataset as demonstrations
    from vigor.demonstrations import importers
    from vigor.demonstrations import preprocessing as recordings
    from vigor.reports import figures, terminal
    from vigor.tasks import TASKS, load_task

    use_device("cpu")
    match command:
        case DemosGenerate():
            task = load_task(command.task)
            with terminal.count_bar("contexts") as show:
                made = recordings.generate(task, command.seed, command.contexts, command.per_context, report=show)
            demonstrations.save(made, command.out)
            terminal.demonstrations_table(task, made)
        case DemosImport():
            task = load_task(command.task)
            imported = importers.import_demonstrations(task, command.format, command.path)
            demonstrations.save(imported, command.out)
            terminal.demonstrations_table(task, imported)
        case DemosCheck() | DemosShow():
            name = command.task or demonstrations.load(command.folder).task
            if name not in TASKS and command.task is None:
                raise UserError(f"{command.folder} holds demonstrations of {name}; give --task path/to/file.py:NAME")
            task = load_task(name)
            loaded = demonstrations.load(command.folder, task)
            if isinstance(command, DemosCheck):
                terminal.demonstrations_table(task, loaded)
            else:
                path = command.out or command.folder / "demonstrations.png"
                if path.suffix != ".png" or path.is_dir():
                    raise UserError(f"--out must be a .png file, not {path}")
                joints = demonstrations.trajectories(task, loaded)
                figures.save(figures.demonstrations(task, loaded.contexts, loaded.context_of, joints), path)
                print(path)


def _studio(command: Studio) -> None:
    from vigor.studio import app

    use_device("auto")
    out = command.out or Path("studio") / command.task
    app.serve(command.task, out, command.demos, command.host, command.port)
