"""`vigor demos generate`, `import`, `check` and `show`."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from tyro.conf import Positional, arg, subcommand

from vigor.basics.device import use_device
from vigor.basics.errors import UserError
from vigor.cli.arguments import Folder, MaybeFile, ReadingOptions, TaskName, TaskOfRun, load_demonstrations, reading_of


@dataclass(frozen=True)
class Generate:
    """Make demonstrations with the task's own generator. They are generated, not human."""

    task: Positional[TaskName]
    """planar-reacher, panda-reacher, box-pusher, path/to/scene.toml, or path/to/file.py:NAME."""
    out: Folder
    """New folder for the demonstrations."""
    seed: int = 0
    """The same seed makes the same demonstrations."""
    contexts: int = 12
    """Contexts with demonstrations."""
    per_context: int = 10
    """Demonstrations of each."""

    def __call__(self, words: list[str]) -> int:
        from vigor.demonstrations import preprocessing
        from vigor.reports.terminal import count_bar, demonstrations_table
        from vigor.tasks import load_task

        task = load_task(self.task)
        with count_bar("contexts") as show:
            made = preprocessing.generate(task, self.seed, self.contexts, self.per_context, report=show)
        made.save(self.out)
        demonstrations_table(task, made)
        return 0


@dataclass(frozen=True)
class Import:
    """Read recordings in any known format, say what was found, and keep those that succeed as ProMPs."""

    task: Positional[TaskName]
    """planar-reacher, panda-reacher, box-pusher, path/to/scene.toml, or path/to/file.py:NAME."""
    path: Positional[Path]
    """A LeRobot data set; a rosbag2 file, folder, or folder of these; a robomimic .hdf5 file; a folder with .csv files,
    or one of them; an .npz file; or a clone of github.com/NiklasFreymuth/VIGOR."""
    out: Folder
    """New folder for the demonstrations."""
    reading: ReadingOptions = ReadingOptions()

    def __call__(self, words: list[str]) -> int:
        from vigor.demonstrations import importers
        from vigor.demonstrations.preprocessing import settled
        from vigor.reports.terminal import demonstrations_table
        from vigor.tasks import load_task

        task = load_task(self.task)
        left_out: list[importers.LeftOut] = []
        notes: list[str] = []
        try:
            imported = importers.import_demonstrations(
                task, self.path, reading_of(self.reading), notes.append, left_out.append
            )
        except UserError as error:
            more = self._more(task) if left_out else ""
            raise UserError(f"{error}; {more}" if more else str(error)) from None
        imported.save(self.out)
        task = settled(task, imported)
        for note in notes:
            print(note)
        demonstrations_table(task, imported)
        for item in left_out:
            print(item)
        if left_out and (more := self._more(task)):
            print(more)
        return 0

    def _more(self, task: Any) -> str:
        """Advice on how more recordings would be kept, in words; empty if nothing is known to."""
        from vigor.demonstrations import importers

        found = importers.remedy(task, importers.recordings(task, self.path, reading_of(self.reading)))
        if found is None:
            return ""
        kept = f"all {found.count}" if found.kept == found.count > 1 else f"{found.kept} of {found.count}"
        return f"{kept} would be kept with {found.bases} bases instead of {task.promp.bases}"


@dataclass(frozen=True)
class Check:
    """Check a folder with demonstrations, and say what is in it, what stands out and what is lacking."""

    folder: Positional[Folder]
    """Folder with demonstrations or, with --task, recordings in any format that `import` reads."""
    task: TaskOfRun = None
    """Only needed for recordings, and for a task of your own: path/to/scene.toml or path/to/file.py:NAME."""

    def __call__(self, words: list[str]) -> int:
        from vigor.reports.terminal import demonstrations_remarks, demonstrations_table

        task, loaded = load_demonstrations(self.folder, self.task)
        demonstrations_table(task, loaded)
        demonstrations_remarks(task, loaded)
        return 0


@dataclass(frozen=True)
class Show:
    """Draw a folder's demonstrations: their paths by context, and recordings against their fits by dimension."""

    folder: Positional[Folder]
    """Folder with demonstrations or, with --task, recordings in any format that `import` reads."""
    task: TaskOfRun = None
    """Only needed for recordings, and for a task of your own: path/to/scene.toml or path/to/file.py:NAME."""
    out: MaybeFile = None
    """The picture of the paths; that of the fits is beside it. Default: demonstrations.png in the folder."""

    def __call__(self, words: list[str]) -> int:
        from vigor.demonstrations import dataset
        from vigor.reports import figures, fits

        path = self.out or self.folder / "demonstrations.png"
        if path.suffix != ".png" or path.is_dir():
            raise UserError(f"--out must be a .png file, not {path}")
        task, loaded = load_demonstrations(self.folder, self.task)
        joints = dataset.trajectories(task, loaded)
        figures.save(figures.demonstrations(task, loaded.contexts, loaded.context_of, joints), path)
        print(path)
        if loaded.recordings is not None:
            figures.save(fits.figure(task, loaded), path.with_stem(f"{path.stem}_fits"))
            print(path.with_stem(f"{path.stem}_fits"))
        return 0


Action = Annotated[
    Annotated[Generate, subcommand("generate")]
    | Annotated[Import, subcommand("import")]
    | Annotated[Check, subcommand("check")]
    | Annotated[Show, subcommand("show")],
    arg(name=""),
]


@dataclass(frozen=True)
class Demos:
    """Make, import, check and draw demonstrations."""

    action: Action

    def __call__(self, words: list[str]) -> int:
        use_device("cpu")
        return self.action(words)
