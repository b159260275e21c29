"""Practice in rounds: draw contexts, plan, try, search from near misses, learn again from demonstrations and successes.

A trial may be the judge that a task is evaluated by. Then what is learned has seen success, in contexts of practice
alone: those that a run is tested on are others.

Every stage leaves a file when it is done, and is the same for the same seed, so that practice that was killed goes on
at the stage it had reached and ends as if it had not been. The folder is that of a run in the end, the last round's,
with

    practice.json              the account: what was tried, what was learned, what still cannot be done
    practice/settings.json     what practice was begun with
    practice/1/attempts.npz    movements that were tried in round 1, and how they went
    practice/1/round.json      the account of the round
    practice/1/run             the run that learned from them, until practice is over
"""

import shutil
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from vigor.basics import evolution, files, locks
from vigor.basics.errors import UserError
from vigor.basics.serialisation import to_json
from vigor.basics.settings import value_of, with_values
from vigor.demonstrations.dataset import Demonstrations
from vigor.learning import prediction
from vigor.planning import planner as planners
from vigor.planning.planner import Planner
from vigor.practice import account
from vigor.practice import attempts as tries
from vigor.practice.account import ACCOUNT, Account, PracticeSettings, Round
from vigor.practice.attempts import Attempts, Trial
from vigor.runs import run
from vigor.runs.run import Progress, Report
from vigor.runs.setup import Prepared, Setup
from vigor.tasks.task import Task

FOLDER, SETTINGS, ATTEMPTS, ROUND, RUN = "practice", "settings.json", "attempts.npz", "round.json", "run"
SURE = 0.95
"""Success of plans for new contexts from which on there is nothing left to practise."""
WAYS = 2
"""Ways in which a context should be solved: searches begin where fewer succeed."""
BLOCK = 256
"""Movements that are tried at a time, between two reports of progress."""


class _Counted:
    """A trial that counts its movements, and reports while it goes on."""

    def __init__(self, trial: Trial, report: Callable[[int], None]) -> None:
        self.trial, self.report, self.count = trial, report, 0

    def __call__(self, joints: np.ndarray, contexts: np.ndarray) -> np.ndarray:
        parts = []
        for first in range(0, len(joints), BLOCK):
            rows = slice(first, first + BLOCK)
            parts.append(np.asarray(self.trial(joints[rows], contexts[rows])))
            self.count += len(joints[rows])
            self.report(self.count)
        return np.concatenate(parts)


def practise(
    folder: Path,
    out: Path,
    settings: PracticeSettings,
    trial: Trial | None = None,
    task: Task | str | None = None,
    report: Report = lambda step: None,
    command: str = "",
) -> Account:
    """Practise what the run in a folder has learned; the run that comes of it is in a new folder.

    trial: distances [n] from success of trajectories [n, T, dimensions] in contexts [n, C], by default the task's own
    judge; a movement succeeds up to the task's `success_distance`, which is 0 where it has none. Practice that was
    stopped goes on.
    """
    setup, loaded, _ = run.load_policies(folder, task)
    if setup.raw:
        raise UserError(
            "a run that learned from raw recordings cannot learn from its own movements; train without --raw"
        )
    if trial is None and not loaded.judged:
        raise UserError(f"nothing says how a movement of {loaded.name} went; practise in Python and give a trial")
    shown = run.prepare_again(setup, folder, loaded)
    # What is missing, or a run that cannot plan, is said before anything is written.
    evolution.cma()
    distinct = prediction.distinct_of(loaded, planners.load(folder, 1, loaded).common)
    _begin(out, settings, setup)
    lock = locks.take(out / FOLDER / run.LOCK)
    if lock is None:
        raise UserError(f"another process practises in {out}; wait for it or choose another --out")
    try:
        for place in (out, out / FOLDER, *(out / FOLDER).iterdir()):
            files.remove_leftovers(place)
        if not (out / ACCOUNT).exists():
            rounds = _Rounds(
                folder, out / FOLDER, settings, trial or loaded.distances, shown, distinct, report, command
            )
            files.write_json(out / ACCOUNT, to_json(replace(rounds.go(), judged=trial is None)))
        _publish(out, settings.rounds)
    finally:
        locks.drop(lock)
    return account.read(out)


