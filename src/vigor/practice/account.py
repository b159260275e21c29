"""The account of practice: what was tried, what was learned, and what still cannot be done."""

from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import TypeVar

from vigor.basics import files
from vigor.basics.errors import UserError
from vigor.basics.serialisation import from_json

Kind = TypeVar("Kind")
ACCOUNT = "practice.json"
SEEN = (
    "The judge of the task said what succeeded in practice, and was learned from there; figures of test contexts are "
    "of other contexts."
)


@dataclass(frozen=True)
class PracticeSettings:
    """Settings of practice."""

    contexts: int = 60
    """Contexts to practise in, in all rounds together."""
    rounds: int = 3
    """Rounds at most; practice ends when plans for new contexts succeed."""
    samples: int = 3
    """Movements of every way that are tried in a context: its middle, and others around it."""
    seed: int = 0
    """Seed of contexts, samples and searches."""

    def __post_init__(self) -> None:
        if not 1 <= self.rounds <= self.contexts <= 10**5 or not 1 <= self.samples <= 1000:
            raise UserError(
                "practice needs from 1 to 100,000 contexts, at least as many as rounds, and from 1 to 1,000 samples, "
                f"not {self.contexts} contexts, {self.rounds} rounds and {self.samples} samples"
            )
        if not 0 <= self.seed < 2**32:
            raise UserError(f"seed must be from 0 to 2**32 - 1, not {self.seed}")


@dataclass(frozen=True)
class Round:
    """Account of a round's attempts."""

    contexts: int
    planned: float
    """Success of the plans, before any search: a mean over contexts that were new to them."""
    solved: int
    """Contexts that some planned movement solves."""
    solved_after: int
    """Contexts that are solved after searches."""
    ways: float
    """Ways that succeed in a context that is solved, a mean."""
    rollouts: int
    """Movements that were tried."""
    seconds: float

    def __str__(self) -> str:
        return (
            f"{self.contexts} new contexts: plans succeed in {100 * self.planned:.0f}% of trials and solve "
            f"{self.solved}; after searches {self.solved_after} are solved, in {self.ways:.1f} ways each; "
            f"{self.rollouts} movements tried"
        )


@dataclass(frozen=True)
class Account:
    """Account of practice, what it took and what became of it: `practice.json`."""

    settings: PracticeSettings
    run: str
    """Folder of the run that practised."""
    judged: bool
    """Whether the trial was the task's own judge, so that success in contexts of practice was seen."""
    rounds: tuple[Round, ...]
    rollouts: int
    seconds: float
    demonstrations: int
    """Demonstrations that were learned from."""
    own: int
    """Own movements that were learned from beside them."""
    context_names: tuple[str, ...]
    cannot: tuple[tuple[float, ...], ...]
    """Contexts of practice in which nothing that was tried succeeded."""

    def __str__(self) -> str:
        lines = [f"Round {number}, {one}." for number, one in enumerate(self.rounds, start=1)]
        minutes = timedelta(seconds=round(self.seconds))
        lines.append(
            f"Learned from {self.demonstrations} demonstrations and {self.own} own movements; {self.rollouts} "
            f"movements were tried, in {minutes}."
        )
        for context in self.cannot:
            values = zip(self.context_names, context, strict=True)
            lines.append(f"Still cannot do {', '.join(f'{name} {value:.3g}' for name, value in values)}.")
        if self.judged:
            lines.append(SEEN)
        return "\n".join(lines)


def of(folder: Path) -> Account | None:
    """The account of the practice that a run came of; None if there was none."""
    return read(folder) if (folder / ACCOUNT).exists() else None


def read(folder: Path) -> Account:
    """The account of practice in a run's folder."""
    return _read(Account, folder / ACCOUNT)


def read_round(path: Path) -> Round:
    """The account of a round in its file."""
    return _read(Round, path)


def _read(kind: type[Kind], path: Path) -> Kind:
    values = files.read_json(path)
    try:
        return from_json(kind, values)
    except UserError as error:
        raise UserError(f"{path} is damaged: {error}") from None