def _begin(out: Path, settings: PracticeSettings, setup: Setup) -> None:
    """Claim a new folder, or one with the same practice that was stopped."""
    begun = {"settings": to_json(settings), "fingerprint": setup.fingerprint, "seed": setup.seed}
    path = out / FOLDER / SETTINGS
    if (out / run.CONFIG).exists():
        raise UserError(f"{out} already holds a run; choose another --out")
    if path.exists():
        if files.read_json(path) != begun:
            raise UserError(f"{out} holds practice of another run or with other settings; choose another --out")
        return
    if out.exists() and (not out.is_dir() or any(item.name != FOLDER for item in out.iterdir())):
        raise UserError(f"{out} is a file or not empty; choose another --out")
    path.parent.mkdir(parents=True, exist_ok=True)
    files.write_json(path, begun)


def _publish(out: Path, rounds: int) -> None:
    """Move the last round's run into the folder itself; its setup comes last, without which it is no run."""
    places = [out / FOLDER / str(number) / RUN for number in range(1, rounds + 1)]
    made = [place for place in places if place.is_dir() and not place.is_symlink()]  # Nobody else's folder is emptied.
    for part in sorted(made[-1].iterdir(), key=lambda path: path.name == run.CONFIG) if made else ():
        part.replace(out / part.name)
        files.sync(out)
    for place in made:
        shutil.rmtree(place)


@dataclass
class _Rounds:
    """Rounds of practice in a folder."""

    source: Path
    folder: Path
    settings: PracticeSettings
    trial: Trial
    shown: Prepared
    distinct: float
    """Smallest difference of two ways."""
    report: Report
    command: str
    begun: float = field(default_factory=time.perf_counter)
    spent: list[float] = field(default_factory=list)
    """Seconds of each round that was gone through since."""

    def _show(self, number: int, words: str, step: Progress) -> None:
        """Report a step of a round, with the time since practice began and how long the rounds to come may take."""
        seconds, rounds = time.perf_counter() - self.begun, self.settings.rounds
        left = ""
        if self.spent:
            each = sum(self.spent) / len(self.spent)
            left = f" (about {timedelta(seconds=round(each * (rounds + 1 - number)))} from its start)"
        self.report(replace(step, seconds=seconds, doing=f"round {number} of {rounds}{left}, {words}"))

    def go(self) -> Account:
        """All rounds that are not done yet; returns the account but for who judged."""
        task, latest = self.shown.task, self.source
        done: list[Round] = []
        found: list[Attempts] = []
        for number in range(1, self.settings.rounds + 1):
            begun, planner = time.perf_counter(), planners.load(latest, 1, task)
            attempts, told = self._tried(planner, number)
            done.append(told)
            found.append(attempts)
            if number > 1 and told.planned >= SURE and told.solved == told.contexts:
                break
            latest = self._learned(number, found)
            learned = self._set(found)
            self.spent.append(time.perf_counter() - begun)
        run.judge(latest, task)
        cannot = [
            tuple(map(float, context))
            for attempts in found
            for context, ways in zip(attempts.contexts, tries.kept(task, attempts, self.distinct, 1)[1], strict=True)
            if not ways
        ]
        assert learned.own is not None
        return Account(
            self.settings,
            str(self.source),
            True,
            tuple(done),
            sum(one.rollouts for one in done),
            sum(one.seconds for one in done) + sum(self._seconds(number) for number in range(1, len(done) + 1)),
            int(np.sum(~learned.own)),
            int(np.sum(learned.own)),
            tuple(task.context_names),
            tuple(cannot),
        )

    def _seconds(self, number: int) -> float:
        """Seconds that a round's learning took."""
        path = self.folder / str(number) / RUN
        return run.read_result(path)["seconds"] if (path / run.RESULT).exists() else 0.0

    def _tried(self, planner: Planner, number: int) -> tuple[Attempts, Round]:
        """Attempts of a round and their account: as they were stored, or made now."""
        place = self.folder / str(number)
        if (place / ROUND).exists():
            return tries.read(place / ATTEMPTS, planner.task), account.read_round(place / ROUND)
        task, wanted, begun = planner.task, self.shown.setup.demos_per_context, time.perf_counter()
        seed = int(np.random.SeedSequence([self.settings.seed, number]).generate_state(1)[0])
        share = np.array_split(np.arange(self.settings.contexts), self.settings.rounds)[number - 1]
        contexts = np.asarray(task.sample_contexts(np.random.default_rng(seed), len(share)), float)

        def progress(count: int) -> None:
            self._show(number, f"{count} movements tried", Progress(0, 0, 0.0, {}))

        trial = _Counted(self.trial, progress)
        progress(0)
        planned = tries.of_plans(planner, trial, contexts, self.settings.samples, seed)
        attempts = planned
        for again, ways in enumerate((WAYS, 1)):  # What is not solved in any way is searched in once more.
            attempts = tries.refined(task, planner.starts, trial, attempts, self.distinct, ways, seed + again)
        before, after = (tries.kept(task, one, self.distinct, wanted)[1] for one in (planned, attempts))
        told = Round(
            len(contexts),
            float(planned.planned(task).mean()),
            int(np.sum(before > 0)),
            int(np.sum(after > 0)),
            float(after[after > 0].mean()) if np.any(after) else 0.0,
            trial.count,
            time.perf_counter() - begun,
        )
        files.write_arrays(place / ATTEMPTS, attempts._asdict())
        files.write_json(place / ROUND, asdict(told))
        return attempts, told

    def _set(self, found: list[Attempts]) -> Demonstrations:
        """Demonstrations that the run learned from, and successes of all rounds so far."""
        setup, task, shown, split = self.shown
        chosen, each = split.demonstrations.reshape(-1), setup.demos_per_context
        contexts, weights = [split.train_contexts], [shown.weights[chosen]]
        own = [np.zeros(len(chosen), bool) if shown.own is None else shown.own[chosen]]
        for attempts in found:
            kept, _ = tries.kept(task, attempts, self.distinct, each)
            contexts.append(attempts.contexts[attempts.context_of[kept[::each]]])
            weights.append(attempts.weights[kept])
            own.append(np.ones(len(kept), bool))
        context_of = np.repeat(np.arange(sum(map(len, contexts))), each)
        joined = (np.concatenate(part) for part in (contexts, weights, own))
        values, movements, marks = joined
        source = f"{shown.source}; with own movements of practice"
        return Demonstrations(task.name, values, context_of, movements, None, source, marks)

    def _learned(self, number: int, found: list[Attempts]) -> Path:
        """Folder of the run that learned from all rounds so far: as it was finished, or trained now."""
        place, (setup, task, _, split) = self.folder / str(number) / RUN, self.shown

        report = partial(self._show, number, "learning")
        if (place / run.CONFIG).exists():
            run.resume(place, report, task, simulated=False)
            return place
        learned = self._set(found)
        new = replace(
            setup,
            demos=None,
            train_contexts=len(learned.contexts),
            test_contexts=tuple(map(tuple, split.test_contexts.tolist())) or 0,
            settings=_as_many_steps(setup.settings, len(learned) / split.demonstrations.size),
            command=self.command,
            date=datetime.now().astimezone().isoformat(timespec="seconds"),
        )
        run.train(new, place, report, task, learned, simulated=False)
        return place


def _as_many_steps(settings: Any, times: float) -> Any:
    """Settings with which networks take about as many steps in an iteration though there are so many times the data."""
    epochs = max(1, round(value_of(settings, "epochs") / times))
    return with_values(settings, epochs=epochs, warmup=min(epochs, value_of(settings, "warmup")))
